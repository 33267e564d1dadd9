package rules

import (
	"fmt"
	"regexp/syntax"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// ruleWhen compiles a rule file with one rule and a list.
func ruleWhen(when string) (*Set, error) {
	return Compile(File{Name: "f.yaml", Data: []byte("version: 1\nrules:\n- id: x\n  disposition: blocking\n  when: '" + when +
		"'\nlists: {l: [a, bcd]}\nmacros: {macro: 'template == \"a\"'}\n")})
}

// listOf returns a list of n texts.
func listOf(n int, text func(i int) string) string {
	var items []string
	for i := range n {
		items = append(items, strconv.Quote(text(i)))
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// wordNo returns one of many texts that have little in common, alike one of many
// that are alike but for their length.
func wordNo(i int) string { return fmt.Sprintf("word%d gone", i) }
func alike(i int) string  { return strings.Repeat("a", i+gramBytes) + "b" }

// nearBounds are conditions near their worst.
var nearBounds = []struct{ when, text string }{
	{`template contains "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"`, "a"},
	{`lower(template) contains "needle"`, "The quick brown fox "},
	{`template matches "[a-z]+Exception"`, "the quick brown fox "},
	{`template matches "c{1,198}d"`, "c"},
	{`template matches "(x+x+)+y"`, "x"},
	{`any(split(template, ""), # in ["x", phase, "y"])`, " "},
	{`any(split(template, ", "), # matches "x[yz]w")`, ", "},
	{`count(` + listOf(600, wordNo) + `, template contains #) > 1`, "word is gone "},
	{`contains_any(template, ` + listOf(1000, wordNo) + `)`, "word is gone "},
	{`contains_any(template, ` + listOf(150, alike) + `)`, "a"},
}

// TestConditionBounds: conditions near a bound load, and those beyond it are refused where they stand, with the figure and what
// to change; so is what could build texts or lists of any size.
func TestConditionBounds(t *testing.T) {
	const loop = ` (use contains_any, starts_with_any, ends_with_any or in; a loop over parts of a text may read #, level, kind, status, phase)`
	for _, tc := range []struct{ when, want string }{
		{`template matches "a{1,199}"`, ``},
		{`template matches "a{1,200}"`, `5:27: rule x: when: the regular expression has 402 instructions, more than the 400 allowed (use fewer`},
		{`phase == "a" or template matches "((ab){1,30}c){1,30}"`, `5:43: rule x: when: the regular expression has 4`},
		{`template matches "(` + strings.Repeat("x", 3000) + `){1000}"`, `the regular expression has 3003002 instructions`},
		{`template matches "a{1,100}" or template matches "b{1,100}"`, ``},
		{`template matches "a{1,100}" or template matches "b{1,199}"`, `5:10: rule x: when: the condition counts as 4823 parts, more than the 4000 allowed (` + partsHint + `)`},
		{`any(split(template, ""), # matches "a{1,190}")`, ``},
		{`any(split(template, ""), stack contains "x")`, `5:35: rule x: when: a loop over parts of a text cannot read stack` + loop},
		{`any(split(template, ""), phase == "a" and # == source)`, `a loop over parts of a text cannot read source` + loop},
		{`any(split(template, ""), macro)`, `5:35: rule x: when: a loop over parts of a text cannot read template` + loop},
		{`any(split(template, ""), [#, phase, level, kind, status][0] == "x")`, ``},
		{`any(` + listOf(1000, wordNo) + `, lower(stack) contains #)`, `counts as 2`},
		{`count(` + listOf(100, wordNo) + `, template contains #) >= 2`, ``},
		{`count([template, stack], # contains source) == 1`, ``},
		{`any([` + strings.Repeat(`stack, `, 20) + `template], # matches "[a-z]{1,190}!")`, `counts as 6`},
		{`any(split(template, ""), "` + strings.Repeat("a", 4000) + `" contains #)`, `counts as 4`},
		{`any(split(template, ""), # in ` + listOf(1000, wordNo) + `)`, `counts as 2`},
		{`any(split(template, ""), any(split(stack, ""), # == "x"))`, `a loop over a list inside another loop`},
		{`contains_any(template, ` + listOf(150, alike) + `)`, ``},
		{strings.Repeat(`lower(phase) == "a" or `, 150) + `phase == "b"`, ``},
		{strings.Repeat(`lower(phase) == "a" or `, 170) + `phase == "b"`, `counts as 4`},
		{`repeat(template, 1000) == "a"`, `the function "repeat" is not part`},
		{`len(map(split(template, ""), template)) == 1`, `the function "map" is not part`},
		{`len(concat(split(template, ""), split(stack, ""))) == 1`, `the function "concat" is not part`},
		{`template + template == "a"`, `texts cannot be joined`},
		{`1..1000000000 == [1]`, `the operator .. is not part`},
	} {
		_, err := ruleWhen(tc.when)
		if short := tc.when[:min(len(tc.when), 80)]; tc.want == "" {
			require.NoError(t, err, short)
		} else {
			require.ErrorContains(t, err, tc.want, short)
		}
	}
}

// TestBoundsOfList: a long list counts as its items or its table, whichever is less.
func TestBoundsOfList(t *testing.T) {
	const file = "version: 1\nlists: {many: %s}\nrules:\n- {id: x, disposition: blocking, when: 'contains_any(template, many)'}\n"
	for n, want := range map[int]string{3900: "", 4100: "counts as 41"} {
		alike := func(i int) string { return strings.Repeat("a", i%200+gramBytes) + "b" + strconv.Itoa(i) }
		text := fmt.Sprintf(file, listOf(n, alike))
		_, err := Compile(File{Name: "f.yaml", Data: []byte(text)})
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
}

// TestInstructions holds the count of instructions to what package regexp makes.
func TestInstructions(t *testing.T) {
	for _, text := range []string{
		"", "a", "abc", "(?i)abc", "[a-z]", ".", "a*", "a+", "a?", "(a)", "a|b|cd|[xy]z", "(a|b|ab)*c{1,500}", "a{3,}", "a{0}", "a{0,3}", "(a*)*", "(a?){5,}",
		"^a$", `\bx\B`, "(?:a{2,3}){4,5}", "((ab){1,30}c){1,30}", `\pL+`, "(|a)*", "(x{2}){3}", `[^\x00-\x{10FFFF}]`, "(a|b)(c|d)(e|f)", "(?s).{9}",
	} {
		prog := testkit.Must(syntax.Compile(testkit.Must(syntax.Parse(text, syntax.Perl)).Simplify()))
		const always = 2 // of each program: fail and match
		got, want := testkit.Must(instructions(text)), len(prog.Inst)-always
		require.GreaterOrEqual(t, got, want, text)
		require.LessOrEqual(t, got, 2*want+5, text)
	}
}

// FuzzBounds: each condition that compiles runs on an entry of any texts without a panic, within the memory of its parts.
func FuzzBounds(f *testing.F) {
	for _, tc := range nearBounds {
		f.Add(tc.when, tc.text)
	}
	for _, when := range []string{
		`any(split(template, ""), [#, phase, #][0] == "x")`, `count([template, stack], # in [phase, #, "a"]) > 1`, `all([["a", "b"], split(stack, "a")], "b" in #)`,
		`len(split(split(template, "a")[0], "")) == 1`, `none(split(upper(lower(template)), "A"), len(#) > 3 ? [#][0] == "a" : # in ["a", #])`, `[[1, 2], [3]][0] == [1, 2]`,
		`one(split(template, "", 5)[1:3], [first([#]), last([#, "a"])] == ["a", #])`,
	} {
		f.Add(when, "ab ")
	}
	f.Fuzz(func(t *testing.T, when, text string) {
		const small = 4 << 10
		if len(when) > 1024 || text == "" || len(text) > small || strings.ContainsAny(when, "'\n") {
			return
		}
		set, err := ruleWhen(when)
		if err != nil {
			return
		}
		if newResolver(nil).parts(set.resolver().expand(set.rules[0].cond.expr)) > maxParts/20 {
			return // it would be tried too seldom
		}
		long := strings.Repeat(text, 64<<10/len(text))
		for _, in := range []Input{
			{Template: long, Frames: long, Message: long, Stack: long, Source: long, Phase: long, Operation: long},
			{Template: text, Frames: long, Message: text, Phase: "a", Kind: event.KindOperation, Status: event.StatusFailed},
		} {
			ev := set.NewEvaluator()
			ev.Evaluate(&in)
			if ev.failure != nil {
				require.NotContains(t, ev.failure.Error(), "memory")
			}
		}
	})
}
