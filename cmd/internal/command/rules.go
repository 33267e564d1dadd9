package command

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/report/compare"
	"github.com/heedlog/heed/internal/report/replay"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/rules"
)

func (p *program) rulesCommand() *cobra.Command {
	return cli.Group(&cobra.Command{Use: "rules"}, p.ofRuleFiles("check [FILE...]", p.checkRules), p.rulesDiffCommand(),
		p.ofRuleFiles("lint [FILE...]", p.lintRules), p.rulesProposeCommand(), p.rulesSchemaCommand())
}

// ofRuleFiles makes a command that reads rule files, followed by the default rules: run gets all of them.
func (p *program) ofRuleFiles(use string, run func(files []rules.File) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && p.noDefaultRules {
				return cli.Usage(cmd, "nothing to check: name a rule file, or leave --no-default-rules out")
			}
			files, err := p.ruleFiles(args...)
			if err != nil {
				return err
			}
			return run(files)
		},
	}
	p.registerNoDefaults(cmd, noDefaultsHelp)
	return cmd
}

// ofCommand returns the files of a command line, or all if there are only the default ones, with words for all that was
// read.
func (p *program) ofCommand(files []rules.File) (shown []rules.File, read string) {
	shown, read = files, text.Count(len(files), "file")
	if own := len(files) - len(rules.Defaults()); own > 0 && !p.noDefaultRules {
		shown, read = files[:own], text.Count(own, "file")+" and the default rules"
	}
	return shown, read
}

func (p *program) checkRules(files []rules.File) error {
	set, err := compiled(files, p.Message)
	if err != nil {
		return err
	}
	own := map[string]int{} // rules, by file
	for _, r := range set.Rules() {
		own[r.File]++
	}
	results := set.Test()
	type outcomes struct{ passed, failed, overridden int }
	of := map[string]outcomes{} // by file
	failed := 0
	for i := range results {
		res := &results[i]
		n := of[res.File]
		switch {
		case res.Failed:
			n.failed++
			failed++
			p.Message("%s", res)
		case res.Overridden:
			n.overridden++
			if !set.Rule(res.Got.Rule).MatchesAll { // lint says that once
				p.Message("%s", res)
			}
		default:
			n.passed++
		}
		of[res.File] = n
	}
	shown, read := p.ofCommand(files)
	var out []byte
	for _, f := range shown {
		out = fmt.Appendf(out, "%s: %s, ", safe(f.Name, 0), text.Count(own[f.Name], "rule"))
		n := of[f.Name]
		if total := n.passed + n.failed + n.overridden; total > 0 {
			out = fmt.Appendf(out, "%s: %s\n", text.Count(total, "test"), joinParts(
				part{n.passed, "passed"}, part{n.failed, "FAILED"}, part{n.overridden, "overridden by an earlier file"}))
		} else {
			out = append(out, "no tests\n"...)
		}
	}
	out = fmt.Appendf(out, "%s in %s: ", text.Count(len(set.Rules()), "rule"), read)
	if failed > 0 {
		out = fmt.Appendf(out, "%d of %s failed\n", failed, text.Count(len(results), "test"))
	} else {
		out = fmt.Appendf(out, "ok, none of %s failed\n", text.Count(len(results), "test"))
	}
	if err := p.Print("the report", out); err != nil {
		return err
	}
	if failed > 0 {
		return errors.New("rules: tests failed: change the rule, or the test")
	}
	return nil
}

func (p *program) lintRules(files []rules.File) error {
	found := rules.Lint(files...)
	_, _ = compiled(files, p.Message) // its errors are findings
	var out []byte
	for i := range found {
		out = text.AppendSafe(out, found[i].String(), 0)
		out = append(out, '\n')
		if found[i].Severity == event.SeverityError {
			p.Raise(exitUsage)
		}
	}
	if len(found) == 0 {
		_, read := p.ofCommand(files)
		out = fmt.Appendf(out, "%s: nothing found\n", read)
	} else {
		p.Raise(exitFinding)
	}
	return p.Print("the findings", out)
}

// embedded names the embedded rules where a file of rules is expected.
const embedded = "default"

func (p *program) rulesDiffCommand() *cobra.Command {
	var exitCode bool
	cmd := &cobra.Command{
		Use: "diff OLD NEW CAPTURE...",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 3 {
				return cli.Usage(cmd, "name two rule sets and a log: OLD NEW CAPTURE")
			}
			return onceStdin(cmd, args[2:])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var sets [2]*rules.Set
			for i, name := range args[:2] {
				files, err := rules.Defaults(), error(nil)
				if name != embedded {
					files, err = p.ruleFiles(name)
				}
				if err != nil {
					return err
				}
				if sets[i], err = compiled(files, p.Message); err != nil {
					return err
				}
			}
			scrubber := p.newScrubber()
			d := &difference{
				old: sets[0], new: sets[1], scrub: scrubber, changes: map[string]int{},
				report: diffReport{SchemaVersion: schema.Version, Changes: []classChanged{}},
			}
			p.eachLog(cmd.Context(), p.logs(args[2:]), func(name string) error {
				return p.classifyTwice(cmd.Context(), d, name)
			})
			p.incomplete()
			p.removed(scrubber)
			rep := d.finish(args[0], args[1], p.top)
			if exitCode && rep.Changed > 0 {
				p.Raise(exitFinding)
			}
			return p.show("the report", rulesDiffForm(), rep)
		},
	}
	p.registerView(cmd, "write the `FORMAT` text or json", "show the `N` most frequent changes, 0 for all", formatText, formatJSON)
	p.registerNoDefaults(cmd, "leave out the default rules after those that are named")
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "exit with 1 if a record changes class")
	return cmd
}

// difference compares the decisions of two rule sets.
type difference struct {
	old, new *rules.Set
	scrub    *report.Scrubber // of names, places and samples
	report   diffReport
	changes  map[string]int // the index in report.Changes, by both decisions
}

// same reports whether two decisions have the same effect, by any rule.
func same(a, b *event.Decision) bool {
	return a.Disposition == b.Disposition && a.Severity == b.Severity && a.Invalidates == b.Invalidates
}

// classifyTwice decides the records of a capture by both sets.
func (p *program) classifyTwice(ctx context.Context, d *difference, name string) error {
	other, err := heed.New(replay.Config(d.new))
	if err != nil {
		return err
	}
	d.report.Files++
	var (
		updates []heed.Update
		n       heed.Outcome
		family  string // that other knows
		refused error
	)
	err = p.observe(ctx, d.old, name, func(src *source, o *heed.Outcome) bool {
		rec := src.Record
		d.scrub.Learn(rec.Message, rec.Stack)
		if src.Family != family {
			family = src.Family
			if refused = other.SetFamily(family); refused != nil {
				return false
			}
		}
		other.ObserveInto(&n, &rec.Entry)
		updates = other.Updates(updates[:0])
		d.report.Records++
		if same(&o.Decision, &n.Decision) {
			if o.Decision.Rule != n.Decision.Rule {
				d.report.Moved++
			}
			return true
		}
		d.report.Changed++
		before, after := details(d.old, o), details(d.new, &n)
		key := fmt.Sprint(before, after)
		i, known := d.changes[key]
		if !known {
			i = len(d.report.Changes)
			d.changes[key] = i
			d.report.Changes = append(d.report.Changes, classChanged{
				Old: before, New: after, First: place{name, rec.Line()}.String(),
				Sample: strings.Clone(compare.Sample(&rec.Entry)),
			})
		}
		d.report.Changes[i].Count++
		return true
	})
	return errors.Join(err, refused)
}

// The JSON form of a difference.
type (
	diffReport struct {
		SchemaVersion int `json:"schemaVersion" jsonschema:"Rises when a field is removed or changes its meaning."`

		Old      string         `json:"old" jsonschema:"The rules that OLD names."`
		New      string         `json:"new" jsonschema:"The rules that NEW names."`
		Files    int            `json:"files" jsonschema:"Logs that were replayed."`
		Records  int            `json:"records" jsonschema:"Records in them."`
		Changed  int            `json:"changed" jsonschema:"Records that change class."`
		Moved    int            `json:"sameClassByAnotherRule" jsonschema:"Records that stay in their class, by another rule."`
		Changes  []classChanged `json:"changes" jsonschema:"The most frequent first."`
		NotShown int            `json:"changesNotShown" jsonschema:"Changes that are not listed."`
	}
	classChanged struct {
		Count  int           `json:"count" jsonschema:"Records with this change." minimum:"1"`
		Old    rules.Details `json:"old" jsonschema:"The decision of the old rules."`
		New    rules.Details `json:"new" jsonschema:"The decision of the new rules."`
		First  string        `json:"first" jsonschema:"File and line of the first record."`
		Sample string        `json:"sample" jsonschema:"Text of the first record, escaped and cut."`
	}
)

// finish sorts, cuts and scrubs the report, once all private names are known.
func (d *difference) finish(oldName, newName string, top int) *diffReport {
	r := &d.report
	r.Old, r.New = d.scrub.Text(oldName), d.scrub.Text(newName)
	slices.SortStableFunc(r.Changes, func(a, b classChanged) int { return cmp.Compare(b.Count, a.Count) })
	if top > 0 && len(r.Changes) > top {
		r.NotShown = len(r.Changes) - top
		r.Changes = r.Changes[:top]
	}
	for i := range r.Changes {
		c := &r.Changes[i]
		for _, text := range []*string{&c.First, &c.Sample, &c.Old.Place, &c.New.Place} {
			*text = d.scrub.Text(*text)
		}
	}
	return r
}

// details returns a decision by a set as a report shows it. Tags are no part of it.
func details(set *rules.Set, o *heed.Outcome) rules.Details {
	d := &o.Decision
	out := rules.Details{
		Rule: d.Rule, Disposition: d.Disposition, Severity: d.Severity, Invalidates: d.Invalidates, Escalated: o.Escalated,
	}
	if r := set.Rule(d.Rule); r != nil {
		out.Place = r.Place
	}
	return out
}

//go:embed rulesdiff.txt
var rulesDiffText string

// rulesDiffForm is a difference for a person; see [prose].
var rulesDiffForm = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"safe": func(s string) string { return safe(s, 0) }, "cut": func(s string) string { return safe(s, widthClause) },
		"number": text.Count, "changed": changed,
	}).Parse(rulesDiffText))
})

// changed returns the decision before or after a change in words.
func changed(d rules.Details) string {
	s := className(&d)
	if d.Invalidates && d.Disposition != event.Ignore {
		s += ", invalidates"
	}
	s += ", by " + decidedBy(&d)
	if d.Place != "" {
		s += " (" + safe(d.Place, 0) + ")"
	}
	return s
}
