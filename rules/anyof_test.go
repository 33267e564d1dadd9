package rules

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestAnyOf holds what looks for a list at once to what tries each item.
func TestAnyOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return drawText(t, "item") }), 0, 3*fewItems).Draw(t, "items")
		if rapid.Bool().Draw(t, "none empty") {
			items = slices.DeleteFunc(items, func(s string) bool { return s == "" })
		}
		texts := slices.Concat(items, rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return drawText(t, "text") }), 1, 8).Draw(t, "texts"))
		for name, test := range listFuncs {
			one, all := bind(test, items), anyOf(name, items)
			for _, text := range texts {
				require.Equal(t, one(text), all(text), "%s(%q, %q)", name, text, items)
			}
		}
	})
}

// TestAnyOfNamed makes a table for a named list once, and allocates nothing by it.
func TestAnyOfNamed(t *testing.T) {
	l := &list{items: []string{"one", "two2", "three", "four", "five", "six6", "seven"}}
	r := &resolver{lists: map[string]*list{"l": l}}
	test := r.anyOf("contains_any", l.items)
	require.True(t, r.anyOf("contains_any", l.items)("a three b") && test("a four b") && test("one"))
	require.False(t, test("on two and fiv"))
	require.Len(t, l.tests, 1)
	require.Zero(t, testing.AllocsPerRun(100, func() { test("nothing of the seve is in it") }))
}
