package command

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/text/scrub"
	"github.com/heedlog/heed/internal/yamlfile"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// proposedFile is the name of a proposal in messages.
const proposedFile = "proposal"

func (p *program) rulesProposeCommand() *cobra.Command {
	var dispositionName, until string
	cmd := &cobra.Command{
		Use:  "propose FILE:LINE",
		Args: cli.Args(1, 1, "name one place, FILE:LINE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if until != "" {
				if _, err := time.Parse(time.DateOnly, until); err != nil {
					return cli.Usage(cmd, "--until %q: give it a day, such as 2027-01-31", until)
				}
				if until < p.Now().Format(time.DateOnly) {
					return cli.Usage(cmd, "--until %s is in the past", until)
				}
			}
			at, err := p.parsePlace(cmd, args[0])
			if err != nil {
				return err
			}
			if at.file == standardInput {
				return cli.Usage(cmd, "propose reads the log twice: write it to a file first")
			}
			files, err := p.ruleFiles(p.rules...)
			if err != nil {
				return p.Placed("rules", err)
			}
			disposition, _ := event.Parse[event.Disposition](dispositionName)
			text, err := p.propose(cmd.Context(), files, at, disposition, until)
			if err != nil {
				return err
			}
			return p.Print("the rule", text)
		},
	}
	p.registerRules(cmd)
	cmd.Flags().StringVar(&dispositionName, "disposition", "ignore", "the `DISPOSITION` that the rule gives the record: ignore, advisory or blocking")
	cli.Choice(cmd, "disposition", "ignore", "advisory", "blocking")
	cmd.Flags().StringVar(&until, "until", "", "make `DATE` the last day of the rule, such as 2027-01-31")
	return cmd
}

// propose returns the rule file for one record.
func (p *program) propose(ctx context.Context, files []rules.File, at place, d event.Disposition,
	until string,
) ([]byte, error) {
	set, err := CompileRules(files...)
	if err != nil {
		return nil, p.Placed("rules", err)
	}
	normalizer, err := signature.New(set.Masking())
	if err != nil {
		return nil, err
	}
	private := &scrub.Names{}
	private.Home(p.Getenv("HOME"))
	private.Home(p.Getenv("USERPROFILE"))
	groups := map[signature.Signature]signature.Signature{} // by form
	if err := p.observe(ctx, set, at.file, func(src *source, o *heed.Outcome) bool {
		private.Learn(src.Record.Message)
		private.Learn(src.Record.Stack)
		groups[o.Signature] = o.Group
		return true
	}); err != nil {
		return nil, err
	}
	f, err := p.find(ctx, set, at, nil)
	if err != nil {
		return nil, err
	}
	before := f.outcome.Decision
	if before.Disposition == d {
		p.Message("%s: already %s, by %s: the proposed file has no rule", at, d, before.Rule)
		return nothingProposed(at.line, &before), nil
	}
	if was := set.Rule(before.Rule); was != nil && was.Blinds {
		p.Message("%s: rule %s marks the log as blind from here on; the proposed rule does not", at, before.Rule)
	}
	pr := &proposal{found: f, n: normalizer, private: private, disposition: d, until: until}
	text, err := pr.file(set, files)
	if err != nil {
		return nil, cli.Failed(exitUsage, fmt.Errorf("%s: no rule can be proposed: %w", at, err))
	}
	others := 0 // forms of the group
	for other, group := range groups {
		if form := f.outcome.Signature; other != form && group == groups[form] {
			others++
		}
	}
	if others > 0 {
		p.Note("%s: the rule is for one form of this group; the log has %d more, which it may not match", at, others)
	}
	return text, nil
}

// nothingProposed returns a rule file for a record that already has the disposition. The file compiles, since the
// output is often redirected to a file that the next command reads. It does not name the log, whose path may hold a
// name.
func nothingProposed(line int, d *event.Decision) []byte {
	return fmt.Appendf(nil, `version: 1

# heed proposes nothing: the record at line %d of the log is already %s %s,
# by %s. This file changes nothing.
`, line, d.Disposition, d.Severity, d.Rule)
}

// proposal is a rule file in the making.
type proposal struct {
	*found
	n           *signature.Normalizer
	private     *scrub.Names
	disposition event.Disposition
	until       string
}

// The bounds, in bytes, of the part of a text that a condition repeats and that a summary shows. The first leaves room
// for the escapes of both languages within rules.maxExpression.
const (
	maxLiteral = 2000
	maxTitle   = 80
)

//go:embed proposal.yaml
var proposalText string

// proposalForm is the template of a rule file.
var proposalForm = sync.OnceValue(func() *template.Template {
	quoted := func(s string) string { return yamlfile.DoubleQuoted(strings.ToValidUTF8(s, "?")) }
	funcs := template.FuncMap{"join": strings.Join, "quoted": quoted}
	return template.Must(template.New("").Funcs(funcs).Parse(proposalText))
})

// proposed are the values of proposalForm.
type proposed struct {
	Signature        signature.ID
	Version          int
	ID, Summary, Why string
	Disposition      event.Disposition
	Until            string
	Status           string      // of an entry that is no log record
	SourceName       string      // what rules call the source; "" for no need of it
	Condition        []string    // its parts
	Was              *rules.Rule // that decides now, nil for a default
	Tests            []proposedTest
}

type proposedTest struct{ Key, Text, Stack, Source, Phase string }

// file returns the rule file, with the first test that must not match by which it holds.
func (pr *proposal) file(set *rules.Set, files []rules.File) (file []byte, err error) {
	e := &pr.rec.Entry
	template := rules.AppendTemplate(nil, pr.n, e)
	in := rules.InputOf(e, string(template), pr.outcome.Phase)
	head, frames := in.Template, in.Frames
	headPieces, framePieces := pr.private.Cut(head), pr.private.Cut(frames)
	sig, before := signature.Of(template).ID, &pr.outcome.Decision
	out := proposed{
		Signature: sig, Version: signature.Version, ID: pr.freeID(set, headPieces, sig), Disposition: pr.disposition,
		Until: pr.until, Was: set.Rule(before.Rule),
		Condition: []string{`kind == "` + e.Kind.String() + `"`},
	}
	switch {
	case e.Kind == event.KindOperation:
		out.SourceName = "method"
	case e.Kind == event.KindLog && e.Source != "":
		out.SourceName = "source"
	}
	if e.Kind != event.KindLog {
		out.Status = e.Status.String()
		out.Condition = append(out.Condition, `status == "`+out.Status+`"`)
	}
	sourcePieces := pr.private.Cut(e.Source)
	if e.Kind == event.KindLog { // signatures mask its numbers
		sourcePieces = numbers().Split(strings.Join(sourcePieces, "0"), -1)
	}
	if out.SourceName != "" {
		out.Condition = append(out.Condition, conditions(out.SourceName, sourcePieces)...)
	}
	out.Condition = append(out.Condition, conditions("template", headPieces)...)
	if frames != "" {
		out.Condition = append(out.Condition, conditions("frames", framePieces)...)
	}
	done := "Muted by hand"
	if out.Summary = "muted by hand"; pr.disposition != event.Ignore {
		done, out.Summary = "Made "+pr.disposition.String()+" by hand", "the log has: "+pr.title(headPieces)
	}
	out.Why = fmt.Sprintf("%s. Before, it was %s %s by %s.", done, before.Disposition, before.Severity, before.Rule)
	head, frames = strings.Join(headPieces, placeholder), strings.Join(framePieces, placeholder)
	source := strings.Join(sourcePieces, placeholder)
	misses := []proposedTest{
		{"no_match", head + " and more", frames, source, ""}, {"no_match", "other " + head, frames, source, ""},
	}
	if frames != "" { // a rule for records without a stack does not look at it
		misses = slices.Insert(misses, 0, proposedTest{"no_match", head, "at Elsewhere.Other", source, ""})
	}
	if out.SourceName != "" {
		misses = append(misses, proposedTest{"no_match", head, frames, source + ".other", ""})
	}
	for _, miss := range misses {
		out.Tests = []proposedTest{{"match", head, frames, source, ""}, {"match", head, frames, source, "play"}, miss}
		file = text.Rendered(proposalForm(), &out)
		if err = pr.verify(file, &in, out.ID, files); err == nil {
			break
		}
	}
	return file, err
}

// numbers matches the parts of a source that a signature masks.
var numbers = text.Lazy(`\d+`)

// placeholder replaces private text in tests.
const placeholder = "someone"

// conditions returns clauses: the variable begins with the first piece, ends with the last and contains all others.
func conditions(variable string, pieces []string) []string {
	total := 0
	for i, p := range pieces {
		if total += len(p); total > maxLiteral {
			// The rest is not compared: the end is no longer anchored.
			p = p[:max(0, len(p)-(total-maxLiteral))]
			for !utf8.ValidString(p) {
				p = p[:len(p)-1]
			}
			pieces = append(append([]string{}, pieces[:i]...), p, "")
			break
		}
	}
	if len(pieces) == 1 {
		return []string{variable + " == " + yamlfile.DoubleQuoted(pieces[0])}
	}
	var out []string
	for i, p := range pieces {
		op := " contains "
		switch {
		case strings.TrimSpace(p) == "":
			continue
		case i == 0:
			op = " startsWith "
		case i == len(pieces)-1:
			op = " endsWith "
		}
		out = append(out, variable+op+yamlfile.DoubleQuoted(p))
	}
	return out
}

// freeID returns an id that no rule of the set has: of words of the text, and of its signature.
func (pr *proposal) freeID(set *rules.Set, text []string, sig signature.ID) string {
	const few, long = 4, 60
	subject := [...]string{event.Ignore: "mute", event.Advisory: "note", event.Blocking: "stop"}[pr.disposition]
	all := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(strings.Join(text, " "), signature.Mask, " ")),
		func(r rune) bool { return r < 'a' || r > 'z' })
	words := cmp.Or(strings.Join(all[:min(few, len(all))], "_"), pr.rec.Kind.String())
	id := subject + "." + words[:min(long, len(words))] + "." + sig.String()[:8]
	for n, free := 2, id; ; n++ {
		if set.Rule(free) == nil {
			return free
		}
		free = fmt.Sprintf("%s-%d", id, n)
	}
}

// title returns the beginning of a text for a summary.
func (pr *proposal) title(pieces []string) string {
	title := text.Clip(strings.ReplaceAll(strings.Join(pieces, "…"), signature.Mask, "…"), maxTitle)
	return cmp.Or(title, pr.rec.Kind.String()+" "+pr.rec.Status.String())
}

// verify compiles a file in front of the other rules, runs its tests, and decides the record, which rules see as in.
func (pr *proposal) verify(file []byte, in *rules.Input, id string, files []rules.File) error {
	set, err := CompileRules(append([]rules.File{{Name: proposedFile, Data: file}}, files...)...)
	if err != nil {
		return err
	}
	for _, res := range set.Test() {
		if res.File == proposedFile && !res.Passed {
			return fmt.Errorf("a test of the rule fails: %s", res.String())
		}
	}
	if got := set.NewEvaluator().Evaluate(in); got.Decision.Rule != id {
		return fmt.Errorf("the rule does not decide the record: %s does", got.Decision.Rule)
	}
	return nil
}
