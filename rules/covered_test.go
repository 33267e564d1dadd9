package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/rules"
)

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
