package compare

import (
	"cmp"
	"slices"

	"github.com/heedlog/heed/internal/cohort"
)

// The measures of the length of a log.
const (
	perRun    = "run"    // a log
	perRecord = "record" // records of groups that did not change
	perHour   = "hour"   // where every log has a clock
)

// exposure is the length of both sides by one measure, 0 if it is not known of a side.
type exposure struct {
	measure  string
	old, new float64
}

// ratioOf returns the ratio of the rates of a in e.old and b in e.new, which are
// not both 0, with the bounds at z standard deviations. The package documentation
// has the formula.
func ratioOf(a, b float64, e *exposure, z float64) ratio {
	scale := e.old / e.new
	low, high := cohort.Wilson(b, a+b, z)
	odds := func(p float64) float64 { return p / (1 - p) * scale }
	return ratio{Value: b / a * scale, Low: odds(low), High: odds(high), By: e.measure}
}

// change is how two counts differ, by all measures together.
type change int8

const (
	same change = iota
	more
	less
)

// differs returns whether b is more or less frequent than a by every defined measure, and the ratio by the measure with
// the least difference. Without a measure there is none. Both counts are above 0.
func differs(a, b uint64, measures []exposure, z float64) (change, ratio) {
	var all []ratio
	isMore, isLess := true, true
	for i := range measures {
		if e := &measures[i]; e.old > 0 && e.new > 0 {
			r := ratioOf(float64(a), float64(b), e, z)
			isMore = isMore && r.Low > 1 && r.Value >= factor
			isLess = isLess && r.High < 1 && r.Value*factor <= 1
			all = append(all, r)
		}
	}
	if all == nil {
		return same, ratio{}
	}
	lowest := slices.MinFunc(all, func(x, y ratio) int { return cmp.Compare(x.Low, y.Low) })
	switch {
	case isMore:
		return more, lowest
	case isLess:
		return less, slices.MaxFunc(all, func(x, y ratio) int { return cmp.Compare(x.High, y.High) })
	}
	return same, lowest
}
