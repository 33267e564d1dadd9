package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/heedlog/heed/cmd/internal/settings"
	"github.com/heedlog/heed/report"
	"github.com/heedlog/heed/report/compare"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// Page is the content of a web page about logs: the outputs of report, of replay as Markdown and, for two logs, of diff
// and suspects. All of it is scrubbed, at the strict level if the caller asks for it.
type Page struct {
	HTML       []byte
	Markdown   []byte   // one issue for each log
	Difference []byte   // text; nil unless there are two logs
	Suspects   []byte   // text; nil unless there are two logs
	Removed    []string // the kinds of private data that were removed
}

// NewPage replays logs, the older one first, and reads each up to three times with open, by its name. The language of
// the reader is a tag such as "de-AT". The error has a line for each log that could not be read to its end; the page
// then has the rest, or is nil.
func NewPage(ctx context.Context, set *rules.Set, language string, names []string, strict bool,
	open func(string) (io.ReadCloser, error),
) (*Page, error) {
	var complaints bytes.Buffer
	p := &program{
		Program: settings.NewProgram("heed", exitIO, nil, io.Discard, &complaints), host: Host{Logs: open},
		lang: cmp.Or(language, english),
	}
	normalizer, err := signature.New(set.Masking())
	if err != nil {
		return nil, err
	}
	scrubber := OwnScrubber(p.Getenv, strict)
	replays := p.detailed(ctx, set, normalizer, nil, scrubber, names)
	if text := strings.TrimSpace(complaints.String()); text != "" {
		err = errors.New(text)
	}
	if replays == nil {
		return nil, err
	}
	page := &Page{}
	docs := make([]*report.Document, len(replays))
	for i, rep := range replays {
		docs[i] = p.document(rep, formatPage, 0)
		page.Markdown = report.Markdown(page.Markdown, p.document(rep, formatMarkdown, defaultTop))
	}
	page.HTML = report.HTML(nil, docs...)
	if len(replays) == 2 && len(names) == 2 {
		err = errors.Join(err, p.difference(ctx, set, normalizer, scrubber, names, page))
	}
	page.Removed = scrubber.Removed()
	return page, err
}

// difference compares the second log with the first.
func (p *program) difference(ctx context.Context, set *rules.Set, n *signature.Normalizer, scrubber *report.Scrubber,
	names []string, page *Page,
) error {
	c := &comparing{set: set, normalizer: n, scrubber: scrubber}
	if err := c.collect(); err != nil {
		return err
	}
	for side, name := range names {
		if _, err := p.read(ctx, c, compare.Side(side), name); err != nil {
			return err
		}
	}
	text := func(found report.Comparison) []byte {
		return report.Text(nil, c.shows(found, defaultTop), report.TextOptions{Width: 100})
	}
	page.Difference = text(report.Comparison{Diff: c.collector.Diff()})
	page.Suspects = text(report.Comparison{Suspects: c.collector.Suspects()})
	return nil
}
