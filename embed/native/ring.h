// Copyright 2026 The heed authors
// SPDX-License-Identifier: Apache-2.0
//
// ring.h: the other side of heed.h, for Go's own threads alone.
#ifndef HEED_RING_H
#define HEED_RING_H

#include "heed.h"

// heed_go_next waits until a handle was opened, and returns it.
uint64_t heed_go_next(void);

// heed_go_read waits for input and copies it: the number of bytes, 0 once the handle is closed or heed failed.
int64_t heed_go_read(uint64_t handle, void *buffer, int64_t capacity);

// heed_go_write queues whole frames for heed_poll, and waits while too much waits there. 0, or one of the codes.
int32_t heed_go_write(uint64_t handle, const void *frames, int64_t bytes);

// heed_go_state sets what heed_state and heed_error return. What is over or failed stays so.
void heed_go_state(uint64_t handle, int32_t state, const char *error, int64_t length);

// heed_go_release waits until the handle is closed and frees what it holds. Nobody may read it any more.
void heed_go_release(uint64_t handle);

#endif
