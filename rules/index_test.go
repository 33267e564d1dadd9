package rules

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// describe writes a need: "template^x" for a beginning, "template~x" for a
// part.
func describe(n need) string {
	if n.score == 0 {
		return "?"
	}
	var out []string
	for _, l := range n.any {
		op := "~"
		if l.prefix {
			op = "^"
		}
		for _, item := range l.items {
			out = append(out, variables[slices.Index(variables, indexed[l.field].list()[0])]+op+item)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestNeed(t *testing.T) {
	for _, tc := range []struct{ when, want string }{
		{`template startsWith "abcd"`, "template^abcd"},
		{`template contains "abcd"`, "template~abcd"},
		{`template contains "a"`, "template~a"},
		{`template startsWith "a"`, "template^a"},
		{`frames != ""`, "frames^"},
		{`!(frames == "" or "abcd" != template)`, "template^abcd"},
		{`template endsWith "abcd"`, "template~abcd"},
		{`template == "abcd"`, "template^abcd"},
		{`"abcd" == source`, "source^abcd"},
		{`template != "ab"`, "?"},
		{`!(template contains "abcd")`, "?"},
		{`template == ""`, "?"},
		{`template < "abcd"`, "?"},
		{`phase == "abcd"`, "?"},
		{`message contains "abcd"`, "?"},
		{`lower(template) contains "abcd"`, "?"},
		{`template contains source`, "?"},
		{`template in ["abcd", "efgh"]`, "template^abcd template^efgh"},
		{`source in l`, "source^four source^three"},
		{`starts_with_any(template, l)`, "template^four template^three"},
		{`contains_any(frames, ["abcd", "efgh"])`, "frames~abcd frames~efgh"},
		{`frames in ["abcd", ""]`, "?"},
		{`hasPrefix(template, "abcd") and hasSuffix(template, "efghi")`, "template^abcd"},
		// Of what must all hold, the rarest; of what may hold, all.
		{`template contains "abcd" and frames contains "abcdefgh"`, "frames~abcdefgh"},
		{`template contains "abcdef" and template startsWith "abcd"`, "template^abcd"},
		{`template contains "abcd" or frames contains "abcdefgh"`, "frames~abcdefgh template~abcd"},
		{`template contains "abcd" or phase == "play"`, "?"},
		{`template contains "abcd" and (phase == "play" or level == "error")`, "template~abcd"},
		{`template contains "abcd" and !(frames contains "abcdefgh")`, "template~abcd"},
		{`!(!(template contains "abcd") or phase == "play")`, "template~abcd"},
		{`!(!(template contains "abcd") and !(source == "efgh"))`, "source^efgh template~abcd"},
		{`phase == "play" ? template contains "abcd" : source == "efgh"`, "source^efgh template~abcd"},
		{`template contains "abcd" ? phase == "play" : level == "error"`, "?"},
		{`template contains "abcd" ? phase == "play" : false`, "template~abcd"},
		{strings.Repeat("(", 50) + `phase == "a"` + strings.Repeat(` ? source == "b" : phase == "c")`, 50), "?"}, // in no time
		{`false or template contains "abcd"`, "template~abcd"},
		{`len(template) > 3 and m`, "template~macro"},
		{`split(template, " ")[7] == "x" or template contains "abcd"`, "?"},
		{`template matches "^abcd"`, "?"},
	} {
		set, err := Compile(File{Name: "f", Data: []byte("version: 1\nlists: {l: [three, four]}\nmacros: {m: 'template contains \"macro\"'}\nrules:\n- id: x\n  disposition: ignore\n  when: |\n    " + tc.when + "\n")})
		require.NoError(t, err, tc.when)
		require.Equal(t, tc.want, describe(set.rules[0].cond.need), tc.when)
	}
}

// TestFewAreTried: of the default rules, a record of the captures leaves fewer
// than one in five to be tried, on average.
func TestFewAreTried(t *testing.T) {
	set := defaultSet()
	inputs := corpus(t, set, ownCaptures(t))
	found, tried := make([]bool, len(set.active)), 0
	for i := range inputs {
		set.index.candidates(&inputs[i], found)
		for _, may := range found {
			if may {
				tried++
			}
		}
	}
	require.Less(t, tried, len(inputs)*len(set.active)/5)
}

// TestIndexIsBounded: rules with more texts than an index looks at are tried
// every time, and decide as ever.
func TestIndexIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("version: 1\nlists:\n  many:\n")
	for i := range maxLiterals/2 + 1 {
		fmt.Fprintf(&b, "  - item%06d\n", i)
	}
	b.WriteString("rules:\n" +
		"- {id: a, disposition: ignore, when: 'contains_any(template, many)'}\n" +
		"- {id: b, disposition: ignore, when: 'starts_with_any(frames, many)'}\n")
	set := testkit.Must(Compile(File{Name: "f", Data: []byte(b.String())}))
	require.Equal(t, []part{{literal: literal{}, rules: []uint16{1}}}, set.index[0].short, "the second does not fit")
	require.Len(t, set.index[0].parts, maxLiterals/2+1)
	ev, plain := set.NewEvaluator(), set.NewEvaluator()
	for _, in := range []Input{
		{Template: "an item000017"}, {Template: "item", Frames: "item000017"}, {
			Template: "item",
			Frames:   "an item000017", Level: event.LevelError,
		},
	} {
		requireSame(t, ev, plain, &in)
	}
}

// TestAnyOf holds what looks for a list at once to what tries each item.
func TestAnyOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return drawText(t, "item") }), 0,
			20).Draw(t, "items")
		if rapid.Bool().Draw(t, "none empty") {
			items = slices.DeleteFunc(items, func(s string) bool { return s == "" })
		}
		texts := slices.Concat(items, rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return drawText(t,
				"text")
		}), 1, 8).Draw(t, "texts"))
		for name, test := range listFuncs {
			one, all := bind(test, items), anyOf(name, items).holds
			for _, text := range texts {
				require.Equal(t, one(text), all(text), "%s(%q, %q)", name, text, items)
			}
		}
	})
}

// TestAnyOfOnce makes a table for a list once, and allocates nothing by it.
func TestAnyOfOnce(t *testing.T) {
	items := []string{"one", "two2", "three", "four", "five", "six6", "seven", "eight", "nine9"}
	r := newResolver(&collector{})
	test := r.anyOf("contains_any", items).holds
	require.True(t, r.anyOf("contains_any", items).holds("a three b") && test("a four b") && test("one"))
	require.False(t, test("on two and fiv"))
	require.Len(t, r.tests, 1)
	require.Zero(t, testing.AllocsPerRun(100, func() { test("nothing of the seve is in it") }))
}

// corpus returns what a set sees of the records of captures, each in the phase
// that the set thinks it came in, and only the first of those that have one
// plan.
func corpus(tb testing.TB, set *Set, files []string) []Input {
	tb.Helper()
	seen := map[Input]bool{}
	var out []Input
	for _, file := range files {
		for _, in := range readRecords(tb, set, file).inputs {
			key := in.Input
			key.Message, key.Stack, key.Operation = "", "", ""
			if !seen[key] {
				seen[key] = true
				out = append(out, in.Input)
			}
		}
	}
	return out
}

// ownCaptures returns the captures that were written for the project.
func ownCaptures(tb testing.TB) []string {
	tb.Helper()
	var files []string
	for _, pattern := range []string{"*.log", "*.txt", "*.jsonl"} {
		found := testkit.Must(filepath.Glob(filepath.Join("..", "testdata", "captures", pattern)))
		files = append(files, found...)
	}
	require.NotEmpty(tb, files)
	slices.Sort(files)
	return files
}

// referenceCaptures returns those of the reference data, where it is at hand.
func referenceCaptures(tb testing.TB) []string {
	tb.Helper()
	files := testkit.Must(filepath.Glob(filepath.Join(testkit.Dir(tb, "rimworld"), "rw*")))
	require.NotEmpty(tb, files)
	return files
}

// BenchmarkPlanCaptures is what the first entry of each signature of the
// captures costs, by the default rules.
func BenchmarkPlanCaptures(b *testing.B) {
	set := defaultSet()
	for _, bc := range []struct {
		name  string
		files func(testing.TB) []string
	}{{"own", ownCaptures}, {"reference", referenceCaptures}} {
		b.Run(bc.name, func(b *testing.B) {
			inputs := corpus(b, set, bc.files(b))
			ev := set.NewEvaluator()
			b.Run("plan", func(b *testing.B) {
				benchmarkEach(b, inputs, func(in *Input) bool { p := ev.Plan(in); return p.Known() != nil })
			})
			b.Run("evaluate", func(b *testing.B) {
				benchmarkEach(b, inputs, func(in *Input) bool { return ev.Evaluate(in).Decision.Rule != "" })
			})
		})
	}
}

// benchmarkEach measures f for inputs in turn.
func benchmarkEach(b *testing.B, inputs []Input, f func(*Input) bool) {
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if !f(&inputs[i]) {
			b.Fatalf("%+v", inputs[i])
		}
		if i++; i == len(inputs) {
			i = 0
		}
	}
	b.ReportMetric(float64(len(inputs)), "inputs")
}
