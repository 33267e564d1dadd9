// Package storm runs a synthetic storm through an engine and prints one line
// of JSON about it.
//
//	go run ./bench storm -n 1000000 -mode ids
package storm

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"time"
	"unsafe"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/bench/workload"
	"github.com/heedlog/heed/event"
)

// result has the figures of a run. Times and allocations are for Engine.Log alone, without making the lines.
//
// A known signature allocates nothing, a new one two objects: the template, which
// is kept, and the 16 bytes of an interface through which conditions see it, since
// the interpreter of conditions takes variables as nothing else.
type result struct {
	Mode           workload.Mode `json:"mode"`
	Entries        int           `json:"entries"`
	NsPerEntry     float64       `json:"nsPerEntry"`
	LastToFirst    float64       `json:"lastToFirst,omitempty"` // time of the last tenth, as a multiple of the second tenth
	AllocsPerEntry float64       `json:"allocsPerEntry"`
	HeapBytes      uint64        `json:"heapBytes"` // live, with the engine
	PeakRSSBytes   uint64        `json:"peakRssBytes"`
	Updates        uint64        `json:"updates"`
	UpdatesAllowed float64       `json:"updatesAllowed"` // 6 + 3 log10 entries + 3 log10 signatures + 3 stops
	Signatures     uint64        `json:"signatures"`     // that were not known when they came
	Groups         int           `json:"groups"`         // that the Grouper made of those it knows
	Lost           uint64        `json:"lost"`           // entries that the journal does not hold any more

	// CauseHeld is the share of the planted entries before the storm that can be read after it, through the item: the
	// fault that is its cause, and its neighbors.
	CauseHeld int `json:"causeHeld"`
}

// planted is how many entries come before the storm: a fault between others.
const planted = 17

// plant logs a blocking fault between quiet lines, and returns its number.
func plant(engine *heed.Engine) uint64 {
	var cause uint64
	for i := range planted {
		if i != planted/2 {
			engine.Log(event.Log{Message: fmt.Sprintf("Quiet line %d before the storm", i)})
			continue
		}
		cause = engine.Observe(event.Log{
			Message: "Exception ticking Press7 (at (12, 0, 5)): System.NullReferenceException: no ink",
			Stack:   "  at Verse.Thing.Tick () [0x00012] in <5a0c7e11d2f34b68>:0",
		}.Entry()).Seq
	}
	return cause
}

// causeHeld returns how many of the planted entries a reader of the open items finds: all of them, or 0 if no item has
// the fault as its cause.
func causeHeld(engine *heed.Engine, cause uint64) int {
	for _, a := range engine.Open(nil) {
		if a.Cause.Seq == cause {
			all, _, _ := engine.Since(heed.Cursor{})
			after, _, _ := engine.Since(heed.Cursor{Seq: planted})
			return int(all - after)
		}
	}
	return 0
}

// Run runs the command with its arguments.
func Run(args []string, stdout, stderr io.Writer) error {
	// Garbage of the lines is collected soon: the resident memory is then mostly live memory.
	debug.SetGCPercent(10)
	flags := flag.NewFlagSet("storm", flag.ContinueOnError)
	flags.SetOutput(stderr)
	n := flags.Int("n", 1_000_000, "number of entries")
	modeName := flags.String("mode", string(workload.IDs), "same, ids, distinct or mixed")
	seed := flags.Uint64("seed", 1, "seed of the storm")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	mode, err := workload.ParseMode(*modeName)
	if err != nil {
		return err
	}
	if *n <= 0 {
		return fmt.Errorf("storm: -n is %d: want at least 1", *n)
	}
	res, err := storm(mode, *n, *seed)
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(res)
}

// chunk is how many lines are made before they are timed together.
const chunk = 1024

func storm(mode workload.Mode, n int, seed uint64) (result, error) {
	engine, err := heed.New(heed.Config{})
	if err != nil {
		return result{}, err
	}
	cause := plant(engine)
	quiet := engine.Stats()
	updates := make([]heed.Update, 0, 64)
	stopped := map[string]bool{} // items that stopped calls
	drain := func() {
		updates = engine.Updates(updates[:0])
		for i := range updates {
			if item := &updates[i].Item; item.Blocking {
				stopped[item.ID] = true
			}
		}
	}
	drain()
	lines := workload.NewStorm(mode, seed)
	text := make([]byte, 0, chunk*256)
	records := make([]event.Log, 0, chunk)
	var spent time.Duration
	var tenths [10]time.Duration
	var mallocs uint64
	var before, after runtime.MemStats
	for done := 0; done < n; {
		size := min(chunk, n-done)
		text, records = text[:0], records[:0]
		for range size {
			start := len(text)
			text = append(text, lines.Next()...)
			// The engine does not keep the text, so the buffer may be used again.
			line := text[start:]
			message := unsafe.String(unsafe.SliceData(line), len(line))
			records = append(records, event.Log{Level: event.LevelError, Message: message})
		}
		runtime.ReadMemStats(&before)
		start := time.Now()
		for i := range records {
			engine.Log(records[i])
		}
		took := time.Since(start)
		spent += took
		tenths[min(9, 10*done/n)] += took
		runtime.ReadMemStats(&after)
		if done > 0 { // tables grow in the first chunk
			mallocs += after.Mallocs - before.Mallocs
		}
		drain()
		done += size
	}
	stats := engine.Stats()
	if err := stats.Check(); err != nil {
		return result{}, err
	}
	if stats.Received != uint64(n)+planted {
		return result{}, fmt.Errorf("storm: %d entries sent, %d received", n, stats.Received)
	}
	text, records, updates = nil, nil, nil
	runtime.GC()
	runtime.ReadMemStats(&after)
	res := result{
		Mode: mode, Entries: n,
		NsPerEntry:     float64(spent.Nanoseconds()) / float64(n),
		AllocsPerEntry: float64(mallocs) / float64(max(1, n-chunk)),
		HeapBytes:      after.HeapAlloc,
		PeakRSSBytes:   workload.PeakRSS(),
		Updates:        stats.Coalesce.Updates,
		Signatures:     stats.Classify.Misses - quiet.Classify.Misses,
		Groups:         stats.Classify.Groups.Groups - quiet.Classify.Groups.Groups,
		Lost:           stats.Journal.Written - stats.Journal.Held,
	}
	res.UpdatesAllowed = 6 + 3*math.Log10(float64(n)) + 3*math.Log10(max(1, float64(res.Signatures))) +
		3*float64(len(stopped))
	if tenths[1] > 0 { // not where all is one chunk
		res.LastToFirst = float64(tenths[9]) / float64(tenths[1])
	}
	res.CauseHeld = causeHeld(engine, cause)
	runtime.KeepAlive(engine)
	return res, nil
}
