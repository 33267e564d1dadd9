// Command storm runs a synthetic storm through an engine and prints one line
// of JSON about it.
//
//	go run ./bench/storm -n 1000000 -mode ids
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"
	"unsafe"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/bench"
	"github.com/heedlog/heed/event"
)

// result is what a run prints. Times and allocations are those of Engine.Log
// alone; making the lines is left out.
type result struct {
	Mode           bench.Mode `json:"mode"`
	Entries        int        `json:"entries"`
	NsPerEntry     float64    `json:"ns_per_entry"`
	AllocsPerEntry float64    `json:"allocs_per_entry"`
	HeapBytes      uint64     `json:"heap_bytes"` // live, with the engine
	PeakRSSBytes   uint64     `json:"peak_rss_bytes"`
	Updates        uint64     `json:"updates"`
	Groups         uint64     `json:"groups"` // signatures that were not known when they came
	Lost           uint64     `json:"lost"`   // entries that the journal does not hold any more
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func run(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("storm", flag.ContinueOnError)
	n := flags.Int("n", 1_000_000, "number of entries")
	modeName := flags.String("mode", string(bench.IDs), "same, ids, distinct or mixed")
	seed := flags.Uint64("seed", 1, "seed of the storm")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	mode, err := bench.ParseMode(*modeName)
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

func storm(mode bench.Mode, n int, seed uint64) (result, error) {
	engine, err := heed.New(heed.Config{})
	if err != nil {
		return result{}, err
	}
	lines := bench.NewStorm(mode, seed)
	text := make([]byte, 0, chunk*256)
	records := make([]event.Log, 0, chunk)
	updates := make([]heed.Update, 0, 64)
	var spent time.Duration
	var mallocs uint64
	var before, after runtime.MemStats
	// The allocation counters stop the world: they are read in every 64th
	// chunk, and the figure is that of the chunks read.
	counted := 0
	for done, c := 0, 0; done < n; c++ {
		size := min(chunk, n-done)
		text, records = text[:0], records[:0]
		for range size {
			start := len(text)
			text = append(text, lines.Next()...)
			// The engine does not keep the text, so the buffer may be used again.
			line := text[start:]
			records = append(records, event.Log{Level: event.LevelError, Message: unsafe.String(unsafe.SliceData(line), len(line))})
		}
		measured := c%64 == 63 || n <= 64*chunk && c > 0
		if measured {
			runtime.ReadMemStats(&before)
		}
		start := time.Now()
		for i := range records {
			engine.Log(records[i])
		}
		spent += time.Since(start)
		if measured {
			runtime.ReadMemStats(&after)
			mallocs += after.Mallocs - before.Mallocs
			counted += size
		}
		updates = engine.Updates(updates[:0])
		done += size
	}
	stats := engine.Stats()
	if err := stats.Check(); err != nil {
		return result{}, err
	}
	if stats.Received != uint64(n) {
		return result{}, fmt.Errorf("storm: %d entries sent, %d received", n, stats.Received)
	}
	text, records, updates = nil, nil, nil
	runtime.GC()
	runtime.ReadMemStats(&after)
	res := result{
		Mode: mode, Entries: n,
		NsPerEntry:   float64(spent.Nanoseconds()) / float64(n),
		HeapBytes:    after.HeapAlloc,
		PeakRSSBytes: peakRSS(),
		Updates:      stats.Coalesce.Updates,
		Groups:       stats.Classify.Misses,
		Lost:         stats.Journal.Written - stats.Journal.Held,
	}
	if counted > 0 {
		res.AllocsPerEntry = float64(mallocs) / float64(counted)
	}
	runtime.KeepAlive(engine)
	return res, nil
}
