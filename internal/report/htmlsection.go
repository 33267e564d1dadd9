package report

import (
	"cmp"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

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
	logs int // of the page

	ID       string // of its element
	prefix   string // of the ids of its lines
	Name     string // of the file
	Causes   []Cause
	Mods     []pageMod
	Groups   []Row
	Excerpts []*excerpt
	Chart    sketchView

	anchors map[uint64]bool
	ofRule  map[string]string // ids of the first groups
}

// place is a line of the log, which is a link where an excerpt shows it.
type place struct {
	Line uint64
	Says string // the line in words
	Time string // "" where the log has no clock
	Href string // the id of the line in the page, "" where no excerpt has it
}

// ruleRef names a rule, with a link if a group shows its entries.
type ruleRef struct{ Name, Href string }

// pageFuncs are the functions of the template, besides exported fields of a document.
var pageFuncs = template.FuncMap{
	"many": func(n any, noun string, plural ...string) string {
		if n, ok := n.(int); ok {
			return text.Many(n, noun, plural...)
		}
		return text.Many(n.(uint64), noun, plural...)
	},
	"count": text.Number[uint64], "capital": capital, "sentence": sentence,

	"class":  func(v *verdict) string { return states[v.State].class },
	"since":  func(v *verdict) string { return v.say(v.since()) },
	"label":  func(v *verdict, c *verdictCause) string { return v.say(v.label(c)) },
	"times":  func(v *verdict, n uint64) string { return v.times(n) },
	"number": func(v *verdict, n uint64) string { return v.number(n) },
	"size":   func(d *Document) string { return strings.Replace(d.size(), ", ", " · ", 1) },
	"mod":    func(c *verdictCause) string { return c.mod(literally) },
	"named":  func(v *verdict, i int) string { return v.Mods[i].named(v.texts, literally) },

	"inShort":  func(d *Document) []string { return d.Summary.Environment.inShort(plainly, d.texts) },
	"modCount": func(e *Environment) string { return e.modCount(nil) },
	"modTitle": title,

	"parts":     func(c *Cause) []causePart { parts, _ := c.first(pageParts); return parts },
	"moreParts": func(c *Cause) int { _, more := c.first(pageParts); return more },

	"head":      func(r *Row) string { return r.head(0) },
	"isDefault": isDefault,
}

func newSection(d *Document, logs, number int) *section {
	s := &section{Document: d, logs: logs, ID: "log" + strconv.Itoa(number), prefix: "L", Name: d.Summary.File}
	if number > 1 {
		s.prefix = s.ID + "-L"
	}
	if s.Name == "-" {
		s.Name = "standard input"
	}
	for _, of := range dispositions {
		s.Groups = append(s.Groups, top(d.rows(of), s.share(pageGroups[of]))...)
	}
	s.Causes = top(d.Causes, s.share(pageCauses))
	s.mods()
	s.excerpts()
	s.sketch()
	return s
}

// Log returns whether the log is complete.
func (s *section) Log() logState { return s.log }

// Say returns a text in the language of the document, and English whether that is English.
func (s *section) Say(english string) string { return s.say(english) }
func (s *section) English() bool             { return s.texts == nil }

// share returns the part of a bound that one log has.
func (s *section) share(n int) int { return max(n/s.logs, 8) }

// Base returns the name of the file without its folders.
func (s *section) Base() string { return baseName(s.Name) }

// How many causes, excerpts, rows and groups the page leaves out.

func (s *section) MoreCauses() int { return len(s.Document.Causes) - len(s.Causes) }
func (s *section) LeftOut() int    { return len(s.Document.excerpts) - len(s.Excerpts) }
func (s *section) Dropped() (rows uint64) {
	for _, t := range s.Summary.Signatures {
		rows += t.Dropped
	}
	return rows
}

func (s *section) MoreGroups() int {
	more := -len(s.Groups)
	for _, t := range s.Summary.Signatures {
		more += t.Rows
	}
	return more
}

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
	p := place{Line: line, Says: s.say("line %d", line)}
	if !t.IsZero() && s.details.hasClock() {
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
	for i := range v.Causes {
		if c := &v.Causes[i]; c.Line == v.Since {
			return s.ProblemAt(c)
		}
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

// Counts returns the counts of each disposition.
func (s *section) Counts() []countView {
	var all []countView
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
		all = append(all, c)
	}
	return all
}

// link notes which lines and groups can be linked to.
func (s *section) link() {
	s.anchors, s.ofRule = map[uint64]bool{}, map[string]string{}
	for _, e := range s.Excerpts {
		for _, l := range e.Lines {
			if l.Anchor {
				s.anchors[l.Number] = true
			}
		}
	}
	for i := range s.Groups {
		if rule := s.Groups[i].Rule; s.ofRule[rule] == "" {
			s.ofRule[rule] = s.GroupID(i)
		}
	}
}

// shrink leaves out half of the section, the lighter groups first.
func (s *section) shrink() bool {
	before := len(s.Groups) + len(s.Excerpts) + len(s.Mods)
	s.halveExcerpts()
	s.Mods, s.Groups = s.Mods[:len(s.Mods)/2], s.Groups[:len(s.Groups)/2]
	return before > 0
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
func (s *section) mods() {
	e := s.Summary.Environment
	if e == nil {
		return
	}
	named := e.namedMods(s.Summary.Verdict)
	for i := range e.Mods {
		s.Mods = append(s.Mods, pageMod{&e.Mods[i], i + 1, named[i]})
	}
	slices.SortStableFunc(s.Mods, func(a, b pageMod) int {
		return cmp.Compare(min(len(b.Named), 1), min(len(a.Named), 1))
	})
	s.Mods = top(s.Mods, s.share(pageMods))
}

// modList describes the list of mods: its columns, the mods that are named, and how many are not listed.
type modList struct {
	IDs, Versions bool
	Named, More   int
}

// ModList describes the list of mods.
func (s *section) ModList() modList {
	e := s.Summary.Environment
	l := modList{More: e.MoreMods + len(e.Mods) - len(s.Mods)}
	for _, m := range s.Mods {
		l.Named += min(len(m.Named), 1)
		l.IDs = l.IDs || m.Name != "" && m.PackageID != ""
		l.Versions = l.Versions || m.Versions != ""
	}
	return l
}

// Frames returns the lines of the template after the first.
func (r *Row) Frames() []string {
	if _, frames, _ := strings.Cut(r.Template, "\n"); frames != "" {
		return strings.Split(frames, "\n")
	}
	return nil
}

func (s *section) excerpts() {
	v := s.Summary.Verdict
	named := map[uint64]bool{v.Since: true, v.Blind: true, s.log.At: true}
	for i := range v.Causes {
		named[v.Causes[i].Line] = true
	}
	delete(named, 0)
	s.Excerpts = slices.Clone(s.Document.excerpts)
	for _, e := range s.Excerpts {
		e.named = slices.ContainsFunc(e.Lines, func(l excerptLine) bool { return l.Head && named[l.Number] })
	}
	for bytes := s.details.lines.bytes; bytes > excerptAll/s.logs; bytes /= 2 {
		s.halveExcerpts()
	}
}

// halveExcerpts leaves out half of the excerpts: excerpts of groups before excerpts of causes, late ones before early
// ones, and last the lines that the first screen names.
func (s *section) halveExcerpts() {
	n := len(s.Excerpts) / 2
	keep := map[*excerpt]bool{}
	for _, wanted := range [...]func(*excerpt) bool{
		func(e *excerpt) bool { return e.named },
		func(e *excerpt) bool { return e.cause },
		func(*excerpt) bool { return true },
	} {
		for _, e := range s.Excerpts {
			if wanted(e) && len(keep) < n {
				keep[e] = true
			}
		}
	}
	s.Excerpts = slices.DeleteFunc(s.Excerpts, func(e *excerpt) bool { return !keep[e] })
}
