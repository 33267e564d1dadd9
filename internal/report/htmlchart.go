package report

import (
	"fmt"
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// sketchView is a chart: areas upon each other, the most urgent
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

// sketch fills in the chart.
func (s *section) sketch() {
	d, clock := s.details, s.details.hasClock()
	h := &d.byRecord
	if clock {
		h = &d.byTime
	}
	drawn := *h
	for drawn.used > maxDrawn || !clock && drawn.shift < fewEntries && drawn.used > minDrawn {
		drawn.fold()
	}
	buckets := drawn.buckets[:drawn.used]
	if !clock && len(s.Causes) == 0 || len(buckets) == 0 {
		return // nothing to be seen
	}
	var most uint64
	for i := range buckets {
		most = max(most, buckets[i].from(event.Ignore))
	}
	v := &s.Chart
	v.Width, v.Height, v.Says = sketchWidth, sketchHeight, "share of the records in each interval"
	if clock {
		v.Says = "up to " + text.Many(most, "entry", "entries") + " in an interval"
	}
	path := func(least event.Disposition) string {
		var p strings.Builder
		fmt.Fprintf(&p, "M0 %d", sketchHeight)
		for i := range buckets {
			full := most
			if !clock { // stretches are equally long, in entries
				full = buckets[i].from(event.Ignore)
			}
			y := sketchHeight - float64(buckets[i].from(least))*sketchHeight/float64(max(full, 1))
			fmt.Fprintf(&p, "V%.4gH%.4g", y, float64(i+1)*sketchWidth/float64(len(buckets)))
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
