//go:build cgo

package main

// #cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror -fvisibility=hidden
// #cgo noescape heed_go_read
// #cgo nocallback heed_go_read
// #cgo noescape heed_go_write
// #cgo nocallback heed_go_write
// #include "ring.h"
import "C"

import (
	"fmt"
	"io"
	"runtime"
	"unsafe"

	"github.com/heedlog/heed/internal/sidecar"
)

func init() {
	// The game needs the processors more, and the engine is one goroutine.
	runtime.GOMAXPROCS(min(2, runtime.NumCPU()))
	sidecar.LimitMemory()
	go func() {
		for {
			go serve(handle(C.heed_go_next()))
		}
	}()
}

// streams returns what a handle is served by.
var streams = func(h handle) (io.Reader, io.Writer) { return h, h }

// handle is an open handle, as a stream of frames in both directions.
type handle C.uint64_t

// Read waits for input. It ends when the handle is closed, or has failed.
func (h handle) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n := C.heed_go_read(C.uint64_t(h), unsafe.Pointer(&p[0]), C.int64_t(len(p)))
	if n == 0 {
		return 0, io.EOF
	}
	return int(n), nil
}

// Write queues whole frames for the host, and waits while it does not poll.
func (h handle) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if n := C.heed_go_write(C.uint64_t(h), unsafe.Pointer(&p[0]), C.int64_t(len(p))); n != 0 {
		return 0, fmt.Errorf("the output takes no more: %d", n)
	}
	return len(p), nil
}

func (h handle) state(state C.int32_t, text string) {
	C.heed_go_state(C.uint64_t(h), state, (*C.char)(unsafe.Pointer(unsafe.StringData(text))), C.int64_t(len(text)))
}

// serve serves a handle until the host closes it.
func serve(h handle) {
	defer C.heed_go_release(C.uint64_t(h))
	h.state(C.HEED_RUNNING, "")
	in, out := streams(h)
	err := sidecar.Serve(in, out, sidecar.Config{Program: "libheed " + sidecar.Version()})
	if err != nil {
		h.state(C.HEED_FAILED, err.Error())
		return
	}
	h.state(C.HEED_OVER, "")
}
