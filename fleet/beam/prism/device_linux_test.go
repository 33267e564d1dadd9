package prism

import (
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestLoopbackOnly holds that the port of Prism is one of the loopback device.
func TestLoopbackOnly(t *testing.T) {
	warning, err := Start(t.Context())
	require.NoError(t, err)
	defer func() { *jobopts.Endpoint = ""; alone.Store(false) }()
	if warning != nil && strings.Contains(warning.Error(), "not permitted") {
		t.Skip(warning)
	}
	require.NoError(t, warning)
	_, port, err := net.SplitHostPort(*jobopts.Endpoint)
	require.NoError(t, err)
	n, err := strconv.Atoi(port)
	require.NoError(t, err)
	fds, err := listening(n)
	require.NoError(t, err)
	require.Len(t, fds, 1)
	device, err := unix.GetsockoptString(fds[0], unix.SOL_SOCKET, unix.SO_BINDTODEVICE)
	require.NoError(t, err)
	require.Equal(t, "lo", device)
}
