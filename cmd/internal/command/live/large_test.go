//go:build unix

package live

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/standin"
	"github.com/heedlog/heed/internal/testkit"
)

// peak returns the most resident memory that a process has had, in MiB.
func peak(pid int) int {
	data, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	kib, _ := strconv.Atoi(strings.Fields(rest + " 0")[0])
	return kib >> 10
}

// BenchmarkLargeResult passes results of 64 MiB from a mod to a bridge.
//
//	go test -run xxx -bench LargeResult -benchtime 5x ./cmd/internal/command/live
func BenchmarkLargeResult(b *testing.B) {
	cfg := testkit.Must(json.Marshal(standin.ModConfig{Result: 64 << 20}))
	w := start(b, nil, "talks", string(cfg))
	w.read("pid", new(int))
	c, err := gabp.Dial(b.Context(), w.addr, gabp.ClientConfig{Token: w.token, Limits: gabp.Limits{
		HelloTimeout: time.Minute, FrameTimeout: time.Minute, MessageSize: 80 << 20, StringBytes: 80 << 20,
	}})
	require.NoError(b, err)
	before := peak(w.cmd.Process.Pid)
	for b.Loop() {
		raw := testkit.Must(c.CallTool(b.Context(), "colony/build", nil))
		require.Greater(b, len(raw), 64<<20)
	}
	b.ReportMetric(float64(before), "before-MiB")
	b.ReportMetric(float64(peak(w.cmd.Process.Pid)), "peak-MiB")
	require.NoError(b, c.Close())
}
