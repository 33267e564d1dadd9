package statefile

import (
	"errors"
	"fmt"
	"io"

	"github.com/gofrs/flock"
)

// ErrLocked is returned by [Lock] while another process, or this one, holds the lock.
var ErrLocked = errors.New("statefile: locked by another process")

// Lock takes the lock of the file called name, and makes the file if it is missing. It does not wait: while another
// process holds the lock, the error is [ErrLocked]. Close releases it, and so does the end of the process. The file
// stays, since removing it would let two processes lock one name. The lock is advisory.
func Lock(name string) (io.Closer, error) {
	l := flock.New(name)
	locked, err := l.TryLock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("statefile: %w", err)
	case !locked:
		return nil, fmt.Errorf("%w: %s", ErrLocked, name)
	}
	return l, nil
}
