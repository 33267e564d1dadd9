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
	To                        string // number of the last entry
}

const (
	sketchWidth  = 1000
	sketchHeight = 120
)

// sketch fills in the chart: which share of the entries of each stretch of the log is how urgent.
func (s *section) sketch() {
	buckets := s.details.chart.buckets
	if len(s.Causes) == 0 || len(buckets) == 0 {
		return // nothing to be seen
	}
	path := func(least event.Disposition) string {
		var p strings.Builder
		fmt.Fprintf(&p, "M0 %d", sketchHeight)
		for i := range buckets {
			share := float64(buckets[i].from(least)) / float64(max(buckets[i].from(event.Ignore), 1))
			fmt.Fprintf(&p, "V%.4gH%.4g", sketchHeight-share*sketchHeight, float64(i+1)*sketchWidth/float64(len(buckets)))
		}
		fmt.Fprintf(&p, "V%dz", sketchHeight)
		return p.String()
	}
	s.Chart = sketchView{
		Width: sketchWidth, Height: sketchHeight, To: text.Number(s.details.total),
		Other: path(event.Ignore), Advisory: path(event.Advisory), Blocking: path(event.Blocking),
	}
}
