package signature

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/internal/testkit"
)

// encoded returns the state of g as JSON.
func encoded(t require.TestingT, g *Grouper) []byte {
	state := testkit.Must(json.Marshal(g.State()))
	return state
}

// restored returns the Grouper of a state as JSON.
func restored(cfg GrouperConfig, state []byte) (*Grouper, error) {
	var s GrouperState
	if err := json.Unmarshal(state, &s); err != nil {
		return nil, err
	}
	return RestoreGrouper(cfg, &s)
}

// drawTemplate makes templates of few words, so that columns vary soon and often.
func drawTemplate(t *rapid.T) []byte {
	word := rapid.SampledFrom([]string{"Ada_1", "Bob.two", "Cid_3", "Dan.four", "Eve_5", "alpha", "beta", "gamma", Mask})
	return fmt.Appendf(nil, "could not %s the %s of that %s now", rapid.SampledFrom([]string{"open", "close"}).Draw(t, "verb"), word.Draw(t, "a"), word.Draw(t, "b"))
}

// TestGrouperState drives two Groupers alike from the moment that one was made from the state of the other.
func TestGrouperState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := GrouperConfig{
			Signatures: rapid.SampledFrom([]int{5, 20, 100}).Draw(t, "signatures"),
			Columns:    rapid.SampledFrom([]int{1, 16, 64}).Draw(t, "columns"),
		}
		a := testkit.Must(NewGrouper(cfg))
		for range rapid.IntRange(0, 60).Draw(t, "before") {
			template := drawTemplate(t)
			learn(a, Of(template), template)
			if rapid.Bool().Draw(t, "drain") {
				a.Merges(nil)
			}
		}
		state := encoded(t, a)
		b := testkit.Must(restored(cfg, state))
		require.Equal(t, state, encoded(t, b))
		for range rapid.IntRange(0, 60).Draw(t, "after") {
			template := drawTemplate(t)
			require.Equal(t, learn(a, Of(template), template), learn(b, Of(template), template))
			require.Equal(t, a.Merges(nil), b.Merges(nil))
			require.Equal(t, a.Stats(), b.Stats())
		}
		require.Equal(t, encoded(t, a), encoded(t, b))
	})
}

func richGrouper(t testing.TB, cfg GrouperConfig, n int) *Grouper {
	g := testkit.Must(NewGrouper(cfg))
	for _, alone := range []string{"the first of all", "the lamp of Ada is out", "the lamp of Bob is out"} {
		g.Learn(Of([]byte(alone)), []byte(alone))
	}
	for i := range n {
		template := fmt.Appendf(nil, "could not open the Name_%d of that thing for case%d now", i, i%7)
		learn(g, Of(template), template)
		template = fmt.Appendf(nil, "could not open the %s of that thing for case%d now", Mask, i)
		learn(g, Of(template), template)
	}
	return g
}

func TestGrouperStateBounds(t *testing.T) {
	g := richGrouper(t, GrouperConfig{Signatures: 10, Columns: 32}, 30)
	for field, cfg := range map[string]GrouperConfig{
		"GrouperConfig.Signatures 10": {Signatures: 9, Columns: 32},
		"GrouperConfig.Columns 32":    {Signatures: 10, Columns: 16},
		"is -1":                       {Signatures: -1},
	} {
		_, err := RestoreGrouper(cfg, g.State())
		require.ErrorContains(t, err, field)
	}
	larger := testkit.Must(RestoreGrouper(GrouperConfig{Signatures: 100, Columns: 1024}, g.State()))
	require.Equal(t, g.Stats(), larger.Stats())
	for _, n := range g.nodes {
		require.Equal(t, g.Group(n.sig()), larger.Group(n.sig()))
	}
	for i := range g.cols {
		if c := &g.cols[i]; c.Key != 0 {
			require.Equal(t, *c, *larger.lookup(c.Key))
		}
	}
}

func TestGrouperStateHasEveryField(t *testing.T) {
	g := richGrouper(t, GrouperConfig{Signatures: 30, Columns: 32}, 30)
	require.NotEmpty(t, g.merges)
	testkit.Fields(t, g, func() []byte { return encoded(t, g) },
		"Grouper.slots", "Grouper.said", // made again from nodes
		"Grouper.unions",                  // counted in nodes
		"Grouper.keys", "outlines.blooms", // of the columns and the outlines
		"outline.rest", "outline.n", "outline.known", "outline.isEnough", // of the words
		"-outlines.current",                              // of none between calls
		"GrouperStats.Signatures", "GrouperStats.Groups", // so are these
		"-Grouper.copied", // of a state before
		"-Grouper.tokens", // of none between calls
	)
}

// TestGrouperStateRefused changes a state to one that no Grouper can be in: each is refused.
func TestGrouperStateRefused(t *testing.T) {
	cfg := GrouperConfig{Signatures: 30, Columns: 32}
	last := func(s *GrouperState) *column {
		i := len(s.Watched) - 1
		for s.Watched[i].N == 0 {
			i--
		}
		return &s.Watched[i]
	}
	for i, change := range []func(*GrouperState){
		func(s *GrouperState) { last(s).Key &^= 1 },
		func(s *GrouperState) { s.Outlines[0].Node = 0 },
		func(s *GrouperState) { s.Outlines[0].N = outlineWords + 1 },
		func(s *GrouperState) { *last(s) = column{Key: last(s).Key, Open: true} },
		func(s *GrouperState) { last(s).Nodes[0] = uint32(len(s.Known)) + 1 },
		func(s *GrouperState) { last(s).N, last(s).Nodes[0] = max(last(s).N, 1), 0 },
		func(s *GrouperState) { last(s).N = groupValues + 1 },
		func(s *GrouperState) { last(s).Value = 1000 },
		func(s *GrouperState) { last(s).Score = enough + 1 },
		func(s *GrouperState) { s.Watched[1] = s.Watched[0] },
		func(s *GrouperState) { s.Known[1] = s.Known[0] },
		func(s *GrouperState) { s.Groups = s.Groups[1:] },
		func(s *GrouperState) { s.Groups[0] = 1 },
		func(s *GrouperState) { s.Merges = make([]GroupMerge, 31) },
	} {
		s := richGrouper(t, cfg, 30).State()
		change(s)
		_, err := RestoreGrouper(cfg, s)
		require.ErrorIs(t, err, errDamaged, "%d", i)
	}
}

// TestGrouperStateIsACopy goes on learning after a state was taken: the state stays as it was.
func TestGrouperStateIsACopy(t *testing.T) {
	g := richGrouper(t, GrouperConfig{}, 30)
	before := encoded(t, g)
	state := g.State()
	for i := range 300 {
		template := fmt.Appendf(nil, "could not open the Other_%d of that thing for case%d now", i, i%40)
		learn(g, Of(template), template)
		g.Group(Of(template))
	}
	after := testkit.Must(json.Marshal(state))
	require.Equal(t, before, after)
	require.NotEqual(t, before, encoded(t, g))
}
