package bridge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// The bounds of explanations.
const (
	maxExplained = 4 << 10 // bytes of a text to be decided
	maxTrials    = 12
	maxClauses   = 12
	maxFrames    = 8
	clauseChars  = 300
)

// Explanation is the answer of heed/explain.
type Explanation struct {
	Entry     *Entry   `json:"entry,omitempty" doc:"the entry that was asked about"`
	Decided   *Decided `json:"decided,omitempty" doc:"what was decided about it when it came"`
	Signature string   `json:"signature" doc:"id of the text's shape"`
	Template  string   `json:"template" doc:"log text with its variable parts masked, which is what rules look at"`
	Frames    []string `json:"frames" doc:"log text: the stack frames that rules look at"`
	Phase     string   `json:"phase" doc:"the phase of the game that the explanation assumes; empty: not known"`

	Rules      RuleDecision  `json:"byRules" doc:"what the rules decide now"`
	Without    *RuleDecision `json:"without,omitempty" doc:"what they would decide without the rule that decided"`
	Agrees     bool          `json:"agrees" doc:"the rules decide now as was decided; else differs says why that may be"`
	Differs    []string      `json:"differs,omitempty" doc:"what may have made the decision another one"`
	Trials     []Trial       `json:"trials" doc:"the rules that matched or came close, in the order in which they were tried"`
	RulesTried int           `json:"rulesTried" doc:"how many were tried before one decided"`
	RulesTotal int           `json:"rulesTotal" doc:"how many there are"`
	Omitted    int           `json:"omitted" doc:"how many that came close are not shown"`
	Unknown    string        `json:"unknown,omitempty" doc:"why the conditions are not shown"`
}

// Decided is a decision as the journal has it.
type Decided struct {
	Rule        string `json:"rule" doc:"a rule of a file; default.… where none matched; host.… where the host decided"`
	Disposition string `json:"disposition" words:"disposition"`
	Severity    string `json:"severity" words:"severity"`
	Invalidates bool   `json:"invalidates,omitempty"`
}

// RuleDecision is what a set of rules decides.
type RuleDecision struct {
	Decided

	Place     string      `json:"place,omitempty" doc:"file and line of the rule"`
	Overrides string      `json:"overrides,omitempty" doc:"file and line of the rule that it overrides"`
	When      string      `json:"when,omitempty" doc:"its condition, as written"`
	Summary   string      `json:"summary,omitempty" doc:"what it is about, in the words of its file"`
	Why       string      `json:"why,omitempty" doc:"why it decides so, in the words of its file"`
	SetsPhase string      `json:"setsPhase,omitempty" doc:"the phase of the game from then on"`
	Blinds    bool        `json:"blinds,omitempty" doc:"evidence is missing from then on"`
	Resolves  []string    `json:"resolves,omitempty" doc:"the rules whose items it ends"`
	Escalates *Escalation `json:"escalates,omitempty" doc:"when repetition makes more of it"`
}

// Escalation says when repetition makes more of what a rule decides.
type Escalation struct {
	After       int    `json:"after" doc:"so many entries"`
	WithinMs    uint64 `json:"withinMs" doc:"in so much time"`
	Entries     int    `json:"withinEntries" doc:"or, where no time is known, among so many entries"`
	Disposition string `json:"to" words:"disposition"`
	Severity    string `json:"severity" words:"severity" doc:"the least"`
}

// Trial is what became of a rule on the way to a decision.
type Trial struct {
	Rule      string   `json:"rule"`
	Place     string   `json:"place" doc:"file and line"`
	Matched   bool     `json:"matched"`
	Exception string   `json:"exception,omitempty" doc:"the exception that kept it from matching, as written"`
	Clauses   []Clause `json:"clauses" doc:"the parts of its condition that made it match or not"`
	Omitted   int      `json:"omitted,omitempty" doc:"how many other parts there are"`
}

// Clause is a part of a condition.
type Clause struct {
	Text  string `json:"text" doc:"as written in the file"`
	Place string `json:"place" doc:"file, line and column"`
	Holds bool   `json:"holds"`
	Item  string `json:"item,omitempty" doc:"the item of a list that made it hold"`
	Error string `json:"error,omitempty" doc:"why it could not be evaluated"`
	In    string `json:"in,omitempty" doc:"the macro or negation that it is a part of"`
}

// explainer is a set of rules made ready to be explained.
type explainer struct {
	hash       uint64
	rules      *rules.Explainer // nil where no text is known
	normalizer *signature.Normalizer
	problem    string
}

// explainer returns what explains the rules that decide now. Making it takes a
// while, so that it is kept until other rules decide.
func (d *Diagnostics) explainer() (*explainer, *rules.Set, error) {
	d.explainMu.Lock()
	defer d.explainMu.Unlock()
	set := d.session.Rules()
	if set == nil {
		return nil, nil, fmt.Errorf("bridge: the session has no rules")
	}
	if x := d.explained; x != nil && x.hash == set.Hash() {
		return x, set, nil
	}
	n, err := signature.New(set.Masking())
	if err != nil {
		return nil, nil, err
	}
	x := &explainer{hash: set.Hash(), normalizer: n, problem: "the texts of the rules are not known to heed: the host compiled them itself"}
	for _, files := range [][]rules.File{d.session.RuleSources(), d.files} {
		if made, err := rules.NewExplainer(files...); err == nil && made.Set().Hash() == x.hash {
			x.rules, x.problem = made, ""
			break
		}
	}
	d.explained = x
	return x, set, nil
}

// explain answers heed/explain.
func (d *Diagnostics) explain(ctx context.Context, viewer string, a args) (any, error) {
	if a.has("seq") == a.has("text") {
		const allowed = "either seq or text"
		return nil, refuse(Refused{Field: "seq", Allowed: allowed, Reason: "missing"}, "seq: want %s", allowed)
	}
	if a.has("seq") {
		for _, p := range []string{"level", "phase", "source"} {
			if a.has(p) {
				return nil, unfit(p, "none with seq: an entry has its own")
			}
		}
	}
	x, set, err := d.explainer()
	if err != nil {
		return nil, err
	}
	var in rules.Input
	var out Explanation
	if a.has("seq") {
		d.sync(ctx)
		seq := uint64(a.integer("seq"))
		p := d.session.Engine().Read(heed.Cursor{Seq: seq - 1}, 1, heed.Filter{})
		if p.Err != nil || len(p.Records) == 0 || p.Records[0].Seq != seq {
			const allowed = "the number of an entry that is held"
			return nil, refuse(Refused{Field: "seq", Allowed: allowed, Reason: "not_found"}, "seq: no such entry is held; want %s, %d to %d", allowed, p.Oldest, p.Latest)
		}
		r := &p.Records[0]
		d.markRead(viewer, p.Records)
		in = d.explainRecord(&out, x, set, r)
	} else {
		level, _ := event.ParseLevel(a.text("level"))
		in = rules.Input{Message: a.text("text"), Level: level, Phase: a.text("phase"), Source: a.text("source")}
		x.mask(&out, &in)
		out.Agrees = true
	}
	out.Phase = named(in.Phase)
	if x.rules == nil {
		byRules := set.NewEvaluator().Evaluate(&in)
		out.Rules, out.Trials, out.RulesTotal, out.Unknown = ruleDecision(&byRules), []Trial{}, set.Len(), x.problem
		return &out, nil
	}
	x.trials(&out, &in)
	return &out, nil
}

// mask adds what rules look at of a text.
func (x *explainer) mask(out *Explanation, in *rules.Input) {
	template := x.normalizer.AppendTemplate(nil, in.Message, in.Stack)
	out.template(in, signature.Of(template), string(template))
}

func (out *Explanation) template(in *rules.Input, s signature.Signature, template string) {
	in.Template, in.Frames, _ = strings.Cut(template, "\n")
	out.Signature, out.Frames = s.ID.String(), []string{}
	out.Template, _ = logText(in.Template, defaultChars)
	for frame := range strings.Lines(in.Frames) {
		if len(out.Frames) == maxFrames {
			break
		}
		shown, _ := logText(strings.TrimSuffix(frame, "\n"), clauseChars)
		out.Frames = append(out.Frames, shown)
	}
}

// explainRecord adds an entry, and returns what rules see of it. The journal does
// not keep the phase that an entry saw: of those that there are, the one is assumed
// in which the rules decide as was decided, that of now before the others.
func (d *Diagnostics) explainRecord(out *Explanation, x *explainer, set *rules.Set, r *journal.Record) rules.Input {
	e := look{chars: maxChars, stack: true}.entry(r)
	out.Entry = &e
	out.Decided = &Decided{
		Rule: named(r.Decision.Rule), Disposition: r.Decision.Disposition.String(), Severity: r.Decision.Severity.String(), Invalidates: r.Decision.Invalidates,
	}
	in := rules.Input{
		Level: r.Level, Kind: r.Kind, Status: r.Status, Source: r.Source, Message: r.Message, Stack: r.Stack,
		Operation: r.OperationID, ByCaller: r.ByCaller && r.Status == event.StatusCancelled,
	}
	if template, known := d.session.Engine().Template(r.Signature); known {
		out.template(&in, r.Signature, template)
	} else {
		x.mask(out, &in)
	}
	now := d.session.Engine().Stats().Phase
	phases := []string{now, ""}
	for _, rule := range set.Rules() {
		if rule.SetsPhase != "" && !slices.Contains(phases, rule.SetsPhase) {
			phases = append(phases, rule.SetsPhase)
		}
	}
	ev := set.NewEvaluator()
	in.Phase = now
	var first rules.Outcome
	for i, phase := range phases {
		tried := in
		tried.Phase = phase
		o := ev.Evaluate(&tried)
		if i == 0 {
			first = o
		}
		if o.Decision.Rule == r.Decision.Rule {
			in.Phase = phase
			out.agree(r, &o)
			return in
		}
	}
	out.agree(r, &first)
	return in
}

// agree compares what was decided with what the rules decide.
func (out *Explanation) agree(r *journal.Record, o *rules.Outcome) {
	was, is := &r.Decision, &o.Decision
	out.Agrees = was.Rule == is.Rule && was.Disposition == is.Disposition && was.Severity == is.Severity
	switch {
	case out.Agrees:
	case r.Kind == event.KindHost:
		out.Differs = []string{"rules have no say in what the host itself does"}
	case strings.HasPrefix(was.Rule, "host."):
		out.Differs = []string{"the host has the last word, and decided itself"}
	case was.Rule == is.Rule && o.Rule != nil && o.Rule.Escalate != nil:
		out.Differs = []string{"repetition made more of it: see byRules.escalates"}
	case was.Rule == is.Rule:
		out.Differs = []string{"the host or another version of the rules decided"}
	default:
		out.Differs = []string{"another version of the rules decided", "the phase of the game was one that no rule sets"}
		if r.Truncated {
			out.Differs = append(out.Differs, "the rules saw text that is not kept")
		}
	}
}

// trials adds the rules that matched or came close.
func (x *explainer) trials(out *Explanation, in *rules.Input) {
	ex := x.rules.Explain(in)
	out.Rules, out.RulesTried, out.RulesTotal, out.Trials = ruleDecision(&ex.Outcome), len(ex.Trials), x.rules.Set().Len(), []Trial{}
	if ex.Outcome.Rule != nil {
		next := ruleDecision(&ex.Next)
		out.Without = &next
	}
	var near []*rules.Trial
	for i := range ex.Trials {
		if t := &ex.Trials[i]; t.Matched || t.Condition.Touches() {
			near = append(near, t)
		}
	}
	if n := len(near) - maxTrials; n > 0 { // the later ones came closer to deciding
		out.Omitted, near = n, near[n:]
	}
	for _, t := range near {
		out.Trials = append(out.Trials, trial(t))
	}
}

func trial(t *rules.Trial) Trial {
	out := Trial{Rule: named(t.Rule.ID), Place: place(t.Rule.File, t.Rule.Line), Matched: t.Matched, Clauses: []Clause{}}
	if t.Exception != nil {
		out.Exception = oneLine(t.Exception.Text, clauseChars)
	}
	out.add("", t.Condition.Decisive())
	return out
}

// add adds clauses, and those within macros and negations, which tell more.
func (t *Trial) add(in string, clauses []*rules.Clause) {
	for _, c := range clauses {
		if len(t.Clauses) == maxClauses {
			t.Omitted++
			continue
		}
		out := Clause{
			Text: oneLine(c.Text, clauseChars), Place: fmt.Sprintf("%s:%d", place(c.File, c.Line), c.Column), Holds: c.Value,
			Item: text.Safe(c.Item, clauseChars), In: in,
		}
		if c.Err != nil {
			first, _, _ := strings.Cut(c.Err.Error(), "\n")
			out.Error = said(first)
		}
		t.Clauses = append(t.Clauses, out)
		for i := range c.Parts {
			if part := &c.Parts[i]; c.Op != rules.ClauseNot || part.Op != rules.ClauseLeaf || part.Item != "" { // else it says the same again
				t.add(out.Text, part.Decisive())
			}
		}
	}
}

// oneLine returns an expression of a rule file on one line.
func oneLine(expr string, limit int) string {
	lines := strings.Split(expr, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return text.Safe(strings.TrimSpace(strings.Join(lines, " ")), limit)
}

func place(file string, line int) string { return fmt.Sprintf("%s:%d", named(file), line) }

func ruleDecision(o *rules.Outcome) RuleDecision {
	out := RuleDecision{Decided: Decided{
		Rule: named(o.Decision.Rule), Disposition: o.Decision.Disposition.String(), Severity: o.Decision.Severity.String(), Invalidates: o.Decision.Invalidates,
	}}
	r := o.Rule
	if r == nil {
		return out
	}
	out.Place, out.When, out.Summary, out.Why = place(r.File, r.Line), oneLine(r.When, maxSaid), said(r.Summary), said(r.Why)
	if r.OverridesFile != "" {
		out.Overrides = place(r.OverridesFile, r.OverridesLine)
	}
	out.SetsPhase, out.Blinds, out.Resolves = named(r.SetsPhase), r.Blinds, allNamed(r.Resolves, maxTags)
	if e := r.Escalate; e != nil {
		out.Escalates = &Escalation{After: e.After, WithinMs: millis(e.Within), Entries: e.Entries, Disposition: e.To.String(), Severity: e.Severity.String()}
	}
	return out
}
