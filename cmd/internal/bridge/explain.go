package bridge

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// The bounds of explanations.
const (
	maxTrials  = 12
	maxFrames  = 8
	frameChars = 300
)

// Explanation is the answer of heed/explain.
type Explanation struct {
	Entry     *Entry          `json:"entry,omitempty" jsonschema:"The entry to explain."`
	Decided   *event.Decision `json:"decided,omitempty" jsonschema:"The decision that was made when it came."`
	Signature signature.ID    `json:"signature" jsonschema:"Id of the text without its variable parts."`
	Template  string          `json:"template" jsonschema:"Log text with its variable parts masked, as rules see it."`
	Frames    []string        `json:"frames" jsonschema:"Log text: the stack frames, as rules see them."`
	Phase     string          `json:"phase" jsonschema:"The phase of the game that the explanation uses; empty: not known."`

	Agrees  bool     `json:"agrees" jsonschema:"The rules make the same decision now; if not, differs lists possible reasons."`
	Differs []string `json:"differs,omitempty" jsonschema:"Why the decision may differ."`
	When    string   `json:"when,omitempty" jsonschema:"The condition of the rule that decides now, from its file."`

	rules.Explanation // the present decision of the rules
}

type explainArgs struct {
	Seq    uint64       `json:"seq,omitempty" minimum:"1" jsonschema:"The number of an entry that heed still holds."`
	Text   string       `json:"text,omitempty" maximum:"4096" jsonschema:"A log message to try, instead of an entry. It is not recorded."`
	Level  *event.Level `json:"level,omitempty" jsonschema:"The level of the text. Without it, unknown."`
	Phase  string       `json:"phase,omitempty" jsonschema:"The phase of the game for the text. Without it, not known."`
	Source string       `json:"source,omitempty" jsonschema:"The source of the text."`
}

// explain answers heed/explain.
func (d *Diagnostics) explain(ctx context.Context, consumer string, a explainArgs) (*Explanation, error) {
	bySeq := a.Seq > 0
	if bySeq == (a.Text != "") {
		got := map[bool]string{false: "neither", true: "both"}[bySeq]
		return nil, gabp.BadArgument("seq", "either seq or text", got)
	}
	for _, of := range []struct {
		name  string
		given bool
	}{{"level", a.Level != nil}, {"phase", a.Phase != ""}, {"source", a.Source != ""}} {
		if bySeq && of.given {
			return nil, gabp.BadArgument(of.name, "nothing beside seq: an entry has its own", "a value")
		}
	}
	set := d.session.Engine().Rules()
	var in rules.Input
	var out Explanation
	if bySeq {
		d.sync(ctx)
		p := d.session.Engine().Read(heed.Cursor{Seq: a.Seq - 1}, 1, heed.Filter{})
		if len(p.Records) == 0 || p.Records[0].Seq != a.Seq {
			return nil, notHeld("seq", fmt.Sprintf("the number of an entry that heed holds, %d to %d", p.Oldest, p.Latest),
				"the number of another entry")
		}
		d.markRead(consumer, p.Records)
		in = d.explainRecord(&out, set, &p.Records[0])
	} else {
		e := event.Entry{Message: a.Text, Source: a.Source, Level: *cmp.Or(a.Level, new(event.LevelUnknown))}
		in = out.input(&e, set, "")
		in.Phase, out.Agrees = a.Phase, true
	}
	out.Phase = named(in.Phase)
	out.Explanation = set.NewEvaluator().Explain(&in, false)
	if r := set.Rule(out.Decision.Rule); r != nil {
		out.When = said(strings.Join(strings.Fields(r.When), " "))
	}
	bound(&out.Explanation)
	return &out, nil
}

// input returns the view that rules have of an entry, and adds its parts. Without a template it masks the entry's text.
func (out *Explanation) input(e *event.Entry, set *rules.Set, template string) rules.Input {
	if template == "" {
		normalizer, _ := signature.New(set.Masking()) // the set has validated it
		template = string(rules.AppendTemplate(nil, normalizer, e))
	}
	in := rules.InputOf(e, template, "")
	out.Signature, out.Frames = signature.Of([]byte(template)).ID, []string{}
	out.Template, _ = logText(in.Template, defaultChars)
	for frame := range strings.Lines(in.Frames) {
		if len(out.Frames) == maxFrames {
			break
		}
		shown, _ := logText(strings.TrimSuffix(frame, "\n"), frameChars)
		out.Frames = append(out.Frames, shown)
	}
	return in
}

// explainRecord adds an entry, and returns the rules' input for it. The journal does not keep the phase of an entry: it
// assumes the first in which the rules decide as was decided, of the current one and all others.
func (d *Diagnostics) explainRecord(out *Explanation, set *rules.Set, r *journal.Record) rules.Input {
	out.Entry = new(look{Chars: maxChars, Stack: true}.entry(r))
	out.Decided = new(r.Decision)
	out.Decided.Rule, out.Decided.Tags = named(r.Rule), nil // the entry has them
	template, _ := d.session.Engine().Template(r.Signature) // "" if it was evicted
	in := out.input(&r.Entry, set, template)
	now := d.session.Engine().Stats().Phase
	phases := []string{now, ""}
	for _, rule := range set.Rules() {
		if rule.SetsPhase != "" && !slices.Contains(phases, rule.SetsPhase) {
			phases = append(phases, rule.SetsPhase)
		}
	}
	ev := set.NewEvaluator()
	decides := func(phase string) rules.Outcome {
		in.Phase = phase
		return ev.Evaluate(&in)
	}
	if !slices.ContainsFunc(phases, func(phase string) bool { return decides(phase).Decision.Rule == r.Rule }) {
		in.Phase = now
	}
	o := decides(in.Phase)
	out.agree(r, &o)
	return in
}

// agree compares the recorded decision with the decision of the rules.
func (out *Explanation) agree(r *journal.Record, o *rules.Outcome) {
	was, is := &r.Decision, &o.Decision
	out.Agrees = was.Rule == is.Rule && was.Disposition == is.Disposition && was.Severity == is.Severity
	switch {
	case out.Agrees:
	case r.Kind == event.KindHost:
		out.Differs = []string{"the host itself did this, without rules"}
	case strings.HasPrefix(was.Rule, "host."):
		out.Differs = []string{"the host decided this itself"}
	case was.Rule == is.Rule && o.Rule != nil && o.Rule.Escalate != nil:
		out.Differs = []string{"repeats raised it: see decision.escalates"}
	case was.Rule == is.Rule:
		out.Differs = []string{"the host or another version of the rules decided"}
	default:
		out.Differs = []string{"another version of the rules decided", "the host set a phase that no rule sets"}
		if r.Truncated {
			out.Differs = append(out.Differs, "the rules received text that heed did not keep")
		}
	}
}

// bound bounds an explanation, and makes its texts fit to be shown.
func bound(x *rules.Explanation) {
	if n := len(x.Trials) - maxTrials; n > 0 { // the later ones came closer to deciding
		x.Omitted, x.Trials = x.Omitted+n, x.Trials[n:]
	}
	fit(reflect.ValueOf(x))
}
