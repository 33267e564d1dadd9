package pipeline

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// EndWithBoot lets a worker end when the process that started it has ended: Beam's boot, whose workers otherwise wait
// for ever if a runner kills it. The copy of the program that boot made for the worker alone is removed. Call it after
// the flags are parsed.
func EndWithBoot() {
	if f := flag.Lookup("worker"); f == nil || f.Value.String() != "true" {
		return
	}
	boot := os.Getppid()
	go func() {
		for os.Getppid() == boot {
			time.Sleep(time.Second)
		}
		if name, err := os.Executable(); err == nil && strings.HasPrefix(name, "/tmp/bin") {
			_ = os.RemoveAll(filepath.Dir(name)) // of no further use
		}
		os.Exit(1)
	}()
}
