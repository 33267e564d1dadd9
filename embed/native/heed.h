/*
 * Copyright 2026 The heed authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * heed.h: heed in the process of a game. What goes in and comes out are the frames of docs/embedding-unity.md.
 *
 * Every function may be called by any thread, several at once. None runs Go on the caller's thread, none calls back,
 * and none waits for heed: they touch a ring in memory that threads of heed's own drain. What is passed in is copied
 * before the call returns.
 *
 * The library stays loaded until the process ends. Load it after the runtime of the host (Mono) has set its signal
 * handlers, and do not fork without exec.
 */
#ifndef HEED_H
#define HEED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define HEED_API __declspec(dllexport)
#else
#define HEED_API __attribute__((visibility("default")))
#endif

/* What functions return where they did not do what they were called for. */
#define HEED_REFUSED (-1) /* the handle is closed, or was never one */
#define HEED_INVALID (-2) /* an argument is */
#define HEED_FULL    (-3) /* there is no room now; try later */
#define HEED_LARGE   (-4) /* there is never room for so much */
#define HEED_ENDED   (-5) /* this heed has ended or failed: heed_state and heed_error say which and why */

/* Levels, as in the frames. */
enum { HEED_UNKNOWN, HEED_DEBUG, HEED_INFO, HEED_WARNING, HEED_ERROR, HEED_FATAL };

/* What heed_state returns. */
enum { HEED_OPENING, HEED_RUNNING, HEED_OVER, HEED_FAILED };

/* How a handle is opened. Zero stands for the default of each. */
typedef struct heed_options {
	int64_t ring_bytes;   /* what waits for heed, at most; from 256 KiB to 64 MiB, a power of two; 0 for 4 MiB */
	int64_t output_bytes; /* what waits to be polled, before heed holds more back; from 64 KiB to 64 MiB; 0 for 1 MiB */
	const void *hello;    /* a whole frame `hello`; NULL for one with the default rules for Unity games */
	int64_t hello_bytes;
} heed_options;

/* What a handle counts. pushed = queued + the sum of dropped, of lines. */
typedef struct heed_counts {
	uint64_t pushed;        /* lines; the number of the latest */
	uint64_t queued;        /* lines that went into the ring */
	uint64_t dropped[6];    /* lines for which there was no room, by level */
	uint64_t dropped_bytes; /* their text */
	uint64_t cut;           /* lines of which a text was cut */
	uint64_t control;       /* calls of heed_control that were accepted */
	uint64_t wakes;         /* pushes that had to wake heed with a system call */
	uint64_t ring_used;     /* bytes that wait for heed now */
	uint64_t output_used;   /* bytes that wait to be polled now */
} heed_counts;

/*
 * Returns a handle, or 0 where there is no memory or too many are open (64). options may be NULL; size is
 * sizeof(heed_options). Lines may be pushed at once.
 */
HEED_API uint64_t heed_open(const heed_options *options, int64_t size);

/*
 * Push one line: 1 where it was queued, 0 where there was no room: then it is counted by level, and heed is told how
 * many are missing. From five eighths of the ring on, only warnings, errors and fatal lines are taken, from three
 * quarters on errors and fatal ones, from seven eighths on frames of heed_control alone. time is in nanoseconds since
 * 1970 (UTC), 0 for now. Lengths are in units: bytes of UTF-8, or units of UTF-16 (little endian). Of message and
 * stack, 65,536 bytes are kept each, and how much was cut is reported; of the operation, 1,024.
 */
HEED_API int32_t heed_push8(uint64_t handle, int32_t level, uint64_t thread, int64_t time, const char *message,
	int64_t message_length, const char *stack, int64_t stack_length, const char *operation, int64_t operation_length);
HEED_API int32_t heed_push16(uint64_t handle, int32_t level, uint64_t thread, int64_t time, const uint16_t *message,
	int64_t message_length, const uint16_t *stack, int64_t stack_length, const uint16_t *operation,
	int64_t operation_length);

/*
 * Hands over whole frames of any type but `hello`, in the order of the calls, pushes included: 1 where they were
 * queued, all of them or none. A host that writes frames `log` itself numbers them itself, and does not push.
 */
HEED_API int32_t heed_control(uint64_t handle, const void *frames, int64_t bytes);

/*
 * Takes as many whole frames as fit: the number of bytes; 0 where none waits, HEED_ENDED where none will come. Where
 * the next frame does not fit: minus its size, which is -8 or less and so none of the codes above.
 */
HEED_API int64_t heed_poll(uint64_t handle, void *buffer, int64_t capacity);

/* Fills in counts; size is sizeof(heed_counts). 0, or one of the codes above. */
HEED_API int32_t heed_stats(uint64_t handle, heed_counts *counts, int64_t size);

/* HEED_OPENING and so on, or HEED_REFUSED. */
HEED_API int32_t heed_state(uint64_t handle);

/*
 * Why a handle failed or ended, as UTF-8 with a zero at the end, as much of it as fits. Returns the length of the whole
 * text, 0 where there is none.
 */
HEED_API int64_t heed_error(uint64_t handle, char *buffer, int64_t capacity);

/*
 * Closes a handle. What waits in its ring and its output is discarded: to have all lines ingested, send the query
 * `flush` and poll its answer first. Returns at once; 0, or HEED_REFUSED.
 */
HEED_API int32_t heed_close(uint64_t handle);

#ifdef __cplusplus
}
#endif

#endif
