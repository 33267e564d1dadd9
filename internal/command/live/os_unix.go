//go:build unix

package live

import (
	"os"
	"syscall"
)

// forwarded are the signals that are passed on to the game.
var forwarded = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}

// errRefused is the error of dialing an address without a listener.
const errRefused = syscall.ECONNREFUSED
