// Copyright 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0

//go:build cgo

// A handle is a slot of a static table, with a ring of bytes for what goes in and a list of chunks for what comes out.
//
// Threads of the host write the ring under in_lock, which no thread of Go takes: a thread of Go that is not scheduled
// holds no one up. Go's reader owns tail. A chunk goes out under out_lock, which heed_poll only tries.
// A handle ends by both locks: whoever holds one and finds its handle in the slot may use what the slot points to.

#include "ring.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(_WIN32)
#include <windows.h>
#else
#include <pthread.h>
#endif

enum {
	slots_max = 64,
	text_max = 64 << 10,  // bytes kept of a message, and of a stack
	operation_max = 1024, // units kept of the id of an operation
	note_max = 128,       // bytes of a frame `dropped`, at most
	head_size = 8,
	levels = 6,
	// How the reader waits, so that pushes need not wake it: naps of 1 ms for 100 ms, then of 4 ms for 10 s. A push that
	// comes after that wakes it, with a system call.
	short_naps = 100,
	all_naps = 2600,
	spins_max = 100,
};

#define FRAME_MAX (INT64_C(1) << 20)
#define HELLO_MAX (INT64_C(64) << 20)

// Types of frames.
enum { frame_hello = 1, frame_log = 2, frame_dropped = 5 };

// Locks, and events: a wake is kept until the one that waits has seen it.

#if defined(_WIN32)

typedef SRWLOCK lock_t;
#define LOCK_INIT SRWLOCK_INIT
static int try_lock(lock_t *l) { return TryAcquireSRWLockExclusive(l) != 0; }
static void wait_lock(lock_t *l) { AcquireSRWLockExclusive(l); }
static void unlock(lock_t *l) { ReleaseSRWLockExclusive(l); }

typedef struct {
	HANDLE event, timer; // without a timer of high resolution, there are no naps
} event_t;

static void event_init(event_t *e) {
	e->event = CreateEventW(NULL, FALSE, FALSE, NULL);
	e->timer = CreateWaitableTimerExW(NULL, NULL, 2 /* CREATE_WAITABLE_TIMER_HIGH_RESOLUTION */, TIMER_ALL_ACCESS);
}

// event_naps reports whether event_wait can wait for some milliseconds, 0 of which are for ever.
static int event_naps(event_t *e) { return e->timer != NULL; }

static void event_wait(event_t *e, int ms) {
	if (ms > 0) {
		LARGE_INTEGER due = {.QuadPart = -10000 * ms};
		HANDLE both[2] = {e->event, e->timer};
		if (SetWaitableTimer(e->timer, &due, 0, NULL, NULL, FALSE)) {
			WaitForMultipleObjects(2, both, FALSE, INFINITE);
			return;
		}
	}
	WaitForSingleObject(e->event, INFINITE);
}

static void event_wake(event_t *e) { SetEvent(e->event); }

static int64_t now(void) {
	FILETIME t;
	GetSystemTimePreciseAsFileTime(&t);
	uint64_t ticks = (uint64_t)t.dwHighDateTime << 32 | t.dwLowDateTime; // of 100 ns, since 1601
	return (int64_t)(ticks - UINT64_C(116444736000000000)) * 100;
}

static void stay_loaded(void) {
	HMODULE self;
	GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
		(LPCWSTR)(uintptr_t)&stay_loaded, &self);
}

#else

typedef pthread_mutex_t lock_t;
#define LOCK_INIT PTHREAD_MUTEX_INITIALIZER
static int try_lock(lock_t *l) { return pthread_mutex_trylock(l) == 0; }
static void wait_lock(lock_t *l) { pthread_mutex_lock(l); }
static void unlock(lock_t *l) { pthread_mutex_unlock(l); }

typedef struct {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	int woken;
} event_t;

static void event_init(event_t *e) {
	pthread_condattr_t attr;
	pthread_mutex_init(&e->lock, NULL);
	pthread_condattr_init(&attr);
#if !defined(__APPLE__)
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
#endif
	pthread_cond_init(&e->cond, &attr);
	pthread_condattr_destroy(&attr);
}

static int event_naps(event_t *e) { (void)e; return 1; }

static void event_wait(event_t *e, int ms) {
	pthread_mutex_lock(&e->lock);
	if (!e->woken && ms > 0) {
		struct timespec due = {0, 1000000 * ms};
#if defined(__APPLE__)
		pthread_cond_timedwait_relative_np(&e->cond, &e->lock, &due);
#else
		clock_gettime(CLOCK_MONOTONIC, &due);
		if ((due.tv_nsec += 1000000 * ms) >= 1000000000) due.tv_sec++, due.tv_nsec -= 1000000000;
		pthread_cond_timedwait(&e->cond, &e->lock, &due);
#endif
	} else if (!e->woken) {
		pthread_cond_wait(&e->cond, &e->lock);
	}
	e->woken = 0;
	pthread_mutex_unlock(&e->lock);
}

static void event_wake(event_t *e) {
	pthread_mutex_lock(&e->lock);
	e->woken = 1;
	pthread_cond_signal(&e->cond);
	pthread_mutex_unlock(&e->lock);
}

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void stay_loaded(void) {} // the linker says so in the library

#endif

static void lock(lock_t *l) {
	for (int i = 0; i < spins_max; i++) {
		if (try_lock(l)) return;
#if defined(__x86_64__)
		__builtin_ia32_pause();
#endif
	}
	wait_lock(l);
}

// chunk is whole frames that wait to be polled.
typedef struct chunk {
	struct chunk *next;
	int64_t size, at; // at: what is before it was polled
	uint8_t bytes[];
} chunk;

// How Go's reader waits: not at all, for a nap, or until it is woken.
enum { awake, napping, asleep };

typedef struct {
	lock_t in_lock;
	_Atomic uint64_t handle; // 0: none
	uint8_t *ring;
	uint64_t size; // of the ring, a power of two
	uint64_t free_to; // what head may become, as far as was seen
	heed_counts counts;
	_Atomic uint64_t head; // what is written
	_Atomic uint64_t missing[levels], missing_bytes; // dropped, and not yet reported

	_Alignas(64) _Atomic uint64_t tail; // what is read
	_Atomic int32_t reader, reading; // reading: how many are in heed_go_read
	uint64_t whole;         // of the reader: a head that it saw, where a frame begins
	const uint8_t *before;  // of the reader: what it reads before more of the ring
	int64_t before_size;
	int naps;
	uint8_t note[note_max];
	uint8_t *hello;

	_Alignas(64) lock_t out_lock;
	_Atomic int64_t out_used;
	int64_t out_max;
	chunk *out, **out_end;
	_Atomic int32_t writer_waits, state, closing;
	int64_t error_length;
	char error[1024];

	_Atomic uint64_t serving; // the handle, until it is released
	event_t input, output, closed;
	int known, in_use, wanted; // of the table's lock; known: has events; wanted: opened, and not served yet
} slot;

static slot slots[slots_max] = {[0 ... slots_max - 1] = {.in_lock = LOCK_INIT, .out_lock = LOCK_INIT}};
static lock_t table_lock = LOCK_INIT;
static event_t opened;
static int ready;
static uint64_t generations;

// table locks the table, which it prepares at first.
static void table(void) {
	lock(&table_lock);
	if (ready) return;
	ready = 1;
	event_init(&opened);
	stay_loaded();
}

static slot *of(uint64_t handle) { return &slots[handle % slots_max]; }

static int held(slot *s, uint64_t handle) { return handle != 0 && atomic_load(&s->handle) == handle; }

// acquire locks the slot of a handle, unless the handle is refused.
static slot *acquire(uint64_t handle, int out) {
	slot *s = of(handle);
	if (!held(s, handle)) return NULL;
	lock_t *l = out ? &s->out_lock : &s->in_lock;
	lock(l);
	if (held(s, handle)) return s;
	unlock(l);
	return NULL;
}

// Encoding.

static uint8_t *number(uint8_t *p, uint64_t n) {
	for (; n >= 0x80; n >>= 7) *p++ = (uint8_t)n | 0x80;
	*p++ = (uint8_t)n;
	return p;
}

static uint8_t *little(uint8_t *p, uint64_t n, int bytes) {
	for (; bytes > 0; bytes--, n >>= 8) *p++ = (uint8_t)n;
	return p;
}

static uint8_t *when(uint8_t *p, int64_t t) {
	int64_t s = t / 1000000000, ns = t % 1000000000;
	if (ns < 0) s--, ns += 1000000000;
	return number(little(p, (uint64_t)s, 8), (uint64_t)ns);
}

static uint8_t *head_of(uint8_t *p, int64_t size, int type) {
	return little(little(little(little(p, (uint64_t)size, 4), 1, 1), (uint64_t)type, 1), 0, 2);
}

// frame_size returns the size of the frame that begins at p, its head included, 0 where there is none.
static int64_t frame_size(const uint8_t *p, int64_t n) {
	if (n < head_size || p[4] != 1 || p[6] != 0 || p[7] != 0) return 0;
	int64_t size = (int64_t)p[0] | (int64_t)p[1] << 8 | (int64_t)p[2] << 16 | (int64_t)p[3] << 24;
	return size > HELLO_MAX || size > n - head_size ? 0 : size + head_size;
}

// utf8 writes UTF-16 as UTF-8, with a replacement for what is no character. dst has room for three bytes a unit.
static int64_t utf8(uint8_t *dst, const uint16_t *src, int64_t n) {
	uint8_t *p = dst;
	for (int64_t i = 0; i < n; i++) {
		uint32_t c = src[i];
		if (c - 0xD800 < 0x400 && i + 1 < n && src[i + 1] - 0xDC00u < 0x400) {
			c = 0x10000 + ((c - 0xD800) << 10) + (src[++i] - 0xDC00u);
		} else if (c - 0xD800 < 0x800) {
			c = 0xFFFD;
		}
		if (c < 0x80) {
			*p++ = (uint8_t)c;
			continue;
		}
		if (c < 0x800) {
			*p++ = (uint8_t)(0xC0 | c >> 6);
		} else {
			if (c < 0x10000) {
				*p++ = (uint8_t)(0xE0 | c >> 12);
			} else {
				*p++ = (uint8_t)(0xF0 | c >> 18);
				*p++ = (uint8_t)(0x80 | (c >> 12 & 0x3F));
			}
			*p++ = (uint8_t)(0x80 | (c >> 6 & 0x3F));
		}
		*p++ = (uint8_t)(0x80 | (c & 0x3F));
	}
	return p - dst;
}

// kept returns how many of n units of a text are kept where max are, so that no character is cut in two.
static int64_t kept(const void *text, int64_t n, int64_t max, int wide) {
	if (n <= max) return n;
	if (wide) {
		return max - (((const uint16_t *)text)[max - 1] >> 10 == 0xD800 >> 10);
	}
	const uint8_t *p = text;
	int64_t at = max;
	while (at > max - 4 && p[at] >> 6 == 2) at--;
	return p[at] >> 6 == 2 ? max : at;
}

// missed writes a frame of what was dropped and not reported, if there is any; returns its size.
static int64_t missed(slot *s, uint8_t *to) {
	uint64_t n[levels], sum = 0;
	for (int i = 0; i < levels; i++) {
		n[i] = atomic_load_explicit(&s->missing[i], memory_order_relaxed);
		if (n[i] != 0) n[i] = atomic_exchange(&s->missing[i], 0);
		sum += n[i];
	}
	if (sum == 0) return 0;
	uint8_t *p = number(when(to + head_size, now()), 1);
	for (int i = 0; i < levels; i++) p = number(p, n[i]);
	p = number(number(p, 0), atomic_exchange(&s->missing_bytes, 0));
	head_of(to, p - to - head_size, frame_dropped);
	return p - to;
}

// The ring. What follows, up to the surface, is called with in_lock held.

// room reports whether n bytes fit, so that at most max are used.
static int room(slot *s, uint64_t head, uint64_t n, uint64_t max) {
	uint64_t over = s->size - max; // of a limit below the ring's size
	if (s->free_to - head >= n + over && s->free_to - head <= s->size) return 1;
	s->free_to = atomic_load_explicit(&s->tail, memory_order_acquire) + s->size;
	return s->free_to - head >= n + over;
}

static uint64_t put(slot *s, uint64_t at, const void *from, uint64_t n) {
	uint64_t i = at & (s->size - 1), first = s->size - i;
	if (n == 0) return at;
	if (n <= first) {
		memcpy(s->ring + i, from, n);
	} else {
		memcpy(s->ring + i, from, first);
		memcpy(s->ring, (const uint8_t *)from + first, n - first);
	}
	return at + n;
}

// wake wakes the reader where it waits so: a line lets it have its naps.
static void wake(slot *s, int32_t least, uint64_t *count) {
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&s->reader, memory_order_relaxed) < least) return;
	if (atomic_exchange(&s->reader, awake) < least) return;
	if (count != NULL) ++*count;
	event_wake(&s->input);
}

static int32_t push(uint64_t handle, int32_t level, uint64_t thread, int64_t time, const void *message, int64_t nm,
	const void *stack, int64_t ns, const void *operation, int64_t no, int wide) {
	if (nm < 0 || ns < 0 || no < 0 || (nm > 0 && !message) || (ns > 0 && !stack) || (no > 0 && !operation)) {
		return HEED_INVALID;
	}
	if (nm > INT64_MAX / 2 || ns > INT64_MAX / 2) return HEED_INVALID;
	if (level < 0 || level >= levels) level = HEED_UNKNOWN;
	if (time == 0) time = now();

	int64_t km = kept(message, nm, text_max >> wide, wide), ks = kept(stack, ns, text_max >> wide, wide);
	uint64_t bm = (uint64_t)km << wide, bs = (uint64_t)ks << wide;
	uint8_t id[3 * operation_max];
	int64_t ko = kept(operation, no, operation_max, wide);
	if (wide) {
		ko = utf8(id, operation, ko);
		operation = id;
	}
	uint8_t a[64], b[32], c[8], line[16];
	uint8_t *pa = number(number(number(number(when(a, time), (uint64_t)level), (uint64_t)wide), thread), (uint64_t)ko);
	uint8_t *pb = number(number(number(b, (uint64_t)(nm - km) << wide), (uint64_t)(ns - ks) << wide), bm);
	uint8_t *pc = number(c, bs);
	uint64_t size = (uint64_t)((pa - a) + ko + (pb - b) + (pc - c)) + bm + bs;

	slot *s = acquire(handle, 0);
	if (s == NULL) return HEED_REFUSED;
	uint8_t *pl = number(line, ++s->counts.pushed);
	size += (uint64_t)(pl - line);
	uint64_t eighth = s->size / 8;
	uint64_t max = level >= HEED_ERROR ? 7 * eighth : level == HEED_WARNING ? 6 * eighth : 5 * eighth;
	uint64_t at = atomic_load_explicit(&s->head, memory_order_relaxed);
	int over = atomic_load_explicit(&s->state, memory_order_relaxed) >= HEED_OVER;
	if (over || !room(s, at, head_size + size, max)) {
		s->counts.dropped[level]++;
		s->counts.dropped_bytes += (uint64_t)(nm + ns) << wide;
		atomic_fetch_add_explicit(&s->missing_bytes, (uint64_t)(nm + ns) << wide, memory_order_relaxed);
		atomic_fetch_add(&s->missing[level], 1);
		wake(s, asleep, &s->counts.wakes);
		unlock(&s->in_lock);
		return over ? HEED_ENDED : 0;
	}
	uint8_t head[head_size];
	head_of(head, (int64_t)size, frame_log);
	at = put(s, at, head, head_size);
	at = put(s, at, line, (uint64_t)(pl - line));
	at = put(s, at, a, (uint64_t)(pa - a));
	at = put(s, at, operation, (uint64_t)ko);
	at = put(s, at, b, (uint64_t)(pb - b));
	at = put(s, at, message, bm);
	at = put(s, at, c, (uint64_t)(pc - c));
	at = put(s, at, stack, bs);
	atomic_store_explicit(&s->head, at, memory_order_release);
	s->counts.queued++;
	s->counts.cut += km < nm || ks < ns;
	wake(s, asleep, &s->counts.wakes);
	unlock(&s->in_lock);
	return 1;
}

// The surface.

uint64_t heed_open(const heed_options *options, int64_t size) {
	// Client "heed", no process, rules "unity", and nothing else.
	static const uint8_t unity[head_size + 24] = {24, 0, 0, 0, 1, frame_hello, 0, 0, 4, 'h', 'e', 'e', 'd', 0, 5, 'u', 'n',
		'i', 't', 'y'};
	heed_options o = {0};
	if (size < 0) return 0;
	if (options != NULL) memcpy(&o, options, (size_t)size < sizeof o ? (size_t)size : sizeof o);
	if (o.hello == NULL) o.hello = unity, o.hello_bytes = sizeof unity;
	if (o.ring_bytes == 0) o.ring_bytes = 4 << 20;
	if (o.output_bytes == 0) o.output_bytes = 1 << 20;
	if (o.ring_bytes < 256 << 10 || o.ring_bytes > 64 << 20 || (o.ring_bytes & (o.ring_bytes - 1)) != 0 ||
		o.output_bytes < 64 << 10 || o.output_bytes > 64 << 20 ||
		frame_size(o.hello, o.hello_bytes) != o.hello_bytes || ((const uint8_t *)o.hello)[5] != frame_hello) {
		return 0;
	}
	uint8_t *ring = malloc((size_t)o.ring_bytes), *hello = malloc((size_t)o.hello_bytes);
	if (ring == NULL || hello == NULL) {
		free(ring);
		free(hello);
		return 0;
	}
	memcpy(hello, o.hello, (size_t)o.hello_bytes);

	uint64_t handle = 0;
	table();
	for (int i = 0; i < slots_max && handle == 0; i++) {
		slot *s = &slots[i];
		if (s->in_use) continue;
		s->in_use = 1;
		if (!s->known) {
			s->known = 1;
			event_init(&s->input);
			event_init(&s->output);
			event_init(&s->closed);
		}
		handle = ++generations * slots_max + (uint64_t)i;
		// Nobody uses the slot: its last handle was released, and the new one is not known yet.
		s->ring = ring;
		s->size = s->free_to = (uint64_t)o.ring_bytes;
		memset(&s->counts, 0, sizeof s->counts);
		for (int l = 0; l < levels; l++) atomic_store(&s->missing[l], 0);
		atomic_store(&s->missing_bytes, 0);
		atomic_store(&s->head, 0);
		atomic_store(&s->tail, 0);
		atomic_store(&s->reader, awake);
		s->whole = 0;
		s->before = s->hello = hello;
		s->before_size = o.hello_bytes;
		s->naps = 0;
		s->out_max = o.output_bytes;
		s->out = NULL;
		s->out_end = &s->out;
		atomic_store(&s->out_used, 0);
		atomic_store(&s->writer_waits, 0);
		atomic_store(&s->state, HEED_OPENING);
		atomic_store(&s->closing, 0);
		s->error_length = 0;
		s->wanted = 1;
		atomic_store(&s->serving, handle);
		atomic_store(&s->handle, handle);
	}
	unlock(&table_lock);
	if (handle == 0) {
		free(ring);
		free(hello);
		return 0;
	}
	event_wake(&opened);
	return handle;
}

int32_t heed_push8(uint64_t handle, int32_t level, uint64_t thread, int64_t time, const char *message,
	int64_t message_length, const char *stack, int64_t stack_length, const char *operation, int64_t operation_length) {
	return push(handle, level, thread, time, message, message_length, stack, stack_length, operation, operation_length, 0);
}

int32_t heed_push16(uint64_t handle, int32_t level, uint64_t thread, int64_t time, const uint16_t *message,
	int64_t message_length, const uint16_t *stack, int64_t stack_length, const uint16_t *operation,
	int64_t operation_length) {
	return push(handle, level, thread, time, message, message_length, stack, stack_length, operation, operation_length, 1);
}

int32_t heed_control(uint64_t handle, const void *frames, int64_t bytes) {
	const uint8_t *p = frames;
	if (p == NULL || bytes <= 0) return HEED_INVALID;
	for (int64_t at = 0, n; at < bytes; at += n) {
		n = frame_size(p + at, bytes - at);
		if (n == 0 || n - head_size > FRAME_MAX || p[at + 5] == frame_hello) return HEED_INVALID;
	}
	slot *s = acquire(handle, 0);
	if (s == NULL) return HEED_REFUSED;
	uint64_t at = atomic_load_explicit(&s->head, memory_order_relaxed);
	int32_t result = 1;
	if (atomic_load(&s->state) >= HEED_OVER) {
		result = HEED_ENDED;
	} else if ((uint64_t)bytes + note_max > s->size) {
		result = HEED_LARGE;
	} else if (!room(s, at, (uint64_t)bytes + note_max, s->size)) {
		result = HEED_FULL;
	} else {
		uint8_t note[note_max];
		at = put(s, at, note, (uint64_t)missed(s, note)); // what was dropped before comes before
		at = put(s, at, p, (uint64_t)bytes);
		atomic_store_explicit(&s->head, at, memory_order_release);
		s->counts.control++;
		wake(s, napping, NULL);
	}
	unlock(&s->in_lock);
	return result;
}

int64_t heed_poll(uint64_t handle, void *buffer, int64_t capacity) {
	slot *s = of(handle);
	if (!held(s, handle)) return HEED_REFUSED;
	if (atomic_load(&s->out_used) == 0) {
		int over = atomic_load(&s->state) >= HEED_OVER;
		return over && atomic_load(&s->out_used) == 0 ? HEED_ENDED : 0;
	}
	if (buffer == NULL || capacity < 0) return HEED_INVALID;
	if (!try_lock(&s->out_lock)) return 0; // what waits is polled next time
	if (!held(s, handle)) {
		unlock(&s->out_lock);
		return HEED_REFUSED;
	}
	int64_t copied = 0, needed = 0;
	chunk *c, *done = NULL;
	while (needed == 0 && (c = s->out) != NULL) {
		int64_t n = c->size - c->at;
		if (n > capacity - copied) { // of this chunk, the frames that fit
			int64_t frame;
			for (n = 0; frame = frame_size(c->bytes + c->at + n, c->size - c->at - n), copied + n + frame <= capacity;) {
				n += frame;
			}
			needed = frame;
		}
		memcpy((uint8_t *)buffer + copied, c->bytes + c->at, (size_t)n);
		c->at += n;
		copied += n;
		if (c->at == c->size) {
			s->out = c->next;
			if (s->out == NULL) s->out_end = &s->out;
			c->next = done;
			done = c;
		}
	}
	int64_t used = atomic_fetch_sub(&s->out_used, copied) - copied;
	if (used <= s->out_max / 2 && atomic_load(&s->writer_waits)) event_wake(&s->output);
	unlock(&s->out_lock);
	for (; done != NULL; done = c) {
		c = done->next;
		free(done);
	}
	return copied > 0 ? copied : -needed;
}

int32_t heed_stats(uint64_t handle, heed_counts *counts, int64_t size) {
	if (counts == NULL || size < 0) return HEED_INVALID;
	slot *s = acquire(handle, 0);
	if (s == NULL) return HEED_REFUSED;
	heed_counts c = s->counts;
	c.ring_used = atomic_load(&s->head) - atomic_load(&s->tail);
	c.output_used = (uint64_t)atomic_load(&s->out_used);
	unlock(&s->in_lock);
	if ((size_t)size > sizeof c) memset((uint8_t *)counts + sizeof c, 0, (size_t)size - sizeof c);
	memcpy(counts, &c, (size_t)size < sizeof c ? (size_t)size : sizeof c);
	return 0;
}

int32_t heed_state(uint64_t handle) {
	slot *s = of(handle);
	int32_t state = atomic_load(&s->state);
	return held(s, handle) ? state : HEED_REFUSED;
}

int64_t heed_error(uint64_t handle, char *buffer, int64_t capacity) {
	slot *s = acquire(handle, 1);
	if (s == NULL) return HEED_REFUSED;
	int64_t n = s->error_length;
	if (buffer != NULL && capacity > 0) {
		int64_t fits = kept(s->error, n, n < capacity ? n : capacity - 1, 0);
		memcpy(buffer, s->error, (size_t)fits);
		buffer[fits] = 0;
	}
	unlock(&s->out_lock);
	return n;
}

int32_t heed_close(uint64_t handle) {
	slot *s = acquire(handle, 0);
	if (s == NULL) return HEED_REFUSED;
	lock(&s->out_lock);
	atomic_store(&s->closing, 1);
	atomic_store(&s->handle, 0);
	unlock(&s->out_lock);
	unlock(&s->in_lock);
	event_wake(&s->input);
	event_wake(&s->output);
	event_wake(&s->closed);
	return 0;
}

// For threads of Go.

uint64_t heed_go_next(void) {
	for (;;) {
		table();
		for (int i = 0; i < slots_max; i++) {
			slot *s = &slots[i];
			if (!s->wanted) continue;
			s->wanted = 0;
			unlock(&table_lock);
			return atomic_load(&s->serving);
		}
		unlock(&table_lock);
		event_wait(&opened, 0);
	}
}

// ended reports whether nothing is to be read or written for the handle any more.
static int ended(slot *s, uint64_t handle) {
	return atomic_load(&s->serving) != handle || atomic_load(&s->closing) || atomic_load(&s->state) >= HEED_OVER;
}

// rest waits for input.
static void rest(slot *s, uint64_t handle) {
	int nap = s->naps < all_naps && event_naps(&s->input);
	atomic_store(&s->reader, nap ? napping : asleep);
	int quiet = atomic_load(&s->head) == atomic_load(&s->tail) && !ended(s, handle);
	for (int i = 0; i < levels; i++) quiet = quiet && atomic_load(&s->missing[i]) == 0;
	if (quiet) event_wait(&s->input, !nap ? 0 : s->naps < short_naps ? 1 : 4);
	atomic_store(&s->reader, awake);
	if (nap) s->naps++;
}

// take is heed_go_read. After a panic, a reader of before may be in it until it finds that it ended.
static int64_t take(slot *s, uint64_t handle, void *buffer, int64_t capacity) {
	for (; capacity > 0 && !ended(s, handle); rest(s, handle)) {
		uint64_t tail = atomic_load_explicit(&s->tail, memory_order_relaxed);
		if (s->before_size == 0 && tail == s->whole) {
			s->before = s->note;
			s->before_size = missed(s, s->note);
			s->whole = atomic_load_explicit(&s->head, memory_order_acquire);
		}
		int64_t n = s->before_size;
		if (n > 0) {
			n = n < capacity ? n : capacity;
			memcpy(buffer, s->before, (size_t)n);
			s->before += n;
			s->before_size -= n;
			return n;
		}
		if (tail == s->whole) continue;
		uint64_t i = tail & (s->size - 1);
		n = (int64_t)(s->whole - tail);
		if (n > (int64_t)(s->size - i)) n = (int64_t)(s->size - i);
		if (n > capacity) n = capacity;
		memcpy(buffer, s->ring + i, (size_t)n);
		atomic_store_explicit(&s->tail, tail + (uint64_t)n, memory_order_release);
		s->naps = 0;
		return n;
	}
	return 0;
}

int64_t heed_go_read(uint64_t handle, void *buffer, int64_t capacity) {
	slot *s = of(handle);
	atomic_fetch_add(&s->reading, 1);
	int64_t n = take(s, handle, buffer, capacity);
	atomic_fetch_sub(&s->reading, 1);
	if (n == 0) event_wake(&s->closed);
	return n;
}

int32_t heed_go_write(uint64_t handle, const void *frames, int64_t bytes) {
	for (int64_t at = 0, n; at < bytes; at += n) {
		n = frame_size((const uint8_t *)frames + at, bytes - at);
		if (n == 0) return HEED_INVALID;
	}
	chunk *c = malloc(sizeof *c + (size_t)bytes);
	if (c == NULL) return HEED_FULL;
	c->next = NULL;
	c->size = bytes;
	c->at = 0;
	memcpy(c->bytes, frames, (size_t)bytes);
	slot *s = of(handle);
	for (;; event_wait(&s->output, 0)) {
		lock(&s->out_lock);
		atomic_store(&s->writer_waits, 0);
		int over = ended(s, handle);
		int64_t used = atomic_load(&s->out_used);
		if (!over && (used == 0 || used + bytes <= s->out_max)) {
			*s->out_end = c;
			s->out_end = &c->next;
			atomic_store(&s->out_used, used + bytes);
			unlock(&s->out_lock);
			return 0;
		}
		atomic_store(&s->writer_waits, !over);
		unlock(&s->out_lock);
		if (over) {
			free(c);
			return HEED_REFUSED;
		}
	}
}

void heed_go_state(uint64_t handle, int32_t state, const char *error, int64_t length) {
	slot *s = of(handle);
	lock(&s->out_lock);
	if (atomic_load(&s->serving) == handle && atomic_load(&s->state) < HEED_OVER) {
		s->error_length = kept(error, length, (int64_t)sizeof s->error, 0);
		memcpy(s->error, error, (size_t)s->error_length);
		atomic_store(&s->state, state);
	}
	unlock(&s->out_lock);
	event_wake(&s->input);
	event_wake(&s->output);
}

void heed_go_release(uint64_t handle) {
	slot *s = of(handle);
	while (!atomic_load(&s->closing)) event_wait(&s->closed, 0);
	lock(&s->in_lock);
	lock(&s->out_lock);
	atomic_store(&s->serving, 0);
	chunk *c = s->out;
	s->out = NULL;
	unlock(&s->out_lock);
	unlock(&s->in_lock);
	while (atomic_load(&s->reading) != 0) event_wait(&s->closed, 0);
	for (chunk *next; c != NULL; c = next) {
		next = c->next;
		free(c);
	}
	free(s->ring);
	free(s->hello);
	s->ring = s->hello = NULL;
	table();
	s->in_use = 0;
	unlock(&table_lock);
}
