//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package gabp

// askUnread asks for the bytes that have arrived and were not read: FIONREAD, which is the same on all of them.
const askUnread = 0x4004667f

// quickAck does nothing: the systems have no such option.
func quickAck(int) {}
