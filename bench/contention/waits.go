package contention

import (
	"slices"
	"time"
)

// waits are durations in order.
type waits []time.Duration

// percentile returns the duration that the given part of all does not exceed.
func (w waits) percentile(part float64) time.Duration {
	return w[min(int(part*float64(len(w))), len(w)-1)]
}

// over returns how many exceed d.
func (w waits) over(d time.Duration) int {
	upTo, _ := slices.BinarySearch(w, d+1)
	return len(w) - upTo
}

func (w waits) mean() time.Duration {
	var sum time.Duration
	for _, d := range w {
		sum += d
	}
	return sum / time.Duration(len(w))
}
