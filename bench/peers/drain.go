package main

import "github.com/grafana/loki/v3/pkg/pattern/drain"

// drainPeer is Loki's Drain as its pattern ingester sets it up for logs that
// are neither JSON nor logfmt, without metrics.
//
// When more than a quarter of the lines made it give up an older template, it refuses all lines for ten minutes. A user
// gets that, but it makes Drain look fast; with MaxEvictionRatio 1 it never happens.
type drainPeer struct {
	drain   *drain.Drain
	seen    map[*drain.LogCluster]bool // nil if not watched
	refused int
	clock   clock
}

func startDrain(noPauses bool) func(watched bool) (peer, error) {
	return func(watched bool) (peer, error) {
		p := newDrain(noPauses)
		if watched {
			p.seen = map[*drain.LogCluster]bool{}
		}
		return p, nil
	}
}

func newDrain(noPauses bool) *drainPeer {
	cfg := drain.DefaultConfig()
	if noPauses {
		cfg.MaxEvictionRatio = 1
	}
	return &drainPeer{drain: drain.New("", cfg, nil, drain.FormatUnknown, nil)}
}

func (p *drainPeer) prepare([]line) {}

func (p *drainPeer) feed(lines []line) {
	for i := range lines {
		c := p.drain.Train(lines[i].text, p.clock.next().UnixNano())
		if c == nil {
			p.refused++
		} else if p.seen != nil {
			p.seen[c] = true
		}
	}
}

func (p *drainPeer) tally() (tally, error) {
	t := tally{Groups: len(p.seen), Refused: p.refused}
	for _, c := range p.drain.Clusters() {
		t.Counted += int(c.SampleCount)
	}
	return t, nil
}

// accepted returns the lines that Drain does not refuse by their form: too short, too long, with fewer than 4 or more
// than 80 tokens.
func accepted(lines []line) []line {
	var out []line
	p := newDrain(true)
	for i := range lines {
		if p.drain.Train(lines[i].text, p.clock.next().UnixNano()) != nil {
			out = append(out, lines[i])
		}
	}
	return out
}
