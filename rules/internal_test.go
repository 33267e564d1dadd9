package rules

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// TestValuesFollowVariables: each variable has the text of its own field.
func TestValuesFollowVariables(t *testing.T) {
	in := &Input{
		Template: "template", Frames: "frames", Level: event.LevelError, Source: "source", Kind: event.KindOperation,
		Status: event.StatusFailed, Phase: "phase", Message: "message", Stack: "stack", Operation: "operation",
	}
	var got []string
	for i, name := range variables {
		require.Equal(t, varSet(1)<<i, varOf(name))
		got = append(got, varOf(name).value()(in))
	}
	require.Equal(t, []string{
		"template", "frames", "error", "source", "operation", "failed", "phase", "source", "message", "stack", "operation",
	}, got)
	require.Equal(t, variables, (varSet(1)<<len(variables) - 1).list())
	require.Nil(t, varOf("other").value())
}

// TestShapes: every entry that can exist has a shape of its own, and any other
// entry has all of them.
func TestShapes(t *testing.T) {
	seen := map[shapeSet]Input{}
	for i, s := range shapes {
		got := shapeOf(s.Kind, s.Level, s.Status)
		require.Equal(t, shapeSet(1)<<i, got, "%+v", s)
		seen[got] = s
	}
	require.Len(t, seen, len(shapes))
	for k := range event.Kind(6) {
		for l := range event.Level(8) {
			for st := range event.Status(22) {
				got := shapeOf(k, l, st)
				s, single := seen[got]
				if single {
					require.Equal(t, Input{Kind: k, Level: l, Status: st}, s)
				} else {
					require.Equal(t, allShapes, got)
				}
			}
		}
	}
}

// TestLocate finds the first X of a value in the source of each style.
func TestLocate(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		line, col  int
	}{
		{"plain", "k: aX", 1, 5},
		{"plain on two lines", "k: a b\n   c  \n\n   dX", 4, 5},
		{"characters, not bytes", "k: жéX", 1, 6},
		{"single quotes", "k: 'it''s X'", 1, 11},
		{"single quotes on two lines", "k: 'a ''b''\n\n   X'", 3, 4},
		{"double quotes", `k: "it's X"`, 1, 10},
		{"double quotes, after an escape", `k: "a\" X"`, 1, 4},
		{"double quotes, folded", "k: \"a\n   b\n\n   X\"", 4, 4},
		{"literal", "k: |\n  a\n    b\n\n  c X", 5, 5},
		{"literal, indented", "k: |2\n     X", 2, 6},
		{"literal, stripped", "k: |-\n  X\n", 2, 3},
		{"folded", "k: >\n  a\n  b\n\n  c\n    X\n", 6, 5},
		{"folded, stripped", "k: >-\n  a  b\n  cX\n", 3, 4},
		{"in a list", "- x\n- {k: 'X'}", 2, 8},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var doc yaml.Node
			require.NoError(t, yaml.Unmarshal([]byte(tc.text), &doc))
			n := findX(&doc)
			require.NotNil(t, n)
			line, col := locate(newSource(0, File{Data: []byte(tc.text)}), n,
				utf8.RuneCountInString(n.Value[:strings.Index(n.Value, "X")]))
			require.Equal(t, []int{tc.line, tc.col}, []int{line, col})
		})
	}
}

func findX(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "X") {
		return n
	}
	for _, c := range n.Content {
		if f := findX(c); f != nil {
			return f
		}
	}
	return nil
}

// TestLocateLetters writes random values in every style and looks for each of
// their letters in the source.
func TestLocateLetters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[a-zж][a-z0-9'"\\ \n:ж]{0,40}`).Draw(t, "value")
		style := rapid.SampledFrom([]yaml.Style{
			0, yaml.SingleQuotedStyle, yaml.DoubleQuotedStyle, yaml.LiteralStyle,
			yaml.FoldedStyle,
		}).Draw(t, "style")
		out := testkit.Must(yaml.Marshal(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
			{Kind: yaml.ScalarNode, Value: "key"},
			{Kind: yaml.ScalarNode, Value: value, Style: style},
		}}))
		var doc yaml.Node
		require.NoError(t, yaml.Unmarshal(out, &doc))
		n := doc.Content[0].Content[1]
		src := newSource(0, File{Data: out})
		for i, r := range []rune(n.Value) {
			if r < 'a' || r > 'z' {
				continue
			}
			line, col := locate(src, n, i)
			if n.Style == yaml.DoubleQuotedStyle && line == n.Line && col == n.Column {
				continue // it is after an escape
			}
			require.True(t, strings.HasPrefix(src.from(line, col), string(r)), "character %d of %q in %q", i, n.Value, out)
		}
	})
}

func TestNesting(t *testing.T) {
	for in, want := range map[string]int{
		"": 0, "a": 0, "(a)": 1, "(a) and (b)": 1, "((a))": 2, `"((((" == '[[' + [1]`: 1, `"\"((" + (1)`: 1, "`\\` + (1)": 1, ")))((": 0,
	} {
		require.Equal(t, want, nesting(in), in)
	}
}

// TestEverythingInTheLanguageCanBeCopied holds what node lets through, copyTree
// and writeTree together: each panics on a node that it does not know.
func TestEverythingInTheLanguageCanBeCopied(t *testing.T) {
	errs := &collector{}
	r := newResolver(errs)
	src := newSource(0, File{Data: []byte("x")})
	for _, text := range []string{
		`true`, `not (template == "x")`, `len(template) == 1 + 2.5`, `any(["a"], # == "b")`, `contains_any(template, ["a", "b"])`,
		`template == "a" ? true : false`, `split(template, "b")[1] == template[1:2]`, `template[:1] == template[1:]`, `-1 == +len(frames)`,
	} {
		e := &exprText{value{Node: &yaml.Node{Line: 1, Column: 1}, Owner: &owner{src, "", errs}}, text}
		tree := r.resolve(e)
		require.NoError(t, errs.err(), text)
		require.Equal(t, fingerprint(tree), fingerprint(copyTree(tree)), text)
	}
}

// TestTestsOfDefaultFilesDoNotCount: as many tests as are allowed are allowed beside those of the default files.
func TestTestsOfDefaultFilesDoNotCount(t *testing.T) {
	const head = "version: 1\nrules:\n  - {id: x, when: 'template == \"a\"', disposition: ignore, summary: s, tests: ["
	full := strings.Repeat("{match: a}, ", maxTests)
	set, err := Compile(append([]File{{Name: "f.yaml", Data: []byte(head + full + "]}\n")}}, Defaults()...)...)
	require.NoError(t, err)
	require.Greater(t, len(set.relink().tests(set)), maxTests)
	_, err = Compile(File{Name: "f.yaml", Data: []byte(head + full + "{match: a}]}\n")})
	require.ErrorContains(t, err, "tests[50001]: more than 50000 tests")
}

// TestFamilyLists: a family is known however YAML writes the list that names it.
func TestFamilyLists(t *testing.T) {
	for text, want := range map[string][]string{
		"families: [acme, unity]\n":                  {"acme", "unity"},
		"families: [-plain, 'acme'] # games\n":       {"acme"},
		"families:\r\n  - -plain\r\n  - acme\r\n":    {"acme"},
		"families:\n- acme\n\n# A game.\nrules:\n":   {"acme"},
		"families: [\n  acme,\n  unity\n]\nrules:\n": {"acme", "unity"},
		"rules:\n": nil,
	} {
		require.ElementsMatch(t, want, heldFor([]byte("version: 1\n"+text)), text)
	}
}

// TestNarrowed: a set that is narrowed to a family is the set that is compiled for it.
func TestNarrowed(t *testing.T) {
	set := defaultSet()
	tests := set.Test()
	for _, family := range []string{"rimworld", "plain"} {
		want := testkit.Must(compile(family, set.files()))
		got := testkit.Must(set.For(family))
		require.Equal(t, want.GameCode(), got.GameCode())
		require.Equal(t, want.Hash(), got.Hash())
		for i, r := range want.rules {
			o := got.rules[i]
			require.Equal(t, []any{r.ID, r.Disabled, r.MatchesAll}, []any{o.ID, o.Disabled, o.MatchesAll})
			require.ElementsMatch(t, r.Resolves, o.Resolves)
		}
		a, b := want.NewEvaluator(), got.NewEvaluator()
		for i := range tests {
			for _, level := range []event.Level{event.LevelUnknown, event.LevelError, event.LevelFatal} {
				in := Input{Template: tests[i].Template, Level: level}
				require.Equal(t, a.Evaluate(&in).Decision, b.Evaluate(&in).Decision)
			}
		}
	}
}

func TestGameCode(t *testing.T) {
	set := testkit.Must(Compile(
		File{Name: "a.yaml", Data: []byte("version: 1\ngame_code: [Verse., Engine.]\n")},
		File{Name: "b.yaml", Data: []byte("version: 1\ngame_code: ['Input System', Engine.]\n")},
	))
	names := set.GameCode()
	require.Equal(t, []string{"Engine.", "Input System", "Verse."}, names, "of all files, sorted, once each")
	names[0] = "changed"
	require.Equal(t, "Engine.", set.GameCode()[0], "the slice is the caller's")

	set = testkit.Must(Compile(File{Data: []byte("version: 1\n")}))
	require.Empty(t, set.GameCode())

	set = defaultSet()
	require.True(t, slices.Contains(set.GameCode(), "Verse."))
}

// TestUntil: a rule holds up to its day and no longer; an override gives way to the rule that it changed.
func TestUntil(t *testing.T) {
	own := `version: 1
rules:
  - {id: own.noise, when: 'message contains "noise"', disposition: ignore, until: 2026-11-28}
  - {id: base.fault, override: true, disposition: advisory, until: "2026-11-28"}
  - {id: own.other, when: 'message contains "other"', disposition: advisory, resolves: [own.noise]}
`
	base := `version: 1
rules:
  - {id: base.fault, when: 'message contains "fault"', disposition: blocking}
`
	decided := func(set *Set, message string) string {
		o := set.NewEvaluator().Evaluate(&Input{Kind: event.KindLog, Template: message, Message: message})
		return o.Decision.Rule + " " + o.Decision.Disposition.String()
	}
	hashes := map[uint64]bool{}
	for _, c := range []struct {
		today, noise, fault string
		ended               []string
	}{
		{"", "own.noise ignore", "base.fault advisory", nil},
		{"2026-11-28", "own.noise ignore", "base.fault advisory", nil},
		{"2026-11-29", "default.log.unknown ignore", "base.fault blocking", []string{
			"own.yaml:3: rule own.noise ended on 2026-11-28 and is not used: remove it, or give it another day",
			"own.yaml:4: rule base.fault ended on 2026-11-28 and is not used: remove it, or give it another day",
		}},
	} {
		set, err := Compile(File{Name: "own.yaml", Data: []byte(own), Today: c.today},
			File{Name: "base.yaml", Data: []byte(base)})
		require.NoError(t, err)
		hashes[set.Hash()] = true
		require.Equal(t, c.ended, set.Ended())
		for _, family := range []string{"", "rimworld"} {
			set := testkit.Must(set.For(family))
			require.Equal(t, c.noise, decided(set, "noise"), c.today)
			require.Equal(t, c.fault, decided(set, "fault"), c.today)
		}
	}
	require.Len(t, hashes, 2)
	_, err := Compile(File{Name: "own.yaml", Data: []byte("version: 1\nrules:\n  - {id: a.b, when: 'true', disposition: ignore, until: soon}\n")})
	require.ErrorContains(t, err, "must be a day")
	_, err = Compile(File{Name: "own.yaml", Data: []byte(own), Today: "28.11.2026"})
	require.EqualError(t, err, `rules: own.yaml: File.Today: "28.11.2026" is no day (write it as 2026-01-31)`)
}
