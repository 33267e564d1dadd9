package store

import (
	"errors"
	"fmt"
	"io"
)

// ErrLocked says that another process, or this one, has a lock already.
var ErrLocked = errors.New("store: locked by somebody else")

// Lock takes the lock that the file called name stands for, and makes the file where it is
// not there. It does not wait: while somebody else has the lock the error is [ErrLocked].
// Close gives it back, and so does the end of the process, however it ends. The file
// stays: to remove it would let two have it. It guards against nobody who does not ask for it.
func Lock(name string) (io.Closer, error) {
	l, err := osFS{}.lock(name)
	switch {
	case err == nil:
		return l, nil
	case isLocked(err):
		return nil, fmt.Errorf("%w: %w", ErrLocked, err)
	}
	return nil, fmt.Errorf("store: %w", err)
}
