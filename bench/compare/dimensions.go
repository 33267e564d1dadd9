package compare

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/bench/workload"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// dimension is a size that may grow, and with which the cost of Log
// must not grow.
type dimension struct {
	name  string // of the operation and of its growing input
	sizes []int

	// from and to are the compared sizes of every run. limit bounds the cost at the large size, as a multiple of the cost
	// at the small size.
	from, to int
	limit    float64

	cost func(size int) (nsPerOp float64, err error)
}

func (d *dimension) growth() growth {
	return growth{fmt.Sprintf("%s=%s-%s", d.name, short(d.from), short(d.to)), d.limit, func() (float64, error) {
		return ratioOf(d.cost, d.from, d.to)
	}}
}

// short writes a size: 3000 as 3k.
func short(n int) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 1000 && n%1000 == 0:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}

// dimensions are all that is held to be flat, but for the number of entries, which
// is a run of its own; see [manyEntries].
func dimensions(set *rules.Set) []*dimension {
	ids := workload.NewStorm(workload.IDs, 1).Strings(turns)
	return []*dimension{
		{
			name: "Log/known/signatures", sizes: []int{100, 1000, 10_000, 65_536}, from: 100, to: 65_536, limit: 1.5,
			cost: func(n int) (float64, error) { return besideKnown(set, n, ids) },
		},
		{
			// The looked-up data is in a cache of the processor, or is not.
			name: "Log/known/signatures-in-turn", sizes: []int{100, 1000, 10_000, 65_000}, from: 100, to: 65_000, limit: 6,
			cost: func(n int) (float64, error) {
				return known(heed.Config{Rules: set}, workload.NewStorm(workload.Distinct, 7).Strings(n))
			},
		},
		{
			name: "Log/known/rules", sizes: []int{10, 100, 1000, 10_000}, from: 10, to: 10_000, limit: 1.5,
			cost: func(n int) (float64, error) {
				many, err := manyRules(n)
				if err != nil {
					return 0, err
				}
				return known(heed.Config{Rules: many}, ids)
			},
		},
		{
			name: "Log/new/rules", sizes: []int{10, 100, 1000, 10_000}, from: 10, to: 10_000, limit: 2,
			cost: func(n int) (float64, error) {
				many, err := manyRules(n)
				if err != nil {
					return 0, err
				}
				b, err := newCase(heed.Config{Rules: many})
				if err != nil {
					return 0, err
				}
				b.size()
				return b.nsPerOp(), b.check()
			},
		},
		{
			name: "Log/joining/items", sizes: []int{1, 8, 32, 256}, from: 1, to: 32, limit: 2,
			cost: func(n int) (float64, error) { return joining(set, n) },
		},
		{
			name: "Log/known/open", sizes: []int{1, 8, 32, 256}, from: 1, to: 32, limit: 2,
			cost: func(n int) (float64, error) { return openItems(set, n) },
		},
		{
			// With one it would be the same line again and again, which is another path.
			name: "Log/known/acknowledged", sizes: []int{8, 64, 256}, from: 8, to: 64, limit: 2,
			cost: func(n int) (float64, error) { return acknowledged(set, n) },
		},
		{
			name: "Log/known/operations", sizes: []int{1, 32, 1024}, from: 1, to: 1024, limit: 1.5,
			cost: func(n int) (float64, error) { return running(set, n, ids) },
		},
		{
			name: "Log/known/journal", sizes: []int{1000, 10_000, 100_000, 1_000_000}, from: 1000, to: 100_000, limit: 1.5,
			cost: func(n int) (float64, error) { return fullJournal(set, n, ids) },
		},
	}
}

// table prints what Log costs at each size of each dimension: the least of three measurements, each with a new engine.
func table(w io.Writer, set *rules.Set, large int) error {
	for _, d := range append(dimensions(set), entries(set, workload.IDs, large), entries(set, workload.Distinct, large)) {
		if _, err := fmt.Fprintf(w, "%-30s", d.name); err != nil {
			return err
		}
		first := 0.0
		for _, n := range d.sizes {
			least := math.Inf(1)
			for range 3 {
				ns, err := d.cost(n)
				if err != nil {
					return fmt.Errorf("%s: %d: %w", d.name, n, err)
				}
				if least = min(least, ns); strings.HasSuffix(d.name, "entries") {
					break // one run is long enough
				}
			}
			if first == 0 {
				first = least
			}
			if _, err := fmt.Fprintf(w, " %7s: %5.0f ns", short(n), least); err != nil {
				return err
			}
			if n == d.sizes[len(d.sizes)-1] {
				if _, err := fmt.Fprintf(w, "  ×%.2f\n", least/first); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// manyRules are n rules that look for texts that never come.
func manyRules(n int) (*rules.Set, error) {
	var b strings.Builder
	b.WriteString("version: 1\nrules:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - {id: many.r%d, disposition: blocking, when: 'template contains \"failed in step%d:\" and phase != \"menu\"'}\n", i, i)
	}
	return rules.Compile(rules.File{Name: "many.yaml", Data: []byte(b.String())})
}

// logged is the cost of Log on lines that take turns, in an engine to which other
// things were done.
func logged(engine *heed.Engine, lines []string) (float64, error) {
	b := recordsCase("logged", engine, recordsOf(lines))
	b.size()
	return b.nsPerOp(), b.check()
}

// besideKnown is the cost of known lines while n other signatures are known.
func besideKnown(set *rules.Set, n int, lines []string) (float64, error) {
	engine, err := heed.New(heed.Config{Rules: set})
	if err != nil {
		return 0, err
	}
	for storm := workload.NewStorm(workload.Distinct, 7); n > 0; n-- {
		engine.Log(event.Log{Message: string(storm.Next())})
	}
	return logged(engine, lines)
}

// openItems is the cost of a known line of one of n operations, each with an
// open item.
func openItems(set *rules.Set, n int) (float64, error) {
	engine, err := heed.New(heed.Config{Rules: set, Coalesce: coalesce.Config{MaxOpen: max(n, 32)}})
	if err != nil {
		return 0, err
	}
	var records []event.Log
	storm := workload.NewStorm(workload.Distinct, 5)
	for i := range n {
		id := fmt.Sprintf("op%d", i)
		engine.Observe(event.Operation{ID: id, Method: "game/act", Status: event.StatusStarted}.Entry())
		message := string(storm.Next()) + workload.Uncaught
		records = append(records, event.Log{Level: event.LevelError, OperationID: id, Message: message})
	}
	b := recordsCase("open", engine, manyTurns(records))
	if got := len(engine.Open(nil)); got != n {
		return 0, fmt.Errorf("%d items are open, want %d", got, n)
	}
	b.size()
	return b.nsPerOp(), b.check()
}

// manyTurns repeats records, so that work once a turn does not count.
func manyTurns(records []event.Log) []event.Log {
	return slices.Repeat(records, max(1, turns/len(records)))
}

// joining is the cost of lines that are new and join a group, where n items are
// open, each with as many groups as it may have.
func joining(set *rules.Set, n int) (float64, error) {
	engine, err := heed.New(heed.Config{
		Rules: set, Coalesce: coalesce.Config{MaxOpen: max(n, 32)}, Groups: signature.GrouperConfig{Signatures: 1 << 21},
	})
	if err != nil {
		return 0, err
	}
	storm := workload.NewStorm(workload.Distinct, 11)
	for i := range n {
		for range 128 {
			op, message := fmt.Sprintf("op%d", i), string(storm.Next())+workload.Uncaught
			engine.Log(event.Log{Level: event.LevelError, OperationID: op, Message: message})
		}
	}
	made := 0
	b := madeCase(engine, func(n int) (lines []string) {
		for range n {
			made++
			lines = append(lines, "Could not find a place for "+name(made)+" in the barn of the colony")
		}
		return lines
	})
	b.prepare(20)
	b.run(20)
	before := engine.Stats().Classify.Groups
	b.size()
	ns := b.nsPerOp()
	stats := engine.Stats()
	// Some of the names are words that mean something.
	if alone := stats.Classify.Groups.Groups - before.Groups; alone > made/100 {
		return 0, fmt.Errorf("of %d new signatures, %d joined no group", made, alone)
	}
	return ns, stats.Check()
}

// name returns a word that looks like a name, for a number.
func name(i int) string {
	word := []byte("N")
	for ; i > 0; i /= 26 {
		word = append(word, 'a'+byte(i%26))
	}
	return string(word)
}

// acknowledged is the cost of repeating the lines of n acknowledged items in turn.
func acknowledged(set *rules.Set, n int) (float64, error) {
	engine, err := heed.New(heed.Config{Rules: set, Coalesce: coalesce.Config{
		MaxRemembered: max(n, 64), AckMemory: coalesce.Window{Entries: 1 << 30}, QuietTime: coalesce.Window{Entries: 1},
	}})
	if err != nil {
		return 0, err
	}
	storm := workload.NewStorm(workload.Distinct, 9)
	var records []event.Log
	for len(records) < n {
		r := event.Log{Level: event.LevelError, Message: "Exception: " + string(storm.Next())}
		id := engine.Observe(r.Entry()).AttentionID
		if !engine.Ack("", id, 0).Acknowledged {
			return 0, fmt.Errorf("item %q was not acknowledged", id)
		}
		records = append(records, r)
	}
	b := recordsCase("acknowledged", engine, manyTurns(records))
	b.size()
	stats := engine.Stats()
	if stats.Coalesce.Opened != uint64(n) || stats.Coalesce.Suppressed == 0 {
		return 0, fmt.Errorf("%d items were opened, want %d", stats.Coalesce.Opened, n)
	}
	return b.nsPerOp(), b.check()
}

// running is the cost of lines that name no operation while n operations run.
func running(set *rules.Set, n int, lines []string) (float64, error) {
	engine, err := heed.New(heed.Config{Rules: set})
	if err != nil {
		return 0, err
	}
	for i := range n {
		engine.Observe(event.Operation{ID: fmt.Sprintf("op%d", i), Method: "game/act", Status: event.StatusStarted}.Entry())
	}
	return logged(engine, lines)
}

// fullJournal is the cost of lines where the journal has n entries, all used.
func fullJournal(set *rules.Set, n int, lines []string) (float64, error) {
	engine, err := heed.New(heed.Config{Rules: set, Journal: journal.Config{Entries: n, Bytes: 128 * n}})
	if err != nil {
		return 0, err
	}
	for i := range n {
		engine.Log(event.Log{Level: event.LevelError, Message: lines[i%len(lines)]})
	}
	return logged(engine, lines)
}

// entries is the cost of the next entries after as many as its size: of known
// signatures, or of new ones. Its sizes must be asked for in their order.
func entries(set *rules.Set, mode workload.Mode, large int) *dimension {
	d := &dimension{name: "Log/known/entries"}
	if mode == workload.Distinct {
		d.name = "Log/new/entries"
	}
	for n := 10_000; n <= large; n *= 10 {
		d.sizes = append(d.sizes, n)
	}
	var engine *heed.Engine
	var b *benchmark
	d.cost = func(size int) (float64, error) {
		if engine == nil {
			var err error
			if engine, err = heed.New(heed.Config{Rules: set}); err != nil {
				return 0, err
			}
			b = madeCase(engine, workload.NewStorm(mode, 3).Strings)
		}
		b.stretch(size - int(engine.Stats().Received))
		least := math.Inf(1)
		for range 3 {
			least = min(least, b.stretch(min(turns, size/4)))
		}
		stats := engine.Stats()
		return least, stats.Check()
	}
	return d
}
