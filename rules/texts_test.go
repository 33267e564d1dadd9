package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// placeholders are the values of a sentence, and the parts of advice in brackets. A language may reorder values.
var placeholders = regexp.MustCompile(`%[^%a-z]*[a-z]|%%|\[`)

// valuesOf returns the placeholders of a sentence in the order of its values.
func valuesOf(sentence string) []string {
	found := placeholders.FindAllString(sentence, -1)
	if strings.Contains(sentence, "%[") {
		slices.Sort(found)
		for i := range found {
			found[i] = strings.Replace(found[i], fmt.Sprintf("[%d]", i+1), "", 1)
		}
	}
	return found
}

// TestTextsOfRules: each language has the summary and the advice of each default rule, also about programs, with the
// same parts in brackets, and a sentence has the values of the English one.
func TestTextsOfRules(t *testing.T) {
	require.Equal(t, []string{"de", "es", "fr", "ru", "zh"}, Languages())
	for _, language := range Languages() {
		texts := Texts(language)
		for english, own := range texts {
			assert.Equal(t, valuesOf(english), valuesOf(own), "%s: %s", language, english)
			assert.NotEmpty(t, own, "%s: %s", language, english)
		}
		for _, f := range Defaults() {
			for _, r := range parseFile(newSource(0, f), f.Data, &collector{}).rules {
				advice, atStart := adviceOf(r.advice)
				other, otherAtStart := adviceOf(r.rule.program.advice)
				for _, english := range slices.Compact([]string{
					r.rule.Summary, advice, atStart, r.rule.program.summary, other, otherAtStart,
				}) {
					own := texts[english]
					assert.Equal(t, english == "", own == "", "rules/default/text/%s.yaml: under rules, %s needs its text of: %s",
						language, r.rule.ID, english)
					assert.Equal(t, strings.Contains(english, faulty), strings.Contains(own, texts[faulty]),
						"rules/default/text/%s.yaml: %s needs %q where English has %q: %s", language, r.rule.ID, texts[faulty], faulty, own)
				}
			}
		}
	}
	assert.Nil(t, Texts("en"))
	assert.Nil(t, Texts("../de"))
}

// TestTextErrors: a mistake in the file of a language is reported with file, line and field.
func TestTextErrors(t *testing.T) {
	for text, want := range map[string]string{
		"sentences: {}\nrules:\n  save.refusd: {summary: x}\n": "de.yaml: line 3: rules.save.refusd: no default rule has this id",
		"rules:\n  save.refused: {heading: x}\n":               "line 2: field heading not found",
		"rules:\n  save.refused: {program: {why: x}}\n":        "line 2: field why not found",
		"sentence: {}\n":        "line 1: field sentence not found",
		"sentences: {a: [b]}\n": "line 1: cannot unmarshal !!seq",
		"rules: {save.refused: {summary: a, summary: b}}\n": `line 1: mapping key "summary" already defined`,
	} {
		_, err := parseTexts("de.yaml", []byte(text))
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, "de.yaml: ")
	}
}
