package rules

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// inOrder decides about in as a rule set means it: every rule in order, without
// an index and without a plan.
func inOrder(ev *Evaluator, in *Input) Outcome {
	defer ev.end()
	defer ev.setPhase(in, in.Phase)
	var known given
	for _, r := range ev.set.active {
		if !ev.matches(in, r) {
			continue
		}
		if !r.Continue {
			return *known.to(&r.outcomes[r.severity(in.Level)], in.Phase)
		}
		known.add(r)
		if r.SetsPhase != "" {
			ev.setPhase(in, r.SetsPhase)
		}
	}
	return *known.to(ev.set.fallback(in), in.Phase)
}

// requireSame holds both ways to a decision to inOrder.
func requireSame(t require.TestingT, ev, plain *Evaluator, in *Input) {
	want := inOrder(plain, in)
	p := ev.Plan(in)
	for _, got := range []Outcome{ev.Evaluate(in), ev.Decide(&p, in)} {
		if got.Rule != want.Rule || got.Advice != want.Advice || got.SetsPhase != want.SetsPhase ||
			!sameDecision(&got.Decision, &want.Decision) {
			require.Equal(t, want, got, "%+v", in)
		}
	}
}

func sameDecision(a, b *event.Decision) bool {
	return a.Rule == b.Rule && a.Disposition == b.Disposition && a.Severity == b.Severity &&
		a.Invalidates == b.Invalidates && slices.Equal(a.Tags, b.Tags)
}

// requireIndexed holds the index to the condition of a rule.
func requireIndexed(t require.TestingT, set *Set, ev *Evaluator, r *Rule, in *Input) {
	defer ev.end()
	if !ev.holds(in, &r.cond.code) {
		return
	}
	if !r.Disabled {
		found := make([]bool, len(set.active))
		set.index.candidates(in, found)
		at := slices.Index(set.active, r)
		require.True(t, found[at], "the index misses %s for %+v", r.When, in)
	}
}

// FuzzIndex holds index and plan to plain evaluation in order, for any
// condition and any texts.
func FuzzIndex(f *testing.F) {
	for _, when := range []string{
		`template contains "Could not load" and frames contains "at Room.Tick" or source == "Unity"`,
		`not (level in ["error", "fatal"]) && phase != ""`, `!(template startsWith "a" || !(frames endsWith "abcd"))`,
		`template matches "^Could not (load|find) [a-z]+" ? source == "x" : "Unity" == source`,
		`template matches "(?i)could"`, `template matches "(could|would)+x|^should"`, "frames matches `\\x{FFFD}abcd`", "template matches `(abcd){2,}(efgh)*`",
		"template matches `[a-z]abcd(:|$)`", "template matches `[a-z]o[a-z]+ d$`", "template matches `[a-z][^x]abcd`", "template matches `[A-Z]c\\b`", "template matches `[A-Z]c(?m)$`", "template matches `[A-Z]\\Qc`",
		`starts_with_any(template, ["Could", "C", "Couldn't"])`, `contains_any(frames, ["ab", "abcd"])`, `ends_with_any(lower(template), ["abcd"])`,
		`contains_any(template, ["abcd", "dabc", "not load", "x", "", "Could", "efghi"])`, `contains_any(frames, ["abcde", "Tick", "é", "cda", "efghi", "bcdb", "loads"])`,
		`starts_with_any(template, ["Could", "C", "Couldn't", "abcdabcd", "abcda", "\xff", "ab"])`, `ends_with_any(template, ["a", "b", "c", "d", "e", "abcd"])`,
		`hasPrefix(template, "Could") and hasSuffix(upper(source), "UNITY")`, `trim(message) == "" or message < stack`,
		`kind == "log" and status != "failed"`, `template in ["a", "abcd"]`, `template not in ["a", phase]`, `method == operation`,
		`len(template) > 3 and template contains "load"`, `split(template, " ")[3] == "load" or template contains "load"`,
		`!(split(template, " ")[9] == "x") or !(template != "abcd")`, `any(["abcd"], template contains #)`, `false or template == "abcd"`, `true and source != "abcd"`,
		// Of the language of expr, not all are of rules.
		`template contains "x"`, `not (level in ["error", "fatal"]) and phase != ""`, `any(split(frames, "\n"), # endsWith "x")`,
		`template matches "^[a-z]+$" ? true : false`, `len(template) / 0 > 1`, `template[1:][0:2] == "a"`, `1 % 0 == 1`, `"a" | contains_any(["b"])`,
		`count(["a"], # == source) > 0`, `all([], # == "x")`, `first([]) == "x"`, `!!!true`, `- - 1 == 1`, `[1, "a"][0] == 1`, `-9223372036854775808 == 1`,
		`1 in [1, 2]`, `"a" in ["a"] == true`, `template in ["a", phase]`, `b"x" == b"x"`, `{"a": 1}`, `let x = 1; x`, `template ?? "x"`, `template?.x`, `1..2`,
		"`raw`", `"\u{110000}"`, `'\x`, `#`, `.x`, `::lower(phase) == "x"`, `if true { false } else { true }`, `2 ** 3 == 8`, `template not in ["x"]`,
	} {
		f.Add(when, "Could not load a", "at Room.Tick\nat abcd", "Unity")
		f.Add(when, "abcdabcdefgh", "\xffabcd", "x")
		f.Add(when, "", "abcd", "")
	}
	f.Fuzz(func(t *testing.T, when, a, b, c string) {
		if len(when) > 2048 {
			return
		}
		var indented strings.Builder
		for line := range strings.SplitSeq(when, "\n") {
			indented.WriteString("\n      " + line)
		}
		set, err := Compile(File{Name: "f", Data: []byte("version: 1\nlists: {l: [abcd, x]}\nmacros: {m: 'template contains \"abcd\"'}\nrules:\n- id: x\n  disposition: blocking\n  when: |2" +
			indented.String() + "\n")})
		if err != nil {
			return
		}
		ev, plain := set.NewEvaluator(), set.NewEvaluator()
		for _, in := range []Input{
			{Template: a, Frames: b, Source: c, Phase: "play", Message: b, Stack: a, Operation: c, Level: event.LevelError},
			{Template: b, Frames: c, Source: a, Kind: event.KindOperation, Status: event.StatusFailed, Operation: b},
			{Template: c, Frames: a, Source: b, Phase: a, Kind: 9, Status: 99, Level: 9},
		} {
			requireIndexed(t, set, plain, set.rules[0], &in)
			requireSame(t, ev, plain, &in)
		}
	})
}

// Texts of random rules and entries: they begin alike, hold each other, and
// stand on both sides of the length that the index needs.
var pieces = []string{"", " ", "a", "load", "Could not load ", "Could not load item", "Could not ", "item", "items", "Room.Tick", "at Room", "Unity", "é", "\xc3", "日本"}

func drawText(t *rapid.T, name string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 4).Draw(t, name), "")
}

// TestCapturesInOrder decides every record of the captures both ways, in
// every phase.
func TestCapturesInOrder(t *testing.T) {
	set := defaultSet()
	phases := []string{"", "boot", "menu", "load", "play", "save", "quit"}
	check := func(t *testing.T, inputs []Input) {
		ev, plain := set.NewEvaluator(), set.NewEvaluator()
		for i, in := range inputs {
			requireSame(t, ev, plain, &in)
			if in.Kind == event.KindLog {
				in.Level = event.Level(i % int(event.LevelFatal+1))
			}
			in.Phase = phases[i%len(phases)]
			requireSame(t, ev, plain, &in)
		}
		require.Zero(t, ev.Failures())
	}
	t.Run("own", func(t *testing.T) { check(t, corpus(t, set, ownCaptures(t))) })
	t.Run("reference", func(t *testing.T) { check(t, corpus(t, set, referenceCaptures(t))) })
	t.Run("other logs", func(t *testing.T) {
		files := testkit.Must(filepath.Glob(filepath.Join(testkit.Dir(t, "loghub"), "*.tsv")))
		require.NotEmpty(t, files)
		seen := map[string]bool{}
		var inputs []Input
		for _, file := range files {
			data := testkit.Must(os.ReadFile(file))
			for line := range strings.Lines(string(data)) {
				message := line[strings.LastIndexByte(line, '\t')+1:]
				head, frames, _ := strings.Cut(string(set.normalizer.AppendTemplate(nil, strings.TrimSpace(message), "")), "\n")
				if !seen[head] {
					seen[head] = true
					inputs = append(inputs, Input{Template: head, Frames: frames, Message: message, Level: event.LevelWarning})
				}
			}
		}
		check(t, inputs)
	})
}

// TestNewSignatureAllocs: the first entry of a signature allocates a word for each
// text that its conditions read, once for a plan and once for a decision.
func TestNewSignatureAllocs(t *testing.T) {
	if raceDetector {
		t.Skip("allocations are not counted under the race detector")
	}
	set := defaultSet()
	ev := set.NewEvaluator()
	inputs := slices.DeleteFunc(corpus(t, set, ownCaptures(t)), func(in Input) bool {
		ev.Evaluate(&in)
		return len(ev.continued) > 0
	})
	require.NotEmpty(t, inputs)
	const texts = 4 // template, frames, source, phase
	require.LessOrEqual(t, testing.AllocsPerRun(10, func() {
		for i := range inputs {
			p := ev.Plan(&inputs[i])
			ev.Decide(&p, &inputs[i])
		}
	}), float64(texts*len(inputs)))
}
