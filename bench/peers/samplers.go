package main

import (
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/rs/zerolog"
	"go.uber.org/zap/zapcore"
)

// zapPeer is zap's sampler as zap.NewProductionConfig sets it up, in front of a
// core that only counts.
type zapPeer struct {
	core    zapcore.Core
	written *countingCore
	fed     int
	clock   clock
}

func startZap(bool) (peer, error) {
	written := &countingCore{}
	return &zapPeer{core: zapcore.NewSamplerWithOptions(written, time.Second, 100, 100), written: written}, nil
}

func (p *zapPeer) prepare([]line) {}

func (p *zapPeer) feed(lines []line) {
	for i := range lines {
		entry := zapcore.Entry{Level: zapcore.ErrorLevel, Time: p.clock.next(), Message: lines[i].text}
		if checked := p.core.Check(entry, nil); checked != nil {
			checked.Write()
		}
	}
	p.fed += len(lines)
}

func (p *zapPeer) tally() (tally, error) {
	return tally{Groups: -1, Passed: p.written.n, Refused: p.fed - p.written.n}, nil
}

// countingCore takes the lines that a sampler passes and encodes nothing.
type countingCore struct{ n int }

func (c *countingCore) Enabled(zapcore.Level) bool        { return true }
func (c *countingCore) With([]zapcore.Field) zapcore.Core { return c }
func (c *countingCore) Sync() error                       { return nil }

func (c *countingCore) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	return ce.AddCore(e, c)
}

func (c *countingCore) Write(zapcore.Entry, []zapcore.Field) error {
	c.n++
	return nil
}

// zerologPeer is zerolog's BurstSampler as its documentation sets it up.
type zerologPeer struct {
	sampler     zerolog.Sampler
	fed, passed int
}

func startZerolog(bool) (peer, error) {
	return &zerologPeer{sampler: &zerolog.BurstSampler{
		Burst: 5, Period: time.Second, NextSampler: &zerolog.BasicSampler{N: 100},
	}}, nil
}

func (p *zerologPeer) prepare([]line) {}

func (p *zerologPeer) feed(lines []line) {
	for range lines {
		if p.sampler.Sample(zerolog.ErrorLevel) {
			p.passed++
		}
	}
	p.fed += len(lines)
}

func (p *zerologPeer) tally() (tally, error) {
	return tally{Groups: -1, Passed: p.passed, Refused: p.fed - p.passed}, nil
}

// startXXHash starts the floor: nothing that looks at each byte is faster.
func startXXHash(watched bool) (peer, error) {
	return newHash(watched, func(l *line) uint64 { return xxhash.Sum64String(l.text) }), nil
}

// hashPeer is a hash of each line.
type hashPeer struct {
	hash func(*line) uint64
	seen map[uint64]bool // nil if not watched
	sum  uint64          // so that no result is thrown away
}

func newHash(watched bool, hash func(*line) uint64) *hashPeer {
	p := &hashPeer{hash: hash}
	if watched {
		p.seen = map[uint64]bool{}
	}
	return p
}

func (p *hashPeer) prepare([]line) {}

func (p *hashPeer) feed(lines []line) {
	for i := range lines {
		h := p.hash(&lines[i])
		p.sum += h
		if p.seen != nil {
			p.seen[h] = true
		}
	}
}

func (p *hashPeer) tally() (tally, error) { return tally{Groups: len(p.seen)}, nil }
