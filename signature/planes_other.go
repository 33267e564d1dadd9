//go:build !amd64 || purego

package signature

// planesOf returns the planes of the 1 to 64 bytes of s, and anything above.
func planesOf(s string) (n, x, y, z uint64) { return planesGo(s) }
