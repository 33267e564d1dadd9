//go:build (!unix && !windows) || aix || solaris

package store

import (
	"io"
	"os"
)

// lock only makes the file: the standard library has no lock here that ends
// with the process. The host must see to it that a directory has one user.
func (osFS) lock(name string) (io.Closer, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE, filePerm)
}

func isLocked(error) bool { return false }
