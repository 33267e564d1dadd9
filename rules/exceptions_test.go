package rules_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

func TestExceptions(t *testing.T) {
	set := compile(t, `
version: 1
lists: {quiet: [Analyzer, Profiler]}
rules:
  - id: x
    when: 'template contains "failed"'
    exceptions:
      - name: tools
        when: 'source in quiet'
      - 'phase == "menu"'
      - 'split(template, " ")[3] == "no"'
    disposition: blocking
    tests:
      - match: it failed
      - {no_match: it failed, source: Analyzer}
      - {no_match: it failed, phase: menu}
  - id: tag
    when: 'template contains "f"'
    exceptions: ['template contains "failed"']
    continue: true
    tags: [t]
`)
	ev := set.NewEvaluator()
	for _, tc := range []struct {
		in   rules.Input
		want string
	}{
		{rules.Input{Template: "it failed"}, "x"},
		{rules.Input{Template: "it failed", Source: "Unity", Phase: "play"}, "x"},
		{rules.Input{Template: "it failed", Source: "Profiler"}, "default.log.unknown"},
		{rules.Input{Template: "it failed", Phase: "menu"}, "default.log.unknown"},
		{rules.Input{Template: "it failed with no reason"}, "default.log.unknown"},
		{rules.Input{Template: "f"}, "default.log.unknown"},
	} {
		in := tc.in
		require.Equal(t, tc.want, ev.Evaluate(&in).Decision.Rule)
		p := ev.Plan(&in)
		require.NotNil(t, p.Known(), "nothing here reads the entry")
		require.Equal(t, tc.want, p.Known().Decision.Rule)
	}
	require.NotZero(t, ev.Failures(), "an exception that fails does not hold")
	require.Equal(t, []string{"t"}, ev.Evaluate(&rules.Input{Template: "f"}).Decision.Tags)

	x := set.Rule("x")
	require.False(t, x.PerEntry)
	require.Equal(t, []string{"template", "source", "phase"}, x.Variables())
	require.Len(t, x.Exceptions(), 3)
	require.Equal(t, []string{"f1.yaml:9:15: source in quiet", `f1.yaml:10:9: phase == "menu"`}, x.Exceptions()[:2])
	for _, res := range set.Test() {
		require.True(t, res.Passed, res.String())
	}
}

// TestExceptionsReach: what an exception leaves over is not covered.
func TestExceptionsReach(t *testing.T) {
	const next = "\n  - {id: next, when: 'level == \"error\"', disposition: ignore}\n"
	for _, first := range []string{
		`when: 'level == "error"', exceptions: ['phase == "x"']`,
		`when: 'kind == "log"', exceptions: ['level == "error"']`,
		`when: 'true', exceptions: ['level == "error" and source == "x"']`,
	} {
		compile(t, "version: 1\nrules:\n  - {id: first, disposition: ignore, "+first+"}"+next)
	}
	errs := compileError(t, rules.File{Name: "f", Data: []byte(
		"version: 1\nrules:\n  - {id: first, disposition: ignore, when: 'true', exceptions: ['phase == \"x\"', 'phase == \"x\" and level != \"info\"']}" +
			"\n  - {id: next, when: 'source == \"y\"', exceptions: ['phase == \"x\" and level != \"info\"', 'phase == \"x\"'], disposition: ignore}\n")})
	require.ErrorContains(t, errs, "rule next: when: can never match: rule first in line 3 comes first")
}

func TestEscalate(t *testing.T) {
	for _, tc := range []struct {
		text string
		want event.Escalation
	}{
		{"{after: 20, within: 30s, to: blocking}", event.Escalation{
			After: 20, Within: 30 * time.Second, Entries: 1500,
			To: event.Blocking, Severity: event.SeverityError,
		}},
		{"{after: 20, within: 10ms, to: advisory}", event.Escalation{
			After: 20, Within: 10 * time.Millisecond,
			Entries: 20, To: event.Advisory, Severity: event.SeverityWarning,
		}},
		{"{after: 2, within: 24h, to: blocking}", event.Escalation{
			After: 2, Within: 24 * time.Hour,
			Entries: 1_000_000, To: event.Blocking, Severity: event.SeverityError,
		}},
		{"{after: 20, within: {entries: 500}, to: blocking, severity: fatal}", event.Escalation{After: 20, Within: 10 * time.Second, Entries: 500, To: event.Blocking, Severity: event.SeverityFatal}},
		{"{after: 1000, within: {duration: 1m30s, entries: 1000}, to: blocking, severity: info}", event.Escalation{After: 1000, Within: 90 * time.Second, Entries: 1000, To: event.Blocking}},
	} {
		set := compile(t, "version: 1\nrules: [{id: x, when: 'phase == \"x\"', disposition: ignore, escalate: "+tc.text+"}]")
		require.Equal(t, &tc.want, set.Rule("x").Escalate, tc.text)
	}
	require.Nil(t, compile(t, overridable).Rule("first").Escalate)
}

// TestExceptionTexts: the list of texts of exceptions decides only where an error of a game on Unity has frames, which
// each error has there. In all other logs the frames decide, in any language.
func TestExceptionTexts(t *testing.T) {
	with := rules.DefaultSet()
	without, err := rules.Compile(append([]rules.File{{Name: "none.yaml", Data: []byte(
		"version: 1\nlists: {exception_texts: {override: true, items: [none of them]}}\n")}}, rules.Defaults()...)...)
	require.NoError(t, err)
	for _, text := range []string{
		"Object reference not set to an instance of an object", "Der Objektverweis wurde nicht auf eine Objektinstanz festgelegt.",
		"Ссылка на объект не указывает на экземпляр объекта.", "未将对象引用设置到对象的实例。",
	} {
		for _, c := range []struct {
			family        string
			level         event.Level
			with, without event.Disposition
		}{
			{"rimworld", event.LevelError, event.Blocking, event.Advisory},
			{"rimworld", event.LevelUnknown, event.Blocking, event.Blocking},
			{"plain", event.LevelError, event.Blocking, event.Blocking},
			{"plain", event.LevelUnknown, event.Blocking, event.Blocking},
		} {
			for set, want := range map[*rules.Set]event.Disposition{with: c.with, without: c.without} {
				own := testkit.Must(set.For(c.family))
				o := own.NewEvaluator().Evaluate(&rules.Input{
					Template: text, Frames: "at Verse.Press.Turn", Level: c.level, Phase: "play",
				})
				assert.Equal(t, want, o.Decision.Disposition, "%s, %s: %s", c.family, c.level, text)
			}
		}
	}
}

// TestReachable: what may match is not refused.
func TestReachable(t *testing.T) {
	for _, first := range []string{
		// It only adds tags.
		"when: 'true', continue: true, tags: [t]",
		// It is off.
		"when: 'true', disposition: ignore, enabled: false",
		// It fails, which is no match, on a short text.
		`when: 'not (split(template, " ")[5] == "x" and kind == "log" and kind == "state")', disposition: ignore`,
		`when: 'split(template, " ")[5] == "x" or kind == "log" or kind != "log"', disposition: ignore`,
		`when: '(split(template, " ")[5] == "x" and kind == "log" and kind == "state") ? false : true', disposition: ignore`,
		// It covers another part.
		`when: 'level == "error"', disposition: ignore`,
		`when: 'kind != "log"', disposition: ignore`,
	} {
		compile(t, "version: 1\nrules:\n  - {id: first, "+first+"}\n  - {id: second, when: 'kind == \"log\" and phase == \"x\"', disposition: ignore}\n")
	}
}

// TestCoveredByParts: a rule that asks for more than an earlier one is found,
// in whatever order it asks.
func TestCoveredByParts(t *testing.T) {
	for _, tc := range []struct {
		first, second string
		covered       bool
	}{
		{`template contains "a" and phase == "play"`, `phase == "play" and template contains "a"`, true},
		{`template contains "a"`, `phase == "play" and (source == "b" and template contains "a")`, true},
		{`template contains "a" and in_play`, `in_play and template contains "a" and source == "b"`, true},
		{`template contains "a" and phase == "play"`, `template contains "a"`, false},
		{`template contains "a" or phase == "play"`, `phase == "play" or template contains "a"`, false}, // the order matters where one fails
		{`template contains "a" and phase == "play"', exceptions: ['source == "x"']#`, `phase == "play" and template contains "a"`, false},
		{`template contains "a"', exceptions: ['source == "x"']#`, `phase == "play" and template contains "a"', exceptions: ['source == "y"', 'source == "x"']#`, true},
	} {
		text := "version: 1\nmacros: {in_play: 'phase == \"play\"'}\nrules:\n"
		for i, when := range []string{tc.first, tc.second} {
			when, ended := strings.CutSuffix(when, "#")
			if !ended {
				when += "'"
			}
			text += fmt.Sprintf("  - {id: r%d, disposition: ignore, when: '%s}\n", i, when)
		}
		_, err := rules.Compile(rules.File{Name: "f.yaml", Data: []byte(text)})
		if tc.covered {
			require.ErrorContains(t, err, "f.yaml:5:41: rule r1: when: can never match: rule r0 in line 4 comes first and has the same conditions, or fewer", text)
		} else {
			require.NoError(t, err, text)
		}
	}
	// The first of several is named.
	for _, two := range [][2]string{{`template contains "a"`, `phase == "play"`}, {`phase == "play"`, `template contains "a"`}} {
		_, err := rules.Compile(rules.File{Name: "f.yaml", Data: []byte(fmt.Sprintf("version: 1\nrules:\n  - {id: r0, disposition: ignore, when: '%s'}\n"+
			"  - {id: r1, disposition: ignore, when: '%s'}\n  - {id: r2, disposition: ignore, when: '%s and %s'}\n", two[0], two[1], two[0], two[1]))})
		require.ErrorContains(t, err, "rule r2: when: can never match: rule r0 ")
	}
	// Across files it is noted.
	set := compile(t, "version: 1\nrules: [{id: a, when: 'source == \"a\"', disposition: ignore}]\n",
		"version: 1\nrules: [{id: b, when: 'phase == \"load\" and source == \"a\"', disposition: ignore}]\n")
	require.Equal(t, "a", set.Rule("b").ShadowedBy)
}

// TestCoveredByAnEarlierFile: a user's file may take everything from the
// defaults; that is noted and no error.
func TestCoveredByAnEarlierFile(t *testing.T) {
	set := compileRules(t, `
  - {id: mute, when: 'phase == "x"', disposition: ignore}
  - {id: debug, when: 'level == "debug"', disposition: ignore}
`, `
  - {id: a, when: 'phase  ==  "x"', disposition: blocking}
  - {id: b, when: 'phase == "y" and level == "debug"', disposition: blocking}
  - {id: c, when: 'phase == "y"', disposition: blocking}
  - {id: off, when: 'true', disposition: blocking, enabled: false}
  - {id: last, when: 'true', disposition: blocking}
`, `
  - {id: never, when: 'phase == "z"', disposition: blocking}
`)
	shadow := map[string]string{}
	for _, r := range set.Rules() {
		shadow[r.ID] = r.ShadowedBy
	}
	require.Equal(t, map[string]string{"mute": "", "debug": "", "a": "mute", "b": "debug", "c": "", "off": "", "last": "", "never": "last"}, shadow)
}

func TestResolves(t *testing.T) {
	set := compileRules(t, `
  - {id: load.a, when: 'phase == "a"', disposition: ignore, resolves: ["load.*", end]}
  - {id: load.b, when: 'phase == "b"', disposition: ignore, blinds: true}
  - {id: load.c, when: 'phase == "c"', disposition: ignore, enabled: false}
`, `
  - {id: end, when: 'phase == "d"', disposition: ignore, resolves: ["*"]}
`)
	require.Equal(t, []string{"load.b", "end"}, set.Rule("load.a").Resolves)
	require.Equal(t, []string{"load.a", "load.b"}, set.Rule("end").Resolves)
	require.Nil(t, set.Rule("load.b").Resolves)
	require.Nil(t, set.Rule("nothing"))
}

// TestExplainedBy: ids are expanded as those that a rule resolves.
func TestExplainedBy(t *testing.T) {
	set := compileRules(t, `
  - {id: load.a, when: 'phase == "a"', disposition: ignore}
  - {id: load.b, when: 'phase == "b"', disposition: ignore, explained_by: ["load.*", end]}
  - {id: end, when: 'phase == "d"', disposition: ignore}
`)
	require.Equal(t, []string{"load.a", "end"}, set.Rule("load.b").ExplainedBy)
	require.Nil(t, set.Rule("end").ExplainedBy)
}
