package signature

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/internal/testkit"
)

// grouperTemplates are made of few words, so that columns vary soon and often.
func drawTemplate(t *rapid.T) []byte {
	word := rapid.SampledFrom([]string{"Ada_1", "Bob.two", "Cid_3", "Dan.four", "Eve_5", "alpha", "beta", "gamma", Mask})
	return fmt.Appendf(nil, "could not %s the %s of that %s now", rapid.SampledFrom([]string{"open", "close"}).Draw(t, "verb"), word.Draw(t, "a"), word.Draw(t, "b"))
}

// TestGrouperSnapshot drives two Groupers alike from the moment that one was
// made from the other's snapshot.
func TestGrouperSnapshot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := GrouperConfig{
			Signatures: rapid.SampledFrom([]int{5, 20, 100}).Draw(t, "signatures"),
			Columns:    rapid.SampledFrom([]int{1, 16, 64}).Draw(t, "columns"),
		}
		a, err := NewGrouper(cfg)
		require.NoError(t, err)
		for range rapid.IntRange(0, 60).Draw(t, "before") {
			template := drawTemplate(t)
			learn(a, Of(template), template)
			if rapid.Bool().Draw(t, "drain") {
				a.Merges(nil)
			}
		}
		snapshot := wholeSnapshot(a, nil)
		b, err := RestoreGrouper(cfg, snapshot)
		require.NoError(t, err)
		require.Equal(t, snapshot, wholeSnapshot(b, nil))
		for range rapid.IntRange(0, 60).Draw(t, "after") {
			template := drawTemplate(t)
			require.Equal(t, learn(a, Of(template), template), learn(b, Of(template), template))
			require.Equal(t, a.Merges(nil), b.Merges(nil))
			require.Equal(t, a.Stats(), b.Stats())
		}
		require.Equal(t, wholeSnapshot(a, nil), wholeSnapshot(b, nil))
	})
}

func richGrouper(t testing.TB, cfg GrouperConfig, n int) *Grouper {
	g, err := NewGrouper(cfg)
	require.NoError(t, err)
	for _, alone := range []string{"the first of all", "and one more line"} {
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

func TestGrouperSnapshotBounds(t *testing.T) {
	g := richGrouper(t, GrouperConfig{Signatures: 10, Columns: 32}, 30)
	snapshot := wholeSnapshot(g, nil)
	for field, cfg := range map[string]GrouperConfig{
		"GrouperConfig.Signatures 10": {Signatures: 9, Columns: 32},
		"GrouperConfig.Columns 32":    {Signatures: 10, Columns: 16},
		"is -1":                       {Signatures: -1},
	} {
		_, err := RestoreGrouper(cfg, snapshot)
		require.ErrorContains(t, err, field)
	}
	larger, err := RestoreGrouper(GrouperConfig{Signatures: 100, Columns: 1024}, snapshot)
	require.NoError(t, err)
	require.Equal(t, g.Stats(), larger.Stats())
	for _, n := range g.nodes {
		require.Equal(t, g.Group(n.sig()), larger.Group(n.sig()))
	}
	for i := range g.cols {
		if c := &g.cols[i]; c.key != 0 {
			require.Equal(t, *c, *larger.lookup(c.key))
		}
	}
}

func TestGrouperSnapshotKnowsEveryField(t *testing.T) {
	g := richGrouper(t, GrouperConfig{Signatures: 30, Columns: 32}, 30)
	require.NotEmpty(t, g.merges)
	testkit.Fields(t, g, func() []byte { return wholeSnapshot(g, nil) },
		"Grouper.slots", "Grouper.said", // made again from nodes
		"Grouper.unions",                                 // counted in nodes
		"GrouperStats.Signatures", "GrouperStats.Groups", // so are these
		"GrouperStats.Variables", // counted in cols
		"-Grouper.saved",         // of no meaning outside the making of a snapshot
		"-Grouper.tokens",        // of none between calls
		"-Grouper.parsed",        // of none
		"-Grouper.thresholds",    // the same in all but one test
	)
}

func TestGrouperSnapshotAllocatesNothing(t *testing.T) {
	g := richGrouper(t, GrouperConfig{Signatures: 30, Columns: 32}, 30)
	buf := wholeSnapshot(g, nil)
	require.Zero(t, testing.AllocsPerRun(10, func() { wholeSnapshot(g, buf[:0]) }))
}

// FuzzRestoreGrouper changes a byte of a snapshot, and cuts it: it is refused, or
// is that of a Grouper which works.
func FuzzRestoreGrouper(f *testing.F) {
	cfg := GrouperConfig{Signatures: 40, Columns: 16}
	valid := wholeSnapshot(richGrouper(f, cfg, 30), nil)
	f.Add(valid, uint16(0), byte(0))
	f.Add(valid, uint16(40), byte(1))
	f.Add([]byte{}, uint16(0), byte(0))
	f.Fuzz(func(t *testing.T, src []byte, at uint16, flip byte) {
		if len(src) > 0 {
			src[int(at)%len(src)] ^= flip
		}
		g, err := RestoreGrouper(cfg, src)
		if err != nil {
			require.Nil(t, g)
			return
		}
		for i := range 50 {
			template := fmt.Appendf(nil, "could not open the Other_%d of that thing for case%d now", i, i%3)
			learn(g, Of(template), template)
		}
		g.Merges(nil)
		again, err := RestoreGrouper(cfg, wholeSnapshot(g, nil))
		require.NoError(t, err)
		require.Equal(t, g.Stats(), again.Stats())
	})
}

func BenchmarkGrouperSnapshot(b *testing.B) {
	g, err := NewGrouper(GrouperConfig{})
	require.NoError(b, err)
	for i := range defaultGroupSignatures {
		template := fmt.Appendf(nil, "could not open the Name_%d of that thing for case%d now", i, i%5000)
		learn(g, Of(template), template)
	}
	g.Merges(nil)
	snapshot := wholeSnapshot(g, nil)
	b.Run("snapshot", func(b *testing.B) {
		b.SetBytes(int64(len(snapshot)))
		b.ReportAllocs()
		for b.Loop() {
			snapshot = wholeSnapshot(g, snapshot[:0])
		}
	})
	b.Run("restore", func(b *testing.B) {
		b.SetBytes(int64(len(snapshot)))
		b.ReportAllocs()
		for b.Loop() {
			r, err := RestoreGrouper(GrouperConfig{}, snapshot)
			require.NoError(b, err)
			require.Equal(b, g.Stats(), r.Stats())
		}
	})
}

// TestGrouperSnapshotRefused changes what only a hostile hand would: each is
// refused with its reason.
func TestGrouperSnapshotRefused(t *testing.T) {
	cfg := GrouperConfig{Signatures: 30, Columns: 32}
	for want, change := range map[string]func(*Grouper){
		"is there twice, or not possible": func(g *Grouper) { g.cols[lastColumn(g)].key &^= 1 },
		"a column without words": func(g *Grouper) {
			c := &g.cols[lastColumn(g)]
			*c = column{
				key:  c.key,
				open: true,
			}
		},
		"column.nodes is 31":           func(g *Grouper) { g.cols[lastColumn(g)].nodes[0] = 31 },
		"a column's word is of no sig": func(g *Grouper) { c := &g.cols[lastColumn(g)]; c.n, c.nodes[0] = max(c.n, 1), 0 },
		"is there twice": func(g *Grouper) {
			g.nodes[1].id, g.nodes[1].check = g.nodes[0].id,
				g.nodes[0].check
		},
	} {
		t.Run(want, func(t *testing.T) {
			g := richGrouper(t, cfg, 30)
			change(g)
			_, err := RestoreGrouper(cfg, wholeSnapshot(g, nil))
			require.ErrorContains(t, err, want)
		})
	}
}

// lastColumn returns the index of a column that is watched.
func lastColumn(g *Grouper) int {
	for i := len(g.cols) - 1; ; i-- {
		if g.cols[i].key != 0 {
			return i
		}
	}
}

// TestGrouperSnapshotInParts goes on learning while a snapshot is made: it is that
// of the moment at which it was begun.
func TestGrouperSnapshotInParts(t *testing.T) {
	joined := 0
	for stream := range uint64(400) {
		rng := rand.New(rand.NewPCG(stream, 1))
		g, err := NewGrouper(GrouperConfig{Signatures: 50 + rng.IntN(500), Columns: 1 << rng.IntN(10)})
		require.NoError(t, err)
		// Groups of names that join by a word which they have in common.
		learn := func(n int) {
			for range n {
				template := fmt.Appendf(nil, "could not open the Name_%c of that thing for case%d and also of Name_%c here", 'a'+rng.IntN(12), rng.IntN(12), 'a'+rng.IntN(3))
				learn(g, Of(template), template)
				if rng.IntN(2) == 0 {
					g.Merges(nil)
				}
			}
		}
		for range 4 {
			learn(rng.IntN(60))
			want := wholeSnapshot(g, nil)
			if rng.IntN(4) == 0 { // one that is given up
				g.BeginSnapshot(nil)
				learn(3)
				want = wholeSnapshot(g, nil)
			}
			unions := g.unions
			got := g.BeginSnapshot(nil)
			for more := true; more; {
				learn(rng.IntN(4))
				got, more = g.ContinueSnapshot(got, 1+rng.IntN(200))
			}
			require.Equal(t, want, got, "stream %d", stream)
			joined += g.unions - unions
		}
	}
	require.Greater(t, joined, 1000, "groups joined meanwhile")
}
