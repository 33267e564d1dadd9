//go:build unix

package live

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkFaultToAttention measures the time from a game's telling of a fault to
// the bridge's being told that attention has opened, through three processes and
// two sockets. The gate is closed before that.
//
//	go test -run xxx -bench FaultToAttention -benchtime 300x ./internal/command/live
func BenchmarkFaultToAttention(b *testing.B) {
	for _, way := range []string{"file", "event"} {
		b.Run(way, func(b *testing.B) {
			w := start(b, nil)
			bridge, welcome := dial(b, w.addr, w.token)
			require.Nil(b, welcome.Error)
			require.Nil(b, bridge.call("events/subscribe", `{"channels":["attention/opened"]}`).Error)
			var times []time.Duration
			for b.Loop() {
				before := len(bridge.eventsOn("attention/opened"))
				a := bridge.tool("colony/look", "stamped "+way) // only looks: no gate, no settling
				require.Nil(b, a.Error)
				var told struct{ At int64 }
				require.NoError(b, json.Unmarshal(a.Result, &told))
				var events []answer
				require.Eventually(b, func() bool {
					events = bridge.eventsOn("attention/opened")
					return len(events) > before
				}, patience, 100*time.Microsecond)
				times = append(times, events[before].at.Sub(time.Unix(0, told.At)))
				for open := bridge.current(); open != nil; open = bridge.current() {
					bridge.ack(open.AttentionID)
				}
			}
			slices.Sort(times)
			at := func(q float64) float64 { return float64(times[int(q*float64(len(times)-1))]) / 1e6 }
			b.ReportMetric(at(0.5), "p50-ms")
			b.ReportMetric(at(0.99), "p99-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}
