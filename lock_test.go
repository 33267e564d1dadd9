package heed

import (
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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

// TestAllAtOnce lets writers, readers, acknowledgers and snapshots go on at once:
// pages account for all that they cover, every snapshot is that of an engine which
// adds up, and no update comes twice.
func TestAllAtOnce(t *testing.T) {
	cfg := snapshotConfig(mustRules(t, testRules))
	e := mustNew(t, cfg)
	const writers, each = 4, 3000
	var logging, others sync.WaitGroup
	var end atomic.Bool
	for w := range writers {
		logging.Go(func() {
			for i := range each {
				e.Log(event.Log{
					Level: event.LevelError, OperationID: fmt.Sprint("op", i/100%5),
					Message: fmt.Sprintf("Broken word%s of Name_%d in the place of that", letters(i%300), i),
				})
				if i%50 == w {
					e.Observe(event.Operation{ID: fmt.Sprint("op", i%7), Status: event.StatusStarted}.Entry())
				}
			}
		})
	}
	until := func(do func()) {
		others.Go(func() {
			for {
				last := end.Load()
				do()
				if last {
					return
				}
			}
		})
	}
	var cursor Cursor
	read := uint64(0)
	until(func() {
		page := e.Read(cursor, 20, Filter{})
		assert.NoError(t, page.Err)
		assert.Equal(t, page.Next.Seq-cursor.Seq, uint64(len(page.Records))+page.Lost)
		read += uint64(len(page.Records)) + page.Lost
		cursor = page.Next
	})
	until(func() {
		for _, u := range e.Updates(nil) {
			e.Ack("", u.Item.ID, u.Item.LatestSequence)
		}
		e.Open(nil)
	})
	received := uint64(0)
	until(func() {
		r, err := Restore(cfg, e.Snapshot(nil))
		if !assert.NoError(t, err) {
			return
		}
		s := r.Stats()
		assert.NoError(t, s.Check())
		assert.GreaterOrEqual(t, s.Received, received)
		received = s.Received
	})
	logging.Wait()
	end.Store(true)
	others.Wait()
	for cursor.Seq < e.Stats().Received {
		page := e.Read(cursor, 20, Filter{})
		read += uint64(len(page.Records)) + page.Lost
		cursor = page.Next
	}
	s := checked(t, e)
	require.Equal(t, s.Received, read)
	require.EqualValues(t, writers*(each+each/50), s.Received-s.Host)
}
