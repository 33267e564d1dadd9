package rules_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

// compile compiles files that are right, and holds the schema to taking them.
func compile(t require.TestingT, texts ...string) *rules.Set {
	files := make([]rules.File, len(texts))
	for i, text := range texts {
		require.NoError(t, validate(t, text))
		files[i] = rules.File{Name: fmt.Sprintf("f%d.yaml", i+1), Data: []byte(text)}
	}
	return testkit.Must(rules.Compile(files...))
}

// compileRules compiles files that have rules alone.
func compileRules(t require.TestingT, lists ...string) *rules.Set {
	for i := range lists {
		lists[i] = "\nversion: 1\nrules:" + lists[i]
	}
	return compile(t, lists...)
}

// TestBuiltinDefaults pins what is decided where nothing else says anything.
func TestBuiltinDefaults(t *testing.T) {
	ev := compile(t).NewEvaluator()
	for _, tc := range []struct {
		in          rules.Input
		rule        string
		disposition event.Disposition
		severity    event.Severity
		invalidates bool
	}{
		{rules.Input{Level: event.LevelUnknown}, "default.log.unknown", event.Ignore, event.SeverityInfo, false},
		{rules.Input{Level: event.LevelDebug}, "default.log.debug", event.Ignore, event.SeverityInfo, false},
		{rules.Input{Level: event.LevelInfo}, "default.log.info", event.Ignore, event.SeverityInfo, false},
		{rules.Input{Level: event.LevelWarning}, "default.log.warning", event.Advisory, event.SeverityWarning, false},
		{rules.Input{Level: event.LevelError}, "default.log.error", event.Advisory, event.SeverityError, false},
		{rules.Input{Level: event.LevelFatal}, "default.log.fatal", event.Blocking, event.SeverityFatal, false},
		{rules.Input{Level: 77}, "default.log.unknown", event.Ignore, event.SeverityInfo, false},
		{operation(event.StatusStarted), "default.operation.started", event.Ignore, event.SeverityInfo, false},
		{operation(event.StatusCompleted), "default.operation.completed", event.Ignore, event.SeverityInfo, false},
		{operation(event.StatusFailed), "default.operation.failed", event.Ignore, event.SeverityWarning, false},
		{operation(event.StatusTimedOut), "default.operation.timed_out", event.Blocking, event.SeverityError, true},
		{operation(event.StatusCancelled), "default.operation.cancelled", event.Blocking, event.SeverityError, true},
		{
			rules.Input{Kind: event.KindOperation, Status: event.StatusCancelled, ByCaller: true},
			"default.operation.cancelled_by_caller", event.Ignore, event.SeverityInfo, false,
		},
		{
			rules.Input{Kind: event.KindOperation, Status: event.StatusFailed, ByCaller: true},
			"default.operation.failed", event.Ignore, event.SeverityWarning, false,
		},
		{state(event.StatusPhase), "default.state.phase", event.Ignore, event.SeverityInfo, false},
		{state(event.StatusStall), "default.state.stall", event.Blocking, event.SeverityError, false},
		{state(event.StatusRecovered), "default.state.recovered", event.Ignore, event.SeverityInfo, false},
		{state(event.StatusDisconnected), "default.state.disconnected", event.Blocking, event.SeverityError, false},
		{state(event.StatusConnected), "default.state.connected", event.Ignore, event.SeverityInfo, false},
		{state(event.StatusExited), "default.state.exited", event.Blocking, event.SeverityFatal, false},
		{state(event.StatusLongEvent), "default.state.long_event", event.Ignore, event.SeverityInfo, false},
		{notice(event.StatusHole), "default.notice.hole", event.Advisory, event.SeverityWarning, false},
		{notice(event.StatusRunCut), "default.notice.run_cut", event.Advisory, event.SeverityWarning, false},
		{notice(event.StatusTruncated), "default.notice.truncated", event.Advisory, event.SeverityWarning, false},
		{notice(event.StatusRestarted), "default.notice.restarted", event.Ignore, event.SeverityInfo, false},
		{notice(event.StatusNoLog), "default.notice.no_log", event.Advisory, event.SeverityWarning, false},
		{notice(event.StatusLogFound), "default.notice.log_found", event.Ignore, event.SeverityInfo, false},
		// What should not exist is decided all the same.
		{operation(event.StatusNone), "default.operation.unknown", event.Ignore, event.SeverityInfo, false},
		{operation(event.StatusHole), "default.operation.unknown", event.Ignore, event.SeverityInfo, false},
		{rules.Input{Kind: event.KindState, Status: 200}, "default.state.unknown", event.Ignore, event.SeverityInfo, false},
		{rules.Input{Kind: 200}, "default.log.unknown", event.Ignore, event.SeverityInfo, false},
	} {
		in := tc.in
		got := ev.Evaluate(&in)
		require.Nil(t, got.Rule)
		require.Equal(t, event.Decision{
			Rule: tc.rule, Disposition: tc.disposition, Severity: tc.severity, Invalidates: tc.invalidates,
		}, got.Decision)
	}
}

func operation(s event.Status) rules.Input { return rules.Input{Kind: event.KindOperation, Status: s} }
func state(s event.Status) rules.Input     { return rules.Input{Kind: event.KindState, Status: s} }
func notice(s event.Status) rules.Input    { return rules.Input{Kind: event.KindNotice, Status: s} }

func TestFileDefaults(t *testing.T) {
	set := compile(t, `
version: 1
defaults:
  log: {error: ignore, unknown: {disposition: advisory, severity: fatal, invalidates: true}}
`, `
version: 1
defaults:
  log: {error: blocking, info: blocking}
  operation: {cancelled_by_caller: advisory}
  state: {stall: ignore}
  notice: {hole: {disposition: blocking, invalidates: true}}
`)
	ev := set.NewEvaluator()
	for _, tc := range []struct {
		in   rules.Input
		want event.Decision
	}{
		{rules.Input{Level: event.LevelError}, event.Decision{Rule: "default.log.error", Severity: event.SeverityError}},
		{rules.Input{}, event.Decision{
			Rule: "default.log.unknown", Disposition: event.Advisory,
			Severity: event.SeverityFatal, Invalidates: true,
		}},
		{rules.Input{Level: 50}, event.Decision{
			Rule: "default.log.unknown", Disposition: event.Advisory,
			Severity: event.SeverityFatal, Invalidates: true,
		}},
		{rules.Input{Level: event.LevelInfo}, event.Decision{
			Rule: "default.log.info", Disposition: event.Blocking,
			Severity: event.SeverityError,
		}},
		{
			rules.Input{Kind: event.KindOperation, Status: event.StatusCancelled, ByCaller: true},
			event.Decision{
				Rule: "default.operation.cancelled_by_caller", Disposition: event.Advisory,
				Severity: event.SeverityWarning,
			},
		},
		{state(event.StatusStall), event.Decision{Rule: "default.state.stall"}},
		{notice(event.StatusHole), event.Decision{
			Rule: "default.notice.hole", Disposition: event.Blocking,
			Severity: event.SeverityError, Invalidates: true,
		}},
	} {
		in := tc.in
		require.Equal(t, tc.want, ev.Evaluate(&in).Decision)
	}
}

// TestConditions evaluates each construct of the language.
func TestConditions(t *testing.T) {
	in := rules.Input{
		Template: "Could not load <*>", Frames: "at Verse.Scribe.Load\nat Verse.Game.Init", Message: "Could not load Thing12", Stack: "s",
		Operation: "op-1", Level: event.LevelError, Source: "Unity", Phase: "load",
	}
	for _, tc := range []struct {
		when string
		want bool
	}{
		{`template startsWith "Could not"`, true},
		{`template endsWith "<*>"`, true},
		{`template contains "not load"`, true},
		{`template not contains "not load"`, false},
		{`not (template contains "not load")`, false},
		{`template matches "^C.*>$"`, true},
		{"template matches `^could`", false},
		{`frames contains "at Verse.Game"`, true},
		{`level == "error" and kind == "log" and status == "none"`, true},
		{`level in ["warning", "error"] and source == "Unity"`, true},
		{`level not in ["warning", "error"] and source == "Unity"`, false},
		{`source in words`, true},
		{`phase in ["play", "load"] && operation != ""`, true},
		{`method == ""`, true},
		{`message contains "Thing12" and stack == "s" and operation == "op-1"`, true},
		{`contains_any(template, words)`, false},
		{`contains_any(template, ["x", "load"])`, true},
		{`template | contains_any(["x", "load"])`, true},
		{`starts_with_any(template, ["x", "Could"])`, true},
		{`ends_with_any(template, ["x", ">"])`, true},
		{`any(words, # == level) or phase == "x"`, false},
		{`first([words, ["x"]])[0] == "Foo"`, true},
		{`all(words, phase contains #)`, false},
		{`none(words, {phase contains #})`, true},
		{`one(words, # == kind) or phase == "x"`, false},
		{`count(words, # == phase or len(#) == 3) == 2`, false},
		{`any(split(frames, "\n"), # endsWith ".Init")`, true},
		{`split(template, " ")[1] == "not"`, true},
		{`split(template, " ")[7] == "not"`, false},
		{`not (split(template, " ")[7] == "not")`, false},
		{`template[0:5] == "Could" and template[17:] == "*>" and template[:1] == "C"`, false},
		{`template[0:5] == "Could" and template[15:] == "<*>" and template[:1] == "C"`, true},
		{`len(template) > 10 and len(template) % 2 == 0 and len(template) * 2 - 1 + 1 == 36 and len(template) / 2 == 9`, true},
		{`lower(template) == "could not load <*>" and upper(phase) == "LOAD"`, true},
		{`trim("  x ") == template or trimPrefix(template, "Could ") startsWith "not" and trimSuffix(phase, "d") == "loa"`, true},
		{`hasPrefix(template, "Could") and hasSuffix(template, ">") and indexOf(template, "not") == 6 and lastIndexOf(template, "o") == 11`, true},
		{`first(split(template, " ")) == "Could" and last(split(template, " ")) == "<*>"`, true},
		{`phase == "load" ? template contains "load" : template contains "menu"`, true},
		{`if phase == "menu" { template contains "load" } else { template contains "menu" }`, false},
		{`in_load and not calm`, true},
		{`operation < "oq" and operation >= "op-1"`, true},
		{`kind != "operation"`, true},
	} {
		set, err := rules.Compile(rules.File{Name: "f.yaml", Data: []byte(`
version: 1
lists: {words: [Foo, Unity]}
macros: {in_load: 'phase == "load" or loud', loud: 'level in ["error", "fatal"]', calm: 'level == "info"'}
rules:
  - id: x
    disposition: blocking
    when: |
      ` + tc.when + "\n")})
		require.NoError(t, err, tc.when)
		ev := set.NewEvaluator()
		require.Equal(t, tc.want, ev.Evaluate(&in).Rule != nil, tc.when)
		p := ev.Plan(&in)
		require.Equal(t, tc.want, ev.Decide(&p, &in).Rule != nil, tc.when)
	}
}

func TestFailuresAreCounted(t *testing.T) {
	set := compileRules(t, `
  - {id: bad, when: 'split(template, " ")[3] == "x"', disposition: blocking}
  - {id: good, when: 'template startsWith "a"', disposition: advisory}
`)
	ev := set.NewEvaluator()
	require.Zero(t, ev.Failures())
	require.Equal(t, "good", ev.Evaluate(&rules.Input{Template: "a b"}).Decision.Rule)
	require.EqualValues(t, 1, ev.Failures())
	require.Equal(t, "bad", ev.Evaluate(&rules.Input{Template: "a b c x"}).Decision.Rule)
	require.EqualValues(t, 1, ev.Failures())
}

// TestPlanWeight: an outcome counts only if the plan has it for itself, and not if it is of a rule or of the set.
func TestPlanWeight(t *testing.T) {
	set := compileRules(t, `
  - {id: tag, when: 'template contains "t"', continue: true, tags: [x]}
  - {id: shown, when: 'template contains "p"', continue: true, sets_phase: play}
  - {id: own, when: 'template startsWith "o"', disposition: advisory, tags: [own]}
`)
	ev := set.NewEvaluator()
	for template, want := range map[string]int{"": 0, "t": 4 + 1, "p": 4, "o": 0, "ot": 4 + 2, "op": 4 + 1} {
		p := ev.Plan(&rules.Input{Template: template})
		require.Equal(t, want, p.Weight(), template)
	}
}

// TestPhaseShownByTheEntry: a rule with continue sets the phase for the rules after it and for the entries after this
// one, unless the rule that decides sets another; and leaves the input as it was.
func TestPhaseShownByTheEntry(t *testing.T) {
	set := compileRules(t, `
  - {id: early, when: 'phase == "play" and template contains "early"', disposition: blocking}
  - {id: shown, when: 'phase == "" and frames contains "Tick"', continue: true, sets_phase: play}
  - {id: each, when: 'phase == "play" and message contains "1"', disposition: blocking}
  - {id: played, when: 'phase == "play" and template contains "broken"', disposition: blocking}
  - {id: left, when: 'template contains "left"', disposition: ignore, sets_phase: menu}
`)
	ev := set.NewEvaluator()
	for _, c := range []struct{ template, frames, message, phase, rule, sets string }{
		{"broken", "", "", "", "default.log.unknown", ""},
		{"broken", "at Tick", "", "", "played", "play"},
		{"broken", "at Tick", "1", "", "each", "play"},
		{"broken", "at Tick", "", "menu", "default.log.unknown", ""},
		{"early", "at Tick", "", "", "default.log.unknown", "play"},
		{"left", "at Tick", "", "", "left", "menu"},
	} {
		in := rules.Input{Template: c.template, Frames: c.frames, Message: c.message, Phase: c.phase}
		p := ev.Plan(&in)
		for _, o := range []rules.Outcome{ev.Evaluate(&in), ev.Decide(&p, &in)} {
			require.Equal(t, c.rule, o.Decision.Rule, "%+v", c)
			require.Equal(t, c.sets, o.SetsPhase, "%+v", c)
		}
		require.Equal(t, c.phase, in.Phase)
		require.Equal(t, c.sets, ev.Explain(&in, false).Decision.SetsPhase, "%+v", c)
	}
	require.ErrorContains(t, compileError(t, rules.File{Name: "f", Data: []byte(rule("id: c", `when: 'stack contains "Tick"'`,
		"continue: true", "sets_phase: play"))}), "cannot read message, stack or operation")
}

func TestDecideAllocs(t *testing.T) {
	set := compile(t, `
version: 1
lists: {l: [q, w]}
rules:
  - {id: t, when: 'template contains "a"', continue: true, tags: [x]}
  - {id: a, when: 'contains_any(template, l) or source in l', disposition: ignore}
  - {id: b, when: 'template startsWith "abcd" and not (phase == "play")', disposition: blocking}
  - {id: c, when: 'message contains "zz"', disposition: ignore}
`)
	ev := set.NewEvaluator()
	in := &rules.Input{Template: "abcd", Message: "abc", Phase: "menu"}
	p := ev.Plan(in)
	require.NotNil(t, p.Known())
	require.Zero(t, testing.AllocsPerRun(100, func() { ev.Decide(&p, in) }))

	// Per entry.
	other := &rules.Input{Template: "c", Message: "abc", Phase: "menu"}
	p = ev.Plan(other)
	require.Nil(t, p.Known())
	require.Zero(t, testing.AllocsPerRun(100, func() { ev.Plan(other) }), "no condition runs")
	require.Equal(t, 1.0, testing.AllocsPerRun(100, func() { ev.Decide(&p, other) }), "message")
}

// TestEvaluateAllocs: a text allocates once for all conditions that read it.
func TestEvaluateAllocs(t *testing.T) {
	set := compileRules(t, `
  - {id: a, when: 'len(message) == 2 and message == "a"', disposition: ignore}
  - {id: b, when: 'len(message) == 3 and message == "a"', disposition: ignore}
`)
	ev := set.NewEvaluator()
	in := &rules.Input{Message: "abc"}
	p := ev.Plan(in)
	require.Nil(t, p.Known())
	require.Equal(t, 1.0, testing.AllocsPerRun(100, func() { ev.Decide(&p, in) }))
}

// TestSetIsSafeForConcurrentUse is for the race detector.
func TestSetIsSafeForConcurrentUse(t *testing.T) {
	set := rules.DefaultSet()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			ev := set.NewEvaluator()
			for i := range 50 {
				in := rules.Input{
					Template: "Could not load reference to <*>", Message: "x", Level: event.Level(i % 6),
					Phase: "load",
				}
				p := ev.Plan(&in)
				ev.Decide(&p, &in)
			}
			set.Test()
		})
	}
	wg.Wait()
}

var (
	words  = []string{"", "a", "b", "ab", "ba", "abba", "babba"} // on both sides of the length that the index needs
	phases = []string{"", "play", "load"}
)
