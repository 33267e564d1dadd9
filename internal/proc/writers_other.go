//go:build !linux

package proc

import "io/fs"

// Writers returns whether a descendant of this process, and whether any other process, has a file open for writing;
// twice false, since this system does not tell.
func Writers(fs.FileInfo) (own, other bool) { return false, false }

// Written returns a name by which the file can be opened that a descendant of this process has open for writing as the
// log of path: "", since this system does not tell.
func Written(string) string { return "" }
