package command

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/logline"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/report/replay"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// explainFlags are the flags of explain.
type explainFlags struct {
	text         string
	level, phase string
	all          bool
}

func (p *program) explainCommand() *cobra.Command {
	f := &explainFlags{}
	cmd := &cobra.Command{
		Use: "explain FILE:LINE | --text TEXT",
		Args: func(cmd *cobra.Command, args []string) error {
			switch text := cmd.Flags().Changed("text"); {
			case text && len(args) > 0:
				return cli.Usage(cmd, "name a place or give a text, not both")
			case !text && len(args) != 1:
				return cli.Usage(cmd, "name one place, FILE:LINE, or give a --text")
			case !text && (cmd.Flags().Changed("level") || cmd.Flags().Changed("phase")):
				return cli.Usage(cmd, "--level and --phase need --text: a capture has its own")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			scrubber := p.newScrubber()
			e, err := p.explanation(cmd, f, args, scrubber)
			if err != nil {
				return err
			}
			p.removed(scrubber)
			return p.show("the explanation", explainForm(), e)
		},
	}
	p.registerRules(cmd)
	p.registerMods(cmd)
	p.registerView(cmd, "write the `FORMAT` text or json", "", formatText, formatJSON)
	flags := cmd.Flags()
	flags.StringVar(&f.text, "text", "", "explain a log record of this `TEXT` instead of one in a file")
	flags.StringVar(&f.level, "level", "", "the `LEVEL` of the text: unknown, debug, info, warning, error or fatal (default: read from its form)")
	cli.Completes(cmd, "level", "unknown", "debug", "info", "warning", "error", "fatal")
	flags.StringVar(&f.phase, "phase", "", "the `PHASE` of the game, such as play, in which the text is classified")
	flags.BoolVar(&f.all, "all", false, "show every rule that was tried, not only those that came close")
	return cmd
}

// explanation gathers all that is shown.
func (p *program) explanation(cmd *cobra.Command, f *explainFlags, args []string,
	scrubber *report.Scrubber,
) (*explanation, error) {
	set, normalizer, err := p.masking()
	if err != nil {
		return nil, err
	}
	var record *found
	if len(args) == 1 {
		at, err := p.parsePlace(cmd, args[0])
		if err != nil {
			return nil, err
		}
		p.learnNames(cmd.Context(), scrubber, at.file)
		if record, err = p.find(cmd.Context(), set, at, scrubber); err != nil {
			return nil, err
		}
	} else {
		record = textRecord(f.text)
		if cmd.Flags().Changed("level") {
			level, ok := event.Parse[event.Level](f.level)
			if !ok {
				return nil, cli.OneOf(cmd, "level", f.level, "unknown", "debug", "info", "warning", "error", "fatal")
			}
			record.rec.Level, record.rec.LevelBy = level, 0
		}
		engine, err := heed.New(replay.Config(set))
		if err != nil {
			return nil, err
		}
		record.blame = engine.Blame(&record.rec.Entry)
		record.outcome.Phase = f.phase
		if err := set.CheckPhase(f.phase); err != nil {
			p.Message("--phase: %s (%s)", err.Msg, err.Hint)
		}
	}
	scrubber.Learn(record.rec.Message, record.rec.Stack)
	if set, err = set.For(record.family); err != nil {
		return nil, err
	}
	return explain(set.NewEvaluator(), normalizer, record, f.all, scrubber), nil
}

// textRecord returns the record that a text would be in a log: its level is read
// off its form, and where the text is one record, its stack too.
func textRecord(text string) *found {
	f := &found{rec: &capture.Record{Entry: event.Entry{Kind: event.KindLog, Message: text}}}
	reader, err := capture.NewReader(strings.NewReader(text), capture.Options{})
	if err != nil {
		return f // not a text of a log
	}
	var first, other capture.Record
	if reader.Next(&first) != nil || !first.IsLog() || !strings.HasPrefix(text, first.Message) {
		return f
	}
	message, stack := strings.Clone(first.Message), strings.Clone(first.Stack)
	f.rec.Level, f.rec.LevelBy = first.Level, first.LevelBy
	if reader.Next(&other) != nil && first.Cut == 0 {
		f.rec.Message, f.rec.Stack = message, stack
	}
	return f
}

// The JSON form of an explanation. Its texts are raw text of the log, scrubbed; the writer escapes them.
type (
	explanation struct {
		SchemaVersion int `json:"schemaVersion" jsonschema:"Rises when a field is removed or changes its meaning."`

		Record    explainedRecord    `json:"record" jsonschema:"The record that is explained."`
		Signature explainedSignature `json:"signature" jsonschema:"The signature of the text."`
		Phase     string             `json:"phase" jsonschema:"Phase of the game at the record."`
		Blind     *blindness         `json:"blind" jsonschema:"Since when the log is blind, that is incomplete; null if it is complete."`
		rules.Explanation
		alone string // the decision of an escalated rule alone
	}
	explainedRecord struct {
		File      string         `json:"file,omitempty" jsonschema:"The log, as it was named. Absent with --text, as are the other places."`
		Layout    string         `json:"layout,omitempty" jsonschema:"The layout in which it was read." enum:"auto,plain,json,unity-2019.2,unity-2019.4,unity-2022.3,console,hugslib,crash-report"`
		StartLine int            `json:"startLine,omitempty" jsonschema:"The first line of the record."`
		EndLine   int            `json:"endLine,omitempty" jsonschema:"Its last line."`
		Kind      string         `json:"kind" jsonschema:"The kind of the entry." enum:"log,operation,state,notice"`
		Status    string         `json:"status,omitempty" jsonschema:"What happened, if the entry is no log record."`
		Level     string         `json:"level,omitempty" jsonschema:"The level of a log record." enum:"unknown,debug,info,warning,error,fatal"`
		Source    string         `json:"source,omitempty" jsonschema:"The writer of a log record; the method of an operation."`
		Operation string         `json:"operation,omitempty" jsonschema:"The operation that it names."`
		Message   string         `json:"message" jsonschema:"Its text, escaped."`
		Stack     string         `json:"stack,omitempty" jsonschema:"Its stack, escaped."`
		Ends      string         `json:"endEvidence,omitempty" jsonschema:"Evidence for the end of the record." enum:"none,footer,json,block,frame,indent,form,list,blank,line,hole,console,exception,crash,field,tag,no-footer"`
		LevelBy   string         `json:"levelEvidence,omitempty" jsonschema:"Evidence for the level." enum:"none,footer,json,block,frame,indent,form,list,blank,line,hole,console,exception,crash,field,tag,no-footer"`
		Cut       uint64         `json:"cutBytes,omitempty" jsonschema:"Bytes of text that were left out."`
		Count     uint64         `json:"count,omitempty" jsonschema:"Of a notice: missing bytes, or repeats that are not in the log."`
		Blame     []heed.Suspect `json:"blame,omitempty" jsonschema:"Mods that an urgent record points at, the most likely first."`
	}
	explainedSignature struct {
		ID       string   `json:"id" jsonschema:"The id: a hash of the template." pattern:"^[0-9a-f]{16}$"`
		Check    string   `json:"check" jsonschema:"A second hash of the template, to distinguish templates with the same id." pattern:"^[0-9a-f]{8}$"`
		Template string   `json:"template" jsonschema:"The text with variable parts masked."`
		Frames   []string `json:"frames" jsonschema:"The stack frames that are part of the signature."`
		Masked   []masked `json:"masked" jsonschema:"What was masked, in order."`
	}
	masked struct {
		Mask string `json:"mask" jsonschema:"The kind of mask."`
		Text string `json:"text" jsonschema:"The masked text, escaped."`
	}
	blindness struct {
		Since int    `json:"sinceLine" jsonschema:"The line from which on the log is blind." minimum:"1"`
		Rule  string `json:"rule" jsonschema:"The rule that found it."`
	}
)

// explain gathers all that is shown of a record, scrubbed. The record as it was logged has the same ids and decisions.
func explain(ev *rules.Evaluator, n *signature.Normalizer, f *found, all bool, s *report.Scrubber) *explanation {
	e := &f.rec.Entry
	template := rules.AppendTemplate(nil, n, e)
	sig := signature.Of(template)
	in := rules.InputOf(e, string(template), f.outcome.Phase)
	out := &explanation{
		SchemaVersion: schema.Version, Record: recordOf(f, s), Phase: f.outcome.Phase, Blind: f.blind,
		Signature: explainedSignature{
			ID: sig.ID.String(), Check: fmt.Sprintf("%08x", sig.Check), Template: s.Text(in.Template), Frames: []string{},
			Masked: []masked{},
		},
		Explanation: ev.Explain(&in, all),
	}
	for frame := range strings.Lines(in.Frames) {
		out.Signature.Frames = append(out.Signature.Frames, s.Text(strings.TrimSuffix(frame, "\n")))
	}
	spans, text := n.AppendSpans(nil, logline.Of(e))
	left := s.Text(text)
	for _, span := range spans {
		m := masked{span.Mask, s.Text(text[span.From:span.To])}
		if !strings.Contains(left, m.Text) { // half of a name in a path has no private form of its own
			m.Text = "(removed)"
		}
		out.Signature.Masked = append(out.Signature.Masked, m)
	}
	if d := &out.Decision; f.outcome.Escalated {
		out.alone = className(d)
		d.Escalated, d.Disposition, d.Severity = true, f.outcome.Decision.Disposition, f.outcome.Decision.Severity
	}
	if out.Decision.Disposition != event.Ignore { // as in records
		out.Record.Blame = s.Suspects(f.blame)
	}
	scrubRules(&out.Explanation, s)
	return out
}

func recordOf(f *found, s *report.Scrubber) explainedRecord {
	rec, e := f.rec, &f.rec.Entry
	out := explainedRecord{
		Kind: e.Kind.String(), Source: s.Text(e.Source), Operation: s.Text(e.OperationID), Message: s.Text(e.Message),
		Stack: s.Text(e.Stack),
	}
	if e.Kind == event.KindLog {
		out.Level = e.Level.String()
	} else {
		out.Status, out.Count = e.Status.String(), e.Count
	}
	inLog := rec.StartLine > 0
	if inLog || rec.LevelBy != 0 {
		out.LevelBy = rec.LevelBy.String()
	}
	if inLog {
		out.File, out.Layout = s.Text(f.place.file), f.layout.String()
		out.StartLine, out.EndLine, out.Ends, out.Cut = rec.StartLine, rec.EndLine, rec.Split.String(), rec.Cut
	}
	return out
}

// scrubRules removes private text from the places of rules, and from the values and words of conditions.
func scrubRules(e *rules.Explanation, s *report.Scrubber) {
	for i := range e.Trials {
		t := &e.Trials[i]
		t.Place, t.Overrides = s.Text(t.Place), s.Text(t.Overrides)
		for j := range t.Clauses {
			scrubClause(&t.Clauses[j], s)
		}
		if t.Exception != nil {
			scrubClause(t.Exception, s)
		}
	}
	for _, d := range []*rules.Details{&e.Decision, e.Without} {
		if d != nil {
			d.Place, d.Overrides = s.Text(d.Place), s.Text(d.Overrides)
		}
	}
}

func scrubClause(c *rules.Clause, s *report.Scrubber) {
	c.Place, c.Error = s.Text(c.Place), s.Text(c.Error)
	for i, word := range c.Words {
		c.Words[i] = s.Text(word)
	}
	for name, value := range c.Reads {
		c.Reads[name] = s.Text(value)
	}
}

// The widths of texts in an explanation, in characters: enough to recognize a
// line by, while the capture itself has the rest.
const (
	widthText   = 400
	widthMasked = 120
	widthClause = 200
	maxMasked   = 12 // masked parts
)

// notKnown stands for a value that the log does not show.
const notKnown = "not known"

//go:embed explain.txt
var explainText string

// explainForm is the explanation for a person; see [prose].
var explainForm = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"safe":  func(s string) string { return safe(s, 0) },
		"clip":  func(s string) string { return safe(s, widthText) },
		"head":  func(s string) string { return strings.SplitN(s, "\n", 2)[0] },
		"rest":  func(s string) string { _, rest, _ := strings.Cut(s, "\n"); return rest },
		"count": func(s string) int { return len(slices.Collect(strings.Lines(s))) },

		"trim": strings.TrimSpace, "join": strings.Join, "number": text.Count, "lines": report.LineRange,
		"likely":  blame.Likely,
		"bytes":   func(n uint64) string { return text.Count(int(n), "byte") },
		"seconds": func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) },
		"shown":   func(all []masked) []masked { return all[:min(len(all), maxMasked)] },
		"hidden":  func(all []masked) int { return max(0, len(all)-maxMasked) },

		"class": className, "by": decidedBy, "places": places, "quoted": quoted, "clause": clauseText,
	}).Parse(explainText))
})

// Fewer returns the decision about fewer entries than escalate.
func (e *explanation) Fewer() string { return cmp.Or(e.alone, className(&e.Decision)) }

// quoted returns text of a log in quotes that its own cannot be taken for.
func quoted(s string) string {
	open, end := "“", "”"
	return open + strings.NewReplacer(open, `"`, end, `"`).Replace(safe(s, widthMasked)) + end
}

// clauseText returns a clause, and the values and words by which it holds or fails.
func clauseText(c *rules.Clause) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(c.Reads)) {
		parts = append(parts, name+" is "+cmp.Or(safe(c.Reads[name], widthMasked), notKnown))
	}
	for _, word := range c.Words {
		parts = append(parts, "by "+quoted(word))
	}
	if c.Error != "" {
		parts = append(parts, "cannot be evaluated: "+safe(c.Error, widthClause))
	}
	text := safe(c.Text, widthClause)
	if len(parts) > 0 {
		text += "  — " + strings.Join(parts, ", ")
	}
	return text
}

func className(d *rules.Details) string {
	s := d.Disposition.String()
	if d.Disposition == event.Blocking {
		s = "BLOCKING"
	}
	return s + " " + d.Severity.String()
}

func decidedBy(d *rules.Details) string {
	switch {
	case d.Place == "":
		return "the default " + d.Rule
	case d.Escalated:
		return "rule " + d.Rule + ", escalated by repetition"
	}
	return "rule " + d.Rule
}

// places returns the place of a rule, and the place of the overridden rule.
func places(own, over string) string {
	if over == "" {
		return safe(own, 0)
	}
	return safe(own, 0) + ", which overrides " + safe(over, 0)
}
