package report

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

type junitSuite struct {
	XMLName    xml.Name        `xml:"testsuite"`
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
	Out        string          `xml:"system-out,omitempty"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	File    string        `xml:"file,attr,omitempty"`
	Line    uint64        `xml:"line,attr,omitempty"`
	Skipped *junitMessage `xml:"skipped"`
	Error   *junitMessage `xml:"error"`
	Failure *junitMessage `xml:"failure"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

const (
	junitBegin = xml.Header + "<testsuites name=\"heed\">\n"
	junitEnd   = "</testsuites>\n"
)

// JUnit appends reports as JUnit's XML, for servers of continuous integration: a test suite for each, with a
// test case per problem, which is what one rule decided, with its groups in the text: failed where it blocks and
// skipped, with its text as output, where it is advisory. Two more cases are about the log itself: "read to its end"
// is in error if it was not, and failed if there was nothing to read; "complete" is skipped if the log went blind.
//
// The names of cases stay the same: they hold disposition, rule and summary, and neither text of the log, counts nor
// lines.
func JUnit[D rendered](dst []byte, docs ...D) []byte {
	dst = append(dst, junitBegin...)
	for _, d := range docs {
		for _, suite := range d.suites() {
			dst = suite.append(dst)
		}
	}
	return append(dst, junitEnd...)
}

func (d *Document) suites() []junitSuite {
	s := &d.Summary
	groups, left := d.findings()
	suite := junitSuite{Name: s.File, Out: strings.Join(d.wanting(left), "\n"), Properties: []junitProperty{
		{"heed.layout", s.Layout},
		{"heed.lines", number(uint64(s.Lines))},
		{"heed.records", number(s.Records)},
		{"heed.verdict", s.Verdict.lead()},
	}}
	if len(d.removed) > 0 {
		suite.Properties = append(suite.Properties, junitProperty{"heed.removed", strings.Join(d.removed, ", ")})
	}
	unread, kind, lacks := s.Error, "input", ""
	if s.Interrupted {
		unread, kind = "interrupted", "interrupted"
	}
	switch {
	case !d.WentBlind:
	case s.Headless:
		lacks = headlessSentence
	default:
		lacks = cmp.Or(d.blind, "part of the log is missing")
	}
	suite.log(unread, kind, d.silence, lacks)
	for _, p := range problems(groups) {
		suite.Cases = append(suite.Cases, p.junit(s.File))
	}
	return []junitSuite{suite}
}

// log adds the cases about the log itself: unread is why it was not read to its end, kind the kind of that error,
// silence the contents of a log without a record, and lacks its gaps. Each is "" if all is well.
func (suite *junitSuite) log(unread, kind, silence, lacks string) {
	read, complete := junitCase{Class: "heed.log", Name: "read to its end"}, junitCase{Class: "heed.log", Name: "complete"}
	switch {
	case unread != "":
		read.Error = &junitMessage{Message: unread, Type: kind}
	case silence != "":
		read.Failure = &junitMessage{Message: silence, Type: "empty"}
	}
	if lacks != "" {
		complete.Skipped = &junitMessage{Message: lacks, Type: "blind"}
	}
	suite.Cases = append(suite.Cases, read, complete)
}

// append appends a suite whose cases are complete.
func (suite *junitSuite) append(dst []byte) []byte {
	for i := range suite.Cases {
		c := &suite.Cases[i]
		suite.Tests++
		switch {
		case c.Error != nil:
			suite.Errors++
		case c.Failure != nil:
			suite.Failures++
		case c.Skipped != nil:
			suite.Skipped++
		}
	}
	b, err := xml.MarshalIndent(suite, "  ", "  ")
	if err != nil {
		panic("BUG: report: " + err.Error())
	}
	// Only texts have line feeds: in attributes they would be read as spaces.
	b = bytes.ReplaceAll(b, []byte("&#xA;"), []byte("\n"))
	return append(append(dst, b...), '\n')
}

// junit returns the case of a problem, with its groups in the text.
func (p *found) junit(file string) junitCase {
	c := junitCase{Class: p.Disposition.String() + "." + p.Rule, Name: p.Summary, File: file, Line: p.first()}
	if p.mod != "" {
		c.Name += " (" + p.mod + ")"
	}
	var text strings.Builder
	for _, says := range [...]struct{ label, text string }{{"why", p.Why}, {"do", p.Advice}} {
		if says.text != "" {
			text.WriteString(says.label + ": " + says.text + "\n")
		}
	}
	for i := range p.groups {
		f := &p.groups[i]
		text.WriteString("group " + f.Signature.String() + ": " + f.often() + "\n")
		if f.news != "" {
			text.WriteString("  " + f.news + "\n")
		}
		if len(f.Blame) > 0 {
			text.WriteString("  blame: " + blamed(f.Blame) + "\n")
		}
		for line := range strings.SplitSeq(f.Template, "\n") {
			text.WriteString("    " + line + "\n")
		}
	}
	message := &junitMessage{Message: p.Summary, Type: p.Disposition.String(), Text: text.String()}
	if news := p.news(); news != "" {
		message.Message += "; " + news
	}
	if !p.passes() && (p.Disposition == event.Blocking || p.groups[0].news != "") {
		c.Failure = message
	} else {
		c.Out, message.Text = message.Text, ""
		c.Skipped = message
	}
	return c
}

// found is a problem: the groups of one rule and disposition in one log that point at one mod first, or at none, as the
// forms for continuous integration list it.
type found struct {
	Disposition event.Disposition
	Rule        string
	RuleText
	file   string
	mod    string
	groups []finding
}

// problems joins groups to problems, in the order of their first groups.
func problems(groups []finding) (all []found) {
	for i := range groups {
		f := &groups[i]
		mod := strings.Join(f.Blame[:min(1, len(f.Blame))], "")
		at := slices.IndexFunc(all, func(p found) bool {
			return p.Rule == f.Rule && p.Disposition == f.Disposition && p.file == f.file && p.mod == mod
		})
		if at < 0 {
			at = len(all)
			all = append(all, found{Disposition: f.Disposition, Rule: f.Rule, RuleText: f.RuleText, file: f.file, mod: mod})
		}
		all[at].groups = append(all[at].groups, *f)
	}
	for i := range all {
		p := &all[i]
		if p.Advice = p.groups[0].advice; p.Advice == "" { // of a comparison, which has no items
			var mods []string
			for _, f := range p.groups {
				mods = append(mods, f.Blame...)
			}
			p.Advice = text.Advice(p.groups[0].Advice, mods...)
		}
	}
	return all
}

// passes reports whether all groups are of other mods than the checked ones.
func (p *found) passes() bool {
	return !slices.ContainsFunc(p.groups, func(f finding) bool { return !f.otherMod })
}

// first returns the first line of all groups.
func (p *found) first() uint64 {
	return slices.MinFunc(p.groups, func(a, b finding) int { return cmp.Compare(a.First, b.First) }).First
}

// entries returns the entries of all groups.
func (p *found) entries() (n uint64) {
	for i := range p.groups {
		n += p.groups[i].Count
	}
	return n
}

// often returns how often and where the problem is.
func (p *found) often() string {
	if len(p.groups) == 1 {
		return p.groups[0].often()
	}
	return fmt.Sprintf("%s in %d groups, the first at line %d", text.Count(p.entries(), "entry", "entries"), len(p.groups),
		p.first())
}

// news returns why a comparison reports the problem; "" if the report is of one log.
func (p *found) news() string {
	var all []string
	for i := range p.groups {
		if news := p.groups[i].news; news != "" && !slices.Contains(all, news) {
			all = append(all, news)
		}
	}
	if len(all) > 2 {
		return fmt.Sprintf("%d groups are new, or more than before", len(p.groups))
	}
	return strings.Join(all, "; ")
}

// finding is an urgent row, as the forms for continuous integration list it.
type finding struct {
	*Row
	RuleText
	news string // why a comparison reports it, which makes it fail; "" in the report of one log
	file string // of a comparison, the first that has it

	otherMod bool // it does not fail
}

// findings returns the urgent rows, blocking ones first, and how many more rows the tables have.
func (d *Document) findings() (found []finding, left int) {
	for _, disposition := range [...]event.Disposition{event.Blocking, event.Advisory} {
		rows := d.rows(disposition)
		left += d.table(disposition).Rows - len(rows)
		for i := range rows {
			f := finding{Row: &rows[i]}
			f.RuleText = d.rule(f.Rule).described(f.Rule, f.Severity)
			found = append(found, f)
		}
	}
	return found, left
}

// maxHead bounds the part of a template's first line that names a finding, in
// characters.
const maxHead = 160

// often returns how often and where.
func (f *finding) often() string {
	often := text.Count(f.Count, "entry", "entries")
	if f.Forms > 1 {
		often += fmt.Sprintf(" in %d forms", f.Forms)
	}
	switch f.Last {
	case f.First:
		return often + fmt.Sprintf(", line %d", f.First)
	case 0: // of a comparison, which does not know it
		return often + fmt.Sprintf(", the first at line %d", f.First)
	}
	return often + fmt.Sprintf(", lines %d to %d", f.First, f.Last)
}

// wanting returns, in sentences, where the log is blind or incomplete, and how many groups are not listed.
func (d *Document) wanting(left int) []string {
	sentences := slices.Clip(d.doubts)
	if left > 0 {
		sentences = append(sentences, fmt.Sprintf("%s not listed: the least frequent ones.",
			text.Count(left, "more group is", "more groups are")))
	}
	for _, disposition := range dispositions {
		if t := d.table(disposition); t.Dropped > 0 && disposition.Urgent() {
			sentences = append(sentences, fmt.Sprintf("%s (%s) did not fit into the table.",
				text.Count(t.Dropped, disposition.String()+" row"), text.Count(t.DroppedEntries, "entry", "entries")))
		}
	}
	return sentences
}
