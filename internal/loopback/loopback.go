// Package loopback decides which hosts are this machine for certain.
package loopback

import (
	"fmt"
	"net"
	"strings"
)

// Is reports whether a host, with or without a port, is this machine. Of names only localhost is: others may resolve to
// anything.
func Is(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// Split returns the network and the address of "unix:PATH" or "HOST:PORT". It refuses a host for which [Is] is false.
func Split(addr string) (network, address string, err error) {
	path, unix := strings.CutPrefix(addr, "unix:")
	switch _, _, err := net.SplitHostPort(addr); {
	case unix && path == "":
		return "", "", fmt.Errorf("address %q has no socket path", addr)
	case unix:
		return "unix", path, nil
	case err != nil:
		return "", "", fmt.Errorf("address %q: %w", addr, err)
	case !Is(addr):
		return "", "", fmt.Errorf("address %q is not on the loopback interface; use 127.0.0.1", addr)
	}
	return "tcp", addr, nil
}
