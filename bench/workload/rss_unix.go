//go:build unix

package workload

import (
	"runtime"
	"syscall"
)

// PeakRSS returns the largest resident size of the process so far, in bytes,
// or 0 where the system does not report it.
func PeakRSS() uint64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return uint64(u.Maxrss) // bytes there, kibibytes everywhere else
	}
	return uint64(u.Maxrss) * 1024
}
