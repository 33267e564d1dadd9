package report

import (
	"fmt"
	"strings"

	"github.com/heedlog/heed/internal/report/compare"
	"github.com/heedlog/heed/internal/text"
)

// addTo adds the groups that the baseline of a check does not cover to a log of SARIF. Places are lines of the new
// side.
func (c *Comparison) addTo(out *sarif) {
	side, found := c.news()
	for _, p := range problems(found) {
		out.add(sarifURI(p.file), &p)
	}
	for i := range side.Files {
		unread, sentences := incomplete(side, i)
		out.about(sarifURI(side.Files[i].Name), unread, sentences)
	}
	out.RedactionTokens = c.Scrub.marks()
}

// suites returns a suite of JUnit for each log of the new side. Each problem with a new group is a case that failed, in
// the first log that has the group.
func (c *Comparison) suites() []junitSuite {
	side, groups := c.news()
	found := problems(groups)
	var suites []junitSuite
	for i := range side.Files {
		f := &side.Files[i]
		suite := junitSuite{Name: f.Name, Properties: []junitProperty{{"heed.records", number(f.Records)}}}
		unread, sentences := incomplete(side, i)
		says := strings.Join(sentences, " ")
		switch {
		case unread:
			suite.log(says, "input", "", "")
		case len(f.Gaps) > 0 && f.Gaps[0].Silence() != "":
			suite.log("", "", f.Gaps[0].Silence(), "")
		default:
			suite.log("", "", "", says)
		}
		for j := range found {
			if found[j].file == f.Name && len(suite.Cases) < maxResults {
				suite.Cases = append(suite.Cases, found[j].junit(f.Name))
			}
		}
		suites = append(suites, suite)
	}
	return suites
}

// news returns the new side of a check and the groups that its baseline does not cover, which --fail-on new reports.
func (c *Comparison) news() (side *compare.Totals, found []finding) {
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
			rule := c.Rule(g.Rule).shown().described(g.Rule, g.Severity)
			found = append(found, finding{row, rule, "new: " + why(g), first.File, g.OtherMod})
		}
	}
	add(c.Check.Added, func(*compare.Group) string { return "not in the baseline" })
	add(c.Check.More, func(g *compare.Group) string {
		return strings.TrimSpace("above its rate in the baseline " + ratioWords(g))
	})
	add(c.Check.Worse, func(g *compare.Group) string {
		return "more urgent than in the baseline, where it is " + g.Old.Disposition.String()
	})
	add(c.Check.Expired, func(g *compare.Group) string {
		return "its entry in the baseline has expired on " + string(g.Expires)
	})
	return &c.Check.New, found
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
