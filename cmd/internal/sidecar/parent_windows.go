package sidecar

import (
	"os"

	"golang.org/x/sys/windows"
)

// endWith ends this process once the game has: another process may hold the other end of the input open.
func endWith(_ int, process uint64) {
	if process == 0 || process > 1<<32-1 {
		return
	}
	game, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(process))
	if err != nil {
		return // its input ends with it, unless another process holds the pipe
	}
	if _, err := windows.WaitForSingleObject(game, windows.INFINITE); err == nil {
		os.Exit(exitOK)
	}
}
