package signature

import (
	"cmp"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// grouping is how well groups fit true events: the share of lines whose group holds exactly the lines of their event,
// and the F1 over groups.
type grouping struct{ ga, fga float64 }

func (g grouping) sum() float64 { return g.ga + g.fga }

// groupLines returns how well the groups of a grouper with the given thresholds fit the events of lines.
func groupLines(tb testing.TB, n *Normalizer, th thresholds, texts, events []string) grouping {
	g := newGrouper(tb, GrouperConfig{})
	g.thresholds = th
	signatures := make([]Signature, len(texts))
	for i, text := range texts {
		template := n.AppendTemplate(nil, text, "")
		signatures[i] = Of(template)
		g.Learn(signatures[i], template)
		g.Merges(nil)
	}
	truth, found := map[string]int{}, map[Signature]map[string]int{}
	for i, s := range signatures {
		truth[events[i]]++
		tally := found[g.Group(s)]
		if tally == nil {
			tally = map[string]int{}
			found[g.Group(s)] = tally
		}
		tally[events[i]]++
	}
	lines, groups := 0, 0
	for _, tally := range found {
		for event, count := range tally {
			if len(tally) == 1 && count == truth[event] {
				lines, groups = lines+count, groups+1
			}
		}
	}
	return grouping{
		ga:  float64(lines) / float64(len(texts)),
		fga: 2 * float64(groups) / float64(len(truth)+len(found)),
	}
}

// TestLeaveOneOut asks whether the thresholds of the grouper hold for programs that they were not chosen by: each program
// is grouped with those, of a grid, that are best on all others.
func TestLeaveOneOut(t *testing.T) {
	testkit.Full(t, "groups the logs of 26 programs with each of many thresholds")
	files, err := filepath.Glob(filepath.Join(testkit.Dir(t, "selflabelled"), "*.tsv"))
	require.NoError(t, err)
	n := newDefault(t)
	others, err := filepath.Glob(filepath.Join(testkit.Dir(t, "loghub"), "*.tsv"))
	require.NoError(t, err)
	programs := len(files)
	files = append(files, others...) // one setting is for them too
	texts, events := make([][]string, len(files)), make([][]string, len(files))
	for i, file := range files {
		texts[i], events[i] = labeledLines(t, file)
	}
	settings := nearThresholds()
	results := make([][]grouping, len(settings)) // by setting, then by program
	for i, th := range settings {
		for j := range files {
			results[i] = append(results[i], groupLines(t, n, th, texts[j], events[j]))
		}
		p, o := mean(results[i][:programs]), mean(results[i][programs:])
		t.Logf("%+v: programs GA %.3f FGA %.3f, others %.3f %.3f", th, p.ga, p.fga, o.ga, o.fga)
	}
	left := make([]grouping, programs)
	for j, file := range files[:programs] {
		best := slices.MaxFunc(results, func(a, b []grouping) int {
			return cmp.Compare(mean(without(a, j)).sum(), mean(without(b, j)).sum())
		})
		left[j] = best[j]
		t.Logf("%-18s left out GA %.3f FGA %.3f, as it is GA %.3f FGA %.3f", filepath.Base(file), left[j].ga, left[j].fga,
			results[0][j].ga, results[0][j].fga)
	}
	random := rand.New(rand.NewPCG(1, 1))
	var ga, fga []float64
	for range 2000 {
		sample := make([]grouping, len(left))
		for j := range sample {
			sample[j] = left[random.IntN(len(left))]
		}
		m := mean(sample)
		ga, fga = append(ga, m.ga), append(fga, m.fga)
	}
	slices.Sort(ga)
	slices.Sort(fga)
	m := mean(left)
	t.Logf("left out: GA %.3f [%.3f, %.3f], FGA %.3f [%.3f, %.3f] (95%% of samples of programs)", m.ga, ga[50], ga[1949], m.fga,
		fga[50], fga[1949])
	require.Greater(t, m.ga, 0.82)
	require.Greater(t, m.fga, 0.82)
	require.Less(t, mean(results[0][:programs]).sum()-m.sum(), 0.04, "the thresholds are made for these programs")
}

// nearThresholds returns those of the grouper, and others around them.
func nearThresholds() []thresholds {
	all := []thresholds{defaultThresholds()}
	vary := func(set func(*thresholds, int), values ...int) {
		for _, v := range values {
			th := defaultThresholds()
			set(&th, v)
			all = append(all, th)
		}
	}
	vary(func(th *thresholds, v int) { th.fewAnchors = v }, 1, 2, 4, 5)
	vary(func(th *thresholds, v int) { th.nameAnchors = v }, 1, 3, 4, 5)
	vary(func(th *thresholds, v int) { th.names = v }, 60, 45, 40, 20)
	vary(func(th *thresholds, v int) { th.states = v }, 30, 15, 12)
	vary(func(th *thresholds, v int) { th.plain = v }, 20, 12, 10)
	vary(func(th *thresholds, v int) { th.first = v }, 100, 60, 30, 20)
	for _, few := range []int{2, 4} {
		vary(func(th *thresholds, v int) { th.fewAnchors, th.states = few, v }, 15, 30)
		vary(func(th *thresholds, v int) { th.fewAnchors, th.plain = few, v }, 12, 20)
		vary(func(th *thresholds, v int) { th.fewAnchors, th.names = few, v }, 20, 40, 45)
	}
	return all
}

func mean(of []grouping) grouping {
	var m grouping
	for _, g := range of {
		m.ga, m.fga = m.ga+g.ga/float64(len(of)), m.fga+g.fga/float64(len(of))
	}
	return m
}

func without(of []grouping, i int) []grouping { return slices.Delete(slices.Clone(of), i, i+1) }
