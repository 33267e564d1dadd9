package rules

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

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
		{"file", top, fileFields},
		{"list", def["list"].OneOf[1], listFields},
		{"macro", def["macro"].OneOf[1], macroFields},
		{"rule", def["rule"], ruleFields},
		{"exception", def["exception"].OneOf[1], exceptionFields},
		{"escalate", def["escalate"], escalateFields},
		{"within", def["escalate"].Properties["within"].OneOf[1], withinFields},
		{"test", def["test"], testFields},
		{"default", def["default"].OneOf[1], defaultFields},
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
	require.Equal(t, []int{maxExpression, maxExceptions, maxTagsPerRule, maxSummary, 2, maxEscalateAfter, maxEscalateEntries}, []int{
		def["condition"].MaxLength, rule["exceptions"].MaxItems, rule["tags"].MaxItems, rule["summary"].MaxLength,
		escalate["after"].Minimum, escalate["after"].Maximum, escalate["within"].OneOf[1].Properties["entries"].Maximum,
	})
}
