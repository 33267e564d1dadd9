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
	set      *rules.Set
	scrubber *report.Scrubber
	open     func(name string) (io.ReadCloser, error)
}

// NewPage replays logs, of two the older one first, by their names, which open opens, each up to three times. The
// language of the reader is a tag such as "de-AT". The error has a line for each log that could not be read to its
// end; the page then has the rest, or is nil.
func NewPage(set *rules.Set, language string, names []string, strict bool,
	open func(name string) (io.ReadCloser, error),
) (*Page, error) {
	p := &pages{set, &report.Scrubber{Strict: strict}, open}
	language, _, _ = strings.Cut(strings.ToLower(language), "-")
	texts := rules.Texts(language)
	var failures []error
	var replays []*report.Replay
	for _, name := range names {
		made, err := p.report(name)
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
		failures = append(failures, p.difference(names, page, texts))
	}
	for _, kind := range p.scrubber.Removed() {
		page.Removed = append(page.Removed, cmp.Or(texts[kind], kind))
	}
	return page, errors.Join(failures...)
}

// report replays a log. It returns a report and an error if the log could not be read to its end.
func (p *pages) report(name string) (made *report.Replay, err error) {
	err = p.replay(name, func(r *replay.Replay) error {
		config := r.Report(name, p.scrubber)
		config.Details = true
		made = report.New(config)
		return r.Run(made)
	})
	return made, err
}

// replay opens a log for use, and closes it afterwards.
func (p *pages) replay(name string, use func(*replay.Replay) error) error {
	in, err := p.open(name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read from
	r, err := replay.Open(p.set, in)
	if err != nil {
		return err
	}
	return use(r)
}

// difference compares the second log with the first.
func (p *pages) difference(names []string, page *Page, texts map[string]string) error {
	c := compare.NewCollector(compare.Config{Rules: p.set, Scrub: p.scrubber})
	var rule func(id string) report.RuleText
	for side, name := range names {
		err := p.replay(name, func(r *replay.Replay) error {
			rule = r.Report(name, nil).Rule
			run := c.Run(compare.Side(side), name, r.Engine)
			run.End(r.Run(run), &r.Began)
			return nil
		})
		if err != nil {
			return err
		}
	}
	text := func(found report.Comparison) []byte {
		found.Rule, found.Scrub, found.Language = rule, p.scrubber, texts
		return report.Text(nil, &found, report.TextOptions{Width: 100})
	}
	page.Difference = text(report.Comparison{Diff: c.Diff()})
	page.Suspects = text(report.Comparison{Suspects: c.Suspects()})
	return nil
}
