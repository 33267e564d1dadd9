package gate_test

import (
	"fmt"
	"testing"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
)

// BenchmarkCheck is a look of an engine in the same process, without the end of the
// call.
func BenchmarkCheck(b *testing.B) {
	for name, texts := range map[string][]string{
		"nothing_open": nil, "advisory_open": {"Odd thing"}, "blocking_open": {"Broken thing", "Odd thing"},
	} {
		b.Run(name, func(b *testing.B) {
			e := newEngine(b)
			for _, text := range texts {
				e.Log(event.Log{Message: text})
			}
			g := newGate(b, gate.Config{Source: gate.Engine(e, nil), Allow: []string{"saves/*"}})
			call := gate.Call{ID: "1", Tool: "colony/build", Consumer: "agent", Tags: []string{"mutating"}}
			b.ReportAllocs()
			for b.Loop() {
				if d := g.Check(b.Context(), call); d.Allowed != (name != "blocking_open") {
					b.Fatal(d)
				}
			}
		})
	}
}

// BenchmarkCall is a whole call: check, start, end, verdict.
func BenchmarkCall(b *testing.B) {
	e := newEngine(b)
	g := newGate(b, gate.Config{Source: gate.Engine(e, nil)})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		d := g.Check(b.Context(), gate.Call{ID: fmt.Sprint("call-", i), Tool: "colony/build", Consumer: "agent"})
		if res := g.Done(b.Context(), d, event.StatusCompleted, ""); !res.Executed || res.Related != nil {
			b.Fatal(res)
		}
	}
}
