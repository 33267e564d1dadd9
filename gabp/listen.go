package gabp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/heedlog/heed/internal/loopback"
)

// splitAddr returns the network and the address of "unix:PATH" or "HOST:PORT". It refuses a host that is not on the
// loopback interface.
func splitAddr(addr string) (network, address string, err error) {
	path, unix := strings.CutPrefix(addr, "unix:")
	switch _, _, err := net.SplitHostPort(addr); {
	case unix && path == "":
		return "", "", fmt.Errorf("gabp: address %q has no socket path", addr)
	case unix:
		return "unix", path, nil
	case err != nil:
		return "", "", fmt.Errorf("gabp: address %q: %w", addr, err)
	case !loopback.Is(addr):
		return "", "", fmt.Errorf("gabp: address %q is not on the loopback interface; use 127.0.0.1", addr)
	}
	return "tcp", addr, nil
}

// probeTimeout bounds the check whether a socket has a server.
const probeTimeout = time.Second

func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "unix", path)
	if errors.Is(err, syscall.EADDRINUSE) && abandoned(ctx, path) {
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("gabp: abandoned socket: %w", err)
		}
		l, err = lc.Listen(ctx, "unix", path)
	}
	if err != nil {
		return nil, fmt.Errorf("gabp: %w", err)
	}
	// Between Listen and Chmod others might connect if the directory lets them;
	// they still need the token.
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("gabp: %w", err)
	}
	return l, nil
}

// abandoned reports whether path is a socket without a server.
func abandoned(ctx context.Context, path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Type() != fs.ModeSocket {
		return false
	}
	d := net.Dialer{Timeout: probeTimeout}
	conn, err := d.DialContext(ctx, "unix", path)
	if err == nil {
		_ = conn.Close()
		return false
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}
