package rules_test

import (
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
