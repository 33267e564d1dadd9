package live

import (
	"os"
	"syscall"

	"github.com/heedlog/heed/internal/proc"
)

// stops are the signals at which heed ends the game.
var stops = []os.Signal{os.Interrupt}

// hangups are none.
var hangups []os.Signal

// forwarded returns the signals that heed acts upon.
func forwarded() []os.Signal { return stops }

// pass has nothing to pass on.
func pass(*proc.Process, os.Signal) error { return nil }

// keepWriting has nothing to do: a write to a closed pipe fails.
func keepWriting() {}

// readNow reads nothing: pipes have no deadlines, so that nobody asks.
func readNow(*os.File, []byte) (int, error) { return 0, nil }

// errRefused is the error of dialing an address without a listener: WSAECONNREFUSED.
// syscall.ECONNREFUSED is a number that Windows never gives.
const errRefused = syscall.Errno(10061)
