//go:build unix && !linux

package proc

import "syscall"

// What Linux alone has.

func adoptOrphans() {}

func dieWithParent(*syscall.SysProcAttr) {}

func strays(string) []int { return nil }

func eldest([]int) int { return 0 }
