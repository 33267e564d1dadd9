//go:build !unix

package workload

// PeakRSS returns 0: this system is not asked.
func PeakRSS() uint64 { return 0 }
