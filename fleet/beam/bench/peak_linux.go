package main

import (
	"os"
	"syscall"
)

// peak returns the largest memory that a program had, in MB.
func peak(s *os.ProcessState) int64 {
	if usage, ok := s.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss >> 10
	}
	return 0
}
