// Copyright 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0
//
// ring LINES: the ring with a reader in C instead of Go, for the sanitizers of the compiler. Threads push, control, poll,
// open and close; the reader checks that frames are whole and in order, and that all lines are counted.
#include "../ring.c"

#include <stdio.h>

#define CHECK(condition)                                                                                               \
	do {                                                                                                               \
		if (!(condition)) {                                                                                            \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
			exit(1);                                                                                                   \
		}                                                                                                              \
	} while (0)

enum { pushers = 4 };

static uint64_t handle;
static long lines;
static atomic_int busy;
static _Atomic uint64_t got, lost, controls, echoed; // by the reader; echoed: by the poller

static const uint8_t *varint(const uint8_t *p, uint64_t *n) {
	int shift = 0;
	for (*n = 0; *p >= 0x80; p++, shift += 7) *n |= (uint64_t)(*p & 0x7F) << shift;
	*n |= (uint64_t)*p << shift;
	return p + 1;
}

static int fill(uint64_t h, uint8_t *to, int64_t n) {
	for (int64_t at = 0, more; at < n; at += more) {
		more = heed_go_read(h, to + at, n - at < 1000 ? n - at : 1000);
		if (more == 0) return 0;
	}
	return 1;
}

// serve does as Go does.
static void *serve(void *arg) {
	uint8_t *frame = arg;
	for (;;) {
		uint64_t h = heed_go_next(), last = 0, n = 0;
		heed_go_state(h, HEED_RUNNING, "", 0);
		while (fill(h, frame, head_size)) {
			int64_t size = (int64_t)frame[0] | frame[1] << 8 | frame[2] << 16;
			CHECK(frame[3] == 0 && frame[4] == 1 && frame[6] == 0 && frame[7] == 0);
			if (!fill(h, frame + head_size, size)) break;
			const uint8_t *p = frame + head_size;
			if (frame[5] == frame_log) {
				varint(p, &n);
				CHECK(n > last && frame[head_size + size - 1] == 'k'); // where its stack ends
				last = n;
				got++;
			} else if (frame[5] == frame_dropped) {
				p = varint(varint(p + 8, &n), &n);
				CHECK(n == 1);
				for (int i = 0; i < levels; i++) p = varint(p, &n), lost += n;
			} else {
				controls += frame[5] != frame_hello;
				if (heed_go_write(h, frame, head_size + size) != 0) break;
			}
		}
		heed_go_state(h, HEED_OVER, "", 0);
		heed_go_release(h);
	}
	return NULL;
}

static void *pusher(void *arg) {
	static const char text[3000];
	uint16_t wide[] = {'s', 't', 'a', 'c', 'k' | 'k' << 8};
	for (long i = 0; i < lines; i++) {
		if (arg == NULL) {
			heed_push16(handle, (int)(i % 7), 1, 0, wide, i % 5, wide, 5, wide, 3);
		} else {
			heed_push8(handle, (int)(i % 7), 1, 0, text, i % 3000, "stack", 5, "op", 2);
		}
		if (i % 500 == 0) { // as other handles come and go
			uint64_t h = heed_open(NULL, 0);
			heed_push8(h, 1, 1, 1, "", 0, "k", 1, NULL, 0);
			heed_close(h);
		}
	}
	busy--;
	return NULL;
}

static void *poller(void *arg) {
	(void)arg;
	static uint8_t buf[1 << 12];
	for (int64_t n; (n = heed_poll(handle, buf, sizeof buf)) != HEED_REFUSED;) {
		CHECK(n >= 0 || n == HEED_ENDED); // while it is closed
		for (int64_t at = 0; at < n; at += head_size + (buf[at] | buf[at + 1] << 8)) echoed++;
	}
	return NULL;
}

int main(int argc, char **argv) {
	CHECK(argc == 2);
	lines = atol(argv[1]);
	heed_options o = {.ring_bytes = 256 << 10, .output_bytes = 64 << 10};
	handle = heed_open(&o, sizeof o);
	pthread_t t[pushers], server[2], p;
	static uint8_t frames[2][1 << 18];
	for (int i = 0; i < 2; i++) CHECK(pthread_create(&server[i], NULL, serve, frames[i]) == 0);
	CHECK(pthread_create(&p, NULL, poller, NULL) == 0);
	busy = pushers;
	for (int i = 0; i < pushers; i++) CHECK(pthread_create(&t[i], NULL, pusher, i % 2 ? &t : NULL) == 0);
	uint8_t frame[head_size + 100] = {100, 0, 0, 0, 1, 99, 0, 0};
	uint64_t sent = 0;
	while (busy > 0) sent += heed_control(handle, frame, sizeof frame) == 1;
	for (int i = 0; i < pushers; i++) pthread_join(t[i], NULL);
	heed_counts c;
	do {
		CHECK(heed_stats(handle, &c, sizeof c) == 0);
	} while (echoed < sent + 1 || c.ring_used > 0); // the hello as well
	uint64_t dropped = 0;
	for (int i = 0; i < levels; i++) dropped += c.dropped[i];
	CHECK(c.pushed == (uint64_t)(pushers * lines) && c.pushed == c.queued + dropped);
	CHECK(heed_close(handle) == 0);
	pthread_join(p, NULL);
	for (int i = 0, open = 1; open; i++) { // what was closed is released
		open = 0;
		table();
		for (int k = 0; k < slots_max; k++) open += slots[k].in_use;
		unlock(&table_lock);
		CHECK(i < 10000);
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	}
	// Lines of the other handles may have been read as well; what they dropped is theirs.
	CHECK(got >= c.queued && lost == dropped && controls >= sent);
	printf("%lu pushed, %lu dropped, %lu controls\n", (unsigned long)c.pushed, (unsigned long)dropped, (unsigned long)sent);
	return 0;
}
