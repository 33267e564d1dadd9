package compare

import (
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/bench/workload"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// growth is a cost that must not grow with a size.
type growth struct {
	name string

	// limit bounds the cost at the large size, as a multiple of the cost at the small size. A limit of 1 has a margin for
	// caches: data that exceeds them costs more.
	limit float64

	ratio func() (float64, error)
}

// tries is how often a growth is measured until it is within its limit. A constant cost was seen at 1.9 times with ten
// other programs on two processors; a growing cost is beyond its limit each time, and only then takes the time of all
// tries.
const tries = 7

// growths measures each growth of the list, and returns those beyond their
// limits.
func growths(w io.Writer, list []growth) (grown []error, err error) {
	for _, g := range list {
		least := math.Inf(1)
		for try := 0; try < tries && least > g.limit; try++ {
			ratio, err := g.ratio()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", g.name, err)
			}
			least = min(least, ratio)
		}
		if _, err := fmt.Fprintf(w, "BenchmarkGrowth/%s 1 %.3f growth %.3g limit\n", g.name, least, g.limit); err != nil {
			return nil, err
		}
		if least > g.limit {
			grown = append(grown, fmt.Errorf("%s: the cost grows to %.2f times, the limit is %.3g", g.name, least, g.limit))
		}
	}
	return grown, nil
}

// shapes are endless texts: a byte at 64 KiB must cost the same as at 1 KiB. A text without the end of its beginning
// invites a search for it, again and again.
var shapes = []struct{ name, text string }{
	{"words", "the colony has no path to the gate "},
	{"ids", "Thing_Wall4821 at (12, 0, 5) has no link to Region_77, "},
	{"pairs", "name=value42 other=7 "},
	{"quotes", `"never closed `},
	{"marks", `"`},
	{"brackets", "((["},
	{"paths", `C:\Games\Some Mod\`},
	{"tags", "<color="},
	{"letters", "x"},
}

// sizes are all growths that are measured; large is the largest number of
// entries.
func sizes(large int) ([]growth, error) {
	set, err := rules.Compile(rules.Defaults()...)
	if err != nil {
		return nil, err
	}
	normalizer, err := signature.New(set.Masking())
	if err != nil {
		return nil, err
	}
	const small, big = 1 << 10, 64 << 10
	var list []growth
	for _, s := range shapes {
		list = append(list, growth{
			name: "Key/bytes=1k-64k/" + s.name, limit: 1.5,
			ratio: func() (float64, error) {
				perByte := func(size int) (float64, error) {
					b := keyCase(s.name, normalizer, []string{textOf(s.text, size)})
					b.size()
					return b.nsPerOp() / float64(size), b.check()
				}
				return ratioOf(perByte, small, big)
			},
		})
	}
	list = append(list, growth{"Log/bytes=1k-64k", 1.5, func() (float64, error) {
		return ratioOf(func(size int) (float64, error) {
			// 4 MiB of lines, each with another number: a repeated short line would be known by its bytes.
			lines := make([]string, 4<<20/size)
			for i := range lines {
				lines[i] = textOf(fmt.Sprintf("%d %s", i, textOf(shapes[1].text, size)), size)
			}
			ns, err := known(heed.Config{Rules: set}, lines)
			return ns / float64(size), err
		}, small, big)
	}})
	for _, d := range dimensions(set) {
		list = append(list, d.growth())
	}
	return append(list, manyEntries(set, large)...), nil
}

// known is the cost of Log on known lines that take turns, of a new engine.
func known(cfg heed.Config, lines []string) (float64, error) {
	engine, err := heed.New(cfg)
	if err != nil {
		return 0, err
	}
	return logged(engine, lines)
}

func textOf(part string, size int) string {
	return strings.Repeat(part, size/len(part)+1)[:size]
}

// ratioOf returns the cost at the large size as a multiple of the cost at the small size.
func ratioOf(cost func(size int) (float64, error), small, large int) (float64, error) {
	a, err := cost(small)
	if err != nil {
		return 0, err
	}
	b, err := cost(large)
	return b / a, err
}

// manyEntries compares the last entries of a long run with those a tenth of the
// way: of signatures that are all new, of known ones, and the memory then.
func manyEntries(set *rules.Set, large int) []growth {
	small := large / 10
	// part is how many entries are measured at each of the two points.
	part := small / 2
	var heap float64
	long := func(mode workload.Mode) (float64, error) {
		engine, err := heed.New(heed.Config{Rules: set})
		if err != nil {
			return 0, err
		}
		b := madeCase(engine, workload.NewStorm(mode, 3).Strings)
		b.stretch(small - part)
		early := b.stretch(part)
		earlyHeap := liveHeap()
		b.stretch(large - small - part)
		late := b.stretch(part)
		heap = float64(liveHeap()) / float64(earlyHeap)
		stats := engine.Stats()
		if stats.Received != uint64(large) {
			return 0, fmt.Errorf("%d entries received of %d", stats.Received, large)
		}
		return late / early, stats.Check()
	}
	return []growth{
		{fmt.Sprintf("Log/known/entries=%d-%d", small, large), 1.5, func() (float64, error) { return long(workload.IDs) }},
		{fmt.Sprintf("Log/new/entries=%d-%d", small, large), 1.5, func() (float64, error) { return long(workload.Distinct) }},
		{fmt.Sprintf("heap/entries=%d-%d", small, large), 1.1, func() (float64, error) {
			if heap == 0 {
				return 0, errors.New("the run before has not measured it")
			}
			return heap, nil
		}},
	}
}

// stretch returns the cost of each of n operations, a turn at a time.
func (b *benchmark) stretch(n int) (nsPerOp float64) {
	var all time.Duration
	for left := n; left > 0; left -= turns {
		spent, _ := b.cost(min(left, turns))
		all += spent
	}
	return float64(all.Nanoseconds()) / float64(n)
}

func liveHeap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
