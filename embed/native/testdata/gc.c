// Copyright 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0
//
// gc LIBRARY COLLECTIONS: a host with a conservative collector that stops threads by signals, as Unity's does. Threads
// build trees, push lines, and check their trees while the collector runs; as threads of Mono, they have a stack for
// signals. An object that was collected too early is overwritten, or the process crashes.
#define GC_THREADS
#include <gc.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "host.h"

enum { threads = 6, depth = 8 };

typedef struct node {
	struct node *left, *right;
	uint64_t value, check;
} node;

static uint64_t handle;
static atomic_int stop;
static atomic_ulong pushed, checked;

static uint64_t mixed(uint64_t v) { return (v ^ 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9; }

static node *tree(int levels, uint64_t value) {
	node *n = GC_MALLOC(sizeof *n);
	n->value = value;
	n->check = mixed(value);
	if (levels > 0) {
		n->left = tree(levels - 1, 2 * value);
		n->right = tree(levels - 1, 2 * value + 1);
	}
	return n;
}

static void verify(const node *n, int levels, uint64_t value) {
	CHECK(n != NULL && n->value == value && n->check == mixed(value));
	if (levels == 0) return;
	verify(n->left, levels - 1, 2 * value);
	verify(n->right, levels - 1, 2 * value + 1);
}

static void *work(void *arg) {
	stack_t signals = {.ss_sp = malloc(64 << 10), .ss_size = 64 << 10};
	CHECK(sigaltstack(&signals, NULL) == 0);
	uint64_t value = (uint64_t)(uintptr_t)arg;
	node *kept = tree(depth, value);
	while (!atomic_load(&stop)) {
		node *n = tree(depth - 3, value);
		char text[200];
		int length = snprintf(text, sizeof text, "thread %d built a tree at %p, NullReferenceException: no", (int)value, (void *)n);
		atomic_fetch_add(&pushed, push8_(handle, 2 + (int)(value % 3), value, 0, text, length, NULL, 0, NULL, 0) == 1);
		uint8_t buf[4096];
		poll_(handle, buf, sizeof buf);
		verify(n, depth - 3, value);
		verify(kept, depth, value);
		atomic_fetch_add(&checked, 1);
	}
	return NULL;
}

int main(int argc, char **argv) {
	CHECK(argc == 3);
	GC_INIT();
	GC_allow_register_threads(); // has the handlers of the collector installed
	load_heed(argv[1]);
	handle = open_(NULL, 0);
	CHECK(handle != 0);
	pthread_t t[threads];
	for (int i = 0; i < threads; i++) CHECK(pthread_create(&t[i], NULL, work, (void *)(uintptr_t)(i + 1)) == 0);
	unsigned long last = GC_get_gc_no() + strtoul(argv[2], NULL, 10), before = GC_get_gc_no();
	while (GC_get_gc_no() < last) {
		GC_gcollect();
		nap();
	}
	atomic_store(&stop, 1);
	for (int i = 0; i < threads; i++) pthread_join(t[i], NULL);
	heed_counts c;
	CHECK(stats_(handle, &c, sizeof c) == 0 && c.queued == pushed && state_(handle) == HEED_RUNNING);
	flush(handle);
	printf("%lu collections, %lu lines, %lu trees checked\n", (unsigned long)GC_get_gc_no() - before, pushed, checked);
	return 0;
}
