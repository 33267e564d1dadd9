package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/text"
)

// capabilities returns the capabilities beyond the methods of the server.
func (p *Proxy) capabilities() gabp.Capabilities {
	var c gabp.Capabilities
	for _, r := range Resources() {
		c.Resources = append(c.Resources, r.URI)
	}
	w, ok := p.mod.welcome()
	if !ok {
		return c
	}
	theirs := w.Capabilities
	if p.attends {
		ours := func(name string) bool { return strings.HasPrefix(name, "attention/") }
		theirs.Events = slices.DeleteFunc(slices.Clone(theirs.Events), ours)
		theirs.Methods = slices.DeleteFunc(slices.Clone(theirs.Methods), ours)
	}
	theirs.Resources, theirs.Limits = slices.Concat(theirs.Resources, c.Resources), nil
	return theirs
}

// welcome waits for the mod and amends w with the mod's welcome.
func (p *Proxy) welcome(ctx context.Context, s *gabp.ServerSession, w *gabp.Welcome) error {
	if !session.Person(s.Client) {
		p.waiting.Add(1)
		p.log.Debug("a bridge waits for the game's mod", "bridge", s.Consumer)
		p.mod.await(ctx, p.cfg.ModWait)
		p.waiting.Add(-1)
		if ctx.Err() != nil { // no agent has arrived
			return ctx.Err()
		}
		if e := p.mod.ending.Load(); e != nil && !p.mod.came.Load() {
			return e.refusal()
		}
		p.Arrive(ctx, s.Consumer)
		p.agents.Add(1)
	}
	theirs, ok := p.mod.welcome()
	if !ok {
		return nil
	}
	w.AgentID = cmp.Or(theirs.AgentID, w.AgentID)
	if theirs.App.Name != "" && theirs.App.Version != "" {
		w.App = theirs.App
	}
	w.ServerInfo = theirs.ServerInfo
	w.SchemaVersion = cmp.Or(theirs.SchemaVersion, w.SchemaVersion)
	w.Observed = p.cfg.Handed.observed(theirs.Observed)
	caps := p.capabilities()
	caps.Methods = slices.Concat(caps.Methods, w.Capabilities.Methods) // the server's own
	caps.Events = slices.Concat(caps.Events, w.Capabilities.Events)
	caps.Limits = lesser(w.Capabilities.Limits, theirs.Capabilities.Limits)
	w.Capabilities = caps
	return nil
}

// Arrive records once that an agent has arrived, so that items from before do not stop it. A bridge that connects again
// is no arrival, and neither is an agent after a restart of heed during one game: the agent knows the open items.
func (p *Proxy) Arrive(ctx context.Context, consumer string) {
	p.arrival.Do(func() {
		if !p.attends || p.session.Continues() {
			return
		}
		if err := p.session.Gather(ctx); err != nil {
			p.log.Warn("the log from before the agent connected is not fully known", "error", err)
			return
		}
		p.session.Attach(consumer)
	})
}

// left counts an agent whose session is over.
func (p *Proxy) left(s *gabp.ServerSession) {
	if !session.Person(s.Client) {
		p.agents.Add(-1)
	}
}

// lesser returns the lesser of each limit. A zero is none.
func lesser(a, b *gabp.WireLimits) *gabp.WireLimits {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	least := *a
	for _, l := range []struct{ of, other *int }{
		{&least.MaxMessageSize, &b.MaxMessageSize},
		{&least.MaxConcurrentRequests, &b.MaxConcurrentRequests},
		{&least.RequestTimeout, &b.RequestTimeout},
	} {
		if *l.of <= 0 || *l.other > 0 && *l.other < *l.of {
			*l.of = *l.other
		}
	}
	return &least
}

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
	first := false
	m.change(func() {
		if m.listBy.IsZero() {
			m.listBy = time.Now().Add(listWithin)
		}
		first, m.settled = !m.settled, true
	})
	if first {
		m.cfg.Logger.Info("no mod listens, though the game has started: bridges are answered without one")
	}
}

// awaitLate returns when the mod is connected, it is too late for it, none will come any more, or ctx is done.
func (m *mod) awaitLate(ctx context.Context) {
	m.mu.Lock()
	left := time.Until(m.listBy)
	m.mu.Unlock()
	m.until(ctx, left, func() bool { return m.client.Load() != nil })
}

// Ending is how the game ended.
type Ending struct {
	Text   string   // in heed's own words, such as "the game exited with 3"
	Code   int      // the exit status
	Output []Output // the last lines that it wrote, each stream's in order
}

// Output is a line that a game wrote.
type Output struct {
	From string `json:"from"` // "log", "stdout", "stderr", or "output" for both in one
	Text string `json:"text"`
}

// The bounds of the game's output in the answer to a refused hello.
const (
	maxOutputLines = 20
	maxOutputChars = 4 << 10
	maxOutputLine  = 400
)

// endedData is the data of the error that answers the hello of a bridge whose game ended before its mod answered.
type endedData struct {
	ExitCode int      `json:"exitCode"`
	Output   []Output `json:"output"`
}

// Ended declares that the game has ended, and so that no mod will come any more. If none has answered before, the
// hello of a bridge is refused from now on, with the end of the game and its last output: a bridge shows its agent the
// message of this error, and of a welcome nothing but the connection. Ended reports whether a bridge is waiting for the
// answer to its hello.
func (p *Proxy) Ended(e Ending) (waiting bool) {
	p.mod.ending.Store(&e)
	waiting = p.waiting.Load() > 0 // the next line ends the waits
	p.mod.end()
	return waiting
}

// refusal returns the answer to a hello after the end.
func (e *Ending) refusal() *gabp.Error {
	data := endedData{ExitCode: e.Code, Output: lastOutput(e.Output)}
	var b strings.Builder
	fmt.Fprintf(&b, "%s before its mod answered", e.Text)
	if len(data.Output) == 0 {
		b.WriteString("; it wrote nothing that heed can see")
	} else {
		b.WriteString("; the last that it wrote, in its own words:")
	}
	for _, o := range data.Output {
		fmt.Fprintf(&b, "\n  %s: %s", o.From, o.Text)
	}
	return (&gabp.Error{Code: gabp.CodeEnded, Message: b.String()}).WithData(data)
}

// lastOutput returns the last lines of each stream, safe to show and within the bounds.
func lastOutput(all []Output) []Output {
	streams := map[string]bool{}
	for _, o := range all {
		streams[o.From] = true
	}
	share := max(1, len(streams))
	lines, chars := map[string]int{}, map[string]int{}
	out := []Output{}
	for _, o := range slices.Backward(all) {
		o.Text = text.Safe(o.Text, maxOutputLine)
		if chars[o.From] += len(o.Text); chars[o.From] > maxOutputChars/share || lines[o.From] == maxOutputLines/share {
			chars[o.From] = maxOutputChars // nor older lines
			continue
		}
		lines[o.From]++
		out = append(out, o)
	}
	slices.Reverse(out)
	return out
}

// endGrace is how long after the connection to the mod was lost the end of the game is waited for, which explains it.
const endGrace = time.Second

// awaitEnd waits for that and reports whether it came.
func (m *mod) awaitEnd(ctx context.Context) bool {
	m.until(ctx, endGrace, func() bool { return false })
	return m.expected.Err() != nil
}

// explain waits for the end of the game if a request to the mod was lost with the connection, and then makes the
// answer to the bridge say so.
func (p *Proxy) explain(ctx context.Context, answer *gabp.Error, err error) {
	if _, answered := errors.AsType[*gabp.Error](err); answered || ctx.Err() != nil {
		return
	}
	if !p.mod.awaitEnd(ctx) {
		return
	}
	if e := p.mod.ending.Load(); e != nil {
		answer.Message = e.Text + "; whether the request was executed is not known"
	}
}

// Handed holds the address and token from the bridge that started this process, and their replacements for the game.
// Everything else is passed on unchanged.
type Handed struct {
	// Prefix are the arguments of this process up to and with the game's program.
	Prefix []string

	// Outer is from the bridge: Path is "" if the environment had none. Inner is for the game.
	Outer, Inner gabp.Bridge
}

// replacement is an environment variable: its value from the bridge, and for the game.
type replacement struct{ name, outer, inner string }

func (h *Handed) replaced() []replacement {
	return []replacement{
		{gabp.EnvPort, strconv.Itoa(h.Outer.Port()), strconv.Itoa(h.Inner.Port())},
		{gabp.EnvToken, h.Outer.Token, h.Inner.Token},
		{gabp.EnvBridge, h.Outer.Path, h.Inner.Path},
	}
}

// sameName reports whether two names mean one environment variable.
func sameName(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}

// Environ returns the environment for the game, of which [os/exec] takes the last value of a name: environ, and then
// port, token and, if there is one in it, the path of the bridge file.
func (h *Handed) Environ(environ []string) []string {
	out := slices.Clone(environ)
	for _, r := range h.replaced() {
		names := func(kv string) bool { name, _, _ := strings.Cut(kv, "="); return sameName(name, r.name) }
		if r.name != gabp.EnvBridge || slices.ContainsFunc(environ, names) {
			out = append(out, r.name+"="+r.inner)
		}
	}
	return out
}

// observed translates a mod's report of its start into the values of this process, with which the bridge compares it:
// GABS hashes the arguments after the first, the working directory and each variable that it named in GABS_FORWARD_ENV,
// and compares. A value that the mod got from this process becomes the value that this process got. Any other value is
// passed on, so that a loss on the way shows.
func (h *Handed) observed(raw json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return raw
	}
	var argv []string
	if json.Unmarshal(members["argv"], &argv) == nil && len(argv) > 0 && len(h.Prefix) > 0 {
		members["argv"] = Encode(append(slices.Clone(h.Prefix), argv[1:]...))
	}
	var values map[string]string
	if json.Unmarshal(members["envValues"], &values) == nil && len(values) > 0 {
		for name, v := range values {
			for _, r := range h.replaced() {
				if sameName(name, r.name) && v == r.inner {
					values[name] = r.outer
				}
			}
		}
		members["envValues"] = Encode(values)
	}
	return Encode(members)
}
