// Package csharp_test tries Heed.cs in Mono, against heed-sidecar and against programs that misbehave.
package csharp_test

import (
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/heedlog/heed/internal/testkit"
)

// TestClient runs the methods of testdata/Tests.cs. A method has a process of its own if it ends it, measures its
// memory, or stops or kills its sidecar.
func TestClient(t *testing.T) {
	program := testkit.CSharp(t, "Heed.cs", "HeedMore.cs", "testdata/Tests.cs")
	sidecar := testkit.Program(t, "heed-sidecar")
	golden := testkit.Must(filepath.Abs("../../testdata/frames.hex"))
	for _, name := range []string{
		"FramesOut,FramesIn,ReadJson,QueueAsModel,ControlLast,TimesOfLines,DropsOfAnOperation," +
			"Session,OddTexts,EightThreads,HandlersThatThrow,Degraded,PathOfTheGame",
		"FinalVerdicts", "LargeTextIsNotKept", "NoGarbage", "Killed", "KilledWithoutLoss", "InFlight", "Frozen",
		"ExitWhilePushing", "DisposeWhilePushing", "HungAndMissing",
	} {
		t.Run(name, func(t *testing.T) {
			if slices.Contains([]string{"FinalVerdicts", "Killed", "DisposeWhilePushing", "HungAndMissing"}, name) {
				testkit.Full(t, "takes 3 s and more")
			}
			if slices.Contains([]string{"Killed", "KilledWithoutLoss", "InFlight", "Frozen", "HungAndMissing"}, name) &&
				runtime.GOOS != "linux" {
				t.Skip("finds the sidecar in /proc")
			}
			t.Parallel()
			testkit.RunMono(t, 2*time.Minute, program, name, sidecar, t.TempDir(), golden)
		})
	}
}
