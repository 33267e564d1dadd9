package report

import (
	"cmp"
	_ "embed" // for the parts of the page
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/text"
)

// The parts of the page.
var (
	//go:embed html/page.html
	pageTemplate string
	//go:embed html/page.css
	pageStyle string
	//go:embed html/page.js
	pageScript string
)

// maxPage is the size in bytes that a page does not exceed, unless it shows hundreds of logs. Where it would,
// it shows fewer rows, and reports how many are left out.
const maxPage = 5_000_000

// HTML appends reports as one HTML file: complete in itself, readable without scripts, and without a way out,
// since its Content-Security-Policy allows nothing but its own style and script. What logs hold is text in it
// and nothing else. The replays must have been made with [Config.Details]; the logs share the page's room.
func HTML(dst []byte, docs ...*Document) []byte {
	for halvings := 0; ; halvings++ {
		var sections []*section
		left := 0
		for i, d := range docs {
			s := newSection(d, len(docs), i+1, halvings)
			sections = append(sections, s)
			left += len(s.Groups) + len(s.Excerpts) + len(s.Mods)
		}
		if p := onePage(sections); len(p) <= maxPage || left == 0 {
			return append(dst, p...)
		}
	}
}

var parsedPage = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(pageFuncs).Parse(pageTemplate))
})

func onePage(sections []*section) []byte {
	title := "heed report"
	if len(sections) == 1 {
		v := sections[0].Summary.Verdict
		title = v.Title() + " · " + sections[0].Base()
	}
	// html/template escapes a value by its place. Files of this package are the only values that it does not escape.
	script, style := PageSources()
	return text.Rendered(parsedPage(), map[string]any{
		"Title": title, "Lang": sections[0].say("en"),
		"Policy": fmt.Sprintf("default-src 'none'; script-src %s; style-src %s; base-uri 'none'; form-action 'none'",
			script, style),
		"Style":    template.CSS(pageStyle),
		"Script":   template.JS(pageScript),
		"Sections": sections,
		"Scrubbed": !slices.ContainsFunc(sections, func(s *section) bool { return !s.scrubbed }),
		"Several":  len(sections) > 1,
	})
}

// PageSources returns the source expressions by which a Content-Security-Policy allows the script and the style of a
// page.
func PageSources() (script, style string) {
	source := func(content string) string { return text.PolicySource(strings.ReplaceAll(content, "\r\n", "\n")) }
	return source(pageScript), source(pageStyle)
}

// The rows of each disposition that a page shows, shared among the logs of a page.
var pageGroups = [len(dispositions)]int{event.Blocking: pageRows, event.Advisory: pageRows, event.Ignore: pageRows / 2}

const (
	pageRows   = 300 // of a disposition
	pageCauses = 60
	pageMods   = 1000
	pageParts  = 6 // rules that came with a cause
)

// section is one log of a page: its document, and as much of it as there is room for. The template escapes text for
// HTML. The section counts the parts that are left out.
type section struct {
	*Document

	ID       string // of its element
	prefix   string // of the ids of its lines
	Name     string // of the file
	Causes   []Cause
	Mods     []pageMod
	ModList  modList
	Groups   []Row
	Counts   []countView // of each disposition
	Excerpts []*excerpt
	Chart    map[string]string // see section.chart

	MoreCauses, MoreGroups, MoreExcerpts int // that are left out

	anchors map[uint64]bool   // lines that can be linked to
	ofRule  map[string]string // ids of the first groups
}

// place is a line of the log, which is a link where an excerpt shows it.
type place struct {
	Says string // the line in words
	Time string // "" where the log has no clock
	Href string // the id of the line in the page, "" where no excerpt has it
}

// ruleRef names a rule, with a link if a group shows its entries.
type ruleRef struct{ Name, Href string }

// pageFuncs are the functions of the template, besides exported fields of a document.
var pageFuncs = template.FuncMap{
	"many": text.Many, "count": text.Number, "capital": capital, "sentence": sentence,

	"class":  func(v *verdict) string { return states[v.State].class },
	"since":  func(v *verdict) string { return v.say(v.since()) },
	"label":  func(v *verdict, c *verdictCause) string { return v.say(v.label(c)) },
	"times":  func(v *verdict, n uint64) string { return v.times(n) },
	"number": func(v *verdict, n uint64) string { return v.number(n) },
	"size":   func(d *Document) string { return strings.ReplaceAll(d.about(), ", ", " · ") },
	"mod":    func(c *verdictCause) string { return c.mod(literally) },
	"named":  func(v *verdict, i int) string { return v.Mods[i].named(v.texts, literally) },

	"inShort":  func(d *Document) []string { return d.Summary.Environment.inShort(plainly, d.texts) },
	"modCount": func(e *Environment) string { return e.modCount(nil) },

	"complete":  func(d *Document) string { return d.complete },
	"total":     func(d *Document) string { return text.Number(d.details.total) },
	"likely":    func(m heed.Member) []string { return likely(&m) },
	"parts":     func(c *Cause) []heed.Member { parts, _ := c.first(pageParts); return parts },
	"moreParts": func(c *Cause) int { _, more := c.first(pageParts); return more },

	"head":      func(r *Row) string { return r.head(0) },
	"isDefault": isDefault,
}

// newSection returns the section of one of several logs, with the half of it left out so many times, the lighter groups
// first.
func newSection(d *Document, logs, number, halvings int) *section {
	share := func(n int) int { return max(n/logs, 8) }
	s := &section{
		Document: d, ID: "log" + strconv.Itoa(number), prefix: "L", Name: d.Summary.File,
		Causes: top(d.Causes, share(pageCauses)), Excerpts: d.excerpts,
		anchors: map[uint64]bool{}, ofRule: map[string]string{},
	}
	if number > 1 {
		s.prefix = s.ID + "-L"
	}
	if s.Name == "-" {
		s.Name = "standard input"
	}
	for _, of := range dispositions {
		s.Groups = append(s.Groups, top(d.rows(of), share(pageGroups[of]))...)
	}
	s.Groups = s.Groups[:len(s.Groups)>>halvings]
	for i := range s.Groups {
		if rule := s.Groups[i].Rule; s.ofRule[rule] == "" {
			s.ofRule[rule] = s.GroupID(i)
		}
	}
	s.mods(share(pageMods), halvings)
	for bytes := d.details.lines.bytes; bytes > excerptAll/logs; bytes /= 2 {
		halvings++
	}
	for range halvings {
		s.Excerpts = halved(s.Excerpts)
	}
	for _, e := range s.Excerpts {
		for _, l := range e.Lines {
			s.anchors[l.Number] = s.anchors[l.Number] || l.Anchor
		}
	}
	s.MoreCauses, s.MoreExcerpts = len(d.Causes)-len(s.Causes), len(d.excerpts)-len(s.Excerpts)
	s.Chart = s.chart()
	s.count()
	return s
}

// Say returns a text in the language of the document, and English whether that is English.
func (s *section) Say(english string) string { return s.say(english) }
func (s *section) English() bool             { return s.texts == nil }

// Base returns the name of the file without its folders.
func (s *section) Base() string { return baseName(s.Name) }

// At returns a line as a place, and CauseAt, ProblemAt and GroupAt the line with which one begins.
func (s *section) At(line uint64) place            { return s.place(line, time.Time{}) }
func (s *section) CauseAt(c *Cause) place          { return s.place(c.First, c.time) }
func (s *section) ProblemAt(c *verdictCause) place { return s.place(c.Line, c.time) }
func (s *section) GroupAt(r *Row) place            { return s.place(r.First, r.Detail.time) }
func (s *section) RuleRef(id string) ruleRef       { return ruleRef{id, s.ofRule[id]} }
func (s *section) Text(rule string) RuleText       { return s.rule(rule) }
func (s *section) GroupID(i int) string            { return s.ID + "-g" + strconv.Itoa(i+1) }
func (s *section) LineID(line uint64) string       { return s.prefix + strconv.FormatUint(line, 10) }

func (s *section) place(line uint64, t time.Time) place {
	p := place{Says: s.say("line %d", line)}
	if !t.IsZero() && s.clock {
		p.Time = t.UTC().Format("15:04:05")
	}
	if s.anchors[line] {
		p.Href = s.LineID(line)
	}
	return p
}

// Since returns the line of the verdict's state.
func (s *section) Since() place {
	v := s.Summary.Verdict
	if i := slices.IndexFunc(v.Causes, func(c verdictCause) bool { return c.Line == v.Since }); i >= 0 {
		return s.ProblemAt(&v.Causes[i])
	}
	return s.At(v.Since)
}

// countView is how many entries of a disposition there are, and how many groups of them the page shows.
type countView struct {
	tableSummary
	Disposition event.Disposition
	Word        string // for entries of it
	Shown       int
}

// count counts entries and groups by disposition.
func (s *section) count() {
	for _, of := range dispositions {
		c := countView{s.table(of), of, of.String(), 0}
		if of == event.Ignore {
			c.Word = "ignored"
		}
		c.Word = s.say(c.Word)
		for i := range s.Groups {
			if s.Groups[i].Disposition == of {
				c.Shown++
			}
		}
		s.MoreGroups += c.Rows - c.Shown
		s.Counts = append(s.Counts, c)
	}
}

// Meaning returns the meaning of the state, "" if one of the causes has the same words.
func (v *verdict) Meaning() string {
	if slices.ContainsFunc(v.Causes, func(c verdictCause) bool { return c.What == v.What }) {
		return ""
	}
	return v.What
}

// pageMod is a mod in the list of a page.
type pageMod struct {
	*capture.ListedMod
	Place int    // in load order, from 1
	Named string // by what, in words; "" for nearly all
}

// mods lists the mods in load order, but first those that the verdict names: in a list of hundreds they are not found.
func (s *section) mods(limit, halvings int) {
	e := s.Summary.Environment
	if e == nil {
		return
	}
	named := s.Summary.Verdict.namedMods()
	for i := range e.Mods {
		m := &e.Mods[i]
		s.Mods = append(s.Mods, pageMod{m, i + 1, cmp.Or(named[blame.Key(m.Name)], named[blame.Key(m.PackageID)])})
	}
	slices.SortStableFunc(s.Mods, func(a, b pageMod) int {
		return cmp.Compare(min(len(b.Named), 1), min(len(a.Named), 1))
	})
	s.Mods = top(s.Mods, limit)
	s.Mods = s.Mods[:len(s.Mods)>>halvings]
	l := &s.ModList
	l.More = e.MoreMods + len(e.Mods) - len(s.Mods)
	for _, m := range s.Mods {
		l.Named += min(len(m.Named), 1)
		l.IDs = l.IDs || m.Name != "" && m.PackageID != ""
		l.Versions = l.Versions || m.Versions != ""
	}
}

// modList describes the list of mods: its columns, the mods that are named, and how many are not listed.
type modList struct {
	IDs, Versions bool
	Named, More   int
}

// Frames returns the lines of the template after the first.
func (r *Row) Frames() []string {
	if _, frames, _ := strings.Cut(r.Template, "\n"); frames != "" {
		return strings.Split(frames, "\n")
	}
	return nil
}

// halved leaves out half of excerpts: excerpts of groups before excerpts of causes, late ones before early ones, and
// last the lines that the first screen names.
func halved(all []*excerpt) []*excerpt {
	keep := map[*excerpt]bool{}
	for _, wanted := range [...]func(*excerpt) bool{
		func(e *excerpt) bool { return e.named },
		func(e *excerpt) bool { return e.cause },
		func(*excerpt) bool { return true },
	} {
		for _, e := range all {
			if wanted(e) && len(keep) < len(all)/2 {
				keep[e] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(e *excerpt) bool { return !keep[e] })
}

// chart returns the paths of areas upon each other by disposition, the most urgent below, in a box of 1 by 1: which
// share of the entries of each stretch of the log is so urgent or more.
func (s *section) chart() map[string]string {
	buckets := s.details.chart.buckets
	if len(s.Causes) == 0 || len(buckets) == 0 {
		return nil // nothing to be seen
	}
	paths := map[string]string{}
	for _, least := range dispositions {
		path := []byte("M0 1")
		for i := range buckets {
			share := float64(buckets[i].from(least)) / float64(max(buckets[i].from(event.Ignore), 1))
			path = fmt.Appendf(path, "V%.4gH%.4g", 1-share, float64(i+1)/float64(len(buckets)))
		}
		paths[least.String()] = string(path) + "V1z"
	}
	return paths
}
