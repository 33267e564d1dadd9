//go:build unix

package live

import "syscall"

// errRefused is why an address cannot be dialed at which nobody listens.
const errRefused = syscall.ECONNREFUSED
