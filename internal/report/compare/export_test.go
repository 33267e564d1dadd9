package compare

import (
	"cmp"
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// Limit sets the bounds of what is kept.
func (c *Collector) Limit(texts, textBytes int) { c.maxTexts, c.maxTextBytes = texts, textBytes }

// StandIn stands in for an engine that has one template.
type StandIn struct {
	Text     string
	Suspects []blame.Suspect
	Set      *rules.Set // nil: all is blocking
}

func (e *StandIn) Template(signature.Signature) (string, bool) { return e.Text, true }
func (e *StandIn) Blame(*event.Entry) []blame.Suspect          { return e.Suspects }
func (e *StandIn) Rules() *rules.Set                           { return cmp.Or(e.Set, blocking) }

// Collect returns a collector of logs that rules decided, or rules by which all is blocking, scrubbed if that is asked
// for.
func Collect(c Config) *Collector {
	c.Rules = cmp.Or(c.Rules, blocking)
	if c.Scrub == nil {
		c.Scrub = Replaced{strings.Clone, strings.Clone}
	}
	return NewCollector(c)
}

// AllIs returns rules by which each entry has one disposition.
func AllIs(d event.Disposition) *rules.Set {
	return testkit.Must(rules.Compile(rules.File{Name: "all.yaml", Data: []byte(
		"version: 1\nrules:\n  - {id: all.of_them, when: 'true', disposition: " + d.String() + "}\n")}))
}

var blocking = AllIs(event.Blocking)

// Replaced scrubs texts and names.
type Replaced struct{ Texts, Names func(string) string }

func (r Replaced) Text(text string) string { return r.Texts(text) }
func (r Replaced) Mod(name string) string  { return r.Names(name) }
func (Replaced) Learn(...string)           {}
