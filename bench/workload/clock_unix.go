//go:build unix

package workload

import (
	"syscall"
	"time"
)

// Clock names the clock of [Now].
const Clock = "CPU time"

// Now is the CPU time that the process has used, the garbage collector's
// included; where the system does not report it, the time since the process started.
// On a shared machine it is more exact than the time of day: waiting for a core does not
// count. It costs a system call.
func Now() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic("BUG: workload: " + err.Error()) // the arguments are right
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
