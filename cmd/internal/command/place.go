package command

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/rules"
)

// place is a line of a capture.
type place struct {
	file string
	line int
}

func (p place) String() string { return p.file + ":" + strconv.Itoa(p.line) }

// parsePlace reads "FILE:LINE". The last colon counts: a name may hold others.
func (p *program) parsePlace(cmd *cobra.Command, arg string) (place, error) {
	i := strings.LastIndexByte(arg, ':')
	if i > 0 {
		if n, err := strconv.Atoi(arg[i+1:]); err == nil && n > 0 {
			return place{p.named(arg[:i]), n}, nil
		}
	}
	return place{}, cli.Usage(cmd, "%q is not FILE:LINE, such as Player.log:87; lines count from 1", arg)
}

// found is the record at a place, with the state of the engine at that record.
type found struct {
	place   place
	family  string         // of the log, when the record came
	layout  capture.Layout // of the log there; an upload's is its own
	rec     *capture.Record
	outcome heed.Outcome
	blame   []heed.Suspect
	blind   *blindness // when the record came
}

// find replays a capture up to the record that covers a line: the earlier records set its phase. If no record covers
// the line, it returns the notice of capture there.
func (p *program) find(ctx context.Context, set *rules.Set, at place, scrubber *report.Scrubber) (*found, error) {
	f := &found{place: at}
	var notice *found // at the line
	var nearest []string
	err := p.observe(ctx, set, at.file, func(src *source, o *heed.Outcome) bool {
		rec := src.Record
		f.family = src.Family
		scrubber.Learn(rec.Message, rec.Stack)
		switch {
		case rec.StartLine == 0: // a notice of capture itself
			if at.line == rec.Line() {
				own := *rec
				own.StartLine, own.EndLine, own.Message = at.line, at.line, strings.Clone(rec.Message)
				n := *f
				n.layout, n.rec, n.outcome = src.Records.At().Layout, &own, *o
				notice = &n
			}
		case rec.StartLine > at.line:
			nearest = append(nearest, "line "+lineRange(rec.StartLine, rec.EndLine))
			return false
		case rec.EndLine >= at.line:
			f.layout, f.rec, f.outcome, f.blame = src.Records.At().Layout, rec, *o, src.Blame()
			return false
		default:
			nearest = []string{"line " + lineRange(rec.StartLine, rec.EndLine)}
		}
		switch {
		case !o.Blind:
			f.blind = nil
		case f.blind == nil:
			f.blind = &blindness{rec.Line(), o.Decision.Rule}
		}
		return true
	})
	if err != nil || f.rec != nil {
		return f, err
	}
	if notice != nil {
		return notice, nil
	}
	if nearest == nil {
		return nil, cli.Failed(exitUsage, fmt.Errorf("%s: the file has no record", at))
	}
	return nil, cli.Failed(exitUsage, fmt.Errorf("%s is in no record: the line is blank or missing; the nearest records are at %s", at,
		strings.Join(nearest, " and ")))
}
