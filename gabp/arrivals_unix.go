//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package gabp

import (
	"errors"
	"io"
	"net"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// arrivals reads a socket and counts its bytes. One goroutine reads while others ask.
type arrivals struct {
	raw syscall.RawConn
	tcp bool

	mu   sync.Mutex // held for each look at the socket, so that no bytes are between it and the count
	read int64
}

// newArrivals returns nil for a stream that is no socket.
func newArrivals(rwc io.ReadWriteCloser) *arrivals {
	switch rwc.(type) {
	case *net.TCPConn, *net.UnixConn:
	default:
		return nil
	}
	raw, err := rwc.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil
	}
	_, tcp := rwc.(*net.TCPConn)
	return &arrivals{raw: raw, tcp: tcp}
}

// Read reads as the socket does, and acknowledges at once: a peer that writes a frame in two parts may be made to wait
// for it by its system.
func (a *arrivals) Read(p []byte) (n int, err error) {
	failed := a.raw.Read(func(fd uintptr) bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		for {
			if n, err = syscall.Read(int(fd), p); !errors.Is(err, syscall.EINTR) {
				break
			}
		}
		if errors.Is(err, syscall.EAGAIN) {
			return false
		}
		a.read += int64(max(n, 0))
		if a.tcp {
			quickAck(int(fd))
		}
		return true
	})
	switch {
	case failed != nil:
		return 0, failed
	case err != nil:
		return 0, err
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// taken returns how many bytes were read.
func (a *arrivals) taken() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.read
}

// position returns how many bytes have arrived, read or not.
func (a *arrivals) position() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	unread := 0
	_ = a.raw.Control(func(fd uintptr) { // a closed socket has none
		unread, _ = unix.IoctlGetInt(int(fd), askUnread)
	})
	return a.read + int64(max(unread, 0))
}
