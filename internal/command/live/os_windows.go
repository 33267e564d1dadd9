package live

import (
	"os"
	"syscall"
)

// forwarded are the signals at which heed ends the game.
var forwarded = []os.Signal{os.Interrupt}

// errRefused is the error of dialing an address without a listener: WSAECONNREFUSED.
// syscall.ECONNREFUSED is a number that Windows never gives.
const errRefused = syscall.Errno(10061)
