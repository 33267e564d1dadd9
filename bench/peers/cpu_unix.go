//go:build unix

package main

import (
	"syscall"
	"time"
)

const clockName = "CPU time"

// now is the CPU time that the process has used, the garbage collector's
// included. On a machine that others use too it says more than the time of day:
// waiting for a core is nobody's work.
func now() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic("BUG: peers: " + err.Error()) // the arguments are right
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
