package command

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/logline"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/text/scrub"
	"github.com/heedlog/heed/internal/yamlfile"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// proposedFile is the name of a proposal in messages.
const proposedFile = "proposal"

func (p *program) rulesProposeCommand() *cobra.Command {
	var flags ruleFlags
	var dispositionName, until string
	cmd := &cobra.Command{
		Use:   "propose FILE:LINE",
		Short: "Print a rule file that classifies one kind of record differently",
		Long: `propose prints a rule file for the record at a line of a capture: a rule that matches
records with its text and stack, with any value in the masked parts, and tests for it.
Before it prints the file, propose checks that it compiles, passes "rules check" and
decides that record.

The rule holds nothing from the masked parts, no account names from paths in the log,
and no mail addresses. Other names in the text, such as that of a colonist, stay: read
the condition, and shorten it if the rule should match others, too. If the rule that
decides now sets the phase or resolves others, the proposed rule does the same.

The rule matches one form of the text. If the log has other forms of the same group,
such as with another name, a message says how many.

If the record already has that disposition, there is nothing to propose: propose prints
a rule file without rules, with a comment that names the rule that decides, and exits
with 0.

--until names the rule's last day: after it programs do not use the rule, and say so.`,
		Example: `  heed rules propose Player.log:87 > mute.yaml
  heed rules propose Player.log:87 --until 2027-01-31 > mute.yaml
  heed rules diff default mute.yaml Player.log`,
		Args: cli.Args(1, 1, "name one place, FILE:LINE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if until != "" {
				if _, err := time.Parse(time.DateOnly, until); err != nil {
					return cli.Usage(cmd, "--until %q: give it a day, such as 2027-01-31", until)
				}
				if until < p.today() {
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
			files, err := flags.sources()
			if err != nil {
				return err
			}
			disposition, _ := event.Parse[event.Disposition](dispositionName)
			text, err := p.propose(cmd.Context(), files, at, disposition, until)
			if err != nil {
				return err
			}
			return p.print("the rule", text)
		},
	}
	flags.register(p, cmd)
	cmd.Flags().StringVar(&dispositionName, "disposition", "ignore", "the `DISPOSITION` that the rule gives the record: ignore, advisory or blocking")
	cli.Choice(cmd, "disposition", "ignore", "advisory", "blocking")
	cmd.Flags().StringVar(&until, "until", "", "make `DATE` the last day of the rule, such as 2027-01-31")
	return cmd
}

// today is the date, as in 2027-01-31.
func (p *program) today() string { return p.Now().Format(time.DateOnly) }

// propose returns the rule file for one record.
func (p *program) propose(ctx context.Context, files []rules.File, at place, d event.Disposition,
	until string,
) ([]byte, error) {
	set, err := compileRules(files...)
	if err != nil {
		return nil, err
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
	pr := newProposal(normalizer, private, &f.entry)
	pr.disposition, pr.before, pr.until = d, before, until
	if pr.was = set.Rule(before.Rule); pr.was != nil && pr.was.Blinds {
		p.Message("%s: rule %s marks the log as blind from here on; the proposed rule does not", at, before.Rule)
	}
	if err := pr.complete(set, files, f); err != nil {
		return nil, cli.Failed(exitUsage, fmt.Errorf("%s: no rule can be proposed: %w", at, err))
	}
	if others := sameGroup(groups, f.outcome.Signature); others > 0 {
		p.Note("%s: the rule is for one form of this group; the log has %d more, which it may not match", at, others)
	}
	return pr.yaml, nil
}

// sameGroup counts the other forms of the group that a form belongs to.
func sameGroup(groups map[signature.Signature]signature.Signature, form signature.Signature) int {
	others := 0
	for other, group := range groups {
		if other != form && group == groups[form] {
			others++
		}
	}
	return others
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
	n           *signature.Normalizer
	entry       *event.Entry
	sig         signature.ID
	disposition event.Disposition
	before      event.Decision
	was         *rules.Rule // that decided before, nil for a default
	until       string

	id        string
	title     string   // the beginning of the text, for the summary
	words     []string // of the text, for the id
	condition []string // clauses, joined by and
	tests     []string // in YAML; the first two match, the others are candidates for a test that must not match
	yaml      []byte
}

// maxLiteral bounds how much of a text a condition repeats, in bytes. It leaves
// room for the escapes of both languages within rules.maxExpression.
const maxLiteral = 2000

func newProposal(n *signature.Normalizer, private *scrub.Names, e *event.Entry) *proposal {
	template := n.AppendTemplate(nil, logline.Of(e), e.Stack)
	head, frames, _ := strings.Cut(string(template), "\n")
	pr := &proposal{n: n, entry: e, sig: signature.Of(template).ID}
	pr.condition = append(pr.condition, `kind == "`+e.Kind.String()+`"`)
	if e.Kind != event.KindLog {
		pr.condition = append(pr.condition, `status == "`+e.Status.String()+`"`)
	}
	if e.Kind == event.KindOperation {
		pr.condition = append(pr.condition, conditions("method", private.Cut(e.Source))...)
	}
	headPieces, framePieces := private.Cut(head), private.Cut(frames)
	pr.condition = append(pr.condition, conditions("template", headPieces)...)
	if frames != "" {
		pr.condition = append(pr.condition, conditions("frames", framePieces)...)
	}
	for _, piece := range headPieces {
		pr.words = append(pr.words, idWords(piece)...)
	}
	pr.title = text.Clip(strings.ReplaceAll(strings.Join(headPieces, "…"), signature.Mask, "…"), maxTitle)
	if head == "" {
		pr.title = e.Kind.String() + " " + e.Status.String()
	}
	pr.makeTests(strings.Join(headPieces, placeholder), strings.Join(framePieces, placeholder))
	return pr
}

// maxTitle bounds the text in a summary, in bytes.
const maxTitle = 80

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

// idWords returns the words of a text that an id may have.
func idWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(text, signature.Mask, " ")),
		func(r rune) bool { return r < 'a' || r > 'z' })
}

// examples are two values for each kind of masked part.
var examples = map[string][2]string{
	"<num>":    {"12", "7045"},
	"<hex>":    {"0x1f2e", "0x00c0ffee"},
	"<uuid>":   {"01234567-89ab-cdef-0123-456789abcdef", "76543210-89ab-cdef-0123-456789abcdef"},
	"<id>":     {"Thing12", "Widget_7045"},
	"<time>":   {"10:20", "12:45"},
	"<host>":   {"192.0.2.1", "192.0.2.77"},
	"<path>":   {"/data/one.xml", "/data/more/two.xml"},
	"<url>":    {"https://example.com/one", "https://example.com/two"},
	"<quoted>": {`"one"`, `"two"`},
	"<value>":  {"one", "two"},
	"<vec>":    {"1, 0, 5", "12, 3, 44"},
}

// makeTests makes two tests that match, and candidates for a test that must not match, from the record's template
// without private text.
func (pr *proposal) makeTests(head, frames string) {
	spans, _ := pr.n.AppendSpans(nil, logline.Of(pr.entry))
	first, second := pr.fill(head, spans, 0), pr.fill(head, spans, 1)
	canonical, long := pr.stacks(first, frames)
	more := ""
	switch {
	case first != second || long != canonical:
	case pr.entry.Kind != event.KindLog:
		more = "phase: play"
	case pr.entry.Level == event.LevelError:
		more = "level: warning"
	default:
		more = "level: error"
	}
	method := valid(pr.entry.Source)
	pr.tests = []string{pr.test("match", first, canonical, method, ""), pr.test("match", second, long, method, more)}
	if frames != "" { // a rule for records without a stack does not look at it
		pr.tests = append(pr.tests, pr.test("no_match", first, "at Elsewhere.Other", method, ""))
	}
	pr.tests = append(pr.tests, pr.test("no_match", first+" and more", canonical, method, ""),
		pr.test("no_match", "other "+first, canonical, method, ""))
	if pr.entry.Kind == event.KindOperation {
		pr.tests = append(pr.tests, pr.test("no_match", first, canonical, method+".other", ""))
	}
}

// test returns an inline test in YAML, with more as a further field. The other fields follow from the record.
func (pr *proposal) test(key, text, stack, method, more string) string {
	out := &prose{}
	out.line("      - %s: %s", key, yamlfile.DoubleQuoted(valid(text)))
	if stack != "" {
		out.line("        stack: %s", yamlfile.DoubleQuoted(valid(stack)))
	}
	if pr.entry.Kind != event.KindLog {
		out.line("        status: %s", pr.entry.Status)
	}
	if pr.entry.Kind == event.KindOperation {
		out.line("        method: %s", yamlfile.DoubleQuoted(method))
	}
	if more != "" {
		out.line("        %s", more)
	}
	return string(out.buf)
}

// fill replaces the masks of a head with examples, if the template stays the same.
func (pr *proposal) fill(head string, spans []signature.Span, which int) string {
	literals := strings.Split(head, signature.Mask)
	const enough = 64
	if len(literals) != len(spans)+1 || len(spans) > enough {
		return head
	}
	parts := literals[:1:1]
	for _, literal := range literals[1:] {
		parts = append(parts, signature.Mask, literal)
	}
	want := string(pr.n.AppendTemplate(nil, head, ""))
	for i, s := range spans {
		example, ok := examples[s.Mask]
		if !ok {
			continue
		}
		part := &parts[2*i+1]
		if *part = example[which]; string(pr.n.AppendTemplate(nil, strings.Join(parts, ""), "")) != want {
			*part = signature.Mask
		}
	}
	return strings.Join(parts, "")
}

// stacks returns the frames in the form of templates, and in the form of a runtime if that has the same template.
func (pr *proposal) stacks(text, frames string) (canonical, long string) {
	if frames == "" {
		return "", ""
	}
	lines := strings.Split(frames, "\n")
	for i := range lines {
		lines[i] = "  " + lines[i] + " () [0x00012] in <0123456789abcdef0123456789abcdef>:0"
	}
	long = strings.Join(lines, "\n")
	if string(pr.n.AppendTemplate(nil, text, long)) != string(pr.n.AppendTemplate(nil, text, frames)) {
		long = frames
	}
	return frames, long
}

// complete finds a free id and a test that must not match, writes the file, and verifies it.
func (pr *proposal) complete(set *rules.Set, files []rules.File, f *found) error {
	pr.id = pr.freeID(set)
	var err error
	for _, miss := range pr.tests[2:] {
		pr.write(pr.tests[0] + pr.tests[1] + miss)
		if err = pr.verify(files, f); err == nil {
			return nil
		}
	}
	return err
}

func (pr *proposal) freeID(set *rules.Set) string {
	const few, long = 4, 60
	subject := [...]string{event.Ignore: "mute", event.Advisory: "note", event.Blocking: "stop"}[pr.disposition]
	words := strings.Join(pr.words[:min(few, len(pr.words))], "_")
	if words == "" {
		words = pr.entry.Kind.String()
	}
	id := subject + "." + words[:min(long, len(words))] + "." + pr.sig.String()[:8]
	for n, free := 2, id; ; n++ {
		if set.Rule(free) == nil {
			return free
		}
		free = fmt.Sprintf("%s-%d", id, n)
	}
}

// write writes the rule file.
func (pr *proposal) write(tests string) {
	out := &prose{buf: fmt.Appendf(nil, `version: 1

# Proposed by heed for records of the signature %s (version %d). Read the
# condition before you use it: all that is not masked must match exactly.

rules:
  - id: %s
    when: |-
      %s
    disposition: %s
`, pr.sig, signature.Version, pr.id, strings.Join(pr.condition, "\n      and "), pr.disposition)}
	done, summary := "Muted by hand", "muted by hand"
	if pr.disposition != event.Ignore {
		done, summary = "Made "+pr.disposition.String()+" by hand", "the log has: "+pr.title
	}
	out.line("    summary: %s", yamlfile.DoubleQuoted(summary))
	before := &pr.before
	why := fmt.Sprintf("%s. Before, it was %s %s by %s.", done, before.Disposition, before.Severity, before.Rule)
	out.line("    why: %s", yamlfile.DoubleQuoted(why))
	if pr.until != "" {
		out.line("    until: %s", pr.until)
	}
	if pr.was != nil && pr.was.SetsPhase != "" {
		out.line("    sets_phase: %s # as rule %s did", pr.was.SetsPhase, pr.was.ID)
	}
	if pr.was != nil && len(pr.was.Resolves) > 0 {
		out.line("    resolves: [%s] # as rule %s did", strings.Join(pr.was.Resolves, ", "), pr.was.ID)
	}
	out.line("    tests:")
	pr.yaml = append(out.buf, tests...)
}

// valid replaces invalid UTF-8.
func valid(s string) string { return strings.ToValidUTF8(s, "?") }

// verify compiles the file in front of the other rules, runs its tests, and decides the record.
func (pr *proposal) verify(files []rules.File, f *found) error {
	set, err := compileRules(append([]rules.File{{Name: proposedFile, Data: pr.yaml}}, files...)...)
	if err != nil {
		return err
	}
	for _, res := range set.Test() {
		if res.File == proposedFile && !res.Passed {
			return fmt.Errorf("a test of the rule fails: %s", res.String())
		}
	}
	in := inputOf(f, pr.n.AppendTemplate(nil, logline.Of(&f.entry), f.entry.Stack))
	if got := set.NewEvaluator().Evaluate(&in); got.Decision.Rule != pr.id {
		return fmt.Errorf("the rule does not decide the record: %s does", got.Decision.Rule)
	}
	return nil
}
