package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/agent/briefing/heedsource"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/way"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/report/replay"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/rules"
)

// Brief is which brief is wanted, and in which form.
type Brief struct {
	Tokens   int // 0: as many as the template allows
	Template string
	Own      *briefing.Template // of a file, nil for a built-in one, which Template names
	Text     []byte             // of that file
	Format   string
}

// briefFlags are the flags of brief.
type briefFlags struct {
	Brief
	item    string
	history string
}

func (p *program) briefCommand() *cobra.Command {
	f := &briefFlags{}
	item, least := "", 1
	if p.host.Brief != nil {
		item, least = " | [ITEM]", 0
	}
	cmd := &cobra.Command{
		Use:  "brief FILE" + item,
		Args: cli.Args(least, 1, "name one log"),
	}
	p.registerRules(cmd)
	p.registerMods(cmd)
	p.registerScrub(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.Format, "format", formatText, "write the `FORMAT` text, json or markdown")
	cli.Choice(cmd, "format", formatText, formatJSON, formatMarkdown)
	flags.IntVar(&f.Tokens, "tokens", 0, "use at most `N` tokens (default: as many as the template allows)")
	flags.StringVar(&f.Template, "template", heedsource.TemplatePerson, "assemble by the built-in template `NAME` (agent, person, mod_author), or by that of a file")
	flags.StringVar(&f.history, "history", "", "say what is remembered in `FILE`, off for nothing (default: in the user's data folder)")
	flags.StringVar(&f.item, "item", "", "be about the item with this `ID` (default: all that are open)")
	cli.Checked(cmd, f.validate)
	var ask func(cmd *cobra.Command, item string, b *Brief) error
	if p.host.Brief != nil {
		ask = p.host.Brief(cmd)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if ask != nil && (len(args) == 0 || !isFile(args[0])) {
			return ask(cmd, cmp.Or(f.item, strings.Join(args, "")), &f.Brief)
		}
		return p.brief(cmd.Context(), f, args[0])
	}
	return cmd
}

// isFile reports whether an argument of brief names a log, which need not be there, and no item.
func isFile(arg string) bool {
	if arg == standardInput || strings.ContainsAny(arg, `/\`) || slices.Contains([]string{".log", ".txt"}, filepath.Ext(arg)) {
		return true
	}
	_, err := os.Stat(arg)
	return err == nil
}

// validate checks the flags, and reads a template of a file.
func (f *briefFlags) validate(cmd *cobra.Command) error {
	if err := cli.NotNegative(cmd, "tokens", f.Tokens); err != nil {
		return err
	}
	if slices.ContainsFunc(heedsource.Templates(), func(t *briefing.Template) bool { return t.TemplateID == f.Template }) {
		return nil
	}
	data, err := os.ReadFile(f.Template)
	if errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(f.Template, `./\`) {
		return cli.OneOf(cmd, "template", f.Template, heedsource.TemplateAgent, heedsource.TemplatePerson,
			heedsource.TemplateModAuthor)
	}
	if err != nil {
		return cli.Failed(exitUsage, fmt.Errorf("--template: %w", err))
	}
	f.Text = data
	if f.Own, err = briefing.Parse(f.Template, data); err != nil {
		return cli.Failed(exitUsage, err)
	}
	return nil
}

// brief writes the brief of a log.
func (p *program) brief(ctx context.Context, f *briefFlags, name string) error {
	set, err := p.compile()
	if err != nil {
		return err
	}
	src, err := p.open(ctx, heed.Config{Rules: set}, name, nil)
	if err != nil {
		return err
	}
	defer src.close()
	names, broke := OwnScrubber(p.Getenv, p.scrub == scrubStrict), false
	err = src.Each(func() bool {
		names.Learn(src.Record.Message, src.Record.Stack)
		return true
	}, func(u *heed.Update) bool {
		broke = broke || u.Item.ClearedBy == coalesce.ReasonRestarted && u.Item.Disposition == event.Blocking
		return true
	})
	if err != nil {
		p.Fail(ioError(fmt.Errorf("%s: %w", name, err)))
	}
	p.incomplete()
	src.Engine.EndLog()
	c, err := p.assemble(f, src, set, name, names)
	if err != nil {
		return err
	}
	p.removed(names)
	if src.Engine.Stats().Received == 0 {
		p.Note("%s is empty: that nothing is open is no evidence that all was well", name)
	}
	if f.Format != formatJSON {
		for _, w := range c.Warnings {
			p.Note("%s", w)
		}
	}
	if broke && src.Engine.Stats().Coalesce.OpenBlocking == 0 {
		earlier := "an earlier run broke: see " + p.Name + " FILE"
		c.Warnings, c.last = append(c.Warnings, earlier), "\nNote: "+earlier+"\n"
	}
	return p.Print("the brief", c.Appended(f.Format))
}

// assemble makes the brief of a log that was read.
func (p *program) assemble(f *briefFlags, src *source, set *rules.Set, name string,
	names *report.Scrubber,
) (*BriefDocument, error) {
	c := heedsource.Config{
		Engine: src.Engine, Rules: func() *rules.Set { return set }, Next: way.FileNext(p.Name, name),
		Mods: func() []capture.ListedMod { return src.Mods.Mods }, Environment: src.Began.Facts,
		Now: time.Now, Scrub: names.Mod,
	}
	if names.Strict {
		c.Next = func(string, *heed.Item) []string { return nil } // a person typed the name of the file
	}
	if h := p.existing(context.Background(), f.history); h != nil {
		defer h.Close() //nolint:errcheck // it was only read from
		c.Ledgers = map[string]briefing.Ledger{heedsource.TierEarlier: h.Ledger(func() *summary.Session {
			s := &summary.Session{Facts: src.Began.Facts(), Mods: src.Mods.Mods, Ended: p.written(name)}
			replay.Identify(s, set)
			return s
		})}
	}
	it, known := src.Engine.Item(f.item)
	if f.item != "" && !known {
		return nil, cli.Failed(exitUsage, fmt.Errorf("--item %s: the log has no such item, or it was evicted", f.item))
	}
	r := briefing.Request{
		AgentClass: f.Template, TemplateOverride: f.Template, Template: f.Own, WorkOrderID: it.ID, MaxContextTokens: f.Tokens,
		Scrub: p.newScrubber() != nil,
	}
	sources := heedsource.Sources(c)
	sources.ScrubData = names.Text
	s, err := briefing.New(sources)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }() // only read from
	// A log that was read in part gets a brief, too.
	made, err := s.Assemble(context.Background(), r)
	if err != nil {
		return nil, err
	}
	return &BriefDocument{SchemaVersion: schema.Version, Context: *made}, nil
}

// BriefDocument is the JSON form of a brief.
type BriefDocument struct {
	SchemaVersion int `json:"schemaVersion" jsonschema:"The version of the form."`
	briefing.Context
	last string // for people, at its end
}

// Appended returns a brief in a format. For people, each part that is no detail begins after an empty line.
func (d *BriefDocument) Appended(format string) []byte {
	switch format {
	case formatJSON:
		return report.AppendJSON(nil, d)
	case formatMarkdown:
		return []byte(d.Markdown() + d.last)
	}
	var text []byte
	for i := range d.Fragments {
		if i > 0 && d.Fragments[i].Parent == "" {
			text = append(text, '\n')
		}
		text = append(text, d.Fragments[i].Content...)
	}
	if len(text) == 0 {
		text = []byte("Nothing is open.\n")
	}
	return append(text, d.last...)
}
