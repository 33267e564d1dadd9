package contention

import (
	"math/bits"
	"time"
)

// subBits is how many bits below the leading one a bucket distinguishes: buckets are
// at most 1/32 wide.
const subBits = 5

// histogram counts durations in buckets that are linear within a power of two, so
// that taking one in is a few instructions and nothing is allocated. The largest
// is kept exactly.
type histogram struct {
	buckets [(64 - subBits) << subBits]uint64
	max     time.Duration
}

// bucket returns the index of the bucket of ns.
func bucket(ns uint64) int {
	shift := max(bits.Len64(ns)-1-subBits, 0)
	return shift<<subBits + int(ns>>shift)
}

// low is the least duration of bucket i.
func low(i int) time.Duration {
	if i < 2<<subBits {
		return time.Duration(i)
	}
	shift := i>>subBits - 1
	return time.Duration(i-shift<<subBits) << shift
}

func (h *histogram) add(d time.Duration) {
	h.buckets[bucket(uint64(max(d, 0)))]++
	h.max = max(h.max, d)
}

func (h *histogram) merge(o *histogram) {
	for i, n := range o.buckets {
		h.buckets[i] += n
	}
	h.max = max(h.max, o.max)
}

func (h *histogram) count() (n uint64) {
	for _, b := range h.buckets {
		n += b
	}
	return n
}

// percentile returns the duration that the given part of all does not exceed, to
// the width of a bucket.
func (h *histogram) percentile(part float64) time.Duration {
	left := uint64(part * float64(h.count()))
	for i, n := range h.buckets {
		if n > left {
			return low(i)
		}
		left -= n
	}
	return h.max
}

// over returns how many exceed d, to the width of a bucket.
func (h *histogram) over(d time.Duration) (n uint64) {
	for _, b := range h.buckets[bucket(uint64(d))+1:] {
		n += b
	}
	return n
}

// mean is the mean of the buckets' lower ends.
func (h *histogram) mean() time.Duration {
	var sum float64
	for i, n := range h.buckets {
		sum += float64(n) * float64(low(i))
	}
	return time.Duration(sum / max(1, float64(h.count())))
}
