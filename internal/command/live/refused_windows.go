package live

import "syscall"

// errRefused is why an address cannot be dialed at which nobody listens: WSAECONNREFUSED.
// syscall.ECONNREFUSED is a number that Windows never gives.
const errRefused = syscall.Errno(10061)
