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

// NewPage replays logs, of two the older one first, by their names, which open opens. The language of the reader is a
// tag such as "de-AT". The error has a line for each log that could not be read to its end; the page then has the rest,
// or is nil.
func NewPage(set *rules.Set, language string, names []string, strict bool,
	open func(name string) (io.ReadCloser, error),
) (*Page, error) {
	scrubber := &report.Scrubber{Strict: strict}
	collector := compare.NewCollector(compare.Config{Rules: set, Scrub: scrubber})
	language, _, _ = strings.Cut(strings.ToLower(language), "-")
	texts := rules.Texts(language)
	var failures []error
	var replays []*report.Replay
	var rule func(id string) report.RuleText
	read := func(name string, side compare.Side) error {
		in, err := open(name)
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }() // only read from
		r, err := replay.Open(set, in)
		if err != nil {
			return err
		}
		config := r.Report(name, scrubber)
		rule, config.Details = config.Rule, true
		made, run := report.New(config), collector.Run(side, name, r.Engine)
		err = r.Run(made, run)
		run.End(err, &r.Began)
		replays = append(replays, made)
		return err
	}
	for i, name := range names {
		if err := read(name, compare.Side(min(i, 1))); err != nil {
			failures = append(failures, fmt.Errorf("%s: %s", name, cmp.Or(texts[err.Error()], err.Error())))
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
		shown := func(found report.Comparison) []byte {
			found.Rule, found.Scrub, found.Language = rule, scrubber, texts
			return report.Text(nil, &found, report.TextOptions{Width: 100})
		}
		page.Difference = shown(report.Comparison{Found: collector.Diff()})
		page.Suspects = shown(report.Comparison{Found: collector.Suspects()})
	}
	for _, kind := range scrubber.Removed() {
		page.Removed = append(page.Removed, cmp.Or(texts[kind], kind))
	}
	return page, errors.Join(failures...)
}
