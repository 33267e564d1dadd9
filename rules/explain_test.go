package rules

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
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

func explaining(t testing.TB, files ...File) *Evaluator {
	t.Helper()
	set := testkit.Must(Compile(files...))
	return set.NewEvaluator()
}

// shown renders the clauses of a trial, one after the other, those that do not hold with "no: ".
func shown(t *Trial) string {
	var out []string
	for _, c := range t.Clauses {
		out = append(out, map[bool]string{false: "no: "}[c.Holds]+c.Text)
	}
	return strings.Join(out, " | ")
}

func TestExplain(t *testing.T) {
	ev := explaining(t, File{Name: "f.yaml", Data: []byte(explainRules)})
	in := &Input{Template: "Could not save the game", Level: event.LevelError, Phase: "play"}
	got := ev.Explain(in, true)

	require.Equal(t, "decides", got.Decision.Rule)
	require.Equal(t, "f.yaml:17", got.Decision.Place)
	require.Equal(t, []string{"saving"}, got.Decision.Tags)
	require.Equal(t, "after", got.Without.Rule)
	require.Equal(t, []string{"saving"}, got.Without.Tags)
	require.Equal(t, []int{5, 6, 0}, []int{got.Tried, got.Total, got.Omitted})

	type row struct {
		id             string
		matched, close bool
		clauses        string
	}
	var rows []row
	for i := range got.Trials {
		tr := &got.Trials[i]
		rows = append(rows, row{tr.ID, tr.Matched, tr.Close, shown(tr)})
	}
	require.Equal(t, []row{
		{"tagged", true, true, `template contains "save"`},
		{"near", false, true, `no: level == "fatal" | template startsWith "Could"`},
		{"far", false, false, `no: level == "fatal" | not (template contains "x")`},
		{"fails", false, false, `no: split(template, " ")[7] == "a"`},
		{"decides", true, true, `starts_with_any(template, heads) | in_play or level == "error"`},
	}, rows)

	require.Equal(t, []string{"saving"}, got.Trials[0].AddsTags)
	require.Equal(t, []Clause{
		{Text: `level == "fatal"`, Place: "f.yaml:9:44", Reads: map[string]string{"level": "error"}},
		{Text: `template startsWith "Could"`, Place: "f.yaml:9:12", Holds: true, Words: []string{"Could"}},
	}, got.Trials[1].Clauses)
	require.NotEmpty(t, got.Trials[3].Clauses[0].Error)
	require.Equal(t, []Clause{
		{Text: "starts_with_any(template, heads)", Place: "f.yaml:19:7", Holds: true, Words: []string{"Could not save"}},
		{Text: `in_play or level == "error"`, Place: "f.yaml:20:12", Holds: true, Reads: map[string]string{"phase": "play", "level": "error"}},
	}, got.Trials[4].Clauses)

	got = ev.Explain(in, false)
	require.Equal(t, []string{"tagged", "near", "decides"}, []string{got.Trials[0].ID, got.Trials[1].ID, got.Trials[2].ID})
	require.Equal(t, []int{5, 2}, []int{got.Tried, got.Omitted})
}

// checkExplain asserts that an explanation has the decision, and that the clauses of each rule have its value.
func checkExplain(t *testing.T, ev *Evaluator, in *Input) {
	t.Helper()
	want := ev.set.NewEvaluator().Evaluate(in)
	got := ev.Explain(in, true)
	require.Equal(t, details(&want), got.Decision)
	if want.Rule == nil {
		require.Len(t, got.Trials, len(ev.set.active))
		require.Nil(t, got.Without)
	} else {
		require.NotEqual(t, want.Rule.ID, got.Without.Rule)
		require.Equal(t, want.Rule.ID, got.Trials[len(got.Trials)-1].ID)
	}
	for i := range got.Trials {
		tr := &got.Trials[i]
		require.Equal(t, tr.Matched || tr.Exception != nil, tr.Clauses[0].Holds, "clauses of rule %s", tr.ID)
	}
}

func TestExplainAgreesWithDefaults(t *testing.T) {
	x := explaining(t, Defaults()...)
	for i, test := range x.set.relink().tests(x.set) {
		if i%3 == 0 {
			in := inputOf(x.set, test.decl, test.decl.Message)
			checkExplain(t, x, &in)
		}
	}
	for _, r := range x.set.active {
		if strings.Contains(r.When, "\n      and ") || strings.Contains(r.When, "\n      or ") {
			all := x.explains.alternatives(r.cond)
			require.Less(t, 2, len(all)+len(all[0]), "rule %s is not cut: %s", r.ID, r.When)
		}
	}
}

// TestExplainNear: of alternatives, the one with most words of the text is shown, and the words of a pattern, a macro
// and a negation are those of the text.
func TestExplainNear(t *testing.T) {
	x := explaining(t, File{Name: "f.yaml", Data: []byte(`version: 1
macros: {broken: 'template contains "broken" or template endsWith "torn"'}
rules:
  - id: near
    when: >-
      template startsWith "A" and phase == "play" or broken and template matches "l[a-z]+p" and
      not (template contains "old" or source == "x") and level == "fatal" and kind == "log" or template == "x"
    disposition: blocking
`)})
	clauses := func(text string) (out []string) {
		in := Input{Template: text}
		for _, tr := range x.Explain(&in, false).Trials {
			for _, c := range tr.Clauses {
				out = append(out, fmt.Sprint(c.Holds, " ", c.Text, " ", strings.Join(c.Words, ",")))
			}
		}
		return out
	}
	require.Equal(t, []string{
		`false level == "fatal" `, "true broken broken", `true template matches "l[a-z]+p" lamp`,
		`true not (template contains "old" or source == "x") `, `true kind == "log" `,
	}, clauses("A broken lamp"))
	require.Equal(t, []string{
		`false not (template contains "old" or source == "x") old`,
		"true broken torn", `true template matches "l[a-z]+p" lamp`, `true kind == "log" `,
	}, clauses("An old lamp is torn"))
	require.Equal(t, []string{`false phase == "play" `, `true template startsWith "A" A`}, clauses("A lamp"))
	require.Empty(t, clauses("The chair"))

	x = explaining(t, File{Name: "f.yaml", Data: []byte("version: 1\nrules: [{id: a, disposition: ignore, when: 'frames " +
		"contains \"T\" and message contains \"12\" and stack contains \"A\" and operation == \"o\" and kind == \"state\"'}]")})
	all := x.Explain(&Input{Frames: "at A.T", Message: "m 12", Stack: "at A", Operation: "o"}, false).Trials[0].Clauses
	for i, word := range []string{"", "T", "12", "A", "o"} {
		require.Equal(t, word, strings.Join(all[i].Words, ""))
	}
}

func FuzzExplain(f *testing.F) {
	f.Add([]byte(explainRules), "Could not save")
	for _, when := range []string{
		"not (a or b) and !(template == 'x')", "a ? b : a", "!contains_any(template, l) && !b", "(a) and ((b) or (a))",
		"template not contains 'x' and not a", "len(template) > 3 || split(template, 'x')[2] == ''", "any(l, # == phase) and a",
		"not (split(template, 'x')[9] == '') or a", "a || !(a && !(b || a))", "template matches 'x' /* a && b */ && b", "true and a",
		"(a ? 'x' : true) and b", "a and not (b ? 'x' : true)",
	} {
		f.Add([]byte("version: 1\nlists: {l: [x, y]}\nmacros: {a: 'template contains \"x\" || b', b: 'phase == \"play\"'}\nrules:\n- {id: r, disposition: ignore, when: \""+
			strings.ReplaceAll(when, `"`, `\"`)+"\"}"), "x y")
	}
	f.Fuzz(func(t *testing.T, data []byte, template string) {
		if len(data) > 2048 {
			return
		}
		set, err := Compile(File{Name: "f", Data: data})
		if err != nil {
			return
		}
		x := set.NewEvaluator()
		for _, in := range []Input{
			{Template: template},
			{
				Template: template, Frames: "at a", Message: "a b\nc", Stack: "at a", Level: event.LevelError, Source: "a",
				Phase: "play", Operation: "1",
			},
			{Kind: event.KindOperation, Status: event.StatusFailed, Source: "game/save", Phase: "load"},
		} {
			checkExplain(t, x, &in)
		}
	})
}

// TestExplainException: what kept a rule from matching whose condition holds is
// told, and the first one alone.
func TestExplainException(t *testing.T) {
	x := explaining(t, File{Name: "f.yaml", Data: []byte(`version: 1
rules:
  - id: held_back
    when: 'template startsWith "Could"'
    exceptions:
      - {name: elsewhere, when: 'template contains "lamp"'}
      - {when: 'template contains "save" and level == "error"'}
      - {when: 'template contains "game"'}
    disposition: blocking
`)})
	in := Input{Template: "Could not save the game", Level: event.LevelError}
	got := x.Explain(&in, true)
	require.Equal(t, "default.log.error", got.Decision.Rule)
	require.Len(t, got.Trials, 1)
	tr := got.Trials[0]
	require.False(t, tr.Matched)
	require.True(t, tr.Clauses[0].Holds)
	require.Equal(t, `template contains "save" and level == "error"`, tr.Exception.Text)
	require.Equal(t, "f.yaml:7:17", tr.Exception.Place)
	in.Template = "Could not open the door"
	got = x.Explain(&in, true)
	require.Equal(t, "held_back", got.Decision.Rule)
	require.Nil(t, got.Trials[0].Exception)
}
