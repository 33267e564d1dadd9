package bridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/text"
)

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
	p.mod.ending.Store(&e.Text)
	if !p.mod.answered() {
		p.mod.refusal.Store(e.refusal())
	}
	p.mod.end()
	return p.waiting.Load() > 0
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
	select {
	case <-m.gone:
		return true
	case <-time.After(endGrace):
	case <-ctx.Done():
	}
	return false
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
	if said := p.mod.ending.Load(); said != nil {
		answer.Message = *said + "; whether the request was executed is not known"
	}
}
