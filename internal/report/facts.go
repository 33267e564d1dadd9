package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/text"
)

// fact is what text and Markdown state in the same words, and the page as far as it has no links. Without a label it
// continues the one before.
type fact struct {
	Label, Says string

	in    Style
	kind  factKind
	under bool // it belongs to the last fact that is not
}

type factKind uint8

const (
	factWords factKind = iota
	factLine           // a line of a list
	factQuote          // text of the log
)

// voice is how a form writes the words of heed and of authors of rules, and text of a log in at most so many
// characters.
type voice struct {
	prose func(string) string
	code  func(text string, limit int) string
}

var (
	plainly    = voice{literally, func(text string, _ int) string { return text }}
	inMarkdown = voice{prose, code}
)

func literally(name string) string { return name }

func (w voice) name(name string) string { return w.code(name, maxName) }

// names lists mods.
func (w voice) names(names []string) string { return strings.Join(each(names, w.name), ", ") }

// maxQuoted bounds the log text below the summary of a rule, in characters.
const maxQuoted = 160

// glance answers what matters, in a line or two each: what hurts, which mod that points at, what to do, and
// whether the log is complete.
func (d *Document) glance(w voice) []fact {
	v := d.Summary.Verdict
	var facts []fact
	add := func(raw string, f fact) {
		if raw != "" {
			facts = append(facts, f)
		}
	}
	for i := range v.Causes {
		c := &v.Causes[i]
		mod := c.mod(w.name)
		add(c.What, fact{Label: v.say(v.label(c)), Says: w.prose(v.place(c)), in: Strong})
		add(c.Says, fact{Says: w.code(c.Says, maxQuoted), kind: factQuote})
		add(mod, fact{Label: v.say("mod"), Says: mod, in: Name, under: true})
		for _, link := range c.Links() {
			add(link, fact{Says: link, under: true})
		}
		add(c.Advice, fact{Label: v.say("do"), Says: w.prose(c.Advice), under: true})
		add(c.History, fact{Label: v.say("history"), Says: w.code(c.History, 0), under: true})
	}
	others := v.elsewhere(w.name)
	add(others, fact{Label: v.say("elsewhere"), Says: others})
	for i, s := range v.Log {
		label := []string{v.say("log"), ""}[min(i, 1)]
		facts = append(facts, fact{Label: label, Says: w.prose(s), in: styles[d.complete]})
	}
	return facts
}

// facts returns all about a cause but its samples, with at most so many rules that came with it. The first cause of a
// report explains the id of its item.
func (c *Cause) facts(w voice, parts int, first bool) []fact {
	rule := "rule " + w.code(c.Rule, 0) + c.repetition()
	if c.Why != "" {
		rule += ": " + w.prose(c.Why)
	}
	facts := []fact{{Label: "what", Says: c.says(w)}, {Label: "why", Says: rule}}
	if c.Advice != "" {
		facts = append(facts, fact{Label: "do", Says: w.prose(c.Advice)})
	}
	if len(c.Blame) > 0 {
		facts = append(facts, fact{Label: "blame", Says: w.names(c.Blame), in: Name})
	}
	often := c.HowOften() + "; item " + c.item
	if c.Items > 1 {
		often = fmt.Sprintf("%s; %d items, the first is %s", c.HowOften(), c.Items, c.item)
	}
	if first {
		often += " (its run and its number)"
	}
	if c.Last != c.opened {
		often += fmt.Sprintf(", lines %d to %d", c.opened, c.Last)
	}
	facts = append(facts, fact{Label: "count", Says: often + "; " + c.Fate})
	shown, more := c.first(parts)
	label := "others"
	for _, p := range shown {
		line := fmt.Sprintf("%s, %s: %s (%s)", where(&p), p.Disposition, w.prose(p.Title), w.code(p.Rule, 0))
		if mods := likely(&p); mods != nil {
			line += "; blame: " + w.names(mods)
		}
		facts = append(facts, fact{Label: label, Says: line, kind: factLine})
		label = ""
	}
	if more > 0 {
		facts = append(facts, fact{Says: "… and " + text.Count(more, "more rule"), kind: factLine})
	}
	return facts
}

// says returns the summary of the rule with the name of the operation.
func (c *Cause) says(w voice) string {
	what := w.prose(c.what)
	if c.origin.name != "" {
		what += "; " + c.origin.word + " " + w.code(c.origin.name, 0)
	}
	return what + c.changed
}

// repetition marks a rule that is as urgent as c only by repetition.
func (c *Cause) repetition() string {
	if c.Escalated {
		return ", escalated by repetition"
	}
	return ""
}

// sampled returns where a sample is and how often it came, with text in its place.
func sampled(s *heed.Sample, text string) string {
	if s.RepeatCount > 1 {
		return fmt.Sprintf("line %d, %d times: %s", s.FirstPos, s.RepeatCount, text)
	}
	return fmt.Sprintf("line %d: %s", s.FirstPos, text)
}

// likely returns the mods that at least half of the entries point at, escaped.
func likely(m *heed.Member) []string {
	names, _ := m.Mods()
	return safeAll(names)
}

// accountingForm has a label and its sentence in each line.
var accountingForm = form("accounting.txt", template.FuncMap{"count": text.Count})

// Accounting shows that nothing went missing unnoticed.
func (d *Document) Accounting() (facts []fact) {
	for line := range strings.Lines(string(text.Rendered(accountingForm(), &d.Summary))) {
		label, says, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		facts = append(facts, fact{Label: label, Says: says})
	}
	for _, of := range dispositions {
		if dropped := d.table(of).dropped(); dropped != "" {
			facts = append(facts, fact{Label: "left out", Says: of.String() + ": " + dropped})
		}
	}
	if err := d.Summary.Entries.Check(); err != nil {
		facts = append(facts, fact{
			Label: "WRONG", in: Alarm,
			Says: "these counts do not add up; this is a bug in heed: " + oneSpace(err.Error()),
		})
	}
	return facts
}

// groupsHeading returns how many groups of a disposition there are, and how many are shown.
func (d *Document) groupsHeading(of event.Disposition, shown int) string {
	t := d.table(of)
	heading := fmt.Sprintf("%s: %s of %s", of, text.Count(t.Entries, "entry", "entries"),
		text.Count(uint64(t.signatures)+t.Dropped, "signature"))
	if t.Rows < t.signatures {
		heading += " in " + text.Count(t.Rows, "group")
	}
	if shown < t.Rows {
		heading += fmt.Sprintf(", the %d most frequent", shown)
	}
	return heading
}

// dropped returns how many rows the table dropped, in words; "" for none.
func (t tableSummary) dropped() string {
	if t.Dropped == 0 {
		return ""
	}
	return fmt.Sprintf("%s with %s did not fit into the table; a row that was dropped and came back shows too low a "+
		"count", text.Count(t.Dropped, "row"), text.Count(t.DroppedEntries, "entry", "entries"))
}

// Environment is where a log was made, as far as that is known: the versions, the machine, the mods. Readers of
// a report look for it first.
type Environment struct {
	capture.Facts

	Mods     []capture.ListedMod `json:"mods,omitempty" jsonschema:"The mods that the log lists, in load order."`
	MoreMods int                 `json:"moreMods,omitempty" jsonschema:"How many more mods there are."`
}

// The bounds of what every form shows, in characters.
const (
	maxFactText     = 200
	maxModVersions  = 120
	maxModReference = 100 // of a name or a package id
)

// clean returns e scrubbed and escaped, nil where nothing is known.
func (e Environment) clean(s *Scrubber) *Environment {
	for _, fact := range facts(&e.Facts) {
		*fact.Text = text.Safe(s.Text(*fact.Text), maxFactText)
	}
	var mods []capture.ListedMod
	for _, m := range e.Mods {
		of := capture.Mod{
			Name:       text.Safe(s.Mod(m.Name), maxModReference),
			PackageID:  text.Safe(s.Mod(m.PackageID), maxModReference),
			WorkshopID: text.Safe(s.Text(m.WorkshopID), maxModReference),
		}
		mods = append(mods, capture.ListedMod{Mod: of, Versions: text.Safe(s.Mod(m.Versions), maxModVersions)})
	}
	if e.Mods = mods; mods == nil && e.Facts == (capture.Facts{}) && e.MoreMods == 0 {
		return nil
	}
	return &e
}

// factRef is one of the facts, with what people call it.
type factRef struct {
	Label string
	Text  *string
}

// facts returns all of them in the order in which they are shown.
func facts(f *capture.Facts) []factRef {
	return []factRef{
		{"Game", &f.Game},
		{"Engine", &f.Engine},
		{"Mod loader", &f.Loader},
		{"Built for", &f.Platform},
		{"System", &f.System},
		{"Scripts", &f.Runtime},
		{"Language", &f.Language},
		{"Processor", &f.CPU},
		{"Memory", &f.Memory},
		{"Graphics", &f.Graphics},
		{"Graphics API", &f.GraphicsAPI},
		{"Graphics memory", &f.GraphicsMemory},
		{"Graphics driver", &f.GraphicsDriver},
		{"Arguments", &f.Arguments},
	}
}

// Known returns the facts that are known.
func (e *Environment) Known() []factRef {
	return slices.DeleteFunc(facts(&e.Facts), func(f factRef) bool { return *f.Text == "" })
}

// inShort returns the facts that are asked for first, and how many mods there are.
func (e *Environment) inShort(w voice, t texts) []string {
	if e == nil {
		return nil
	}
	f := &e.Facts
	system := f.System
	if system == "" && f.Platform != "" {
		system = t.say("%s build", f.Platform)
	}
	var short []string
	for _, fact := range [...]string{f.Game, f.Engine, f.Loader, system, f.Graphics} {
		if fact != "" {
			short = append(short, w.code(fact, 0))
		}
	}
	if mods := e.modCount(t); mods != "" {
		short = slices.Insert(short, min(len(short), 1), mods)
	}
	return short
}

// modCount returns how many mods there are, "" where none is listed.
func (e *Environment) modCount(t texts) string {
	if n := len(e.Mods) + e.MoreMods; n > 0 {
		return t.one(uint64(n), "%d mod", "%d mods", n)
	}
	return ""
}

// namedMods returns what names the mods of a verdict, in words, by the keys of their names and package ids: a list may
// have either. That is no proof.
func (v *verdict) namedMods() map[string]string {
	named := map[string]string{}
	name := func(mods []verdictMod, by string) {
		for _, m := range mods {
			for _, key := range []string{blame.Key(m.Name), blame.Key(m.PackageID)} {
				named[key] = cmp.Or(named[key], by)
			}
		}
	}
	for i := range v.Causes {
		name(v.Causes[i].Mods, "named by: "+v.label(&v.Causes[i]))
	}
	name(v.Mods, "named elsewhere")
	delete(named, "")
	return named
}
