//go:build unix

package live

import (
	"net"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// reserve returns a loopback address for a heed of the test to listen on. On Linux it is kept
// from whoever asks for any port, as other tests do all the time: a socket that is bound to it
// and does not listen, with SO_REUSEADDR, gives way only to one that asks for this very port with
// the same option, as listeners of Go do.
func reserve(t testing.TB) string {
	t.Helper()
	if runtime.GOOS != "linux" { // elsewhere the option means something else
		return testkit.Must(freePort())
	}
	fd := testkit.Must(syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0))
	syscall.CloseOnExec(fd)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	require.NoError(t, syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1))
	require.NoError(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	name := testkit.Must(syscall.Getsockname(fd))
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(name.(*syscall.SockaddrInet4).Port))
}
