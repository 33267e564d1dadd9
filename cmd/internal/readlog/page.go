// Package readlog makes the page in a browser about logs.
package readlog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/report/compare"
	"github.com/heedlog/heed/internal/report/replay"
	"github.com/heedlog/heed/rules"
)

// Page is the content of the page in a browser about logs: the outputs of report, of replay as Markdown and, for two
// logs, of diff and suspects. All of it is scrubbed, at the strict level if the caller asks for it.
type Page struct {
	HTML       []byte
	Markdown   []byte   // one issue for each log
	Difference []byte   // text; nil unless there are two logs
	Suspects   []byte   // text; nil unless there are two logs
	Removed    []string // the kinds of private data that were removed
}

// pages makes one Page.
type pages struct {
	set       *rules.Set
	scrubber  *report.Scrubber
	open      func(name string) (io.ReadCloser, error)
	collector *compare.Collector
	rule      func(id string) report.RuleText
}

// NewPage replays logs, of two the older one first, by their names, which open opens. The language of the reader is a
// tag such as "de-AT". The error has a line for each log that could not be read to its end; the page then has the rest,
// or is nil.
func NewPage(set *rules.Set, language string, names []string, strict bool,
	open func(name string) (io.ReadCloser, error),
) (*Page, error) {
	p := &pages{set: set, scrubber: &report.Scrubber{Strict: strict}, open: open}
	p.collector = compare.NewCollector(compare.Config{Rules: set, Scrub: p.scrubber})
	language, _, _ = strings.Cut(strings.ToLower(language), "-")
	texts := rules.Texts(language)
	var failures []error
	var replays []*report.Replay
	for i, name := range names {
		made, err := p.report(name, compare.Side(min(i, 1)))
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %s", name, cmp.Or(texts[err.Error()], err.Error())))
		}
		if made != nil {
			replays = append(replays, made)
		}
	}
	if replays == nil {
		return nil, errors.Join(failures...)
	}
	page := &Page{}
	docs := make([]*report.Document, len(replays))
	for i, made := range replays {
		docs[len(docs)-1-i] = made.Document(0, texts) // the newer one is the one to look at
		page.Markdown = report.Markdown(page.Markdown, made.Document(10, texts))
	}
	page.HTML = report.HTML(nil, docs...)
	if len(replays) == 2 && len(names) == 2 {
		page.Difference = p.compared(report.Comparison{Diff: p.collector.Diff(), Language: texts})
		page.Suspects = p.compared(report.Comparison{Suspects: p.collector.Suspects(), Language: texts})
	}
	for _, kind := range p.scrubber.Removed() {
		page.Removed = append(page.Removed, cmp.Or(texts[kind], kind))
	}
	return page, errors.Join(failures...)
}

// report replays a log for a report and for one side of a comparison. It returns a report and an error if the log could
// not be read to its end.
func (p *pages) report(name string, side compare.Side) (*report.Replay, error) {
	in, err := p.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // only read from
	r, err := replay.Open(p.set, in)
	if err != nil {
		return nil, err
	}
	config := r.Report(name, p.scrubber)
	p.rule, config.Details = config.Rule, true
	made, run := report.New(config), p.collector.Run(side, name, r.Engine)
	err = r.Run(made, run)
	run.End(err, &r.Began)
	return made, err
}

func (p *pages) compared(found report.Comparison) []byte {
	found.Rule, found.Scrub = p.rule, p.scrubber
	return report.Text(nil, &found, report.TextOptions{Width: 100})
}
