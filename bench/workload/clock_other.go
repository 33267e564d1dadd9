//go:build !unix

package workload

import "time"

// Clock names the clock of [Now].
const Clock = "time of day"

var started = time.Now()

// Now is the CPU time that the process has used, the garbage collector's
// included; where the system does not report it, the time since the process started.
func Now() time.Duration { return time.Since(started) }
