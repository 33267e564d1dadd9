//go:build !linux

package proc

import (
	"io/fs"
	"time"
)

// Writers returns when the earliest descendant of this process, and the earliest other process, was started that has a
// file open for writing: zeros, since this system has no such list.
func Writers(fs.FileInfo) (own, other time.Time) { return own, other }

// Written returns a name by which the file can be opened that a descendant of this process has open for writing as the
// log of path: "", since this system has no such list.
func Written(string) string { return "" }
