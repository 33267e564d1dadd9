package report

import (
	"bytes"
	"encoding/xml"
	"strings"

	"github.com/heedlog/heed/event"
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

// JUnit appends reports as JUnit's XML, for servers of continuous integration: a test suite for each, with a
// test case per problem, which is what one rule decided, with its groups in the text: failed where it blocks and
// skipped, with its text as output, where it is advisory. Two more cases are about the log itself: "read to its end"
// is in error if it was not, and failed if there was nothing to read; "complete" is skipped if the log went blind.
//
// The names of cases stay the same: they hold disposition, rule and summary, and neither text of the log, counts nor
// lines.
func JUnit[D rendered](dst []byte, docs ...D) []byte {
	dst = append(dst, xml.Header+"<testsuites name=\"heed\">\n"...)
	for _, d := range docs {
		c := d.checked()
		for i := range c.logs {
			dst = c.logs[i].appendJUnit(dst, c.found)
		}
	}
	return append(dst, "</testsuites>\n"...)
}

// appendJUnit appends the suite of a log, with the problems that are in it.
func (l *checkedLog) appendJUnit(dst []byte, problems []found) []byte {
	suite := junitSuite{Name: safe(l.file), Properties: l.properties, Out: l.out}
	read, complete := junitCase{Class: "heed.log", Name: "read to its end"}, junitCase{Class: "heed.log", Name: "complete"}
	switch {
	case l.unread != "":
		read.Error = &junitMessage{Message: l.unread, Type: l.kind}
	case l.silence != "":
		read.Failure = &junitMessage{Message: l.silence, Type: "empty"}
	}
	if l.lacks != "" {
		complete.Skipped = &junitMessage{Message: l.lacks, Type: "blind"}
	}
	suite.Cases = []junitCase{read, complete}
	for i := range problems {
		if problems[i].file == l.file {
			suite.Cases = append(suite.Cases, problems[i].junit())
		}
	}
	for _, c := range suite.Cases {
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
func (p *found) junit() junitCase {
	c := junitCase{Class: p.Disposition.String() + "." + p.Rule, Name: p.Summary, File: safe(p.file), Line: p.first}
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
	message := &junitMessage{Message: p.summary(p.Summary), Type: p.Disposition.String(), Text: text.String()}
	if !p.passes && (p.Disposition == event.Blocking || p.reasons != nil) {
		c.Failure = message
	} else {
		c.Out, message.Text = message.Text, ""
		c.Skipped = message
	}
	return c
}
