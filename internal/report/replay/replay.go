// Package replay feeds the records of a log to an engine, as they were when the game ran, without its clock.
package replay

import (
	"errors"
	"io"
	"path/filepath"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// records reads the records of a log in their order, as [capture.Ahead] does. A record is valid until the next call.
type records interface {
	Next() (*capture.Record, error)
	At() capture.Position
}

// Replay is a log on its way through an engine. It is for one goroutine.
type Replay struct {
	Engine  *heed.Engine
	Records records // a [capture.Ahead], or another reader of records

	Family string              // of the log, which the engine knows
	Began  capture.Environment // from the beginning of the log
	Mods   report.Environment  // those that were listed

	Record  *capture.Record // the last one
	Acted   bool            // it is an act of a host, without an outcome
	Outcome heed.Outcome    // what became of it
}

// Config returns the set-up of an engine for a replay. Its journal is small, since a reader of a report has the log
// itself. Memory is the same for a log of any length.
func Config(set *rules.Set) heed.Config {
	c := heed.Config{Rules: set}
	c.Journal.Entries, c.Journal.Bytes = 256, 64<<10
	c.Journal.Firsts, c.Journal.FirstsBytes = 64, 64<<10
	c.Journal.Pinned, c.Journal.PinnedBytes = 64, 64<<10
	return c
}

// headBytes is how much of a log is checked for text.
const headBytes = 64 << 10

// Open returns a replay of a log by rules, which reads on the goroutine of its caller. The error of a file without text
// is of [text.Check].
func Open(set *rules.Set, log io.Reader) (*Replay, error) {
	reader, err := capture.NewReader(log, capture.Options{})
	if err != nil {
		return nil, err
	}
	if err := text.Check(reader.Head(headBytes)); err != nil {
		return nil, err
	}
	config := Config(set)
	config.Family = reader.Family()
	engine, err := heed.New(config)
	if err != nil {
		return nil, err
	}
	return &Replay{Engine: engine, Records: &plain{Reader: reader}, Family: config.Family}, nil
}

// plain has the records of a reader.
type plain struct {
	*capture.Reader
	record capture.Record
}

func (p *plain) Next() (*capture.Record, error) {
	return &p.record, p.Reader.Next(&p.record)
}

// Report returns the set-up of a report on the replay of a file, scrubbed by scrub unless it is nil.
func (r *Replay) Report(file string, scrub *report.Scrubber) report.Config {
	e := r.Engine
	return report.Config{
		File: file, Template: e.Template, Group: e.Group, Variant: e.Variant, Mod: e.Mod, Blame: e.Blame,
		Rule: func(id string) report.RuleText {
			if r := e.Rules().Rule(id); r != nil {
				return report.RuleText{Summary: r.Summary, Why: r.Why, Advice: r.Advice}
			}
			return report.RuleText{}
		},
		Scrub: scrub,
	}
}

// observer is a side of a comparison.
type observer interface {
	Observe(rec *capture.Record, o *heed.Outcome)
}

// Run replays the log to its end into a report, which it ends, and for observers.
func (r *Replay) Run(made *report.Replay, also ...observer) error {
	err := r.Each(func() bool {
		made.Observe(r.Record, &r.Outcome)
		for _, o := range also {
			o.Observe(r.Record, &r.Outcome)
		}
		return true
	}, func(u *heed.Update) bool {
		made.Update(u)
		return true
	})
	made.End(r.End(err))
	return err
}

// Each replays the rest of the log, until a function returns false: record, which is called for each record, or update,
// which gets each change of attention. It returns nil at the end of the log.
func (r *Replay) Each(record func() bool, update func(u *heed.Update) bool) error {
	var updates []heed.Update
	for {
		err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case !r.Acted && !record():
			return nil
		case !r.Acted && !r.Outcome.Pending:
			continue
		}
		// Not drained, they would pile up to a bound. An acknowledgement by update has updates of its own.
		for updates = r.Engine.Updates(updates[:0]); len(updates) > 0; updates = r.Engine.Updates(updates[:0]) {
			for i := range updates {
				if !update(&updates[i]) {
					return nil
				}
			}
		}
	}
}

// Next takes the next record and gives it to the engine. Its error is the error of the records.
func (r *Replay) Next() error {
	rec, err := r.Records.Next()
	if err != nil {
		return err
	}
	r.Record = rec
	if rec.Kind == event.KindNotice && rec.Status == event.StatusRestarted {
		r.Mods = report.Environment{}
	}
	if rec.Family != r.Family {
		r.Family = rec.Family
		_ = r.Engine.SetFamily(r.Family) // a recording may name one of a later version: the rules stay
	}
	if program := r.Began.Observe(rec); program != "" {
		r.Engine.LearnGame(program)
	}
	if r.Acted = rec.Kind == event.KindHost; r.Acted {
		switch rec.Status {
		case event.StatusAcknowledged:
			r.Engine.Ack(rec.Source, rec.Message, rec.Count)
		case event.StatusDelivered:
			if rec.Message == "" {
				r.Engine.Current(rec.Source)
			} else {
				r.Engine.Delivered(rec.Source, rec.Message, rec.Count)
			}
		case event.StatusStateRead:
			r.Engine.StateRead()
		default:
			r.Engine.Advance(rec.Time)
		}
		return nil
	}
	if rec.Mods != nil {
		r.Mods.Mods = rec.Mods.AppendTo(r.Mods.Mods)
		r.Mods.MoreMods += rec.Mods.Omitted
		r.Engine.LearnMods(rec.Mods.Plain())
	}
	r.Engine.ObserveInto(&r.Outcome, &rec.Entry)
	return nil
}

// Blame returns the mods that the last record points at.
func (r *Replay) Blame() []heed.Suspect { return r.Engine.Blame(&r.Record.Entry) }

// End returns the end of the log for a report. err is the error of the last record, nil for none.
func (r *Replay) End(err error) report.End {
	environment := r.Mods
	environment.Facts = r.Began.Facts()
	r.Engine.EndLog()
	at := r.Records.At()
	end := report.End{
		Layout: at.Layout.String(), Lines: at.Lines, Bytes: at.Bytes, Unended: at.Unended, Err: err,
		Stats: r.Engine.Stats(), Open: r.Engine.Open(nil),
		Environment: environment, Headless: r.Began.Headless(), Unrecognized: !r.Began.Recognized(),
	}
	if at.Layout == capture.LayoutJSON {
		end.Bytes = 0 // notices count bytes of another log, from which the lines were made
	}
	return end
}

// Summarize returns the summary of a replay that has ended.
func Summarize(rep *report.Replay, scrub *report.Scrubber, set *rules.Set, log summary.Log) *summary.Session {
	s := rep.Session(scrub)
	s.Log = log
	s.Log.Name = text.Safe(scrub.Text(filepath.Base(log.Name)), 255)
	Identify(s, set)
	return s
}

// Identify sets the versions of the ids of groups.
func Identify(s *summary.Session, set *rules.Set) {
	s.Signatures, s.Rules = signature.Version, set.Hash()
	if n, err := signature.New(set.Masking()); err == nil {
		s.Masking = n.Version()
	}
}
