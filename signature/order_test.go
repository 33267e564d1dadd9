package signature

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/internal/testkit"
)

// orderWords are words of each form.
var orderWords = []string{
	"lamp", "mill", "river", "gravel", "copper", "ENOENT", "EACCES", "EPERM", "Tobin", "Ilsebet", "Quillon", "Old Hob", "J. Vale",
	"Muffalo 3", "acme.press", "acme.press.Tick", "works/mill", "pressWheel", "12", "0x7f", "true", "null", "[a, b]", "[]", "a",
}

// orderTexts are texts of statements in which one, two or three places vary.
func orderTexts() []string {
	var texts []string
	random := rand.New(rand.NewPCG(1, 1))
	word := func() string { return orderWords[random.IntN(len(orderWords))] }
	for _, statement := range []string{
		"the bench is taken by %s", "%s doing Duty_Guard with no plan", "no path was found for %s to the bench near the %s",
		"the state of %s at the old mill is now %s", "loaded %s", "could not read the plan of today: %s in %s",
		"%s gave %s to %s", "a long line about the %s that goes on for a while and then ends with the %s of that day",
		"service %s: started with mode=%s", "the lamp %s of the mill %s burns for %s", "%s", "%s %s", "item %s, %s and %s",
	} {
		for range 12 {
			text := statement
			for strings.Contains(text, "%s") {
				text = strings.Replace(text, "%s", word(), 1)
			}
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// partition returns, for each template, the least id of its group, and the Grouper.
func partition(tb testing.TB, templates [][]byte, order []int) []ID {
	g := newGrouper(tb, GrouperConfig{Signatures: len(templates) + 1, Columns: 1 << 16})
	for _, i := range order {
		g.Learn(Of(templates[i]), templates[i])
	}
	require.Zero(tb, g.Stats().ColumnsEvicted)
	least := map[Signature]ID{}
	for _, t := range templates {
		name, id := g.Group(Of(t)), Of(t).ID
		if old, ok := least[name]; !ok || id < old {
			least[name] = id
		}
	}
	groups := make([]ID, len(templates))
	for i, t := range templates {
		groups[i] = least[g.Group(Of(t))]
	}
	return groups
}

// TestGrouperOrder: texts in any order are the same groups.
func TestGrouperOrder(t *testing.T) {
	n := newDefault(t)
	var templates [][]byte
	for _, text := range orderTexts() {
		templates = append(templates, n.AppendTemplate(nil, text, ""))
	}
	random := rand.New(rand.NewPCG(2, 2))
	want := partition(t, templates, random.Perm(len(templates)))
	for range 200 {
		require.Equal(t, want, partition(t, templates, random.Perm(len(templates))))
	}
	found := map[ID]bool{}
	for _, id := range want {
		found[id] = true
	}
	require.Less(t, len(found), len(templates)*2/3, "most texts are of few statements")
	require.Greater(t, len(found), 10)
}

// TestGrouperOrderOfNames: a name joins outlines no matter when it becomes known.
func TestGrouperOrderOfNames(t *testing.T) {
	for name, texts := range map[string][]string{
		"a word after ten contents": append(spread("Stall lease <*> row <*> season <*> let to %s",
			"Tobin", "Ilsebet", "Quillon", "Maren", "Hob", "Anton", "Lisbet", "Ostap", "Radomir", "Hana"),
			"Stall lease <*> row <*> season <*> vacant",
			"Hall <*> (no <*>) vacant for Maren",
			"Hall <*> (no <*>) painted for Hob"),
		"words and rests": spread("the old lamp was taken from %s", "north: lit", "north: out of oil", "river: shut", "river: no grain at all", "hill: sold", "hill: it is late"),
		"a name among other words": {
			"> Step :north:mill:lamp OLD-FORM",
			"> Step :north:reed:lamp NEW-FORM",
			"> Step :river:turn OLD-FORM",
			"> Step :gravel:turn OLD-FORM",
			"mill-wright turn run :gravel:turn took <*> hand(s)",
			"mill-wright turn run :north:mill:turn took <*> hand(s)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var templates [][]byte
			for _, text := range texts {
				templates = append(templates, []byte(text))
			}
			random := rand.New(rand.NewPCG(4, 4))
			want := partition(t, templates, random.Perm(len(templates)))
			for range 100 {
				require.Equal(t, want, partition(t, templates, random.Perm(len(templates))))
			}
		})
	}
}

// modelColumn is a column of modelGroups.
type modelColumn struct {
	weights     map[string]int
	value, word bool
	nodes       []int
}

// noName is the place of names that were left out.
const noName = "<names>"

// modelGroups groups statements of plain words in small letters, names with a dot, and values.
// It notes each single word and all names of each statement until nothing changes, in maps of texts.
func modelGroups(statements [][]string) []int {
	group := make([]int, len(statements))
	for i := range group {
		group[i] = i
	}
	root := func(i int) int {
		for group[i] != i {
			i = group[i]
		}
		return i
	}
	columns, known := map[string]*modelColumn{}, map[string]int{}
	isName := func(w string) bool { return strings.Contains(w, ".") }
	type todo struct {
		words   []string
		node    int
		general bool
		names   string // noName if names were left out
	}
	var queue []todo
	for i, words := range statements {
		words = slices.CompactFunc(slices.Clone(words), func(a, b string) bool { return a == Mask && b == Mask })
		queue = append(queue, todo{words, i, false, ""})
	}
	note := func(key, content string, weight, node int, value, word bool) bool {
		c := columns[key]
		if c == nil {
			c = &modelColumn{weights: map[string]int{}}
			columns[key] = c
		}
		open := func() bool {
			sum := 0
			for _, w := range c.weights {
				sum += w
			}
			return sum >= enough || c.value && c.word
		}
		before := open()
		if value {
			c.value = true
		} else {
			c.weights[content], c.word = weight, c.word || word
		}
		c.nodes = append(c.nodes, node)
		if open() {
			for _, m := range c.nodes {
				a, b := root(m), root(node)
				group[max(a, b)] = min(a, b)
			}
		}
		return open() && !before
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		said := s.names + strings.Join(s.words, " ")
		first, ok := known[said]
		if !ok || s.names != "" && !s.general {
			first, ok, known[said] = s.node, false, s.node
		}
		a, b := root(first), root(s.node)
		group[max(a, b)] = min(a, b)
		if ok {
			continue
		}
		var without []string
		left, named := 0, false
		for i, w := range s.words {
			switch {
			case i > 0 && (isName(w) || w == Mask):
				named = named || isName(w)
				if without[len(without)-1] != noName {
					without = append(without, noName)
				}
			default:
				left++
				without = append(without, w)
			}
		}
		if left >= fewOthers && !isName(s.words[0]) && !s.general && s.names == "" {
			if named {
				queue = append(queue, todo{without, s.node, false, noName})
			}
			note("names "+strings.Join(without, " "), said, weighName, s.node, !named, true)
		}
		watch := func(i, j int) {
			others := 0
			for k, o := range s.words {
				if (k < i || k >= j) && o != Mask && o != noName {
					others++
				}
			}
			first, several := s.words[i], j > i+1
			few := others < fewOthers
			weight := weighFewWord
			switch {
			case others == 0 || first == noName:
				return
			case isName(first) && !few && i == 0:
				weight = weighWord
			case isName(first) && !few:
				weight = weighName
			case !few || isName(first):
				weight = weighWord
			}
			if (i == 0 && !several || others == 1) && (i > 0 || !isName(first) || few) {
				weight = weight * 2 / 5
			}
			key := s.names + strings.Join(s.words[:i], " ") + "|" + strings.Join(s.words[j:], " ")
			value := !several && first == Mask
			if note(key, strings.Join(s.words[i:j], " "), weight, s.node, value, !several && !value) {
				general := append(append(slices.Clone(s.words[:i]), Mask), s.words[j:]...)
				queue = append(queue, todo{general, s.node, true, s.names})
			}
		}
		for i := range s.words {
			watch(i, i+1)
			j := i
			for j < len(s.words) && isName(s.words[j]) {
				j++
			}
			if j > i+1 {
				watch(i, j)
			}
		}
	}
	for i := range group {
		group[i] = root(i)
	}
	return group
}

// TestGrouperAgainstModel compares the groups of short statements that columns make with those of a model that
// keeps all texts.
func TestGrouperAgainstModel(t *testing.T) {
	words := []string{"lamp", "mill", "river", "gravel", "copper", "a.lantern", "b.granite", "c.hammers", "d.needles", Mask}
	rapid.Check(t, func(t *rapid.T) {
		var statements [][]string
		var templates [][]byte
		known := map[string]bool{}
		for range rapid.IntRange(1, 60).Draw(t, "n") {
			pick := func(name string) string { return rapid.SampledFrom(words).Draw(t, name) }
			s := []string{pick("first"), "was", pick("second"), pick("third")}
			if s[0] == s[2] || s[2] == s[3] || s[0] == s[3] || s[0] == Mask || known[fmt.Sprint(s)] {
				continue // references, and what one template cannot hold
			}
			known[fmt.Sprint(s)] = true
			statements, templates = append(statements, s), append(templates, []byte(strings.Join(s, " ")))
		}
		g, err := NewGrouper(GrouperConfig{Signatures: 64, Columns: 1 << 14})
		require.NoError(t, err)
		for _, template := range templates {
			require.True(t, g.tokens[0].parse(template))
			g.learnColumns(Of(template), &g.tokens[0])
		}
		for i, want := range modelGroups(statements) {
			require.Equal(t, Of(templates[want]), g.Group(Of(templates[i])), "%s", templates[i])
		}
	})
}

// TestGrouperNames: a fault of colonists and animals is one group and has no variants, if their names have a word, two, an
// initial or a number.
func TestGrouperNames(t *testing.T) {
	for _, statement := range []string{
		"%s could not reach the lamp on the floor", "The order of today was refused by %s and nobody else",
		"Could not reserve the bench for %s because it is taken", "Exception ticking %s: the press is jammed",
	} {
		g := newGrouper(t, GrouperConfig{})
		n := newDefault(t)
		texts := spread(statement, "Tobin", "Old Hob", "J. Vale", "Muffalo 3", "Muffalo77", "Радомир Остап")
		for i, first := range groupsOf(t, g, texts) {
			require.Zero(t, first, texts[i])
			require.Empty(t, g.AppendVariant(nil, n.AppendTemplate(nil, texts[i], "")), texts[i])
		}
	}
}

// TestGrouperFlood: a flood of texts that are like no other is few groups, soon.
func TestGrouperFlood(t *testing.T) {
	n := newDefault(t)
	word := func(i int) string {
		var w [6]byte
		for k := range w {
			w[k], i = 'a'+byte(i%26), i/26
		}
		return string(w[:])
	}
	g := newGrouper(t, GrouperConfig{})
	others := []string{"warning of another form: the lamp is out", "the mill is closed for today"}
	groupsOf(t, g, others)
	var template []byte
	for i := range 100_000 {
		template = n.AppendTemplate(template[:0], "warning "+word(i*7919)+" "+word(i*104729+13)+" seen near x", "")
		g.Learn(Of(template), template)
		if i >= floodForms {
			require.Equal(t, 3, g.Stats().Groups, i)
		}
	}
	require.Equal(t, Of([]byte(others[0])), g.Group(Of([]byte(others[0]))), "others stay")
	require.Zero(t, g.Stats().ColumnsEvicted, "columns with one content are no loss")
}

// labeledLines returns the texts of a file of labeled lines, and the true event of each.
func labeledLines(tb testing.TB, file string) (texts, events []string) {
	data, err := os.ReadFile(file)
	require.NoError(tb, err)
	for row := range strings.Lines(string(data)) {
		fields := strings.SplitN(strings.TrimSuffix(row, "\n"), "\t", 3)
		require.Len(tb, fields, 3)
		texts, events = append(texts, fields[2]), append(events, fields[1])
	}
	return texts, events
}

// groupsRenamed is the share of lines whose group may have another name in the end than when they came.
const groupsRenamed = 0.01

// TestGroupsHold counts the lines whose group, as it was given when the line came, has another name in the end, and
// those whose group joined another one, or was joined by one, after they came.
func TestGroupsHold(t *testing.T) {
	n := newDefault(t)
	for _, set := range []string{"selflabelled", "loghub"} {
		files, err := filepath.Glob(filepath.Join(testkit.Dir(t, set), "*.tsv"))
		require.NoError(t, err)
		var renamed, merged, total int
		var average float64
		for _, file := range files {
			texts, _ := labeledLines(t, file)
			g := newGrouper(t, GrouperConfig{})
			given := make([]Signature, len(texts))
			alone := map[Signature]int{} // lines given this name while their group was joined with no other
			touched := 0
			for i, text := range texts {
				template := n.AppendTemplate(nil, text, "")
				s := Of(template)
				given[i] = g.GroupAt(g.Learn(s, template), s)
				for _, m := range g.Merges(nil) {
					touched += alone[m.From] + alone[m.Into]
					alone[m.From], alone[m.Into] = 0, 0
				}
				alone[given[i]]++
			}
			changed := 0
			for _, s := range given {
				if g.Group(s) != s {
					changed++
				}
			}
			renamed, merged, total = renamed+changed, merged+touched, total+len(texts)
			share := float64(changed) / float64(len(texts))
			average += share / float64(len(files))
			t.Logf("%-18s %5d lines: %.2f%% renamed, %.2f%% in groups that joined", filepath.Base(file), len(texts), 100*share,
				100*float64(touched)/float64(len(texts)))
		}
		t.Logf("%s: of %d lines %.2f%% renamed (average of files %.2f%%), %.2f%% in groups that joined", set, total,
			100*float64(renamed)/float64(total), 100*average, 100*float64(merged)/float64(total))
		require.LessOrEqual(t, float64(renamed)/float64(total), groupsRenamed, set)
	}
}
