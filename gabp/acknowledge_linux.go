package gabp

import (
	"io"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// acknowledging reads a TCP socket and acknowledges at once, without the usual delay of 40 ms: a peer that writes a
// frame in two parts may be made to wait for it by its system.
type acknowledging struct {
	io.Reader
	raw syscall.RawConn
}

// reader returns a reader of the stream.
func reader(rwc io.ReadWriteCloser) io.Reader {
	if tcp, ok := rwc.(*net.TCPConn); ok {
		if raw, err := tcp.SyscallConn(); err == nil {
			return acknowledging{tcp, raw}
		}
	}
	return rwc
}

func (a acknowledging) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	_ = a.raw.Control(func(fd uintptr) { // it works once; a closed socket has none
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1)
	})
	return n, err
}
