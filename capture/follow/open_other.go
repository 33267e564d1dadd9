//go:build !unix && !windows

package follow

import "os"

// openFile opens a file for reading.
func openFile(name string) (*os.File, error) { return os.Open(name) }

// fileID returns "": the identity of a file is not known.
func fileID(*os.File) string { return "" }
