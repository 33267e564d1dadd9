package contention

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/bench/workload"
	"github.com/heedlog/heed/event"
)

// load is a number of goroutines that call at once, and a disturbance.
type load struct {
	writers int
	n       int // calls of all of them together
	call    func(writer, i int)

	// disturb does something once, and returns how many entries it made; nil
	// does nothing.
	disturb   func() uint64
	disturbed uint64 // entries that it made
}

type result struct {
	waits
	took time.Duration
}

// run makes the calls, and times each.
func (l *load) run() *result {
	var ready, done sync.WaitGroup
	begin := make(chan struct{})
	parts := make([]waits, l.writers)
	for w := range l.writers {
		ready.Add(1)
		done.Go(func() {
			part := make(waits, 0, l.n/l.writers+1)
			ready.Done()
			<-begin
			for i := w; i < l.n; i += l.writers {
				start := time.Now()
				l.call(w, i)
				part = append(part, time.Since(start))
			}
			parts[w] = part
		})
	}
	var end atomic.Bool
	var disturber sync.WaitGroup
	if l.disturb != nil {
		disturber.Go(func() {
			for !end.Load() {
				l.disturbed += l.disturb()
			}
		})
	}
	ready.Wait()
	start := time.Now()
	close(begin)
	done.Wait()
	res := &result{took: time.Since(start)}
	end.Store(true)
	disturber.Wait()
	res.waits = slices.Concat(parts...)
	slices.Sort(res.waits)
	return res
}

// timing returns the share of timing in the time of a call.
func timing() time.Duration {
	return (&load{writers: 1, n: 10_000, call: func(int, int) {}}).run().percentile(0.5)
}

// logger returns a call of Log on one of lines.
func logger(e *heed.Engine, lines []event.Log) func(writer, i int) {
	return func(writer, i int) { e.Log(lines[(i+writer*31)%len(lines)]) }
}

// spinner is work of a fixed length under a lock.
type spinner struct {
	mu     sync.Mutex
	sum    uint64
	rounds int
	took   time.Duration
}

// newSpinner returns work that takes about d.
func newSpinner(d time.Duration) *spinner {
	const many = 1 << 22
	s := &spinner{took: max(d, 1)}
	start := time.Now()
	s.hold(many)
	s.rounds = max(1, int(many*float64(d)/float64(time.Since(start))))
	return s
}

// hold takes the lock around a chain of multiplications, which nothing can shorten.
func (s *spinner) hold(rounds int) {
	s.mu.Lock()
	x := s.sum
	for range rounds {
		x = x*6364136223846793005 + 1442695040888963407
	}
	s.sum = x
	s.mu.Unlock()
}

// disturbances are activities during the writing.
var disturbances = []string{"none", "reads", "acks", "snapshots", "all"}

// disturber returns a function that a goroutine calls again and again on e, during the writing. It returns how many
// entries it made.
func disturber(kind string, e *heed.Engine) func() uint64 {
	switch kind {
	case "none":
		return nil
	case "reads":
		return reader(e)
	case "acks":
		return acknowledger(e)
	case "snapshots":
		return snapshotter(e)
	}
	all := []func() uint64{reader(e), acknowledger(e), snapshotter(e)}
	turn := 0
	return func() uint64 {
		turn++
		return all[turn%len(all)]()
	}
}

// turnOf is about how long a disturbance holds the lock at a time.
const turnOf = 20 * time.Microsecond

// disturbance returns a disturbance for a control, without an engine: it takes the lock of the spinner in turns, as
// long as work takes that is done to e.
func (s *spinner) disturbance(kind string, e *heed.Engine) func() uint64 {
	work := disturber(kind, e)
	if work == nil {
		return nil
	}
	turn := s.rounds * int(turnOf) / int(s.took)
	return func() uint64 {
		start := time.Now()
		work()
		for range max(1, time.Since(start)/turnOf) {
			s.hold(turn)
		}
		return 0
	}
}

// reader pages through the journal, by turns all of it, and entries with words that never come: each page then examines
// as much as one may.
func reader(e *heed.Engine) func() uint64 {
	var cursor heed.Cursor
	filters := []heed.Filter{{}, {Contains: "no line has this"}}
	turn := 0
	return func() uint64 {
		page := e.Read(cursor, 1000, filters[turn])
		cursor = page.Next
		if page.Err != nil || !page.More {
			cursor = heed.Cursor{}
			turn = (turn + 1) % len(filters)
			e.Stats()
			e.Open(nil)
		}
		return 0
	}
}

// acknowledger lets an operation fail, looks, and acknowledges the item.
func acknowledger(e *heed.Engine) func() uint64 {
	n := 0
	return func() uint64 {
		n++
		id := fmt.Sprintf("act-%d", n)
		before := e.Observe(event.Operation{ID: id, Method: "game/act", Status: event.StatusStarted}.Entry())
		e.Log(event.Log{Level: event.LevelError, OperationID: id, Message: failure})
		e.Updates(nil)
		made := uint64(2)
		if a, ok := e.Current(""); ok && before.Seq > 0 {
			if res := e.Ack("", a.ID, 0); res.Acknowledged && !res.Already {
				made++ // the act itself is journaled
			}
		}
		return made
	}
}

const failure = "Could not do a full tick of the map component: object reference not set to an instance"

// snapshotter takes snapshots, one after the other.
func snapshotter(e *heed.Engine) func() uint64 {
	var buf []byte
	return func() uint64 {
		buf = e.Snapshot(buf[:0])
		return 0
	}
}

// fullEngine returns an engine with the default Config, all tables full.
func fullEngine(small bool) (*heed.Engine, error) {
	e, err := heed.New(heed.Config{})
	if err != nil {
		return nil, err
	}
	items, groups, signatures, operations := 96, 128, 1<<16, 2000
	if small {
		items, groups, signatures, operations = 4, 5, 100, 20
	}
	storm := workload.NewStorm(workload.Distinct, 5)
	for i := range items {
		op := fmt.Sprintf("operation-%d", i)
		for range groups {
			message := string(storm.Next()) + workload.Uncaught
			e.Log(event.Log{Level: event.LevelError, OperationID: op, Message: message})
		}
		if a, ok := e.Current(""); ok && i < 2*items/3 {
			e.Ack("", a.ID, 0)
		}
	}
	for range signatures {
		e.Log(event.Log{Message: string(storm.Next())})
	}
	for i := range operations {
		e.Observe(event.Operation{ID: fmt.Sprint("another", i), Status: event.StatusStarted}.Entry())
	}
	stats := e.Stats()
	if got := stats.Coalesce.Open + stats.Coalesce.Remembered; got != items {
		return nil, fmt.Errorf("there are %d items, want %d", got, items)
	}
	return e, stats.Check()
}

// knownLines returns lines that e knows.
func knownLines(e *heed.Engine) []event.Log {
	lines := workload.NewStorm(workload.IDs, 1).Strings(1 << 12)
	records := make([]event.Log, len(lines))
	for i, l := range lines {
		records[i] = event.Log{Level: event.LevelError, Message: l}
		e.Log(records[i])
	}
	return records
}
