package signature

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The limits of TestPairs, of 100 pairs of either sort, by how many others of the same statement are around them. A change
// may lower these numbers.
var (
	pairsAlike = 0                                // decide differently, have one id
	pairsLost  = map[int]int{}                    // decide differently, have one group and one variant
	pairsApart = map[int]int{0: 28, 3: 14, 20: 8} // of one statement, have two groups
)

// linePair is a line of testdata/pairs.tsv.
type linePair struct {
	differ bool
	kind   string
	text   []string   // around the slots, one more than these
	slots  [][]string // the values of each; the first two are the pair's
	orders [][]int    // the order in which other lines take the values
}

var slotSyntax = regexp.MustCompile(`⟦([^⟧]*)⟧`)

func readPairs(t *testing.T) (pairs []linePair) {
	data, err := os.ReadFile(filepath.Join("testdata", "pairs.tsv"))
	require.NoError(t, err)
	pools := map[string][]string{}
	for row := range strings.Lines(string(data)) {
		fields := strings.SplitN(strings.TrimSuffix(row, "\n"), "\t", 3)
		switch {
		case strings.HasPrefix(row, "#"):
		case fields[0] == "pool":
			pools[fields[1]] = strings.Split(fields[2], "|")
		default:
			require.Contains(t, []string{"differ", "same"}, fields[0], row)
			p := linePair{differ: fields[0] == "differ", kind: fields[1], text: slotSyntax.Split(fields[2], -1)}
			random := rand.New(rand.NewPCG(uint64(len(pairs)), 0))
			for _, slot := range slotSyntax.FindAllStringSubmatch(fields[2], -1) {
				values, fixed := strings.CutPrefix(slot[1], "=")
				var all []string
				for v := range strings.SplitSeq(values, "|") {
					if pool, ok := strings.CutPrefix(v, "@"); ok {
						require.Contains(t, pools, pool, row)
						all = append(all, pools[pool]...)
					} else {
						all = append(all, v)
					}
				}
				require.GreaterOrEqual(t, len(all), 2, row)
				if fixed {
					all = slices.Insert(all, 1, all[0])
				}
				p.slots = append(p.slots, all)
				p.orders = append(p.orders, random.Perm(len(all)))
			}
			require.NotEqual(t, p.line(0), p.line(1), row)
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// line returns the first line of the pair, the second, or one of the others of the same statement.
func (p *linePair) line(i int) string {
	line := p.text[0]
	for slot, values := range p.slots {
		v := i
		if i >= 2 {
			v = p.orders[slot][(i-2)%len(values)]
		}
		line += values[v] + p.text[slot+1]
	}
	return line
}

// TestPairs holds ids, groups and variants to what they are for: an id differs where a line decides something else, a
// group is what one statement wrote, and a variant tells apart what shares a group and decides differently.
func TestPairs(t *testing.T) {
	n := newDefault(t)
	pairs := readPairs(t)
	var table strings.Builder
	alike := 0
	for _, p := range pairs {
		if a := n.Signature(p.line(0), ""); p.differ && a == n.Signature(p.line(1), "") {
			alike++
			fmt.Fprintf(&table, "one id, decide differently: %s\n\t%s\n\t%s\n\t= %s\n", p.kind, p.line(0), p.line(1),
				n.AppendTemplate(nil, p.line(0), ""))
		}
	}
	lost, apart := map[int]int{}, map[int]int{}
	for _, others := range []int{0, 3, 20} {
		for _, p := range pairs {
			templates, groups, g := groupPair(t, n, &p, others)
			switch joined := groups[0] == groups[1]; {
			case p.differ && joined:
				v := g.AppendVariant(nil, templates[0])
				if string(v) == string(g.AppendVariant(nil, templates[1])) {
					lost[others]++
					fmt.Fprintf(&table, "one group and variant %q, %d others, decide differently: %s\n\t%s\n\t%s\n", v, others,
						p.kind, templates[0], templates[1])
				}
			case !p.differ && !joined:
				apart[others]++
				fmt.Fprintf(&table, "two groups, %d others, one statement: %s\n\t%s\n\t%s\n", others, p.kind, templates[0],
					templates[1])
			}
		}
	}
	fmt.Fprintf(&table, "%d pairs; decide differently: %d with one id; lost in a group %v; one statement, apart: %v\n",
		len(pairs), alike, lost, apart)
	t.Log("\n" + table.String())
	require.LessOrEqual(t, alike, pairsAlike)
	for _, others := range []int{0, 3, 20} {
		require.LessOrEqual(t, lost[others], pairsLost[others], "%d others", others)
		require.LessOrEqual(t, apart[others], pairsApart[others], "%d others", others)
	}
}

// groupPair returns the templates of a pair, and their groups when that many others were learned around them.
func groupPair(t *testing.T, n *Normalizer, p *linePair, others int) (
	templates [2][]byte, groups [2]Signature, g *Grouper,
) {
	g, err := NewGrouper(GrouperConfig{Signatures: 64, Columns: 4096})
	require.NoError(t, err)
	learnLine := func(i int) []byte {
		template := n.AppendTemplate(nil, p.line(i), "")
		g.Learn(Of(template), template)
		return template
	}
	for i := range others / 2 {
		learnLine(2 + i)
	}
	templates[0], templates[1] = learnLine(0), learnLine(1)
	for i := others / 2; i < others; i++ {
		learnLine(2 + i)
	}
	return templates, [2]Signature{g.Group(Of(templates[0])), g.Group(Of(templates[1]))}, g
}

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
