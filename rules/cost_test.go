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
		"'\nlists: {l: [a, bcd]}\n")})
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

// costCases are conditions near their worst, with what their cost is made of.
var costCases = []struct {
	when, text string
	steps      float64
}{
	{`template contains "needle in hay"`, "the quick brown fox ", 3*nodeSteps + entryBytes + 13},
	{`template contains "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"`, "a", 3*nodeSteps + entryBytes + 73},
	{`template startsWith "needle"`, "needl", 3*nodeSteps + 6},
	{`level == "error" and template != "b"`, "a", 7*nodeSteps + 5 + 1},
	{`template == message`, "a", 3*nodeSteps + entryBytes},
	{`lower(template) contains "needle"`, "The quick brown fox ", 4*nodeSteps + (1+foldSteps)*entryBytes + 6},
	{`len(template) == 5`, "é", 4*nodeSteps + 2*entryBytes},
	{`lastIndexOf(template, "xa") > 1`, "a", 5*nodeSteps + 2*(entryBytes+2)},
	{`template matches "[a-z]+Exception"`, "the quick brown fox ", 3*nodeSteps + patternSteps*12*(entryBytes+1)},
	{`template matches "(?i)needle"`, "the quick brown fox ", 3*nodeSteps + patternSteps*6*(entryBytes+1)},
	{`template matches "[ab]Exception"`, "xException", 3*nodeSteps + patternSteps*10*(entryBytes+1)},
	{`template matches "ab.*c"`, "ab", 3*nodeSteps + patternSteps*6*(entryBytes+1)},
	{`template matches "c{1,100}d"`, "c", 3*nodeSteps + patternSteps*203*(entryBytes+1)},
	{`template matches "(x+x+)+y"`, "x", 3*nodeSteps + patternSteps*11*(entryBytes+1)},
	{`len(split(template, " ")) > 70000`, " ", 6*nodeSteps + 3*entryBytes + (entryBytes+1)*pieceSteps},
	{`any(split(template, " "), # == "x")`, " ", 4*nodeSteps + 2*entryBytes + (entryBytes+1)*(pieceSteps+itemSteps+4*nodeSteps)},
	{`any(split(template, ", "), # contains "x")`, "ab, ", 4*nodeSteps + entryBytes + (entryBytes/2+1)*(pieceSteps+itemSteps+4*nodeSteps+1) + entryBytes},
	{`any(split(template, ", "), [#, phase][0] == "x")`, ", ", 0},
	{`any(split(template, " "), # matches "x[yz]w")`, "a ", 0},
	{`contains_any(template, ` + listOf(1000, wordNo) + `)`, "word is gone ", 0},
	{`contains_any(template, ` + listOf(100, alike) + `)`, "a", 0},
	{`len(template) == 1 or contains_any(template, ` + listOf(500, wordNo) + `)`, "word is gone ", 0},
	{`any(` + listOf(500, wordNo) + `, template contains #)`, "a", 0},
}

// TestCost holds what the cost of a condition is made of.
func TestCost(t *testing.T) {
	for _, tc := range costCases {
		set, err := ruleWhen(tc.when)
		require.NoError(t, err, tc.when)
		if got := set.rules[0].cond.Cost.Steps; tc.steps > 0 {
			require.Equal(t, tc.steps, got, tc.when)
		}
	}
}

// TestCostOfNodes: each kind of node counts for itself and for what it does with the texts below it.
func TestCostOfNodes(t *testing.T) {
	const n, all = nodeSteps, entryBytes
	const splitAll = all + (all+1)*pieceSteps // by one byte
	for _, tc := range []struct {
		when  string
		steps float64
		hint  string
	}{
		{`phase == "a"`, 3*n + 1, dearParts},
		{`not (phase == "a")`, 4*n + 1, dearParts},
		{`level == phase`, 3*n + maxName, dearParts},
		{`phase == "a" ? source == "b" : method == "cc"`, 10*n + 1 + 1 + 2, dearParts},
		{`[phase, "a"][0] == "a"`, 7*n + 1, dearParts},
		{`[phase, "a"][0] == template`, 7*n + all, dearParts},
		{`template[1:3] == message`, 6*n + all, dearParts},
		{`template[1:] contains "a"`, 5*n + all + 1, dearParts},
		{`template in ["a", phase]`, 7*n + all, dearParts},
		{`template in ["a", "b"]`, 5*n + all, dearParts},
		{`template in l`, 3*n + all, dearParts},
		{`starts_with_any(template, l)`, 2*n + 2*triedSteps, dearParts},
		{`contains_any(template, l)`, 2*n + 2*all, dearParts},
		{`contains_any(lower(template), l)`, 3*n + foldSteps*all + 2*all, dearParts},
		{`contains_any(template, ["abc", "word0", "beta1", "gamma", "delta", "omega"])`, 2*n + 6*all, dearParts},
		{`contains_any(template, ["abc", "word0", "beta1", "gamma", "delta", "omega", "theta", "kappa"])`, 2*n + (tableSteps+triedSteps+1)*all, dearParts},
		{`len(l) == 2 and contains_any(template, ["abc", "word0", "beta1", "gamma", "delta", "omega"])`, 7*n + 2*4 + 6*all, dearParts},
		{`len(l) > 1`, 4*n + 2*4, dearParts},
		{`any(l, # == source)`, 10*n + 2*itemSteps + 4, dearLoop},
		{`any(l, # == "x") and template contains "a"`, 14*n + 2*itemSteps + 2 + all + 1, dearParts},
		{`any([template, "ab"], # contains "x")`, 12*n + 2*itemSteps + all + 2 + 2, dearLoop},
		{`any([["a"], ["b"]], source in #)`, 18*n + 2*itemSteps + 2*all, dearLoop},
		{`count([phase == "a", true]) == 1`, 8*n + 1, dearParts},
		{`first(split(template, " ")) == "abc"`, 6*n + splitAll + 3, dearParts},
		{`split(template, "")[0] == message`, 7*n + splitAll + all, dearParts},
		{`phase in split(template, " ")`, 5*n + splitAll + all + (all+1)*n, dearParts},
		{`len(split(template, phase)) == 1`, 6*n + splitAll + 2*all, dearParts},
		{`source in first([[phase], ["b"]])`, 8*n + all + (all+2)*n, dearParts},
		{
			`any(split(template, ", ")[1:2], # == "x")`,
			7*n + all + (all/2+1)*pieceSteps + (all/2+1)*(itemSteps+4*n) + all/2 + 1, dearLoop,
		},
		{
			`any(phase == "a" ? split(template, " ") : split(phase, ", "), # == "x")`,
			11*n + 1 + splitAll + all + (all/2+1)*pieceSteps + (all+1)*(itemSteps+4*n) + all, dearLoop,
		},
		{`any(phase == "a" ? l : ["b"], # == "x")`, 8*n + 1 + 2*(itemSteps+4*n) + 2, dearLoop},
		{`(phase == "a" ? template : "b") contains "c"`, 8*n + 1 + all + 1, dearParts},
		{`lower(template) == message`, 4*n + foldSteps*all + all, dearParts},
		{`trim(template) == "a"`, 4*n + all + 1, dearParts},
		{`indexOf(template, "ab") == 1`, 5*n + 2*(all+2), dearParts},
		{`template matches "ab+c"`, 3*n + patternSteps*5*(all+1), dearPattern},
		{`template matches "ab{2,}c"`, 3*n + patternSteps*8*(all+1), dearPattern},
		{`template matches "ab{2,3}c"`, 3*n + patternSteps*10*(all+1), dearPattern},
		{`template matches "ab{0}c"`, 3*n + patternSteps*6*(all+1), dearPattern},
	} {
		t.Run(tc.when, func(t *testing.T) {
			set := testkit.Must(ruleWhen(tc.when))
			c := set.rules[0].cond.Cost
			require.Equal(t, tc.steps, c.Steps)
			require.Equal(t, tc.hint, c.Hint)
		})
	}
}

// BenchmarkCost is what the cost of a condition means: a step takes a nanosecond
// or less.
func BenchmarkCost(b *testing.B) {
	for _, bc := range costCases {
		b.Run(strings.ReplaceAll(bc.when[:min(len(bc.when), 50)], " ", "_"), func(b *testing.B) {
			set := testkit.Must(ruleWhen(bc.when))
			ev := set.NewEvaluator()
			text := strings.Repeat(bc.text, entryBytes/len(bc.text))
			in := Input{Template: text, Message: text + "a"}
			for b.Loop() {
				if ev.matches(&in, set.rules[0]) || ev.failures > 0 {
					b.Fatal(ev.failure)
				}
				ev.end()
			}
			steps := set.rules[0].cond.Cost.Steps
			b.ReportMetric(steps, "steps")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/steps, "ns/step")
		})
	}
}

// TestCostRefused: what costs too much is refused where it stands, with the
// figure and what to change; and so is what could build texts or lists of any size.
func TestCostRefused(t *testing.T) {
	const allowed = " million steps for an entry of 64 KiB, more than the 250 million allowed "
	for _, tc := range []struct{ when, want string }{
		{`template matches "(a|b|ab)*c{1,500}"`, `5:27: rule x: when: the regular expression may take 398` + allowed + `(` + dearPattern + `)`},
		{`phase == "a" or template matches "((ab){1,30}c){1,30}"`, `5:43: rule x: when: the regular expression may take`},
		{`template matches "(` + strings.Repeat("x", 3000) + `){1000}"`, `5:27: rule x: when: the regular expression may take 1`},
		{`template matches "a{1,100}" or template matches "b{1,300}"`, `5:50: rule x: when: may take`},
		{`any(split(template, ""), stack contains "x")`, `5:41: rule x: when: may take 4304` + allowed + `(` + dearLoop + `)`},
		{`any(split(template, ""), # matches "a{1,400}")`, `5:45: rule x: when: the regular expression may take`},
		{`any(` + listOf(1000, wordNo) + `, lower(stack) contains #)`, `may take 328` + allowed + `(` + dearLoop + `)`},
		{`any(split(template, ""), any(split(stack, ""), # == "x"))`, `a loop over a list inside another loop`},
		{`repeat(template, 1000) == "a"`, `the function "repeat" is not part`},
		{`len(map(split(template, ""), template)) == 1`, `the function "map" is not part`},
		{`len(concat(split(template, ""), split(stack, ""))) == 1`, `the function "concat" is not part`},
		{`template + template == "a"`, `texts cannot be joined`},
		{`1..1000000000 == [1]`, `the operator .. is not part`},
	} {
		_, err := ruleWhen(tc.when)
		require.ErrorContains(t, err, tc.want, tc.when[:min(len(tc.when), 80)])
	}
}

// TestCostOfList: a list costs its items or its table, whichever is less, so that no list is
// refused for texts that a table cannot tell from each other.
func TestCostOfList(t *testing.T) {
	const n = 1000
	set, err := Compile(File{Name: "f.yaml", Data: []byte("version: 1\nlists: {many: " + listOf(n, alike) + "}\nrules:\n" +
		"- {id: x, disposition: blocking, when: 'len(template) > 3 and contains_any(template, many)'}\n")})
	require.NoError(t, err)
	require.Equal(t, float64(7*nodeSteps+(n+2)*entryBytes), set.rules[0].cond.Cost.Steps)
	require.Equal(t, "x", set.NewEvaluator().Evaluate(&Input{Template: "x" + alike(n-1)}).Decision.Rule)
}

// TestCostOfParts: exceptions and macros have the bound of a condition.
func TestCostOfParts(t *testing.T) {
	_, err := Compile(File{Name: "f.yaml", Data: []byte(`version: 1
macros:
  dear: 'template matches "a{1,700}"'
  many: '` + strings.Repeat(`message matches "(ab|cd)+e" or `, 20) + `message contains "b"'
rules:
- {id: x, disposition: blocking, when: 'phase == "a"', exceptions: ['phase == "b"', 'stack matches "b{1,700}"']}
- {id: y, disposition: blocking, when: '` + strings.Repeat("many or ", 8) + `phase == "a"'}
`)})
	require.Regexp(t, `^rules: f.yaml:3:27: macros.dear: the regular expression may take .*
rules: f.yaml:6:100: rule x: exceptions\[2\]: the regular expression may take .*
rules: f.yaml:7:41: rule y: when: may take 693 million steps for a.*$`, err)
}

// TestInstructions holds the count of instructions to what package regexp makes.
func TestInstructions(t *testing.T) {
	for _, text := range []string{
		"", "a", "abc", "(?i)abc", "[a-z]", ".", "a*", "a+", "a?", "(a)", "a|b|cd|[xy]z", "(a|b|ab)*c{1,500}", "a{3,}", "a{0}", "a{0,3}", "(a*)*", "(a?){5,}",
		"^a$", `\bx\B`, "(?:a{2,3}){4,5}", "((ab){1,30}c){1,30}", `\pL+`, "(|a)*", "(x{2}){3}", `[^\x00-\x{10FFFF}]`, "(a|b)(c|d)(e|f)", "(?s).{9}",
	} {
		re := testkit.Must(syntax.Parse(text, syntax.Perl))
		prog := testkit.Must(syntax.Compile(re.Simplify()))
		const always = 2 // of each program: fail and match
		got, want := instructions(re), len(prog.Inst)-always
		require.GreaterOrEqual(t, got, want, text)
		require.LessOrEqual(t, got, 2*want+5, text)
	}
}

// FuzzCost: whatever condition compiles runs on an entry of any texts without a
// panic, and builds no more values than its cost allows.
func FuzzCost(f *testing.F) {
	for _, tc := range costCases {
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
		c := set.rules[0].cond
		require.LessOrEqual(t, c.Cost.Steps, float64(maxCost))
		require.NotNil(t, c.Cost.Most)
		if c.Cost.Steps > 10_000_000 {
			return // it would be tried too seldom
		}
		long := strings.Repeat(text, entryBytes/len(text))
		for _, in := range []Input{
			{Template: long, Frames: long, Message: long, Stack: long, Source: long, Phase: long, Operation: long},
			{Template: text, Frames: long, Message: text, Phase: "a", Kind: event.KindOperation, Status: event.StatusFailed},
		} {
			ev := set.NewEvaluator()
			ev.machine.MemoryBudget = uint(c.Cost.Steps/nodeSteps) + 1
			ev.Evaluate(&in)
			if ev.failure != nil {
				require.NotContains(t, ev.failure.Error(), "memory")
			}
		}
	})
}
