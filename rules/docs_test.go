package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// reference returns the page that describes the language.
func reference(t *testing.T) string {
	text := testkit.Must(os.ReadFile("../docs/rules.md"))
	return string(text)
}

var (
	mdTable = regexp.MustCompile(`(?m)^\| (\w+) \|.*\n\|---.*\n((?:\|.*\n)+)`)
	mdRow   = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")
	mdCode  = regexp.MustCompile("`([^`]+)`")
	mdYAML  = regexp.MustCompile("(?s)```yaml\n(.*?)```")
)

// TestReferenceTables holds the tables of the reference to the loader: each
// has exactly the keys, in the loader's order where that has a meaning.
func TestReferenceTables(t *testing.T) {
	var got [][]string
	for _, table := range mdTable.FindAllStringSubmatch(reference(t), -1) {
		var keys []string
		for _, row := range mdRow.FindAllStringSubmatch(table[2], -1) {
			keys = append(keys, row[1])
		}
		got = append(got, keys)
	}
	require.Equal(t, [][]string{
		fileFields.Names(), listFields.Names(), macroFields.Names(), ruleFields.Names(), variables, exceptionFields.Names(),
		escalateFields.Names(), withinFields.Names(), defaultFields.Names(), testFields.Names(),
	}, got[:len(got)-1], "the last table has the checks of package lint")
}

// TestReferenceWords holds the lists in the text to the language.
func TestReferenceWords(t *testing.T) {
	page := reference(t)
	words := func(from, to string) (out []string) {
		_, text, ok := strings.Cut(page, from)
		require.True(t, ok, "docs/rules.md has no %q", from)
		text, _, ok = strings.Cut(text, to)
		require.True(t, ok, "docs/rules.md has no %q after %q", to, from)
		for _, m := range mdCode.FindAllStringSubmatch(text, -1) {
			out = append(out, m[1])
		}
		return out
	}
	for _, list := range []struct {
		want     []string
		from, to string
	}{
		{families, "The families are ", ". RimWorld, games"},
		{append(functionNames(), "#"), "**Functions**:", "\n\n"},
		{decidingFields, "it may have none of ", " |\n"},
		{levels, "| `level` | ", "; `unknown` for all but"},
		{kinds, "| `kind` | ", " | once"},
		{statuses, "| `status` | ", " for a log record"},
		{dispositions, "| `disposition` | ", "; required"},
		{severities, "| `severity` | ", "; without it"},
	} {
		require.ElementsMatch(t, list.want, words(list.from, list.to), "docs/rules.md must list them after %q", list.from)
	}
	operators := words("**Operators**:", "\n\n")
	for op := range binaries {
		require.Contains(t, operators, op)
	}
	for i, v := range variables {
		each := varSet(1)<<i&perEntry != 0
		require.Regexp(t, "\\| `"+v+"` \\| .* \\| "+map[bool]string{true: "for each entry", false: "once per signature"}[each]+" \\|\n", page)
	}
}

// TestReferenceExamples compiles the examples, and runs the tests in them. The
// defaults that the page says are built in must be those that are.
func TestReferenceExamples(t *testing.T) {
	examples := mdYAML.FindAllStringSubmatch(reference(t), -1)
	require.Len(t, examples, 5)
	for _, m := range examples {
		files := append([]File{{Name: "example", Data: []byte(m[1])}}, Defaults()...)
		set := testkit.Must(Compile(files...))
		for _, r := range set.Test() {
			require.False(t, r.Failed, r.String())
		}
		if strings.Contains(m[1], "defaults:") {
			bare := testkit.Must(Compile())
			set := testkit.Must(Compile(files[0]))
			require.Equal(t, bare.defaults, set.defaults)
		}
	}
}

// schemaNode is the part of a JSON Schema that the test below reads.
type schemaNode struct {
	Description string                `json:"description"`
	Properties  map[string]schemaNode `json:"properties"`
	Definitions map[string]schemaNode `json:"definitions"`
	OneOf       []schemaNode          `json:"oneOf"`
	Enum        []string              `json:"enum"`
	Minimum     int                   `json:"minimum"`
	Maximum     int                   `json:"maximum"`
	MaxItems    int                   `json:"maxItems"`
	MaxLength   int                   `json:"maxLength"`
}

// TestSchemaKnowsTheLanguage holds keys, values and bounds to the loader's.
func TestSchemaKnowsTheLanguage(t *testing.T) {
	var top schemaNode
	require.NoError(t, json.Unmarshal(Schema(), &top))
	def := top.Definitions
	defaults := def["defaults"].Properties
	for _, tc := range []struct {
		name string
		got  schemaNode
		want []string
	}{
		{"file", top, fileFields.Names()},
		{"list", def["list"].OneOf[1], listFields.Names()},
		{"macro", def["macro"].OneOf[1], macroFields.Names()},
		{"rule", def["rule"], ruleFields.Names()},
		{"exception", def["exception"].OneOf[1], exceptionFields.Names()},
		{"escalate", def["escalate"], escalateFields.Names()},
		{"within", def["escalate"].Properties["within"].OneOf[1], withinFields.Names()},
		{"test", def["test"], testFields.Names()},
		{"default", def["default"].OneOf[1], defaultFields.Names()},
		{"defaults", def["defaults"], kinds},
		{"log", defaults["log"], levels},
		{"operation", defaults["operation"], append(statusesOf(event.KindOperation), byCallerKey)},
		{"state", defaults["state"], statusesOf(event.KindState)},
		{"notice", defaults["notice"], statusesOf(event.KindNotice)},
	} {
		require.ElementsMatch(t, tc.want, slices.Collect(maps.Keys(tc.got.Properties)), tc.name)
		if _, values := defaults[tc.name]; values {
			continue // the keys speak for themselves
		}
		for k, p := range tc.got.Properties {
			require.NotEmpty(t, p.Description, "%s.%s has no description", tc.name, k)
		}
	}
	require.Equal(t, dispositions, def["disposition"].Enum)
	require.Equal(t, severities, def["severity"].Enum)
	require.Equal(t, levels, def["level"].Enum)
	require.Equal(t, kinds, def["kind"].Enum)
	require.Equal(t, statuses, def["status"].Enum)
	require.Equal(t, dispositions[event.Advisory:], def["escalate"].Properties["to"].Enum)

	rule, escalate := def["rule"].Properties, def["escalate"].Properties
	require.Equal(t, []int{
		maxExpression, maxExceptions, maxTagsPerRule, maxSummary, 2, maxEscalateAfter,
		maxEscalateEntries,
	}, []int{
		def["condition"].MaxLength, rule["exceptions"].MaxItems, rule["tags"].MaxItems, rule["summary"].MaxLength,
		escalate["after"].Minimum, escalate["after"].Maximum, escalate["within"].OneOf[1].Properties["entries"].Maximum,
	})
}

// TestReferenceBounds holds the bounds on the page to the loader.
func TestReferenceBounds(t *testing.T) {
	_, table, ok := strings.Cut(reference(t), "## Limits")
	require.True(t, ok)
	var got []int
	for _, n := range regexp.MustCompile(`\d[\d,]*`).FindAllString(table, -1) {
		v := testkit.Must(strconv.Atoi(strings.ReplaceAll(n, ",", "")))
		got = append(got, v)
	}
	require.Equal(t, []int{
		MaxFileBytes >> 20, maxDepth, maxFiles, maxRules, maxEscalations, maxTags, maxTests, maxLists, maxListItems,
		maxMacros,
		maxExceptions, maxTagsPerRule, maxExpression, maxNesting, maxParts, maxID, maxName, maxSummary,
	}, got)
	require.Regexp(t, fmt.Sprintf(`second\s+group\s+counts as %d parts.* as %d parts,`, callParts, patternParts), reference(t))
	require.Contains(t, reference(t), fmt.Sprintf("at most %d instructions", maxInstructions))
}

// TestGuideForMods holds that the rule files in the guide for authors of mods load before the default rules, and pass
// their own tests. Tests of default rules are not asked: a rule of the guide may decide their texts.
func TestGuideForMods(t *testing.T) {
	page := testkit.Must(os.ReadFile("../docs/mod-authors.md"))
	files := regexp.MustCompile("(?s)```yaml\n(version: 1\n.*?)```").FindAllStringSubmatch(string(page), -1)
	require.Len(t, files, 2)
	for _, m := range files {
		set := testkit.Must(Compile(append([]File{{Name: "guide.yaml", Data: []byte(m[1])}}, Defaults()...)...))
		for _, r := range set.Test() {
			require.True(t, r.Passed || r.File != "guide.yaml", "docs/mod-authors.md: %s", r)
		}
	}
}
