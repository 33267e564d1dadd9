package command

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/text/width"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

func (p *program) rulesCoverageCommand() *cobra.Command {
	var flags ruleFlags
	var from inputFlags
	var view viewFlags
	cmd := &cobra.Command{
		Use:   "coverage CAPTURE...",
		Short: "Show which rules decide in captures, and what no rule knows",
		Long: `coverage replays captures and shows which rules decided and how often (records and
signatures), which rules never did, and the most frequent signatures that no rule
knows: those classified by a default for the kind, or by a rule of a file whose name
begins with 90-fallback, which looks at the form of the text only.

Rules with continue only add tags and decide nothing; they are left out. Memory grows
with the number of signatures.`,
		Example: `  heed rules coverage Player.log
  heed rules coverage --rules mine.yaml --top 30 logs/*.log`,
	}
	p.logCommand(cmd, &from, func(cmd *cobra.Command, names []string) error {
		set, err := flags.compile()
		if err != nil {
			return err
		}
		return p.coverage(cmd.Context(), set, names, &view)
	})
	flags.register(p, cmd)
	view.register(cmd, "write the `FORMAT` text or json", "show the `N` most frequent signatures that no rule knows, 0 for all", formatText, formatJSON)
	return cmd
}

// covered counts the decisions of rules.
type covered struct {
	records  int
	distinct map[signature.Signature]struct{}
	byRule   map[string]*share
	sigs     map[sigRule]*sigCount
}

// sigRule is a signature and the rule that decided it: one signature may be decided
// by several rules, by its phase or level.
type sigRule struct {
	sig  signature.Signature
	rule string
}

type sigCount struct {
	sigRule
	template string
	count    int
	first    place
}

func newCovered() *covered {
	return &covered{
		distinct: map[signature.Signature]struct{}{}, byRule: map[string]*share{},
		sigs: map[sigRule]*sigCount{},
	}
}

// add counts n records of a signature that a rule decided, seen first at a
// place.
func (c *covered) add(key sigRule, template func() string, first place, n int) {
	c.records += n
	c.distinct[key.sig] = struct{}{}
	r := c.byRule[key.rule]
	if r == nil {
		r = &share{}
		c.byRule[key.rule] = r
	}
	r.Records += n
	s := c.sigs[key]
	if s == nil {
		s = &sigCount{sigRule: key, template: template(), first: first}
		c.sigs[key] = s
		r.Signatures++
	}
	s.count += n
}

// The JSON form of the coverage.
type (
	coverageDocument struct {
		SchemaVersion int        `json:"schemaVersion" jsonschema:"Rises when a field is removed or changes its meaning."`
		Files         []coverage `json:"files" jsonschema:"A report for each log."`
		Total         coverage   `json:"total" jsonschema:"All logs together."`
	}
	coverage struct {
		File       string           `json:"file,omitempty" jsonschema:"The log, as it was named. Absent in total."`
		Records    int              `json:"records" jsonschema:"Records in it."`
		Signatures int              `json:"signatures" jsonschema:"Distinct signatures in it."`
		ByRules    share            `json:"byRules" jsonschema:"Decided by rules other than fallback rules."`
		ByFallback share            `json:"byFallback" jsonschema:"Decided by fallback rules, which look at the form of the text only."`
		ByDefault  share            `json:"byDefault" jsonschema:"Decided by a default, since no rule matched."`
		Fired      []firedRule      `json:"fired" jsonschema:"Rules and defaults that decided."`
		Never      []string         `json:"never,omitempty" jsonschema:"Rules that decided nothing. Only in total."`
		Unknown    []unknownToRules `json:"unknown" jsonschema:"Signatures that no rule knows, the most frequent first."`
		NotShown   int              `json:"unknownNotShown" jsonschema:"Signatures that no rule knows and that are not listed."`
	}
	share struct {
		Records    int `json:"records" jsonschema:"Records."`
		Signatures int `json:"signatures" jsonschema:"Signatures. One that several rules decided about counts for each."`
	}
	firedRule struct {
		Rule       string `json:"rule" jsonschema:"The rule, or the default."`
		Records    int    `json:"records" jsonschema:"Records that it decided." minimum:"1"`
		Signatures int    `json:"signatures" jsonschema:"Their signatures." minimum:"1"`
	}
	unknownToRules struct {
		Count     int    `json:"count" jsonschema:"Number of records." minimum:"1"`
		Signature string `json:"signature" jsonschema:"The id of the signature." pattern:"^[0-9a-f]{16}$"`
		Rule      string `json:"rule" jsonschema:"The rule or default that decided."`
		First     string `json:"first" jsonschema:"File and line of the first record."`
		Template  string `json:"template" jsonschema:"The text with variable parts masked."`
	}
)

// fallbackFile begins the names of files whose rules classify text that no
// other rule knows.
const fallbackFile = "90-fallback"

func isFallback(r *rules.Rule) bool {
	return strings.HasPrefix(path.Base(strings.ReplaceAll(r.File, `\`, "/")), fallbackFile)
}

// report sorts the counts: rules in the order of the set, signatures without a rule by frequency.
func (c *covered) report(set *rules.Set, file string, top int) coverage {
	rep := coverage{
		File: file, Records: c.records, Signatures: len(c.distinct), Fired: []firedRule{},
		Unknown: []unknownToRules{},
	}
	for _, r := range set.Rules() {
		if n := c.byRule[r.ID]; n != nil {
			rep.Fired = append(rep.Fired, firedRule{r.ID, n.Records, n.Signatures})
		} else if file == "" && !r.Continue && !r.Disabled {
			rep.Never = append(rep.Never, r.ID)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.byRule)) {
		n := c.byRule[id]
		share := &rep.ByDefault
		if r := set.Rule(id); r != nil {
			if share = &rep.ByRules; isFallback(r) {
				share = &rep.ByFallback
			}
		} else {
			rep.Fired = append(rep.Fired, firedRule{id, n.Records, n.Signatures})
		}
		share.Records += n.Records
		share.Signatures += n.Signatures
	}
	var unknown []*sigCount
	for _, s := range c.sigs {
		if r := set.Rule(s.rule); r == nil || isFallback(r) {
			unknown = append(unknown, s)
		}
	}
	slices.SortFunc(unknown, func(a, b *sigCount) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.first.file, b.first.file),
			cmp.Compare(a.first.line, b.first.line), cmp.Compare(a.sig.ID, b.sig.ID), cmp.Compare(a.rule, b.rule))
	})
	if top > 0 && len(unknown) > top {
		rep.NotShown = len(unknown) - top
		unknown = unknown[:top]
	}
	for _, s := range unknown {
		rep.Unknown = append(rep.Unknown, unknownToRules{
			s.count, s.sig.ID.String(), s.rule, s.first.String(), firstLine(s.template),
		})
	}
	return rep
}

func (p *program) coverage(ctx context.Context, set *rules.Set, names []string, view *viewFlags) error {
	scrubber := p.scrubber(&view.scrub, view.format)
	total := newCovered()
	var reports []coverage
	for _, name := range names {
		if ctx.Err() != nil {
			p.Raise(exitInterrupted)
			break
		}
		c, shownName := newCovered(), scrubber.Text(name)
		err := p.observe(ctx, set, name, func(src *source, o *heed.Outcome) bool {
			scrubber.Learn(src.Record.Message, src.Record.Stack)
			c.add(sigRule{o.Signature, o.Decision.Rule}, func() string {
				t, _ := src.Engine.Template(o.Signature)
				return scrubber.Text(t)
			}, place{shownName, src.Record.Line()}, 1)
			return true
		})
		if err != nil {
			p.Fail(err)
			if c.records == 0 {
				continue
			}
		}
		for _, s := range c.sigs {
			s.template, s.first.file = scrubber.Text(s.template), scrubber.Text(s.first.file) // again: more names are known
		}
		shownName = scrubber.Text(shownName)
		reports = append(reports, c.report(set, shownName, view.top))
		for key, s := range c.sigs {
			total.add(key, func() string { return s.template }, s.first, s.count)
		}
	}
	if len(reports) == 0 {
		return nil
	}
	p.incomplete()
	all := total.report(set, "", view.top)
	p.removed(scrubber)
	return p.show("the report", &coverageDocument{schema.Version, reports, all}, view)
}

// lines writes the reports for a person: of one log its own, with the rules that never fired.
func (d *coverageDocument) lines(p *prose) {
	all := d.Total
	if len(d.Files) > 1 {
		for i := range d.Files {
			d.Files[i].lines(p)
			p.line("")
		}
	} else {
		all.File = d.Files[0].File
	}
	all.lines(p)
}

// widthNever is where the names of rules that never fired are broken, if nothing else
// sets the width of text.
const widthNever = 104

// lines writes a report for a person.
func (r *coverage) lines(p *prose) {
	name := "ALL FILES"
	if r.File != "" {
		name = safe(r.File, 0)
	}
	p.line("%s: %s of %s", name, text.Count(r.Records, "record"), text.Count(r.Signatures, "signature"))
	for _, s := range []struct {
		name  string
		share share
	}{{"rules", r.ByRules}, {"fallback", r.ByFallback}, {"defaults", r.ByDefault}} {
		percent := 0.0
		if r.Records > 0 {
			percent = 100 * float64(s.share.Records) / float64(r.Records)
		}
		p.line("  by %-9s %8d records %5.1f %%  %6d signatures", s.name, s.share.Records, percent, s.share.Signatures)
	}
	if len(r.Fired) > 0 {
		p.line("\n   RECORDS  SIGNATURES  RULE")
	}
	for _, f := range r.Fired {
		p.line("  %8d  %10d  %s", f.Records, f.Signatures, f.Rule)
	}
	if len(r.Never) > 0 {
		p.line("\n  never fired: %s", text.Count(len(r.Never), "rule"))
		p.buf = width.Measure{}.AppendHanging(p.buf, "    ", strings.Join(r.Never, " "), cmp.Or(p.width, widthNever))
	}
	if len(r.Unknown) == 0 {
		p.line("\n  every signature is known to a rule")
		return
	}
	p.line("\n  signatures that no rule knows, most frequent first\n     COUNT  SIGNATURE         RULE                      FIRST")
	for _, u := range r.Unknown {
		p.hang(fmt.Sprintf("  %8d  %s  ", u.Count, u.Signature), "%-24s  %s", u.Rule, safe(u.First, 0))
		if u.Template != "" {
			p.line("            %s", safe(u.Template, widthClause))
		}
	}
	if r.NotShown > 0 {
		p.line("  … and %s (--top 0 shows all)", text.Count(r.NotShown, "more signature"))
	}
}
