package gate_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
)

// TestNoWayThrough makes entries, acknowledgements and calls in any order: no call
// goes through while a blocking item is open, and none is held back by anything
// else.
func TestNoWayThrough(tt *testing.T) {
	rapid.Check(tt, func(t *rapid.T) {
		e := newEngine(tt)
		g := newGate(tt, gate.Config{Source: gate.Engine(e, nil)})
		ctx := context.Background()
		var running []gate.Decision
		shown := map[string]uint64{} // what some refusal showed
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			viewer := rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "viewer")
			switch rapid.IntRange(0, 7).Draw(t, "step") {
			case 0, 1:
				l := event.Log{Message: rapid.SampledFrom([]string{
					"Broken thing", "Broken other", "Worse", "Odd thing",
					"Fine",
				}).Draw(t, "text")}
				if len(running) > 0 && rapid.Bool().Draw(t, "names") {
					l.OperationID = running[len(running)-1].Call.ID
				}
				e.Log(l)
			case 2:
				e.Raise(heed.Report{
					Key: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key"), Disposition: event.Blocking,
					Message: "m",
				})
			case 3:
				for id, upTo := range shown { // of one or none, mostly
					if rapid.Bool().Draw(t, "marked") {
						upTo = 0
					}
					_, err := g.Ack(ctx, viewer, id, upTo)
					require.NoError(t, err)
					delete(shown, id)
					break
				}
			case 4:
				id := fmt.Sprintf("e1-%d", rapid.IntRange(1, 9).Draw(t, "id"))
				_, err := g.Ack(ctx, viewer, id, uint64(rapid.IntRange(0, 50).Draw(t, "upTo")))
				require.NoError(t, err)
			case 5:
				if n := len(running); n > 0 {
					res := g.Done(ctx, running[n-1], event.StatusCompleted+event.Status(rapid.IntRange(0, 3).Draw(t, "status")), "")
					require.True(t, res.Executed)
					running = running[:n-1]
				}
			default:
				open := e.Open(nil)
				blocked := len(open) > 0 && open[0].Blocking
				c := gate.Call{ID: fmt.Sprintf("op-%d", i), Tool: "t", Consumer: viewer}
				d := g.Check(ctx, c)
				require.Equal(t, !blocked, d.Allowed)
				if d.Allowed {
					running = append(running, d)
					continue
				}
				require.Equal(t, open[0].ID, d.Attention.ID)
				require.False(t, g.Done(ctx, d, event.StatusCompleted, "").Executed)
				again := g.Check(ctx, c)
				require.False(t, again.Allowed, "a retry is no acknowledgement")
				require.Equal(t, d.Attention.ID, again.Attention.ID)
				shown[d.Attention.ID] = d.Attention.LatestSequence
			}
		}
	})
}

// TestNoWayThroughAtOnce does it from several goroutines: what was raised before a
// call was checked, and let it through, had been acknowledged.
func TestNoWayThroughAtOnce(t *testing.T) {
	e := newEngine(t)
	g := newGate(t, gate.Config{Source: gate.Engine(e, nil)})
	var mu sync.Mutex
	var raised []string
	var workers, checkers sync.WaitGroup
	stop := make(chan struct{})
	workers.Go(func() {
		for i := range 300 {
			id := e.Raise(heed.Report{Key: fmt.Sprint(i), Disposition: event.Blocking, Message: "m"})
			mu.Lock()
			raised = append(raised, id)
			mu.Unlock()
		}
	})
	workers.Go(func() {
		for range 400 {
			if a, open := e.Current("bob"); open {
				_, _ = g.Ack(t.Context(), "bob", a.ID, a.LatestSequence)
			}
		}
	})
	for c := range 3 {
		checkers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				mu.Lock()
				before := raised[max(0, len(raised)-50):]
				mu.Unlock()
				d := g.Check(t.Context(), gate.Call{ID: fmt.Sprintf("%d-%d", c, i), Tool: "t", Consumer: fmt.Sprint(c)})
				if d.Allowed {
					for _, id := range before {
						if a, ok := e.Item(id); ok && a.ClearedBy == "" && a.Blocking {
							t.Errorf("a call went through while %s was open", id)
						}
					}
				}
				_ = g.Done(t.Context(), d, event.StatusCompleted, "")
			}
		})
	}
	workers.Wait()
	close(stop)
	checkers.Wait()
}

// FuzzRemote gives any bytes as an answer: a call goes through only where the
// answer says that nothing is open, or that what is open does not block.
func FuzzRemote(f *testing.F) {
	f.Add(current("null"))
	f.Add(current(item("a-1", true)))
	f.Add(current(item("a-1", false)))
	f.Add(`{"attention":{"attentionId":"a","blocking":0}}`)
	f.Add(`{"ATTENTION":null}`)
	f.Add(`[`)
	f.Fuzz(func(t *testing.T, answer string) {
		p := &peer{answer: func(context.Context, string, any) (string, error) { return answer, nil }}
		g, err := gate.New(gate.Config{Source: gate.Remote(p, both)})
		if err != nil {
			t.Fatal(err)
		}
		d := g.Check(context.Background(), gate.Call{ID: "1", Tool: "t"})
		if d.Allowed == (d.Refusal != "") {
			t.Fatalf("allowed %v with the refusal %q", d.Allowed, d.Refusal)
		}
		if d.Allowed && !strings.Contains(answer, "null") && !strings.Contains(answer, "false") {
			t.Fatalf("%q let a call through", answer)
		}
		for _, r := range d.Refusal {
			if r < ' ' || r == 0x7f || r == 0x202e {
				t.Fatalf("the refusal %q holds a control character", d.Refusal)
			}
		}
	})
}
