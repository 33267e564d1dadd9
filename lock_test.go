package heed

import (
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// TestMethodsLock calls each method of an engine while another goroutine holds its lock:
// none returns before it had it.
func TestMethodsLock(t *testing.T) {
	set := mustRules(t, testRules)
	calls := map[string]func(*Engine){
		"Ack":            func(e *Engine) { e.Ack("", "x", 0) },
		"Advance":        func(e *Engine) { e.Advance(time.Time{}) },
		"EndLog":         func(e *Engine) { e.EndLog() },
		"Attach":         func(e *Engine) { e.Attach("", time.Time{}) },
		"BeginRun":       func(e *Engine) { e.BeginRun(time.Time{}) },
		"Blame":          func(e *Engine) { e.Blame(&event.Entry{}) },
		"Clear":          func(e *Engine) { e.Clear("x") },
		"Current":        func(e *Engine) { e.Current("") },
		"Delivered":      func(e *Engine) { e.Delivered("", "x", 0) },
		"Detach":         func(e *Engine) { e.Detach("") },
		"Acked":          func(e *Engine) { e.Acked() },
		"Expect":         func(e *Engine) { e.Expect(time.Time{}, time.Time{}) },
		"Group":          func(e *Engine) { e.Group(signature.Signature{}) },
		"Item":           func(e *Engine) { e.Item("x") },
		"Latest":         func(e *Engine) { e.Latest() },
		"Know":           func(e *Engine) { e.Know("x", "") },
		"LearnGame":      func(e *Engine) { e.LearnGame("game") },
		"LearnMods":      func(e *Engine) { e.LearnMods(nil) },
		"LearnInstalled": func(e *Engine) { e.LearnInstalled(nil) },
		"Mod":            func(e *Engine) { e.Mod("x") },
		"Log":            func(e *Engine) { e.Log(event.Log{}) },
		"Observe":        func(e *Engine) { e.Observe(event.Entry{}) },
		"ObserveInto":    func(e *Engine) { e.ObserveInto(&Outcome{}, &event.Entry{}) },
		"Open":           func(e *Engine) { e.Open(nil) },
		"Operations":     func(e *Engine) { e.Operations() },
		"Raise":          func(e *Engine) { e.Raise(Report{}) },
		"Read":           func(e *Engine) { e.Read(Cursor{}, 1, Filter{}) },
		"Rules":          func(e *Engine) { e.Rules() },
		"SetFamily":      func(e *Engine) { _ = e.SetFamily("unity") },
		"SetRules":       func(e *Engine) { _ = e.SetRules(set) },
		"Since":          func(e *Engine) { _, _, _ = e.Since(Cursor{}) },
		"Snapshot":       func(e *Engine) { e.Snapshot(nil) },
		"Freeze":         func(e *Engine) { e.Freeze()(nil) },
		"StateRead":      func(e *Engine) { e.StateRead() },
		"Stats":          func(e *Engine) { e.Stats() },
		"Template":       func(e *Engine) { e.Template(signature.Signature{}) },
		"Updates":        func(e *Engine) { e.Updates(nil) },
		"Variant":        func(e *Engine) { e.Variant("x") },
		"Verdict":        func(e *Engine) { e.Verdict("x") },
	}
	of := reflect.TypeFor[*Engine]()
	for method := range of.Methods() {
		name := method.Name
		if name == "CarriedOver" { // which never changes
			continue
		}
		t.Run(name, func(t *testing.T) {
			call := calls[name]
			require.NotNil(t, call, "a new method: call it here")
			e := mustNew(t, snapshotConfig(set))
			e.mu.Lock()
			done := make(chan struct{})
			go func() {
				defer close(done)
				call(e)
			}()
			for e.mu.waiting.Load() == 0 {
				select {
				case <-done:
					t.Fatal("it returned without the lock")
				default:
					runtime.Gosched()
				}
			}
			e.mu.Unlock()
			<-done
		})
	}
}
