package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/heedlog/heed/bench/workload"
)

// batch is how many lines are prepared, and then timed, together.
const batch = 1024

// steady is how long the lines are repeated once they are known.
const steady = 20 * time.Millisecond

// result has the figures of one contender on one corpus.
type result struct {
	Contender string `json:"contender"`
	Tally     tally  `json:"tally"` // of one pass

	New      summary   `json:"newNsPerLine"`   // the first pass of a fresh instance
	Known    summary   `json:"knownNsPerLine"` // the passes after it
	Ratio    summary   `json:"ratioToEngine"`  // of Known, run by run
	NewRatio summary   `json:"newRatioToEngine"`
	Allocs   float64   `json:"knownAllocsPerLine"`
	runs     []timings // one each run
}

type timings struct{ first, known float64 } // ns per line

// summary is the median of the runs with the quartiles around it.
type summary struct {
	Low    float64 `json:"q1"`
	Median float64 `json:"median"`
	High   float64 `json:"q3"`
}

func summarize(values []float64) summary {
	if len(values) == 0 {
		return summary{}
	}
	v := slices.Sorted(slices.Values(values))
	at := func(q float64) float64 {
		x := q * float64(len(v)-1)
		i := int(x)
		if i+1 == len(v) {
			return v[i]
		}
		return v[i] + (x-float64(i))*(v[i+1]-v[i])
	}
	return summary{Low: at(0.25), Median: at(0.5), High: at(0.75)}
}

// measurement is one corpus with all contenders.
type measurement struct {
	Corpus  string    `json:"corpus"`
	About   string    `json:"about"`
	Lines   int       `json:"lines"`
	Of      int       `json:"of"` // lines of the whole corpus
	Bytes   int       `json:"bytes"`
	Results []*result `json:"results"`

	lines []line
	kinds []contender
}

// newMeasurement prepares to measure kinds on lines, which are c's or a part of
// them.
func newMeasurement(c *corpus, lines []line, kinds []contender) (*measurement, error) {
	m := &measurement{Corpus: c.Name, About: c.About, Lines: len(lines), Of: len(c.Lines), lines: lines, kinds: kinds}
	for i := range lines {
		m.Bytes += len(lines[i].text)
	}
	for _, k := range kinds {
		r := &result{Contender: k.Name}
		if err := m.inspect(k, r); err != nil {
			return nil, fmt.Errorf("%s on %s: %w", k.Name, c.Name, err)
		}
		m.Results = append(m.Results, r)
	}
	return m, nil
}

// inspect counts the passed lines, and the allocations of known lines. It runs separately, since it would disturb the
// timing.
func (m *measurement) inspect(k contender, r *result) error {
	p, err := k.start(true)
	if err != nil {
		return err
	}
	pass(p, m.lines, nil)
	if r.Tally, err = p.tally(); err != nil {
		return err
	}
	if p, err = k.start(false); err != nil {
		return err
	}
	pass(p, m.lines, nil)
	var before, after runtime.MemStats
	var mallocs uint64
	pass(p, m.lines, func(feed func()) {
		runtime.ReadMemStats(&before)
		feed()
		runtime.ReadMemStats(&after)
		mallocs += after.Mallocs - before.Mallocs
	})
	r.Allocs = float64(mallocs) / float64(len(m.lines))
	return nil
}

// run measures each contender once, beginning with another one each time, so
// that none has always the same one before it.
func (m *measurement) run(n int) error {
	for i := range m.kinds {
		i = (i + n) % len(m.kinds)
		p, err := m.kinds[i].start(false)
		if err != nil {
			return err
		}
		runtime.GC() // no peer pays for the garbage of another
		first := timed(p, m.lines)
		var known time.Duration
		passes := 0
		for known < steady {
			known += timed(p, m.lines)
			passes++
		}
		lines := float64(len(m.lines))
		m.Results[i].runs = append(m.Results[i].runs, timings{
			first: float64(first.Nanoseconds()) / lines,
			known: float64(known.Nanoseconds()) / lines / float64(passes),
		})
		if _, err := p.tally(); err != nil {
			return err
		}
	}
	return nil
}

// summarize sums up all runs. Ratios are taken within each run.
func (m *measurement) summarize() {
	engine := m.find(nameEngine)
	for _, r := range m.Results {
		var first, known, ratio, newRatio []float64
		for i, t := range r.runs {
			first, known = append(first, t.first), append(known, t.known)
			ratio = append(ratio, t.known/engine.runs[i].known)
			newRatio = append(newRatio, t.first/engine.runs[i].first)
		}
		r.New, r.Known = summarize(first), summarize(known)
		r.Ratio, r.NewRatio = summarize(ratio), summarize(newRatio)
	}
}

func (m *measurement) find(name string) *result {
	i := slices.IndexFunc(m.Results, func(r *result) bool { return r.Contender == name })
	if i < 0 {
		panic("BUG: peers: " + name + " was not measured")
	}
	return m.Results[i]
}

func timed(p peer, lines []line) time.Duration {
	var spent time.Duration
	pass(p, lines, func(feed func()) {
		start := workload.Now()
		feed()
		spent += workload.Now() - start
	})
	return spent
}

// pass feeds all lines once, each batch by way of around.
func pass(p peer, lines []line, around func(feed func())) {
	for part := range slices.Chunk(lines, batch) {
		p.prepare(part)
		if around == nil {
			p.feed(part)
			continue
		}
		around(func() { p.feed(part) })
	}
}
