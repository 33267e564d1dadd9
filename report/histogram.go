package report

import "time"

// maxBuckets is the number of stretches that a chart shows. More than a screen has
// pixels for would only make the page larger.
const maxBuckets = 512

// histogram counts entries by disposition over a range that is not known before
// it ends: where the buckets do not suffice, pairs of them become one. It starts
// with buckets one wide, so that short ranges are exact.
type histogram struct {
	shift   uint // a bucket is 1<<shift wide
	used    int  // buckets up to the last that is not empty
	buckets [maxBuckets]bucket
}

// bucket is one stretch of a histogram.
type bucket struct {
	counts [len(dispositions)]uint64 // by event.Disposition
	line   uint64                    // of the first entry, 0 where there is none
	time   time.Time                 // of the first entry that has one
}

func (b *bucket) empty() bool { return b.line == 0 }

// at returns the bucket of x, which it makes room for.
func (h *histogram) at(x uint64) *bucket {
	for x>>h.shift >= maxBuckets {
		h.fold()
	}
	i := int(x >> h.shift)
	h.used = max(h.used, i+1)
	return &h.buckets[i]
}

// fold makes one bucket of each two.
func (h *histogram) fold() {
	for i := range maxBuckets / 2 {
		a, b := h.buckets[2*i], h.buckets[2*i+1]
		if a.empty() {
			a.line = b.line
		}
		if a.time.IsZero() {
			a.time = b.time
		}
		for d := range a.counts {
			a.counts[d] += b.counts[d]
		}
		h.buckets[i] = a
	}
	clear(h.buckets[maxBuckets/2:])
	h.shift++
	h.used = (h.used + 1) / 2
}

// sparkBuckets is the width of a sparkline: some three pixels each in a table.
const sparkBuckets = 40

// spark counts the entries of one row over the log so far, as a histogram does. Each
// row has a scale of its own until somebody looks, so that a row costs nothing
// while others are counted.
type spark struct {
	shift  uint
	counts [sparkBuckets]uint32 // they stop at the largest
}

func (s *spark) add(x uint64) {
	for x>>s.shift >= sparkBuckets {
		s.fold()
	}
	if n := &s.counts[x>>s.shift]; *n < ^uint32(0) {
		*n++
	}
}

func (s *spark) fold() {
	for i := range sparkBuckets / 2 {
		s.counts[i] = uint32(min(uint64(s.counts[2*i])+uint64(s.counts[2*i+1]), uint64(^uint32(0))))
	}
	clear(s.counts[sparkBuckets/2:])
	s.shift++
}

// scale brings s to the scale of a log of n entries.
func (s *spark) scale(n uint64) {
	for n > 0 && (n-1)>>s.shift >= sparkBuckets {
		s.fold()
	}
}

// merge adds the counts of o, which it brings to the same scale.
func (s *spark) merge(o *spark) {
	for s.shift < o.shift {
		s.fold()
	}
	other := *o
	for other.shift < s.shift {
		other.fold()
	}
	for i, n := range other.counts {
		s.counts[i] = uint32(min(uint64(s.counts[i])+uint64(n), uint64(^uint32(0))))
	}
}
