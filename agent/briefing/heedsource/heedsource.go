// Package heedsource lets package briefing read an engine of heed: its journal as the ledger "hot", its open items,
// rules and mods. All of it is read only: a brief marks nothing as delivered, moves no cursor, and leaves the engine's
// snapshot as it is, byte for byte.
package heedsource

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/rules"
)

// The tiers of ledgers.
const (
	tierHot     = "hot" // the engine's journal
	TierEarlier = "ho2" // earlier sessions: a ledger of the caller's
)

// registryEnvironment is the name of the registry.
const registryEnvironment = "environment"

// Config has the engine and the facts of the sources. Its functions may be called from many goroutines.
type Config struct {
	Engine *heed.Engine               // required
	Rules  func() *rules.Set          // nil: items have no summaries of rules, and nothing explains another
	Mods   func() []capture.ListedMod // that the game runs with; nil: not known

	// Environment is where the game runs, as far as it is known. Nil: the registry "environment" is not there.
	Environment func() capture.Facts

	// Ledgers are further ledgers of the caller, by tier: [TierEarlier], and others.
	Ledgers map[string]briefing.Ledger

	Now func() time.Time // required

	// Scrub removes private data, for templates and requests that ask for it. Nil: names that the journal has are removed,
	// too.
	Scrub func(text string) string

	// Next returns the next steps about an item, one line each, as the surface offers them to a class of readers: a tool
	// to call, a command to run. Nil: only the rule's advice.
	Next func(class string, a *heed.Item) []string
}

// source reads an engine: the journal as a ledger, the open items as attention, the facts as a registry.
type source struct{ Config }

// Sources returns the sources of a [briefing.Service]: the ledgers, the registries, the open items, and the built-in
// templates. The caller adds folders of files, and other sources.
func Sources(c Config) briefing.Config {
	s := &source{c}
	b := briefing.Config{
		Ledgers:    map[string]briefing.Ledger{tierHot: s},
		Registries: map[string]briefing.Registry{},
		Attention:  s,
		Now:        c.Now,
		Scrub:      c.Scrub,
	}
	if b.Scrub == nil {
		b.Scrub = (&scrubber{engine: c.Engine}).text
	}
	maps.Copy(b.Ledgers, c.Ledgers)
	if c.Environment != nil {
		b.Registries[registryEnvironment] = s
	}
	for _, t := range Templates() { // without stages that have no source
		own := *t
		own.Pipeline = slices.Clone(t.Pipeline)
		for i := range own.Pipeline {
			switch c := own.Pipeline[i].Config.(type) {
			case *briefing.LedgerQuery:
				own.Pipeline[i].Disabled = b.Ledgers[c.Tier] == nil
			case *briefing.RegistryQuery:
				own.Pipeline[i].Disabled = b.Registries[c.Registry] == nil
			}
		}
		b.Templates = append(b.Templates, &own)
	}
	return b
}

// The built-in templates, and the classes that choose them.
const (
	TemplateAgent     = "agent"      // for an agent: decide what to do next
	TemplatePerson    = "person"     // for a person: what to do now
	TemplateModAuthor = "mod_author" // a report to the author of a mod
)

//go:embed templates/*.yaml
var templateFiles embed.FS

// Templates returns the built-in templates. They are shared: read only.
func Templates() []*briefing.Template { return builtIn() }

var builtIn = sync.OnceValue(func() []*briefing.Template {
	var out []*briefing.Template
	for _, id := range []string{TemplateAgent, TemplatePerson, TemplateModAuthor} {
		name := path.Join("templates", id+".yaml")
		data, unread := templateFiles.ReadFile(name)
		t, wrong := briefing.Parse(name, data)
		if err := errors.Join(unread, wrong); err != nil {
			panic("BUG: " + err.Error())
		}
		out = append(out, t)
	}
	return out
})

// scrubber removes private data from texts. Names have no form: they are learned from all of a journal.
type scrubber struct {
	engine *heed.Engine

	mu   sync.Mutex
	from report.Scrubber
	done heed.Cursor // through which the journal was read
}

// text returns s without private data.
func (b *scrubber) text(s string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	latest := b.engine.Latest()
	if b.done.Epoch == "" { // once: the words that names may not be take a while
		b.done.Epoch = latest.Epoch
		if home, err := os.UserHomeDir(); err == nil {
			b.from.Home(home)
		}
	}
	for more := b.done.Seq < latest.Seq; more; {
		p := b.engine.Read(b.done, journal.MaxLimit, heed.Filter{})
		for i := range p.Records {
			b.from.Learn(p.Records[i].Message, p.Records[i].Stack)
		}
		b.done, more = p.Next, p.More
	}
	return b.from.Text(s)
}

// Rows implements [briefing.Registry]: facts about the game, its engine and the machine, as the log has them, without
// the command line, then the mods in load order, each with its package and versions. The registry has no filters.
func (s *source) Rows(_ context.Context, _ *briefing.Input, q *briefing.RegistryQuery) (briefing.Found, error) {
	var found briefing.Found
	if len(q.Filters) > 0 {
		return found, errors.New("it has no filters")
	}
	row := func(id, title string, kind briefing.Kind, texts []string) {
		f := briefing.Fragment{
			Source: briefing.SourceRegistry, SourceID: registryEnvironment + "/" + id, Title: title, Section: "Environment",
		}
		for _, s := range texts {
			if s != "" {
				f.Lines = append(f.Lines, briefing.Line{Text: text.Safe(s, maxLineChars), Data: true, Kind: kind})
			}
		}
		if len(f.Lines) > 0 {
			found.Fragments = append(found.Fragments, f)
		}
	}
	facts := s.Environment()
	row("facts", "where the game runs, as its log says", briefing.Prose, []string{
		facts.Game, facts.Engine, facts.Loader, facts.Platform, facts.Runtime, facts.Language, facts.System, facts.CPU,
		facts.Memory, facts.Graphics, facts.GraphicsAPI, facts.GraphicsMemory, facts.GraphicsDriver,
	})
	var mods []string
	if s.Mods != nil {
		for i, m := range s.Mods() {
			line := fmt.Sprintf("%d. %s", i+1, m.Title())
			if m.PackageID != "" && m.PackageID != m.Title() {
				line += " (" + m.PackageID + ")"
			}
			if m.Versions != "" {
				line += " " + m.Versions
			}
			mods = append(mods, line)
		}
	}
	row("mods", text.Count(len(mods), "mod")+", in load order", briefing.Hex, mods) // ids, mostly
	return found, nil
}
