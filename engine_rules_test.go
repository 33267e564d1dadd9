package heed

import (
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

// otherRules decide otherwise about what testRules know, and know of no blindness.
const otherRules = `version: 1
defaults: {log: {warning: advisory}}
rules:
  - {id: odd, when: 'template startsWith "Odd"', disposition: blocking}
  - {id: broken, when: 'template startsWith "Broken"', disposition: advisory, invalidates: true}
  - {id: loading, when: 'template startsWith "Loading"', disposition: ignore, sets_phase: load}
`

// otherMasking is otherRules with words that are not masked.
const otherMasking = otherRules + "protect: [Thing_3, Name_7]\n"

// TestNoRules: without any rule, levels and statuses decide, and entries of one shape are one group.
func TestNoRules(t *testing.T) {
	set := testkit.Must(rules.Compile())
	e := mustNew(t, Config{Rules: set})
	for level, want := range map[event.Level]event.Disposition{
		event.LevelUnknown: event.Ignore, event.LevelDebug: event.Ignore, event.LevelInfo: event.Ignore,
		event.LevelWarning: event.Advisory, event.LevelError: event.Advisory, event.LevelFatal: event.Blocking,
	} {
		d := e.Log(event.Log{Level: level, Message: "panic: widget is nil"})
		require.Equal(t, want, d.Disposition, level)
		require.Equal(t, "default.log."+level.String(), d.Rule)
	}
	o := e.Observe(event.Operation{ID: "op1", Status: event.StatusTimedOut}.Entry())
	require.Equal(t, event.Blocking, o.Decision.Disposition)

	e = mustNew(t, Config{Rules: set})
	first := e.Observe(event.Log{Level: event.LevelError, Message: "widget 7 is lost"}.Entry())
	second := e.Observe(event.Log{Level: event.LevelError, Message: "widget 12 is lost"}.Entry())
	require.Equal(t, first.Signature, second.Signature)
	require.NotEmpty(t, first.AttentionID)
	require.Equal(t, first.AttentionID, second.AttentionID)
}

// TestDefaultAdvice: an item whose rule has no advice has the default for what it is, in a game and in a program, also
// once repetition made it block.
func TestDefaultAdvice(t *testing.T) {
	set := testkit.Must(rules.Compile(rules.File{Name: "x.yaml", Data: []byte(`version: 1
rules:
  - id: odd
    when: 'true'
    disposition: advisory
    escalate: {after: 3, within: {duration: 10s, entries: 6}, to: blocking}
`)}))
	for family, want := range map[string][2]string{
		"": {"Nothing, if the game works.", "Update the mod added or updated last;"}, "plain": {"Nothing, if the program", "Report it"},
	} {
		e := mustNew(t, Config{Rules: set, Family: family})
		for i := range 3 {
			e.Log(event.Log{Level: event.LevelError, Message: "odd"})
			require.True(t, strings.HasPrefix(e.Open(nil)[0].Advice, want[i/2]), e.Open(nil)[0].Advice)
		}
	}
}

// Each round makes several engines: half of rapid's rounds, unless the command line says another number.
func init() { _ = flag.Set("rapid.checks", "50") }

// drawn returns a caller whose calls are drawn, with or without a clock.
func drawn(t *rapid.T) *caller {
	m := &caller{intn: func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }}
	if rapid.Bool().Draw(t, "clock") {
		m.now = time.Unix(1_700_000_000, 0).UTC()
	}
	return m
}

// TestSetRulesOfTheSame swaps rules for the same ones at random moments: nothing
// that a host is told differs.
func TestSetRulesOfTheSame(tt *testing.T) {
	set := mustRules(tt, testRules)
	cfg := snapshotConfig(set)
	rapid.Check(tt, func(t *rapid.T) {
		m := drawn(t)
		a, b := mustNew(tt, cfg), mustNew(tt, cfg)
		for range rapid.IntRange(0, 80).Draw(t, "calls") {
			if m.intn(20) == 0 {
				require.NoError(t, b.SetRules(set))
			}
			c := m.next()
			require.Equal(t, c(a), c(b))
			require.Equal(t, told(a), told(b))
		}
		require.Equal(t, a.Read(Cursor{}, 100, Filter{}), b.Read(Cursor{}, 100, Filter{}))
	})
}

// TestSetRulesAsRestored swaps rules beside an engine that is restored from a
// snapshot with them: from then on both say the same.
func TestSetRulesAsRestored(tt *testing.T) {
	first, second := mustRules(tt, testRules), mustRules(tt, otherRules)
	cfg := snapshotConfig(first)
	rapid.Check(tt, func(t *rapid.T) {
		m := drawn(t)
		a := mustNew(tt, cfg)
		for range rapid.IntRange(0, 100).Draw(t, "before") {
			m.next()(a)
		}
		then := cfg
		then.Rules = second
		b := testkit.Must(Restore(then, a.Snapshot(nil)))
		require.NoError(t, a.SetRules(second))
		for range rapid.IntRange(0, 60).Draw(t, "after") {
			c := m.next()
			require.Equal(t, c(b), c(a))
			require.Equal(t, told(b), told(a))
		}
	})
}

// TestSetRulesMasking swaps for rules that mask otherwise: counts hold, new
// signatures count anew, and what a snapshot of then holds is restored.
func TestSetRulesMasking(tt *testing.T) {
	first, second := mustRules(tt, testRules), mustRules(tt, otherMasking)
	cfg := snapshotConfig(first)
	rapid.Check(tt, func(t *rapid.T) {
		m := drawn(t)
		e := mustNew(tt, cfg)
		now := cfg
		for i := range rapid.IntRange(1, 60).Draw(t, "calls") {
			switch m.intn(25) {
			case 0:
				now.Rules = []*rules.Set{first, second}[m.intn(2)]
				require.NoError(t, e.SetRules(now.Rules))
			case 1:
				var err error
				e, err = Restore(now, e.Snapshot(nil))
				require.NoError(t, err, "call %d", i)
			}
			m.next()(e)
			checked(t, e)
		}
	})
}

func TestSetRulesCountsAnew(t *testing.T) {
	e := mustNew(t, Config{Rules: mustRules(t, otherRules), Epoch: "e1"})
	e.Log(event.Log{Message: "Odd Thing_3 here"})
	e.Log(event.Log{Message: "Odd Thing_4 here"})
	open, _ := e.Current("")
	require.EqualValues(t, 1, open.Groups)
	before := e.Observe(event.Log{Message: "Odd Thing_3 here"}.Entry()).Signature

	require.NoError(t, e.SetRules(mustRules(t, otherMasking)))
	after := e.Observe(event.Log{Message: "Odd Thing_3 here"}.Entry())
	require.NotEqual(t, before, after.Signature)
	require.Equal(t, open.ID, after.AttentionID, "the item goes on")
	open, _ = e.Current("")
	require.EqualValues(t, 4, open.TotalUrgentEntries)
	require.EqualValues(t, 2, open.Groups, "the old group, and the new one")
}

func TestSetRulesEndsBlindness(t *testing.T) {
	set := mustRules(t, testRules)
	e := mustNew(t, Config{Rules: set})
	e.Log(event.Log{Message: "No more logging"})
	require.True(t, e.Stats().Blind)
	require.NoError(t, e.SetRules(mustRules(t, testRules)))
	require.True(t, e.Stats().Blind, "the rule is there, though another one of its name")
	require.False(t, e.Observe(event.Log{Message: "Logging again"}.Entry()).Blind, "and what ends it does")
	e.Log(event.Log{Message: "No more logging"})
	require.NoError(t, e.SetRules(mustRules(t, otherRules)))
	require.False(t, e.Observe(event.Log{Message: "Loaded 1"}.Entry()).Blind)
}

func TestSetRulesDecides(t *testing.T) {
	e := mustNew(t, Config{Rules: mustRules(t, testRules)})
	l := event.Log{Message: "Broken thing 3"}
	require.Equal(t, event.Blocking, e.Log(l).Disposition)
	require.Equal(t, event.Blocking, e.Log(l).Disposition)
	require.NoError(t, e.SetRules(mustRules(t, otherRules)))
	require.Equal(t, event.Advisory, e.Log(l).Disposition, "what was remembered is forgotten")
}

func TestSetRulesRefuses(t *testing.T) {
	e := mustNew(t, Config{Rules: mustRules(t, testRules)})
	require.ErrorContains(t, e.SetRules(nil), "nil")
}

// TestAdvice: the advice of an item goes by the phase of the game and by the type of the exception, and calls no mod at
// fault if none is named.
func TestAdvice(t *testing.T) {
	set := mustRules(t, `version: 1
rules:
  - {id: misfit, continue: true, when: 'template contains "MisfitException"', advice: "Update it."}
  - {id: boot, when: 'template == "Boot"', disposition: ignore, sets_phase: boot}
  - {id: play, when: 'template == "Play"', disposition: ignore, sets_phase: play}
  - id: step
    when: 'template startsWith "Step"'
    disposition: blocking
    advice: "Restart, and update the mod at fault[, or load an older save]."
`)
	for _, c := range []struct{ before, text, want string }{
		{"Boot", "Step failed", "Restart, and update the mod added or updated last."},
		{"Play", "Step failed", "Restart, and update the mod added or updated last, or load an older save."},
		{"Boot", "Step failed: MisfitException", "Update it."},
	} {
		e := mustNew(t, Config{Rules: set})
		e.Log(event.Log{Message: c.before})
		e.Log(event.Log{Level: event.LevelError, Message: c.text})
		require.Equal(t, c.want, e.Open(nil)[0].Advice, c.text)
	}
}
