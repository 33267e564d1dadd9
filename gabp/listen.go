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

// splitAddr returns the network and address of "unix:PATH" or "host:port".
func splitAddr(addr string) (network, address string) {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		return "unix", path
	}
	return "tcp", addr
}

// CheckAddr returns the error with which [Listen] and [Dial] refuse an address before
// they connect.
func CheckAddr(addr string) error {
	network, address := splitAddr(addr)
	switch {
	case network == "tcp":
		return checkLoopback(address)
	case address == "":
		return fmt.Errorf("gabp: address %q has no socket path", addr)
	}
	return nil
}

// checkLoopback refuses a host:port that is not on the loopback interface.
func checkLoopback(address string) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return fmt.Errorf("gabp: address %q: %w", address, err)
	}
	if !loopback.Is(address) {
		return fmt.Errorf("gabp: address %q is not on the loopback interface; use 127.0.0.1", address)
	}
	return nil
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
	// Between Listen and Chmod others might connect where the directory lets them;
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
