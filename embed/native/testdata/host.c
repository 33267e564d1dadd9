// Copyright 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0
//
// host LIBRARY MODE [N]: a host in C. It exits with status 0 where the mode found what it expects.
#include "host.h"

#if defined(_WIN32)
static void thread(void (*run)(void)) { CreateThread(NULL, 0, (LPTHREAD_START_ROUTINE)(void *)run, NULL, 0, NULL); }
#else
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static void thread(void (*run)(void)) {
	pthread_t t;
	CHECK(pthread_create(&t, NULL, (void *(*)(void *))(void *)run, NULL) == 0);
}
#endif

static uint64_t handle;

static const uint8_t *find_bytes(const uint8_t *in, int64_t size, const char *text) {
	int64_t n = (int64_t)strlen(text);
	for (int64_t i = 0; i + n <= size; i++) {
		if (memcmp(in + i, text, (size_t)n) == 0) return in + i;
	}
	return NULL;
}

static const char exception[] = "NullReferenceException: Object reference not set to an instance of an object";
static const char stack[] = "  at Verse.Pawn.Tick () [0x00000] in <0>:0 \n";

// raise pushes an exception, which heed reports.
static int32_t exception_in(uint64_t h, const char *operation) {
	return push8_(h, HEED_ERROR, 7, 0, exception, sizeof exception - 1, stack, sizeof stack - 1, operation,
		(int64_t)strlen(operation));
}

// surface uses each function as documented, and each argument as it is not.
static void surface(void) {
	int64_t n;
	uint8_t q[64], small[8], big[1 << 16];
	heed_counts c;
	heed_options o = {.ring_bytes = 3};
	CHECK(open_(&o, sizeof o) == 0);
	o = (heed_options){.hello = "no frame", .hello_bytes = 8};
	CHECK(open_(&o, sizeof o) == 0);

	uint64_t h = open_(NULL, 0), other = open_(NULL, 0);
	CHECK(h != 0 && other != 0 && h != other);
	CHECK(exception_in(h, "call-1") == 1);
	const uint8_t *p = await(h, 66, &n);
	CHECK(find_bytes(p, n, "call-1") && find_bytes(p, n, "NullReferenceException"));
	CHECK(state_(h) == HEED_RUNNING && error_(h, (char *)small, sizeof small) == 0 && small[0] == 0);

	// Text that is none, or too long.
	uint16_t wide[] = {'l', 'o', 'n', 'e', 0xD800, 'x', 0, 'y', 0xDC00, 0xD83D, 0xDE00};
	CHECK(push16_(h, HEED_INFO, 1, 0, wide, 11, NULL, 0, wide, 5) == 1);
	size_t length = 64 << 20;
	char *huge = malloc(length);
	memset(huge, 'x', length);
	for (size_t i = 1; i + 1 < length; i += 2) memcpy(huge + i, "\xC3\xA9", 2);
	CHECK(push8_(h, HEED_INFO, 1, 0, huge, (int64_t)length, huge, (int64_t)length, NULL, 0) == 1);
	CHECK(push16_(h, HEED_INFO, 1, 0, (uint16_t *)huge, (int64_t)length / 2, NULL, 0, (uint16_t *)huge, 2000) == 1);
	free(huge);
	CHECK(push8_(h, 77, 1, -1, "", 0, "", 0, "", 0) == 1);
	CHECK(push8_(h, 1, 1, 0, NULL, 1, NULL, 0, NULL, 0) == HEED_INVALID);
	CHECK(push8_(h, 1, 1, 0, "x", -1, NULL, 0, NULL, 0) == HEED_INVALID);
	n = query(q, 3, 3, "\0\0\x7F\0\0", 5); // read all
	CHECK(control_(h, q, n) == 1);
	p = await(h, answer, &n);
	CHECK(find_bytes(p, n, "lone\xEF\xBF\xBDx") && find_bytes(p, n, "\xF0\x9F\x98\x80") && find_bytes(p, n, "x\xC3\xA9"));
	CHECK(stats_(h, &c, sizeof c) == 0 && c.pushed == 5 && c.queued == 5 && c.cut == 2 && c.control == 1);

	// Frames that are none.
	CHECK(control_(h, q, 9) == HEED_INVALID && control_(h, NULL, 8) == HEED_INVALID && control_(h, q, 0) == HEED_INVALID);
	q[5] = 1; // hello
	CHECK(control_(h, q, 8 + q[0]) == HEED_INVALID);

	// A buffer that is too small.
	n = query(q, 4, current_query, "\x04host", 5);
	CHECK(control_(h, q, n) == 1);
	while ((n = poll_(h, small, sizeof small)) == 0) nap();
	CHECK(n <= -8);
	int64_t needed = -n;
	CHECK(poll_(h, small, 0) == n && poll_(h, NULL, -1) == HEED_INVALID);
	CHECK(poll_(h, big, needed) == needed);
	CHECK(needed == 8 + (big[0] | big[1] << 8));

	// Nothing of it reached the other handle, which a stale one does not reach.
	CHECK(stats_(other, &c, sizeof c) == 0 && c.pushed == 0 && c.control == 0);
	CHECK(close_(h) == 0);
	for (uint64_t stale = h;; stale = 12345678) {
		CHECK(close_(stale) == HEED_REFUSED && push_text(stale, 1, "x") == HEED_REFUSED);
		CHECK(control_(stale, q, 8) == HEED_INVALID && state_(stale) == HEED_REFUSED);
		CHECK(poll_(stale, big, sizeof big) == HEED_REFUSED && stats_(stale, &c, sizeof c) == HEED_REFUSED);
		CHECK(error_(stale, (char *)big, sizeof big) == HEED_REFUSED);
		if (stale != h) break;
	}
	CHECK(push_text(other, 1, "x") == 1);
	CHECK(close_(other) == 0 && close_(0) == HEED_REFUSED);
}

// full fills a small ring faster than heed reads: what is more important than what waits is taken, and all is counted.
static void full(void) {
	heed_options o = {.ring_bytes = 256 << 10};
	static char text[1000];
	memset(text, 'x', sizeof text);
	uint64_t h = open_(&o, sizeof o);
	for (int level = HEED_INFO; level <= HEED_ERROR; level++) {
		while (push8_(h, level, 1, 0, text, sizeof text, NULL, 0, NULL, 0) == 1) {}
		CHECK(level == HEED_ERROR || push8_(h, level + 1, 1, 0, text, sizeof text, NULL, 0, NULL, 0) == 1);
	}
	flush(h);
	CHECK(last_error == 0);
	heed_counts c;
	CHECK(stats_(h, &c, sizeof c) == 0);
	uint64_t dropped = 0;
	for (int i = 0; i < 6; i++) dropped += c.dropped[i];
	CHECK(c.dropped[HEED_INFO] == 1 && c.dropped[HEED_WARNING] == 1 && c.dropped[HEED_ERROR] == 1 && dropped == 3);
	CHECK(c.pushed == c.queued + dropped && c.dropped_bytes == 3 * sizeof text);
	CHECK(last_progress == c.queued); // heed ingested what was queued
	uint8_t q[64];
	int64_t n = query(q, 3, 3, "\0\0\x7F\2\0", 5); // what is blocking, such as missing lines; then all
	CHECK(control_(h, q, n) == 1);
	await(h, answer, &n);
	n = query(q, 3, stats_query, NULL, 0);
	CHECK(control_(h, q, n) == 1);
	const uint8_t *p = await(h, answer, &n), *at = find_bytes(p, n, "dropped");
	CHECK(at != NULL && at[7] == 3);
}

static int32_t of_proc(const char *name) {
#if defined(__linux__)
	char line[200];
	FILE *f = fopen("/proc/self/status", "r");
	int value = -1;
	while (fgets(line, sizeof line, f)) {
		if (strncmp(line, name, strlen(name)) == 0) sscanf(line + strlen(name) + 1, "%d", &value);
	}
	fclose(f);
	return value;
#else
	(void)name;
	return 0;
#endif
}

// cycles opens and closes n times, at times at once, and at times when an answer came.
static void cycles(int n) {
	int32_t threads = 0, memory = 0;
	int64_t size;
	for (int i = 0; i < n; i++) {
		uint64_t h;
		while ((h = open_(NULL, 0)) == 0) nap(); // those that were closed are still ending
		CHECK(exception_in(h, "call") == 1);
		if (i % 4 == 0) await(h, 66, &size);
		CHECK(close_(h) == 0);
		if (i == n / 4) threads = of_proc("Threads"), memory = of_proc("VmRSS");
	}
	printf("%d cycles: threads %d, later %d; memory %d KiB, later %d KiB\n", n, threads, of_proc("Threads"), memory,
		of_proc("VmRSS"));
	CHECK(of_proc("Threads") <= threads + 4 && of_proc("VmRSS") <= memory + memory / 4);
}

static void push_forever(void) {
	for (int i = 0;; i++) {
		if (i % 1000 == 0) exception_in(handle, "call");
		push_text(handle, HEED_INFO, "a line of the host");
		uint8_t buf[1 << 12];
		if (i % 100 == 0) poll_(handle, buf, sizeof buf);
	}
}

// panics has heed fail; the host goes on. The library is built to panic where it meets these texts.
static void panics(const char *text) {
	handle = open_(NULL, 0);
	uint64_t other = open_(NULL, 0);
	int64_t n;
	await(handle, 65, &n);
	CHECK(push8_(handle, HEED_ERROR, 1, 0, text, (int64_t)strlen(text), stack, sizeof stack - 1, NULL, 0) == 1);
	for (double end = seconds() + 10; state_(handle) == HEED_RUNNING && seconds() < end;) nap();
	CHECK(state_(handle) == HEED_FAILED);
	char error[2000], part[6];
	n = error_(handle, error, sizeof error);
	CHECK(n > 0 && n == (int64_t)strlen(error) && strstr(error, "panic: ") != NULL);
	CHECK(error_(handle, part, sizeof part) == n && strcmp(part, "panic") == 0);
	CHECK(push_text(handle, 1, "x") == HEED_ENDED);
	uint8_t buf[1 << 16], q[32];
	CHECK(control_(handle, q, query(q, 1, flush_query, NULL, 0)) == HEED_ENDED);
	while ((n = poll_(handle, buf, sizeof buf)) > 0) {}
	CHECK(n == HEED_ENDED);
	flush(other); // which goes on
	CHECK(close_(handle) == 0);
	for (int i = 0; i < 100; i++) { // the slot is used again
		uint64_t h;
		while ((h = open_(NULL, 0)) == 0) nap();
		CHECK(close_(h) == 0);
	}
}

#if !defined(_WIN32)
static const int own[] = {SIGHUP, SIGUSR1, SIGPWR, SIGXCPU, SIGTERM, SIGALRM};
enum { owned = sizeof own / sizeof *own };
static volatile sig_atomic_t handled;

static void on_signal(int sig) {
	(void)sig;
	handled++;
}

static volatile sig_atomic_t misplaced;

// on_child must not run on the stack of a goroutine.
static void on_child(int sig) {
	(void)sig;
	stack_t s;
	misplaced |= sigaltstack(NULL, &s) != 0 || !(s.ss_flags & SS_ONSTACK);
	handled++;
}

static void set_signals(void) {
	struct sigaction a = {.sa_handler = on_signal}, child = {.sa_handler = on_child};
	CHECK(sigaction(SIGCHLD, &child, NULL) == 0);
	for (int i = 0; i < owned; i++) CHECK(sigaction(own[i], &a, NULL) == 0);
}

// signals holds that handlers of before the library are as they were, and run on threads of the host alone.
static void signals(void) {
	struct sigaction a;
	sigset_t all;
	int64_t n;
	uint64_t h = open_(NULL, 0);
	await(h, 65, &n);
	for (int i = 0; i < owned; i++) {
		CHECK(sigaction(own[i], NULL, &a) == 0 && a.sa_handler == on_signal && !(a.sa_flags & SA_ONSTACK));
	}
	CHECK(sigaction(SIGPIPE, NULL, &a) == 0 && a.sa_handler == SIG_DFL);
	CHECK(sigaction(SIGURG, NULL, &a) == 0 && a.sa_handler == SIG_DFL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL); // so that other threads would get the signals
	for (int i = 0; i < owned; i++) CHECK(kill(getpid(), own[i]) == 0);
	for (int i = 0; i < 20; i++) flush(h);
	CHECK(handled == 0);
	for (int i = 0; i < 2000; i++) { // SIGCHLD does run on heed's
		exception_in(h, "call");
		kill(getpid(), SIGCHLD);
		if (i % 100 == 0) flush(h);
	}
	CHECK(handled > 0 && !misplaced);
	handled = 0;
	pthread_sigmask(SIG_UNBLOCK, &all, NULL);
	CHECK(handled >= owned); // SIGCHLD may be among them
}
#endif

static double times[1000000];

static void figures(const char *name, int n) {
	sort(times, n);
	printf("%-22s p50 %5.0f ns, p99 %5.0f ns, p99.9 %6.0f ns\n", name, times[n / 2] * 1e9, times[n / 100 * 99] * 1e9,
		times[n / 1000 * 999] * 1e9);
}

// bench measures what a call costs the host, the clock's reading included, which is measured as well.
static void bench(void) {
	enum { lines = 200000 };
	static const char text[120] = "A line of the game with some words, a name like Pawn_4711 and a number 42, as long as lines of games are, on average.";
	uint16_t wide[120];
	for (int i = 0; i < 120; i++) wide[i] = (uint16_t)text[i];
	uint8_t buf[1 << 16];
	uint64_t h = open_(NULL, 0);
	int64_t size;
	await(h, 65, &size);
	heed_counts c;
	for (int kind = 0; kind < 4; kind++) {
		static const char *names[] = {"clock", "push8", "push16", "poll, nothing there"};
		for (int i = 0; i < lines; i++) {
			double t = seconds();
			if (kind == 1) push8_(h, HEED_INFO, 1, 0, text, 120, NULL, 0, NULL, 0);
			if (kind == 2) push16_(h, HEED_INFO, 1, 0, wide, 120, NULL, 0, NULL, 0);
			if (kind == 3) poll_(h, buf, sizeof buf);
			times[i] = seconds() - t;
			if (kind > 0 && i % 1000 == 0) nap(); // as a game does, so that heed keeps up
		}
		if (kind == 2) flush(h);
		figures(names[kind], lines);
	}
	CHECK(stats_(h, &c, sizeof c) == 0);
	printf("%d lines queued, %d dropped, %d pushes woke heed\n", (int)c.queued, (int)c.dropped[HEED_INFO], (int)c.wakes);
	for (int i = 0; i < 100; i++) { // after a rest, heed has to be woken
		for (int k = 0; k < 150; k++) nap();
		double t = seconds();
		push8_(h, HEED_INFO, 1, 0, text, 120, NULL, 0, NULL, 0);
		times[i] = seconds() - t;
	}
	sort(times, 100);
	printf("push8 after 150 ms     p50 %5.0f ns, p99 %5.0f ns\n", times[50] * 1e9, times[98] * 1e9);
	for (int i = 0; i < 300; i++) {
		uint8_t q[32];
		int64_t n = query(q, 1, flush_query, NULL, 0);
		double t = seconds();
		CHECK(control_(h, q, n) == 1);
		for (int found = 0; !found;) {
			n = poll_(h, buf, sizeof buf);
			for (int64_t at = 0; at < n; at += 8 + (buf[at] | buf[at + 1] << 8)) found |= buf[at + 5] == answer;
		}
		times[i] = seconds() - t;
		if (i % 10 == 0) nap();
	}
	sort(times, 300);
	printf("query to answer        p50 %5.0f us, p99 %5.0f us\n", times[150] * 1e6, times[296] * 1e6);
}

int main(int argc, char **argv) {
	CHECK(argc >= 3);
	const char *mode = argv[2];
	int n = argc > 3 ? atoi(argv[3]) : 0;
	double before = seconds();
#if !defined(_WIN32)
	if (strcmp(mode, "signals") == 0) set_signals();
#endif
	load_heed(argv[1]);
	if (strcmp(mode, "surface") == 0) {
		surface();
	} else if (strcmp(mode, "full") == 0) {
		full();
	} else if (strcmp(mode, "cycles") == 0) {
		cycles(n);
	} else if (strcmp(mode, "panic") == 0) {
		panics(argv[3]);
	} else if (strcmp(mode, "bench") == 0) {
		int64_t size;
		handle = open_(NULL, 0);
		await(handle, 65, &size);
		printf("load to welcome: %.0f ms\n", (seconds() - before) * 1e3);
		bench();
	} else if (strcmp(mode, "exit") == 0) { // while threads push
		handle = open_(NULL, 0);
		for (int i = 0; i < 4; i++) thread(push_forever);
		for (int i = 0; i < n; i++) nap();
		return 3;
#if !defined(_WIN32)
	} else if (strcmp(mode, "signals") == 0) {
		signals();
	} else if (strcmp(mode, "crash") == 0) { // of the host, by a signal for which it has no handler
		handle = open_(NULL, 0);
		thread(push_forever);
		for (int i = 0; i < 50; i++) nap();
		char *volatile nowhere = NULL;
		if (n == SIGSEGV) *nowhere = 1;
		raise(n);
#endif
	} else {
		fail("no such mode");
	}
	return 0;
}
