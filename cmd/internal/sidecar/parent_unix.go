//go:build unix

package sidecar

import (
	"os"
	"time"
)

// goneEvery is how often it is looked whether the game is there.
const goneEvery = 250 * time.Millisecond

// endWith ends this process once its parent has: another one may hold the other end of the input open. A process whose
// parent is gone has a new one.
func endWith(parent int, _ uint64) {
	for os.Getppid() == parent {
		time.Sleep(goneEvery)
	}
	os.Exit(exitOK)
}
