package command

import (
	"fmt"
	"strings"

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
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/rules/lint"
	"github.com/heedlog/heed/signature"
)

// explainFlags are the flags of explain.
type explainFlags struct {
	viewFlags
	rules        ruleFlags
	text         string
	level, phase string
	all          bool
}

func (p *program) explainCommand() *cobra.Command {
	f := &explainFlags{}
	cmd := &cobra.Command{
		Use:   "explain FILE:LINE | --text TEXT",
		Short: "Show why a record, or a text, is classified as it is",
		Long: `explain shows how heed classified the record at a line of a capture: where the record
begins and ends and why, its signature and what is masked in it, the rules that came
close and the clause that failed in each, the rule that decided and its effects, and
the decision without that rule.

The capture is replayed up to the line, so that the phase of the game is right and
heed knows whether the log is blind there. With --text, a log record of that text is
classified in the phase and at the level that the flags give. Without --level, heed
reads the level from the text, as in a log.

With --scrub, private data is removed from all that is shown; ids and decisions stay
those of the record as it was logged.

A rule came close if at least one of its conditions about the text holds. --all shows
every rule that was tried, in order.`,
		Example: `  heed explain Player.log:87
  heed explain --rules mine.yaml --text "Could not save Colony17" --level error --phase play`,
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
			scrubber := p.scrubber(&f.scrub, f.format)
			e, err := p.explanation(cmd, f, args, scrubber)
			if err != nil {
				return err
			}
			p.removed(scrubber)
			return p.show("the explanation", e, &f.viewFlags)
		},
	}
	f.rules.register(p, cmd)
	p.registerMods(cmd)
	f.register(cmd, "write the `FORMAT` text or json", "", formatText, formatJSON)
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
	set, normalizer, err := f.rules.masking()
	if err != nil {
		return nil, err
	}
	var record *found
	if len(args) == 1 {
		at, err := p.parsePlace(cmd, args[0])
		if err != nil {
			return nil, err
		}
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
			record.entry.Level, record.levelBy = level, 0
		}
		engine, err := heed.New(replay.Config(set))
		if err != nil {
			return nil, err
		}
		record.blame = engine.Blame(&record.entry)
		record.outcome.Phase = f.phase
		if err := lint.CheckPhase(set, f.phase); err != nil {
			p.Message("--phase: %s (%s)", err.Msg, err.Hint)
		}
	}
	scrubber.Learn(record.entry.Message, record.entry.Stack)
	if set, err = set.For(record.family); err != nil {
		return nil, err
	}
	return explain(set.NewEvaluator(), normalizer, record, f.all, scrubber), nil
}

// textRecord returns the record that a text would be in a log: its level is read
// off its form, and where the text is one record, its stack too.
func textRecord(text string) *found {
	f := &found{entry: event.Entry{Kind: event.KindLog, Message: text}}
	reader, err := capture.NewReader(strings.NewReader(text), capture.Options{})
	if err != nil {
		return f // not a text of a log
	}
	var first, other capture.Record
	if reader.Next(&first) != nil || !first.IsLog() || !strings.HasPrefix(text, first.Message) {
		return f
	}
	message, stack := strings.Clone(first.Message), strings.Clone(first.Stack)
	f.entry.Level, f.levelBy = first.Level, first.LevelBy
	if reader.Next(&other) != nil && first.Cut == 0 {
		f.entry.Message, f.entry.Stack = message, stack
	}
	return f
}

// The JSON form of an explanation. Its texts are raw text of the log; the writer escapes them.
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
		Reference string         `json:"stackReference,omitempty" jsonschema:"The reference that stands for its stack, and whether it was resolved."`
		Cut       uint64         `json:"cutBytes,omitempty" jsonschema:"Bytes of text that were left out."`
		Count     uint64         `json:"count,omitempty" jsonschema:"Of a notice: missing bytes, or repeats that are not in the log."`
		Blame     []heed.Suspect `json:"blame,omitempty" jsonschema:"Mods that an urgent record points at, the most likely first."`

		named []string // the likely ones of Blame
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

// endWords and levelWords are sentences for the names of a [capture.Evidence].
var (
	endWords = map[string]string{
		"footer":    "a footer (Filename: … Line: N) ends it",
		"json":      "the line is one JSON object",
		"block":     "it is a block with a known end",
		"frame":     "its last line is a stack frame or a stack reference",
		"indent":    "its last line is indented",
		"form":      "its last line never stands alone",
		"list":      "its last line belongs to a list that an earlier line began",
		"blank":     "a blank line follows",
		"line":      "nothing joins it to the lines around it",
		"hole":      "bytes are missing where it begins or ends",
		"console":   "the frames of a logging method end it",
		"exception": "it has the form of an exception",
		"crash":     "it is the report of a crash",
		"field":     "a field of the input marks it",
	}
	levelWords = map[string]string{
		"none":      "the log does not show it",
		"footer":    "Unity writes a footer below warnings and errors",
		"console":   "the frame of the logging method shows it",
		"exception": "the text has the form of an exception",
		"crash":     "it is the report of a native crash",
		"field":     "a field of the input gives it",
		"tag":       "the text begins with a tag that gives it",
		"no-footer": "Unity writes a footer below warnings and errors, and there is none",
	}
	maskWords = map[string]string{
		"<num>": "a number", "<hex>": "a hexadecimal number", "<uuid>": "a UUID", "<id>": "a word with digits",
		"<time>": "a time", "<host>": "an address", "<path>": "a path", "<url>": "a link",
		"<quoted>": "a quoted text", "<value>": "a value", "<vec>": "a vector", "<*>": "a mix",
	}
)

// explain gathers all that is shown of a record, scrubbed.
func explain(ev *rules.Evaluator, n *signature.Normalizer, f *found, all bool, scrubber *report.Scrubber) *explanation {
	e := &f.entry
	out := &explanation{SchemaVersion: schema.Version, Record: recordOf(f), Phase: f.outcome.Phase, Blind: f.blind}
	template := n.AppendTemplate(nil, logline.Of(e), e.Stack)
	sig := signature.Of(template)
	in := inputOf(f, template)
	out.Signature = explainedSignature{
		ID: sig.ID.String(), Check: fmt.Sprintf("%08x", sig.Check), Template: in.Template, Frames: []string{},
		Masked: []masked{},
	}
	if in.Frames != "" {
		out.Signature.Frames = strings.Split(in.Frames, "\n")
	}
	spans, text := n.AppendSpans(nil, logline.Of(e))
	for _, s := range spans {
		out.Signature.Masked = append(out.Signature.Masked, masked{s.Mask, text[s.From:s.To]})
	}
	out.Explanation = ev.Explain(&in, all)
	if d := &out.Decision; f.outcome.Escalated {
		out.alone = className(d)
		d.Escalated, d.Disposition, d.Severity = true, f.outcome.Decision.Disposition, f.outcome.Decision.Severity
	}
	if out.Decision.Disposition != event.Ignore { // as in records
		out.Record.Blame, out.Record.named = f.blame, blame.Likely(f.blame)
	}
	out.scrub(scrubber, text)
	return out
}

// inputOf returns the view of rules of a record with a template.
func inputOf(f *found, template []byte) rules.Input {
	e := &f.entry
	head, frames, _ := strings.Cut(string(template), "\n")
	return rules.Input{
		Template: head, Frames: frames, Level: e.Level, Kind: e.Kind, Status: e.Status, Source: e.Source,
		Phase: f.outcome.Phase, ByCaller: e.ByCaller && e.Status == event.StatusCancelled,
		Message: logline.Of(e), Stack: e.Stack, Operation: e.OperationID,
	}
}

func recordOf(f *found) explainedRecord {
	e := &f.entry
	out := explainedRecord{
		Kind: e.Kind.String(), Source: e.Source, Operation: e.OperationID, Message: e.Message, Stack: e.Stack,
	}
	if e.Kind == event.KindLog {
		out.Level = e.Level.String()
	} else {
		out.Status, out.Count = e.Status.String(), e.Count
	}
	if f.levelBy != 0 {
		out.LevelBy = f.levelBy.String()
	}
	if rec := f.rec; rec != nil {
		out.File, out.Layout, out.StartLine, out.EndLine = f.place.file, f.layout.String(), rec.StartLine, rec.EndLine
		out.Ends, out.LevelBy = rec.Split.String(), rec.LevelBy.String()
		out.Cut = rec.Cut
		if rec.RefState != "" {
			out.Reference = fmt.Sprintf("%X %s", rec.Ref, rec.RefState)
		}
	}
	return out
}

// takenOut replaces masked text with a private part.
const takenOut = "(removed)"

// scrub removes private text from e. Ids and decisions stay those of the logged text. masking is the text with the
// masked parts. A part may be half of a name in a path and have no private form of its own, so a part is shown only if
// the scrubbed text still has it.
func (e *explanation) scrub(s *report.Scrubber, masking string) {
	if s == nil {
		return
	}
	r, sig := &e.Record, &e.Signature
	for _, text := range []*string{&r.File, &r.Source, &r.Operation, &r.Message, &r.Stack, &sig.Template} {
		*text = s.Text(*text)
	}
	for i, f := range sig.Frames {
		sig.Frames[i] = s.Text(f)
	}
	left := s.Text(masking)
	for i := range sig.Masked {
		m := &sig.Masked[i]
		if m.Text = s.Text(m.Text); !strings.Contains(left, m.Text) {
			m.Text = takenOut
		}
	}
	r.Blame = s.Suspects(r.Blame)
	for i, name := range r.named {
		r.named[i] = s.Text(name)
	}
	for i := range e.Trials {
		t := &e.Trials[i]
		t.Place, t.Overrides = s.Text(t.Place), s.Text(t.Overrides)
		for j := range t.Clauses {
			scrubClause(s, &t.Clauses[j])
		}
		if t.Exception != nil {
			scrubClause(s, t.Exception)
		}
	}
	for _, d := range []*rules.Details{&e.Decision, e.Without} {
		if d != nil {
			d.Place, d.Overrides = s.Text(d.Place), s.Text(d.Overrides)
		}
	}
}

func scrubClause(s *report.Scrubber, c *rules.Clause) {
	c.Place, c.Item, c.Error = s.Text(c.Place), s.Text(c.Item), s.Text(c.Error)
	for name, value := range c.Reads {
		c.Reads[name] = s.Text(value)
	}
	for i := range c.Parts {
		scrubClause(s, &c.Parts[i])
	}
}
