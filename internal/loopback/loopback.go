// Package loopback decides which hosts are this machine for certain.
package loopback

import (
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
