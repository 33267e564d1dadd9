//go:build !linux

package gabp

import "io"

// reader returns a reader of the stream, since only Linux acknowledges at once.
func reader(rwc io.ReadWriteCloser) io.Reader { return rwc }
