// Package readlog has the parts of a replay that the commands and the page in a browser share.
package readlog

import (
	"maps"
	"slices"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/logline"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/report"
	"github.com/heedlog/heed/report/compare"
	"github.com/heedlog/heed/report/replay"
	"github.com/heedlog/heed/report/summary"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// The widths of texts of a clause, in characters.
const (
	WidthMasked = 120
	WidthClause = 200
)

// NotKnown is the word for a value that the log does not show.
const NotKnown = "not known"

// Input returns an entry with its template as rules read it, in a phase of the game.
func Input(e *event.Entry, phase string, template []byte) rules.Input {
	head, frames, _ := strings.Cut(string(template), "\n")
	return rules.Input{
		Template: head, Frames: frames, Level: e.Level, Kind: e.Kind, Status: e.Status, Source: e.Source,
		Phase: phase, ByCaller: e.ByCaller && e.Status == event.StatusCancelled,
		Message: logline.Of(e), Stack: e.Stack, Operation: e.OperationID,
	}
}

// Reasons returns the conditions by which the rule that decided the last record of a replay matched.
func Reasons(r *replay.Replay, ev *rules.Evaluator, n *signature.Normalizer) (out []string) {
	e := &r.Record.Entry
	in := Input(e, r.Outcome.Phase, n.AppendTemplate(nil, logline.Of(e), e.Stack))
	x := ev.Explain(&in, false)
	if x.Without == nil {
		return nil
	}
	clauses := x.Trials[len(x.Trials)-1].Clauses // of the rule that decided
	for i := range clauses {
		out = append(out, strings.TrimSpace(text.Safe(clauses[i].Text, WidthClause)+Reads(&clauses[i])))
	}
	return out
}

// Reads returns the values that a clause read, after a dash; "" if it read none.
func Reads(c *rules.Clause) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(c.Reads)) {
		if v := c.Reads[name]; v != "" {
			parts = append(parts, name+" is "+text.Safe(v, WidthMasked))
		} else {
			parts = append(parts, name+" is "+NotKnown)
		}
	}
	if c.Item != "" {
		parts = append(parts, "by "+Quoted(c.Item, WidthMasked))
	}
	if c.Error != "" {
		parts = append(parts, "cannot be evaluated: "+text.Safe(c.Error, WidthClause))
	}
	if len(parts) == 0 {
		return ""
	}
	return "  — " + strings.Join(parts, ", ")
}

// Quoted returns text of a log in quotes that differ from its own.
func Quoted(s string, width int) string {
	if s == "" {
		return "empty text"
	}
	open, end := "“", "”"
	return open + strings.NewReplacer(open, `"`, end, `"`).Replace(text.Safe(s, width)) + end
}

// Run begins a log on one side of a comparison, which asks about the last record of its replay; nil: the log has no
// record.
func Run(c *compare.Collector, side compare.Side, file string, r *replay.Replay, scrubber *report.Scrubber,
	n *signature.Normalizer,
) *compare.Run {
	return c.Run(side, compare.RunConfig{
		File: file,
		Template: func(sig signature.Signature) (string, bool) {
			e := &r.Record.Entry
			scrubber.Learn(e.Message, e.Stack) // of each text the first record, as a replay does
			if t, ok := r.Engine.Template(sig); ok {
				return t, true
			}
			return string(n.AppendTemplate(nil, logline.Of(e), e.Stack)), true
		},
		Blame: func() []heed.Suspect {
			if !r.Record.IsLog() {
				return nil
			}
			return r.Blame()
		},
		Sample: func() string { return Sample(&r.Record.Entry) },
		Game: func() string {
			if r == nil {
				return ""
			}
			game, _ := summary.Game(r.Began.Facts().Game)
			return game
		},
	})
}

// Sample returns one line that an entry can be recognized by.
func Sample(e *event.Entry) string {
	head, _, _ := strings.Cut(strings.TrimSpace(e.Message), "\n")
	if e.Kind == event.KindLog {
		return head
	}
	return strings.TrimSpace(strings.Join([]string{e.Kind.String(), e.Status.String(), e.Source, head}, " "))
}
