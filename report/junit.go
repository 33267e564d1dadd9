package report

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"strings"

	"github.com/heedlog/heed/event"
)

// What surrounds the suites of a JUnit document.
const (
	JUnitBegin = xml.Header + "<testsuites name=\"heed\">\n"
	JUnitEnd   = "</testsuites>\n"
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

// AppendJUnit appends the replay as a test suite of JUnit's XML, for servers of
// continuous integration: a test case per group of signatures and rule, failed
// where it blocks and skipped, with its text as output, where it is advisory. Two
// cases stand for the log itself: that it was read to its end, in error where it
// was not and failed where there was nothing to read, and that it tells all, skipped
// where it went blind. top bounds the
// groups of each disposition, 0 for all that are held.
//
// The names of cases stay the same while the log's text does: they hold
// disposition, rule, template and signature, and neither counts nor lines.
//
// Suites of several logs stand between [JUnitBegin] and [JUnitEnd].
func (r *Replay) AppendJUnit(dst []byte, top int) []byte {
	file := safe(r.config.File)
	found, left := r.findings(top)
	suite := junitSuite{Name: file}
	property := func(name, value string) {
		suite.Properties = append(suite.Properties, junitProperty{name, value})
	}
	property("heed.layout", r.end.Layout)
	property("heed.lines", number(uint64(r.end.Lines)))
	property("heed.records", number(r.records))
	property("heed.verdict", r.Verdict().lead())
	if removed := r.config.Scrub.Removed(); len(removed) > 0 {
		property("heed.removed", strings.Join(removed, ", "))
	}
	read := junitCase{Class: "heed.log", Name: "read to its end"}
	switch {
	case r.end.Interrupted:
		read.Error = &junitMessage{Message: "interrupted", Type: "interrupted"}
	case r.unread != "":
		read.Error = &junitMessage{Message: r.unread, Type: "input"}
	case r.silent():
		read.Failure = &junitMessage{Message: r.silence(), Type: "empty"}
	}
	tells := junitCase{Class: "heed.log", Name: "tells all"}
	if r.WentBlind() {
		message := r.blind.sentence()
		if r.end.Headless {
			message = headlessSentence
		}
		message = cmp.Or(message, "something is missing")
		tells.Skipped = &junitMessage{Message: message, Type: "blind"}
	}
	suite.Cases = append(suite.Cases, read, tells)
	for i := range found {
		suite.Cases = append(suite.Cases, found[i].junit(file))
	}
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
	suite.Out = strings.Join(r.wanting(left), "\n")
	b, err := xml.MarshalIndent(suite, "  ", "  ")
	if err != nil {
		panic("BUG: report: " + err.Error())
	}
	// Line feeds stand in texts only, never in attributes, where they would be
	// read as spaces.
	b = bytes.ReplaceAll(b, []byte("&#xA;"), []byte("\n"))
	return append(append(dst, b...), '\n')
}

func (f *finding) junit(file string) junitCase {
	c := junitCase{
		Class: f.disposition.String() + "." + f.Rule, Name: f.head(maxHead) + " [" + f.Signature.ID.String() + "]",
		File: file, Line: f.First,
	}
	var text strings.Builder
	if f.why != "" {
		text.WriteString("why: " + f.why + "\n")
	}
	text.WriteString("often: " + f.often() + "\n")
	if len(f.Blame) > 0 {
		text.WriteString("blame: " + blamed(f.Blame) + "\n")
	}
	text.WriteString("template:\n")
	for line := range strings.SplitSeq(safeLines(f.Template), "\n") {
		text.WriteString("  " + line + "\n")
	}
	message := &junitMessage{Message: f.what, Type: f.disposition.String()}
	if f.disposition == event.Blocking {
		message.Text = text.String()
		c.Failure = message
	} else {
		c.Skipped, c.Out = message, text.String()
	}
	return c
}
