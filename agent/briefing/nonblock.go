//go:build !js

package briefing

import "syscall"

const nonblock = syscall.O_NONBLOCK
