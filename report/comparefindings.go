package report

import (
	"fmt"
	"strings"

	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/report/compare"
)

// News is what package compare finds that has something new in it.
type News interface {
	*compare.Diff | *compare.Check
}

// CompareSARIF appends what is new in a comparison as [SARIF] does: of a difference the urgent groups that only the new
// side has, of a check what the baseline does not cover. Places are those of the new side. rule is as of
// [Config], and s is what scrubbed the comparison, or nil.
func CompareSARIF[C News](dst []byte, c C, rule func(string) RuleText, s *Scrubber) []byte {
	out := newSARIF()
	side, found := newsOf(c, rule)
	for i := range found {
		out.add(sarifURI(found[i].file), &found[i].finding)
	}
	for i := range side.Files {
		uri, level := sarifURI(side.Files[i].Name), "warning"
		unread, sentences := incomplete(side, i)
		if unread {
			out.failed, level = true, "error"
		}
		for _, sentence := range sentences {
			out.notify(level, sentence, uri)
		}
	}
	out.marks = s.marks()
	return out.append(dst)
}

// CompareJUnit appends what is new in a comparison as [JUnit] does, a suite for each log of the new side. Each new
// group is a case that failed, in the first log that has it. rule is as of [Config].
func CompareJUnit[C News](dst []byte, c C, rule func(string) RuleText) []byte {
	side, found := newsOf(c, rule)
	dst = append(dst, junitBegin...)
	for i := range side.Files {
		f := &side.Files[i]
		suite := junitSuite{Name: f.Name, Properties: []junitProperty{{"heed.records", number(f.Records)}}}
		read := junitCase{Class: "heed.log", Name: "read to its end"}
		complete := junitCase{Class: "heed.log", Name: "complete"}
		unread, sentences := incomplete(side, i)
		text := strings.Join(sentences, " ")
		switch {
		case unread:
			read.Error = &junitMessage{Message: text, Type: "input"}
		case len(f.Gaps) > 0 && f.Gaps[0].Silence() != "":
			read.Failure = &junitMessage{Message: f.Gaps[0].Silence(), Type: "empty"}
		case text != "":
			complete.Skipped = &junitMessage{Message: text, Type: "blind"}
		}
		suite.Cases = append(suite.Cases, read, complete)
		for j := range found {
			if found[j].file == f.Name && len(suite.Cases) < maxResults {
				suite.Cases = append(suite.Cases, found[j].junit(f.Name))
			}
		}
		dst = suite.append(dst)
	}
	return append(dst, junitEnd...)
}

// placed is a finding of a comparison.
type placed struct {
	finding
	file string // the first that has it
}

// newsOf returns the new side, and what is new there: what --fail-on new is about.
func newsOf[C News](c C, rule func(string) RuleText) (side *compare.Totals, found []placed) {
	add := func(groups []compare.Group, why func(*compare.Group) string) {
		for i := range groups {
			g := &groups[i]
			if !g.Disposition.Urgent() || g.New == nil || len(g.New.First) == 0 {
				continue
			}
			first := g.New.First[0]
			row := &Row{
				Disposition: g.Disposition, Severity: g.Severity, Rule: g.Rule, Signature: g.ID, Forms: uint64(g.Forms),
				Count: g.New.Count, First: uint64(first.Line), Template: g.Template, Blame: g.Blame,
			}
			text := ruleTexts{safe(g.Rule): rule(g.Rule).shown()}.describe(g.Rule, g.Severity)
			found = append(found, placed{finding{row, text, "new: " + why(g)}, first.File})
		}
	}
	switch d := any(c).(type) {
	case *compare.Diff:
		side = &d.New
		add(d.Added, func(*compare.Group) string { return "the old side has none" })
	case *compare.Check:
		side = &d.New
		add(d.Added, func(*compare.Group) string { return "not in the baseline" })
		add(d.More, func(g *compare.Group) string {
			return strings.TrimSpace("above its rate in the baseline " + ratioWords(g.Ratio))
		})
		add(d.Worse, func(g *compare.Group) string {
			return "more urgent than in the baseline, where it is " + g.Old.Disposition.String()
		})
		add(d.Expired, func(g *compare.Group) string {
			return "its entry in the baseline has expired on " + string(g.Expires)
		})
	}
	return side, found
}

// incomplete returns whether a log of a side was not read to its end, and what its evidence lacks, in sentences.
func incomplete(side *compare.Totals, file int) (unread bool, sentences []string) {
	own := compare.Totals{Files: side.Files[file : file+1]}
	for _, g := range own.Files[0].Gaps {
		unread = unread || g.Kind == "unread"
	}
	for _, gap := range gapsOf(&own) {
		sentences = append(sentences, "The log "+gap+".")
	}
	if file == 0 && side.Uncounted > 0 {
		sentences = append(sentences, fmt.Sprintf("%s did not fit into the tables and are not compared.",
			text.Count(side.Uncounted, "record")))
	}
	return unread, sentences
}
