package signature

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestListsEarnTheirLines asks of each list of words whether the ids are worse without it: more pairs that decide
// differently have one id, or more pairs of one statement have two.
func TestListsEarnTheirLines(t *testing.T) {
	n := newDefault(t)
	pairs := readPairs(t)
	wrong := func() (alike, apart int) {
		for _, p := range pairs {
			switch same := n.Signature(p.line(0), "") == n.Signature(p.line(1), ""); {
			case same && p.differ:
				alike++
			case !same && !p.differ:
				apart++
			}
		}
		return alike, apart
	}
	all, allUnits, allConstants, allWords := keywords, units, constants, n.words
	without := func(k keyword) func() {
		return func() {
			for i, list := range all {
				keywords[i] = slices.DeleteFunc(slices.Clone(list), func(m meaning) bool { return m.keyword == k })
			}
		}
	}
	alike, apart := wrong()
	for name, drop := range map[string]func(){
		"texts": without(textKeyword), "codes": without(codeKeyword), "fields": without(fieldKeyword),
		"requests": without(requestKeyword),
		"units":    func() { units = newWords() }, "constants": func() { constants = newWords() },
		"well-known words": func() { n.words = newWords() },
	} {
		drop()
		moreAlike, moreApart := wrong()
		keywords, units, constants, n.words = all, allUnits, allConstants, allWords
		t.Logf("of %d pairs %d alike, %d apart; without %s: %d, %d", len(pairs), alike, apart, name, moreAlike, moreApart)
		require.True(t, moreAlike > alike || moreApart > apart, name)
	}
}

// TestBeginnings tries every word that may mean more than it says.
func TestBeginnings(t *testing.T) {
	n, r := testNormalizer(t)
	for word := range strings.FieldsSeq(
		"Jan Feb Mar Apr May Jun Jul Aug Sep Sept Oct Nov Dec January February March April June July August September October November December " +
			"Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun Monday Tuesday Wednesday Thursday Friday Saturday Sunday NaN",
	) {
		require.True(t, classes[word[0]]&initial != 0 && isBeginning(word, 0), word)
		for _, text := range []string{
			word, "it is " + word, word + " 5", "on " + word + " 5 it", "7 " + word,
			"for " + word + " anna", word + "s", "x" + word, word[:2],
		} {
			checkLaws(t, n, r, text, "")
		}
	}
	require.False(t, isBeginning("Mox", 0))
	require.False(t, isBeginning("Mo", 0))
}
