package bridge

import (
	"context"
	"errors"
	"net"
	"slices"
	"time"
)

// A mod may listen just after the game has finished starting, and a while after that: the mod in the field waits for
// the main menu or the loaded game, and then needs seconds to describe its tools.
const (
	// quietFor is the time without a listener and without growth of the log after which a started game counts as a game
	// without a mod. A log that grows delays this by at most quietWithin.
	quietFor    = 1250 * time.Millisecond
	quietWithin = 10 * time.Second
	// listWithin is how long after that a list of tools still waits for the mod. A bridge takes the first for complete,
	// and waits at least twice as long for it.
	listWithin = 5 * time.Second
)

// absence finds out that a game has no mod: dials are refused although the log shows that the game has started.
type absence struct {
	since time.Time // it is so
	quiet time.Time // the log has not grown
	lines uint64
}

// shown takes the error of a dial and the state of the log, and reports whether the game counts as a game without a
// mod.
func (a *absence) shown(err error, phase string, lines uint64) bool {
	op, refused := errors.AsType[*net.OpError](err)
	now := time.Now()
	if !refused || op.Op != "dial" || !started(phase) {
		a.since = time.Time{}
		return false
	}
	if a.since.IsZero() {
		a.since, a.quiet, a.lines = now, now, lines
	}
	if lines != a.lines && now.Sub(a.since) < quietWithin {
		a.quiet, a.lines = now, lines
	}
	return now.Sub(a.quiet) >= quietFor
}

// started reports whether a game has started, by its phase as the default rules name it. While it loads, its mod may
// wait for the end of that.
func started(phase string) bool {
	return !slices.Contains([]string{"", "start", "boot", "load", "save"}, phase)
}

// giveUp ends the waits for a mod that was never there.
func (m *mod) giveUp() {
	m.mu.Lock()
	if m.listBy.IsZero() {
		m.listBy = time.Now().Add(listWithin)
	}
	m.mu.Unlock()
	if m.settle(false) {
		m.cfg.Logger.Info("no mod listens, though the game has started: bridges are answered without one")
	}
}

// awaitLate returns when the mod is connected, it is too late for it, none will come any more, or ctx is done.
func (m *mod) awaitLate(ctx context.Context) {
	for m.current() == nil && ctx.Err() == nil {
		m.mu.Lock()
		left := time.Until(m.listBy)
		m.mu.Unlock()
		if left <= 0 {
			return
		}
		select {
		case <-m.gone:
			return
		case <-time.After(min(left, dialFirst)):
		}
	}
}
