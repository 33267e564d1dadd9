package signature

import (
	"maps"
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
			keywords = maps.Clone(all)
			maps.DeleteFunc(keywords, func(_ string, is keyword) bool { return is == k })
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
