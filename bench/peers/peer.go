package main

import "time"

// peer is one instance of a contender. It is used by one goroutine.
type peer interface {
	// prepare brings lines into the form that the peer takes. It is not timed.
	prepare(lines []line)

	// feed ingests the lines of the latest prepare. It is timed.
	feed(lines []line)

	// tally counts all lines, and ends the peer.
	tally() (tally, error)
}

// tally counts lines. A line that is neither counted nor passed on has left no trace.
type tally struct {
	// Groups counts the different answers, or is -1 if an answer does not name similar lines.
	Groups int `json:"groups"`

	// Counted is the sum of the counts held at the end.
	Counted int `json:"counted"`

	// Passed counts the lines that the host still has to write.
	Passed int `json:"passed"`

	// Refused is how many lines got no answer at all.
	Refused int `json:"refused"`
}

// contender is a kind of peer.
type contender struct {
	Name string

	// Keeps names the facts about a group of lines that remain.
	Keeps string

	// start returns a fresh instance. A watched instance may take longer, to know its groups for tally.
	start func(watched bool) (peer, error)
}

// Names of the contenders that others are compared with.
const (
	nameKey    = "heed signature.Key"
	nameEngine = "heed Engine.Log"
	nameDrain  = "Loki Drain"
	nameDrainU = "Loki Drain, no pauses"
)

func contenders() ([]contender, error) {
	h, err := newHeed()
	if err != nil {
		return nil, err
	}
	return []contender{
		{nameKey, "nothing: a number that stands for the shape", h.startKey},
		{"heed classify", "template, group, decision", h.startClassify},
		{nameEngine, "counts, first and last, up to 5 sampled groups an item, and the lines themselves in a journal", h.startEngine},
		{nameDrain, "template, counts by 10 s; no line", startDrain(false)},
		{nameDrainU, "the same, MaxEvictionRatio 1", startDrain(true)},
		{"OpenTelemetry logdedup", "count, first and last time, the first line, until the next export", startDedup},
		{"zap sampler", "nothing: the first 100 of a text each second pass, then each 100th", startZap},
		{"zerolog BurstSampler", "nothing: 5 lines a second pass, then each 100th; the text is not looked at", startZerolog},
		{"xxhash alone", "nothing: the floor for looking at each byte", startXXHash},
	}, nil
}

// clock gives the time to those that take it as an argument: a fixed start, and
// 50 µs more with each line. Those that read the clock themselves pay for it.
type clock struct{ n int }

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (c *clock) next() time.Time {
	c.n++
	return epoch.Add(time.Duration(c.n) * 50 * time.Microsecond)
}
