// Copyright 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0
//
// host.h: what hosts for tests share. The library is loaded as games load it, by its path.
#include "../heed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(_WIN32)
#include <windows.h>
static void *load(const char *path) { return (void *)LoadLibraryA(path); }
static void *find(void *lib, const char *name) { return (void *)(uintptr_t)GetProcAddress((HMODULE)lib, name); }
static void nap(void) { Sleep(1); }
static double seconds(void) {
	LARGE_INTEGER t, f;
	QueryPerformanceCounter(&t);
	QueryPerformanceFrequency(&f);
	return (double)t.QuadPart / (double)f.QuadPart;
}
#else
#include <dlfcn.h>
static void *load(const char *path) { return dlopen(path, RTLD_NOW); }
static void *find(void *lib, const char *name) { return dlsym(lib, name); }
static void nap(void) { nanosleep(&(struct timespec){0, 1000000}, NULL); }
static double seconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
#endif

#define FUNCTIONS(F) F(open) F(push8) F(push16) F(control) F(poll) F(stats) F(state) F(error) F(close)
#define POINTER(name) static __typeof__(&heed_##name) name##_;
FUNCTIONS(POINTER)

#define FIND(name)                                                                                                     \
	name##_ = (__typeof__(name##_))(uintptr_t)find(lib, "heed_" #name);                                                \
	if (name##_ == NULL) fail("no heed_" #name);

#define CHECK(condition)                                                                                               \
	do {                                                                                                               \
		if (!(condition)) fail(#condition);                                                                            \
	} while (0)
#define fail(what)                                                                                                     \
	do {                                                                                                               \
		fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, what);                                                      \
		exit(1);                                                                                                       \
	} while (0)

static inline void load_heed(const char *path) {
	void *lib = load(path);
	CHECK(lib != NULL);
	FUNCTIONS(FIND)
}

static inline int32_t push_text(uint64_t h, int level, const char *text) {
	return push8_(h, level, 1, 0, text, (int64_t)strlen(text), NULL, 0, NULL, 0);
}

// query writes a query of a kind whose fields are given, all below 128 bytes; returns its size.
static inline int64_t query(uint8_t *to, int id, int kind, const void *fields, int n) {
	uint8_t head[] = {(uint8_t)(n + 2), 0, 0, 0, 1, 8, 0, 0, (uint8_t)id, (uint8_t)kind};
	memcpy(to, head, sizeof head);
	if (n > 0) memcpy(to + sizeof head, fields, (size_t)n);
	return (int64_t)sizeof head + n;
}

enum { answer = 68, stats_query = 9, current_query = 1, flush_query = 13 };

static uint64_t last_progress, last_error; // of the frames: lines that were ingested; type of the frame at fault

static inline const uint8_t *varint(const uint8_t *p, uint64_t *n) {
	int shift = 0;
	for (*n = 0; *p >= 0x80; p++, shift += 7) *n |= (uint64_t)(*p & 0x7F) << shift;
	*n |= (uint64_t)*p << shift;
	return p + 1;
}

// await polls until a frame of a type came, for at most ten seconds, and returns its payload.
static inline const uint8_t *await(uint64_t h, int type, int64_t *size) {
	static uint8_t buf[1 << 20];
	for (double end = seconds() + 10; seconds() < end; nap()) {
		int64_t n = poll_(h, buf, sizeof buf);
		if (n < 0) {
			fprintf(stderr, "poll: %d\n", (int)n);
			fail("poll");
		}
		for (int64_t at = 0, payload; at < n; at += 8 + payload) {
			payload = (int64_t)buf[at] | (int64_t)buf[at + 1] << 8 | (int64_t)buf[at + 2] << 16;
			if (getenv("HEED_HOST_TRACE")) printf("frame %d, %d bytes\n", buf[at + 5], (int)payload);
			if (buf[at + 5] == 69) varint(varint(buf + at + 8, &last_progress), &last_progress);
			if (buf[at + 5] == 71) varint(buf + at + 8, &last_error);
			if (buf[at + 5] != type) continue;
			*size = payload;
			return buf + at + 8;
		}
	}
	fprintf(stderr, "no frame of type %d in 10 s, state %d\n", type, (int)state_(h));
	exit(1);
}

// flush waits until heed has ingested all that was pushed.
static inline void flush(uint64_t h) {
	uint8_t q[32];
	int64_t n = query(q, 7, flush_query, NULL, 0);
	int32_t queued;
	while ((queued = control_(h, q, n)) == HEED_FULL) nap();
	CHECK(queued == 1);
	await(h, answer, &n);
}

static inline void sort(double *v, int n) {
	int compare(const void *a, const void *b) {
		double x = *(const double *)a, y = *(const double *)b;
		return (x > y) - (x < y);
	}
	qsort(v, (size_t)n, sizeof *v, compare);
}
