// Package readlog has the parts of a comparison that the commands and the page in a browser share, and makes that page.
package readlog

import (
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/logline"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/report/compare"
	"github.com/heedlog/heed/internal/report/replay"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/signature"
)

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
		Alone:  func() event.Disposition { return r.Least(n) },
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
