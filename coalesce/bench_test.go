package coalesce

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/signature"
)

// BenchmarkFold measures Fold on what a storm is made of: entries that are
// ignored (beside an open advisory item), repeats in an open item, of one and of
// twenty groups, repeats of what was acknowledged, and forms for which there is
// no counter any more; with 512 operations known.
func BenchmarkFold(b *testing.B) {
	for _, clock := range []bool{false, true} {
		for _, mode := range []string{"ignored", "same", "twenty", "advisory", "acknowledged", "untracked"} {
			b.Run(fmt.Sprintf("%s/clock=%v", mode, clock), func(b *testing.B) { benchmarkFold(b, mode, clock) })
		}
	}
}

func benchmarkFold(b *testing.B, mode string, clock bool) {
	c := testkit.Must(New(Config{}))
	for i := range 1024 {
		status := event.StatusStarted
		if i%2 == 1 {
			status = event.StatusCompleted
		}
		c.Fold(&Input{Entry: &event.Entry{
			Seq: uint64(i + 1), Kind: event.KindOperation, Status: status,
			OperationID: fmt.Sprint(i / 2),
		}})
	}
	d := event.Decision{Rule: "r", Disposition: event.Blocking, Severity: event.SeverityError}
	groups := 1
	switch mode {
	case "ignored":
		d.Disposition = event.Ignore
	case "twenty":
		groups = 20
	case "advisory":
		d.Disposition = event.Advisory
	case "untracked":
		groups = 1000
	}
	sigs := make([]signature.Signature, groups)
	for i := range sigs {
		sigs[i] = groupSignature(fmt.Sprint("group", i))
	}
	e := event.Entry{Seq: 1025, Message: "text"}
	if clock {
		e.Time = time.Unix(1000, 0)
	}
	if mode == "ignored" {
		c.Fold(&Input{Entry: &e, Decision: event.Decision{Rule: "w", Disposition: event.Advisory}})
	}
	in := Input{Entry: &e, Decision: d}
	i := 0
	step := func() {
		e.Seq++
		if clock {
			e.Time = e.Time.Add(time.Microsecond)
		}
		in.Signature = sigs[i%len(sigs)]
		i++
		c.Fold(&in)
	}
	for range 2 * len(sigs) {
		step()
	}
	if mode == "acknowledged" {
		for range 500 { // so that the rate is known
			step()
		}
		c.Ack("", "0-1", e.Seq)
	}
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
	s := c.Stats()
	require.NoError(b, s.Check())
	require.Equal(b, mode == "acknowledged", s.Suppressed > 0)
	require.Equal(b, mode == "ignored", s.Folded == 1)
}

// BenchmarkCall measures the start and the end of a call with 1,024 known operations, of which the others are over.
func BenchmarkCall(b *testing.B) {
	for _, clock := range []bool{false, true} {
		b.Run(fmt.Sprintf("clock=%v", clock), func(b *testing.B) {
			c := testkit.Must(New(Config{}))
			e := event.Entry{Kind: event.KindOperation}
			in := Input{Entry: &e}
			ids := make([]string, 4096)
			for i := range ids {
				ids[i] = fmt.Sprint("call-", i)
			}
			n := 0
			call := func() {
				e.OperationID = ids[n%len(ids)]
				n++
				for _, e.Status = range []event.Status{event.StatusStarted, event.StatusCompleted} {
					e.Seq++
					if clock {
						e.Time = time.Unix(1000+int64(e.Seq), 0)
					}
					c.Fold(&in)
				}
			}
			for range 1024 {
				call()
			}
			b.ReportAllocs()
			for b.Loop() {
				call()
			}
			require.Equal(b, 1024, c.Stats().Operations)
		})
	}
}
