package live

import (
	"os"
	"syscall"
)

// forwarded are the signals that tell heed to end the game.
var forwarded = []os.Signal{os.Interrupt}

// errRefused is why an address cannot be dialed at which nobody listens: WSAECONNREFUSED.
// syscall.ECONNREFUSED is a number that Windows never gives.
const errRefused = syscall.Errno(10061)
