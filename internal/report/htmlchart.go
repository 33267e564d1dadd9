package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// chartData has the rates by disposition that the script draws. A page without scripts has a sketch.
type chartData struct {
	Clock    bool      `json:"clock"` // X is in seconds since 1970, else in entries from 1
	X        []float64 `json:"x"`     // beginnings of the buckets, and the end of the last
	Line     []uint64  `json:"line"`  // of the first entry in a bucket
	Blocking []uint64  `json:"blocking"`
	Advisory []uint64  `json:"advisory"`
	Ignore   []uint64  `json:"ignore"`
}

// sketchView is a chart without scripts: areas upon each other, the most urgent
// below, in a box of sketchWidth by sketchHeight.
type sketchView struct {
	Width, Height             int
	Blocking, Advisory, Other string // paths
	From, To, Unit            string
	Says                      string // the meaning of the height
}

const (
	sketchWidth  = 1000
	sketchHeight = 120
)

// A chart has at most maxDrawn stretches. In a log without a clock, one of a few
// entries would show no rate but single entries, so that they are of 1<<fewEntries or more
// where minDrawn are left.
const (
	maxDrawn   = 256
	minDrawn   = 32
	fewEntries = 3
)

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// The size of a sparkline in its own units.
const sparkHeight = 16

// path draws the counts as bars. One entry is one unit high, so that it can be seen.
func (s *spark) path() string {
	most := uint64(slices.Max(s.counts[:]))
	var b strings.Builder
	for i, n := range s.counts {
		if n == 0 {
			continue
		}
		h := max(uint64(n)*sparkHeight/most, 2)
		fmt.Fprintf(&b, "M%d %dv-%dh.8v%dz", i, sparkHeight, h, h)
	}
	return b.String()
}

// sketch fills in what both charts show.
func (s *section) sketch() {
	s.chart = chartData{X: []float64{}}
	d, clock := s.details, s.details.hasClock()
	drawn := d.byRecord
	if clock {
		drawn = d.byTime
	}
	h := &drawn
	for h.used > maxDrawn || !clock && h.shift < fewEntries && h.used > minDrawn {
		h.fold()
	}
	c := &s.chart
	c.Clock = clock
	x := func(i int) float64 {
		if clock {
			return seconds(d.first) + float64(uint64(i)<<h.shift)/1000
		}
		return float64(uint64(i)<<h.shift) + 1
	}
	line := uint64(0)
	var most uint64
	for i := range h.used {
		b := &h.buckets[i]
		if !b.empty() {
			line = b.line
		}
		c.X, c.Line = append(c.X, x(i)), append(c.Line, line)
		c.Blocking = append(c.Blocking, b.counts[event.Blocking])
		c.Advisory = append(c.Advisory, b.counts[event.Advisory])
		c.Ignore = append(c.Ignore, b.counts[event.Ignore])
		most = max(most, b.from(event.Ignore))
	}
	if !clock && len(s.Causes) == 0 || h.used == 0 {
		*c = chartData{X: []float64{}} // nothing to be seen
		return
	}
	c.X = append(c.X, x(h.used))
	v := &s.Chart
	v.Width, v.Height, v.Says = sketchWidth, sketchHeight, "share of the records in each interval"
	if clock {
		v.Says = "up to " + text.Many(most, "entry", "entries") + " in an interval"
	}
	path := func(least event.Disposition) string {
		var p strings.Builder
		fmt.Fprintf(&p, "M0 %d", sketchHeight)
		for i := range h.used {
			b := &h.buckets[i]
			full := most
			if !clock { // stretches are equally long, in entries
				full = b.from(event.Ignore)
			}
			y := sketchHeight - float64(b.from(least))*sketchHeight/float64(max(full, 1))
			fmt.Fprintf(&p, "V%.4gH%.4g", y, float64(i+1)*sketchWidth/float64(h.used))
		}
		fmt.Fprintf(&p, "V%dz", sketchHeight)
		return p.String()
	}
	v.Other, v.Advisory, v.Blocking = path(event.Ignore), path(event.Advisory), path(event.Blocking)
	if clock {
		v.Unit = "time, UTC"
		v.From, v.To = d.first.UTC().Format("2006-01-02 15:04:05"), d.last.UTC().Format("15:04:05")
		if d.last.Sub(d.first).Hours() >= 24 {
			v.To = d.last.UTC().Format("2006-01-02 15:04:05")
		}
	} else {
		v.Unit, v.From, v.To = "records, in the order of the log", "1", text.Number(d.total)
	}
}
