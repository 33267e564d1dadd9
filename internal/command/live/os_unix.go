//go:build unix

package live

import (
	"os"
	"syscall"
)

// forwarded are the signals that are passed on to the game.
var forwarded = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}

// errRefused is why an address cannot be dialed at which nobody listens.
const errRefused = syscall.ECONNREFUSED
