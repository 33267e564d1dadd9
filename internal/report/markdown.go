package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/text"
)

// The bounds of the Markdown form, so that it fits into an issue: GitHub takes 65,536 characters. With more than 25
// rows of each disposition it may not.
const (
	markdownWith = 6   // rules that came with a cause
	markdownText = 400 // characters of a sample
	markdownRows = 25  // of each disposition, at most

	markdownMods  = 1000   // mods that are listed; of more there is the number
	markdownLimit = 60_000 // characters of all, beyond which mods are not listed
)

// Markdown appends a report as Markdown, to be pasted into an issue: the verdict with where the log was made,
// the causes of attention with blame and, folded, samples and stacks, then the most frequent groups of each
// disposition that is urgent, 25 at most. The mods come last, folded, where there is room for all of them.
//
// Log text and names are in code only, where no host of repositories looks for
// mentions, references, links or HTML, and backticks in it become ˋ (U+02CB), so
// that it cannot leave. In tables a bar becomes ¦.
//
// A comparison has the sentences and tables that it has as text.
func Markdown[D Rendered](dst []byte, d D) []byte { return d.appendMarkdown(dst) }

func (d *Document) appendMarkdown(dst []byte) []byte {
	m := markdown{Document: d, out: dst}
	m.headline()
	if d.Summary.Lines > 0 {
		if d.texts != nil {
			m.printf("\n%s\n", d.say("The rest is for developers, in English."))
		}
		for i := range top(d.Causes, fullCauses) {
			m.cause(&d.Causes[i], i == 0)
		}
		m.headed(d.otherCauses(text.Count(len(d.Causes)-fullCauses, "more cause")))
		m.groups()
		m.mods()
	}
	m.footer()
	return m.out
}

// MarkdownVerdict is the verdict alone, to be pasted by itself.
func (d *Document) MarkdownVerdict() string {
	m := markdown{Document: d}
	m.headline()
	m.footer()
	return string(m.out)
}

// MarkdownCause is one of the causes with where it was, to be pasted by itself.
func (d *Document) MarkdownCause(c *Cause) string {
	m := markdown{Document: d}
	m.cause(c, false)
	m.printf("\nIn %s", code(d.Summary.File, 0))
	if made := d.Summary.Environment.inShort(inMarkdown, m.texts); made != nil {
		m.printf(": %s", strings.Join(made, ", "))
	}
	m.printf(".\n")
	m.footer()
	return strings.TrimPrefix(string(m.out), "\n")
}

// markdown is the state of one rendering.
type markdown struct {
	*Document
	out []byte
}

func (m *markdown) printf(format string, args ...any) { m.out = fmt.Appendf(m.out, format, args...) }

// footer names heed, and the kinds of private text that were removed.
func (m *markdown) footer() {
	m.printf("\n<sub>By heed")
	if len(m.removed) > 0 {
		m.printf("; removed: %s", strings.Join(inWords(m.removed), ", "))
	}
	m.printf(".</sub>\n")
}

func (m *markdown) headline() {
	s := &m.Summary
	m.printf("### %s\n\n", code(s.File, 0))
	m.printf("**%s** (%s)\n", prose(s.Verdict.lead()), prose(m.about()))
	m.facts(m.glance(inMarkdown))
	if made := s.Environment.inShort(inMarkdown, m.texts); made != nil {
		m.printf("- %s: %s\n", m.say("environment"), strings.Join(made, ", "))
	}
}

// facts lists facts.
func (m *markdown) facts(facts []fact) {
	for _, f := range facts {
		switch {
		case f.kind == factLine && f.Label != "":
			m.printf("\n- %s:\n  - %s", f.Label, f.Says)
		case f.kind == factLine:
			m.printf("\n  - %s", f.Says)
		case f.Label == "":
			m.printf(" %s", f.Says)
		case f.under:
			m.printf("\n  - %s: %s", f.Label, f.Says)
		default:
			m.printf("\n- %s: %s", f.Label, f.Says)
		}
	}
	m.printf("\n")
}

// mods lists the mods in load order, with id and versions or, where that is too long, by name. Where not all of
// them fit none is listed: the headline has their number.
func (m *markdown) mods() {
	e := m.Summary.Environment
	if e == nil || len(e.Mods) == 0 || e.MoreMods > 0 || len(e.Mods) > markdownMods {
		return
	}
	before := len(m.out)
	for _, brief := range [...]bool{false, true} {
		m.printf("\n")
		m.fold(e.modCount(nil)+", in load order", func() {
			m.printf("```text\n")
			for i := range e.Mods {
				m.mod(i+1, &e.Mods[i], brief)
			}
			m.printf("```\n")
		})
		if utf8.RuneCount(m.out) <= markdownLimit {
			return
		}
		m.out = m.out[:before]
	}
}

func (m *markdown) mod(place int, mod *capture.ListedMod, brief bool) {
	m.printf("%d %s", place, literal(mod.Title(), 0))
	if !brief && mod.Name != "" && mod.PackageID != "" {
		m.printf(" (%s)", literal(mod.PackageID, 0))
	}
	if !brief && mod.Versions != "" {
		m.printf(" %s", literal(mod.Versions, 0))
	}
	m.printf("\n")
}

func (m *markdown) cause(c *Cause, first bool) {
	m.printf("\n#### %s %s, first at line %d\n", capital(c.Disposition.String()), c.Severity, c.First)
	m.facts(c.facts(inMarkdown, markdownWith, first))
	m.printf("\n")
	summary := "Samples"
	if c.frames != nil {
		summary += " and stack"
	}
	m.fold(summary, func() {
		m.printf("```text\n")
		for _, s := range c.Samples {
			m.printf("%s\n", sampled(&s, literal(s.Message, markdownText)))
		}
		if c.frames != nil {
			m.printf("\n")
			for _, line := range c.frames {
				m.printf("  %s\n", literal(line, markdownText))
			}
		}
		m.printf("```\n")
	})
}

// fold puts what body prints into details that are closed at first.
func (m *markdown) fold(summary string, body func()) {
	m.printf("<details><summary>%s</summary>\n\n", summary)
	body()
	m.printf("\n</details>\n")
}

// headed prints a table that has rows, folded.
func (m *markdown) headed(h headedGrid) {
	if len(h.grid.rows) == 0 {
		return
	}
	m.printf("\n")
	m.fold(h.heading, func() {
		m.out = h.grid.appendMarkdown(m.out)
		if h.left != "" {
			m.printf("\n%s\n", h.left)
		}
	})
}

// groups lists the most frequent urgent groups.
func (m *markdown) groups() {
	for _, d := range dispositions {
		table, rows := m.table(d), m.rows(d)
		if table.Entries == 0 || !d.Urgent() {
			continue
		}
		rows = top(rows, markdownRows)
		m.headed(headedGrid{m.groupsHeading(d, len(rows)), signatureGrid(rows), table.dropped()})
	}
}

// literal returns s for a line of code, without backticks.
func literal(s string, limit int) string {
	return strings.ReplaceAll(text.Safe(s, limit), "`", "ˋ")
}

// code is text as code within a line.
func code(s string, limit int) string { return text.MarkdownCode(s, limit) }

// cell is text as code within a table.
func cell(text string, limit int) string {
	return strings.ReplaceAll(code(text, limit), "|", "¦")
}

// prose is text of heed or of a rule's author as Markdown that means just that.
func prose(s string) string { return text.Markdown(safe(s)) }
