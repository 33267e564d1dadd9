package rules

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

const explainRules = `version: 1
lists:
  heads: ["Could not save", "Failed to write"]
macros:
  in_play: 'phase == "load" or phase == "play"'
rules:
  - {id: tagged, when: 'template contains "save"', continue: true, tags: [saving]}
  - id: near
    when: 'template startsWith "Could" and level == "fatal"'
    disposition: advisory
  - id: far
    when: 'not (template contains "x") && level == "fatal"'
    disposition: advisory
  - id: fails
    when: 'split(template, " ")[7] == "a" or template == "b"'
    disposition: ignore
  - id: decides
    when: |
      starts_with_any(template, heads)
      and (in_play or level == "error")
    disposition: blocking
  - id: after
    when: 'true'
    disposition: ignore
`

// decisive renders what decided a trial, one clause after the other.
func decisive(t *Trial) string {
	var out []string
	for _, c := range t.Condition.Decisive() {
		out = append(out, c.Text)
	}
	return strings.Join(out, " | ")
}

func TestExplain(t *testing.T) {
	x, err := NewExplainer(File{Name: "f.yaml", Data: []byte(explainRules)})
	require.NoError(t, err)
	got := x.Explain(&Input{Template: "Could not save the game", Level: event.LevelError, Phase: "play"})

	require.Equal(t, "decides", got.Outcome.Decision.Rule)
	require.Equal(t, []string{"saving"}, got.Outcome.Decision.Tags)
	require.Equal(t, "after", got.Next.Decision.Rule)
	require.Equal(t, []string{"saving"}, got.Next.Decision.Tags)

	type row struct {
		id               string
		matched, touches bool
		decisive         string
	}
	var rows []row
	for i := range got.Trials {
		tr := &got.Trials[i]
		rows = append(rows, row{tr.Rule.ID, tr.Matched, tr.Condition.Touches(), decisive(tr)})
	}
	require.Equal(t, []row{
		{"tagged", true, true, `template contains "save"`},
		{"near", false, true, `level == "fatal"`},
		{"far", false, false, `level == "fatal"`},
		{"fails", false, false, `split(template, " ")[7] == "a"`},
		{"decides", true, true, `starts_with_any(template, heads) | in_play`},
	}, rows)

	fails := got.Trials[3].Condition
	require.Error(t, fails.Err)
	require.Error(t, fails.Parts[0].Err)

	c := got.Trials[4].Condition
	require.Equal(t, ClauseAnd, c.Op)
	require.Equal(t, "Could not save", c.Parts[0].Item)
	require.Equal(t, []string{"template"}, c.Parts[0].Reads)
	require.Equal(t, []int{19, 7}, []int{c.Parts[0].Line, c.Parts[0].Column})
	or := c.Parts[1]
	require.Equal(t, ClauseOr, or.Op)
	require.Equal(t, []int{20, 12}, []int{or.Line, or.Column})
	macro := or.Parts[0]
	require.Equal(t, ClauseMacro, macro.Op)
	require.Equal(t, []int{20, 12}, []int{macro.Line, macro.Column})
	require.Equal(t, `phase == "load" or phase == "play"`, macro.Parts[0].Text)
	require.Equal(t, []int{5, 13}, []int{macro.Parts[0].Line, macro.Parts[0].Column})
	require.Equal(t, `phase == "play"`, macro.Decisive()[0].Parts[0].Decisive()[0].Text)
	require.True(t, or.Parts[1].Value, "what was not looked at has a value all the same")
}

func TestExplainDefault(t *testing.T) {
	x, err := NewExplainer(File{Name: "f", Data: []byte("version: 1\nrules: [{id: a, when: 'template == \"a\"', disposition: ignore}]")})
	require.NoError(t, err)
	got := x.Explain(&Input{Template: "b", Level: event.LevelError})
	require.Equal(t, "default.log.error", got.Outcome.Decision.Rule)
	require.Equal(t, got.Outcome, got.Next)
	require.Len(t, got.Trials, 1)
	require.Equal(t, 1, len(x.Set().Rules()))
}

// TestExplainShowsWhatHappened holds the last resort: clauses that do not add up
// to what the condition itself says are not shown.
func TestExplainShowsWhatHappened(t *testing.T) {
	x, err := NewExplainer(File{Name: "f", Data: []byte("version: 1\nrules: [{id: a, when: 'template == \"a\" and level == \"error\"', disposition: ignore}]")})
	require.NoError(t, err)
	rule := x.set.rules[0]
	x.conditions[rule.cond] = x.conditions[rule.cond].parts[0]
	got := x.Explain(&Input{Template: "a"}).Trials[0]
	require.False(t, got.Matched)
	require.False(t, got.Condition.Value)
	require.Empty(t, got.Condition.Parts)
	require.Equal(t, []string{"template", "level"}, got.Condition.Reads)
}

func BenchmarkExplain(b *testing.B) {
	files := Defaults()
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			_, err := NewExplainer(files...)
			require.NoError(b, err)
		}
	})
	x, err := NewExplainer(files...)
	require.NoError(b, err)
	in := &Input{Template: "nothing that any rule knows", Level: event.LevelError, Phase: "play"}
	b.Run("explain", func(b *testing.B) {
		for b.Loop() {
			require.Equal(b, "default.log.error", x.Explain(in).Outcome.Decision.Rule)
		}
	})
}

func TestExplainerErrors(t *testing.T) {
	_, err := NewExplainer(File{Name: "f", Data: []byte("version: 2")})
	_, want := Compile(File{Name: "f", Data: []byte("version: 2")})
	require.Equal(t, want, err)
}

// checkExplain asserts that an explanation is that of the decision, and that
// the clauses of every condition together have its value.
func checkExplain(t *testing.T, x *Explainer, in *Input) {
	t.Helper()
	want := x.set.NewEvaluator().Evaluate(in)
	got := x.Explain(in)
	require.Equal(t, want, got.Outcome)
	if want.Rule == nil {
		require.Len(t, got.Trials, len(x.set.active))
	} else {
		require.NotSame(t, want.Rule, got.Next.Rule)
		require.Same(t, want.Rule, got.Trials[len(got.Trials)-1].Rule)
	}
	ev := x.set.NewEvaluator()
	for _, r := range x.set.active {
		c := x.conditions[r.cond].explain(ev, in, r)
		require.Equal(t, ev.run(in, r, &r.cond.code), c.Value, "clauses of rule %s: %s", r.ID, r.When)
		for _, d := range c.Decisive() {
			require.Equal(t, c.Value, d.Value, "what decided in rule %s: %s", r.ID, r.When)
		}
	}
}

func TestExplainAgreesWithDefaults(t *testing.T) {
	x, err := NewExplainer(Defaults()...)
	require.NoError(t, err)
	for _, r := range x.set.rules {
		if len(r.When) > 0 && strings.Contains(r.When, " && ") && !strings.HasPrefix(r.When, "(") {
			require.NotEmpty(t, x.conditions[r.cond].parts, "rule %s is not cut: %s", r.ID, r.When)
		}
	}
	for _, test := range x.set.tests {
		d := test.decl
		head, frames, _ := strings.Cut(string(x.set.normalizer.AppendTemplate(nil, d.text, d.stack)), "\n")
		checkExplain(t, x, &Input{
			Template: head, Frames: frames, Message: d.text, Stack: d.stack,
			Level: d.level, Kind: d.kind, Status: d.status, Source: d.source, Phase: d.phase, Operation: d.op,
		})
	}
}

func FuzzExplain(f *testing.F) {
	f.Add([]byte(explainRules), "Could not save")
	for _, when := range []string{
		"not (a or b) and !(template == 'x')", "a ? b : a", "!contains_any(template, l) && !b", "(a) and ((b) or (a))",
		"template not contains 'x' and not a", "len(template) > 3 || split(template, 'x')[2] == ''", "any(l, # == source) and a",
		"not (split(template, 'x')[9] == '') or a", "a || !(a && !(b || a))", "template matches 'x' /* a && b */ && b", "true and a",
	} {
		f.Add([]byte("version: 1\nlists: {l: [x, y]}\nmacros: {a: 'template contains \"x\" || b', b: 'phase == \"play\"'}\nrules:\n- {id: r, disposition: ignore, when: \""+
			strings.ReplaceAll(when, `"`, `\"`)+"\"}"), "x y")
	}
	f.Fuzz(func(t *testing.T, data []byte, template string) {
		if len(data) > 2048 {
			return
		}
		x, err := NewExplainer(File{Name: "f", Data: data})
		if err != nil {
			return
		}
		for _, in := range []Input{
			{Template: template},
			{Template: template, Frames: "at a", Message: "a b\nc", Stack: "at a", Level: event.LevelError, Source: "a", Phase: "play", Operation: "1"},
			{Kind: event.KindOperation, Status: event.StatusFailed, Source: "game/save", Phase: "load"},
		} {
			checkExplain(t, x, &in)
		}
	})
}

// TestExplainException: what kept a rule from matching whose condition holds is
// told, and the first one alone.
func TestExplainException(t *testing.T) {
	x, err := NewExplainer(File{Name: "f.yaml", Data: []byte(`version: 1
rules:
  - id: held_back
    when: 'template startsWith "Could"'
    exceptions:
      - {name: elsewhere, when: 'template contains "lamp"'}
      - {when: 'template contains "save" and level == "error"'}
      - {when: 'template contains "game"'}
    disposition: blocking
`)})
	require.NoError(t, err)
	in := Input{Template: "Could not save the game", Level: event.LevelError}
	got := x.Explain(&in)
	require.Equal(t, "default.log.error", got.Outcome.Decision.Rule)
	require.Len(t, got.Trials, 1)
	tr := got.Trials[0]
	require.False(t, tr.Matched)
	require.True(t, tr.Condition.Value)
	require.Equal(t, `template contains "save" and level == "error"`, tr.Exception.Text)
	require.Equal(t, 7, tr.Exception.Line)
	in.Template = "Could not open the door"
	got = x.Explain(&in)
	require.Equal(t, "held_back", got.Outcome.Decision.Rule)
	require.Nil(t, got.Trials[0].Exception)
}
