package classify

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

const snapshotRules = `
version: 1
rules:
  - {id: load, when: 'template startsWith "Loading"', disposition: ignore, sets_phase: load}
  - {id: limit, when: 'template startsWith "No more"', disposition: blocking, blinds: true}
  - {id: gone, when: 'template startsWith "Gone"', disposition: blocking, blinds: true}
  - {id: resumed, when: 'template startsWith "Again"', disposition: ignore, resolves: [limit]}
  - {id: play, when: 'phase == "play" && template startsWith "Odd"', disposition: advisory}
`

func snapshotConfig(t testing.TB, text string) Config {
	set, err := rules.Compile(rules.File{Name: "f.yaml", Data: []byte(text)})
	require.NoError(t, err)
	return Config{Rules: set, Signatures: 30, Decisions: 30, TemplateBytes: 2000}
}

// TestSnapshotGoesOn classifies alike with two Classifiers from the moment that
// one was restored from the other's snapshot: all that is decided is the same, but
// for what was cached.
func TestSnapshotGoesOn(t *testing.T) {
	cfg := snapshotConfig(t, snapshotRules)
	rapid.Check(t, func(t *rapid.T) {
		next := func() *event.Entry {
			n := rapid.IntRange(0, 30).Draw(t, "n")
			e := &event.Entry{Message: fmt.Sprintf("%s of Name_%d and that other thing", rapid.SampledFrom([]string{"Loading", "No more", "Gone", "Again", "Odd", "Else"}).Draw(t, "text"), n)}
			if n == 0 {
				e = &event.Entry{Kind: event.KindState, Status: event.StatusPhase, Message: rapid.SampledFrom([]string{"", "play", "a phase with a name that is longer than all those that are kept whole"}).Draw(t, "phase")}
			}
			return e
		}
		a, err := New(cfg)
		require.NoError(t, err)
		for range rapid.IntRange(0, 60).Draw(t, "before") {
			a.Decide(next())
		}
		snapshot := a.Snapshot(nil)
		b, err := Restore(cfg, snapshot)
		require.NoError(t, err)
		require.Equal(t, snapshot, b.Snapshot(nil))
		for range rapid.IntRange(0, 40).Draw(t, "after") {
			e := next()
			want, got := a.Decide(e), b.Decide(e)
			got.Cached = want.Cached
			require.Equal(t, want, got)
			require.Equal(t, a.Groups().Merges(nil), b.Groups().Merges(nil))
			st, bt := a.Stats(), b.Stats()
			require.Equal(t, []any{st.Entries, st.Holes, st.Groups}, []any{bt.Entries, bt.Holes, bt.Groups})
		}
	})
}

func blindClassifier(t testing.TB, cfg Config) *Classifier {
	c, err := New(cfg)
	require.NoError(t, err)
	for i := range 60 {
		c.Decide(&event.Entry{Message: fmt.Sprintf("No more of Name_%d and that other thing%d", i, i%3)})
	}
	c.Decide(&event.Entry{Message: "Gone"})
	c.Decide(&event.Entry{Kind: event.KindState, Status: event.StatusPhase, Message: "play"})
	return c
}

// TestRestoreOtherRules restores a blindness under rules that no longer know of
// it.
func TestRestoreOtherRules(t *testing.T) {
	snapshot := blindClassifier(t, snapshotConfig(t, snapshotRules)).Snapshot(nil)
	for text, want := range map[string]string{
		snapshotRules: "limit",
		"version: 1\nrules:\n  - {id: gone, when: 'template startsWith \"Gone\"', disposition: blocking, blinds: true}\n": "gone",
		"version: 1\nrules:\n  - {id: gone, when: 'template startsWith \"Gone\"', disposition: blocking}\n":               "",
	} {
		c, err := Restore(snapshotConfig(t, text), snapshot)
		require.NoError(t, err)
		require.Equal(t, want, append(c.Blind(), "")[0])
		require.Equal(t, "play", c.Phase())
	}
}

func TestRestoreRefused(t *testing.T) {
	cfg := snapshotConfig(t, snapshotRules)
	c := blindClassifier(t, cfg)
	snapshot := c.Snapshot(nil)
	_, err := Restore(Config{}, snapshot)
	require.ErrorContains(t, err, "Config.Rules is nil")
	smaller := cfg
	smaller.Groups.Signatures = 10
	_, err = Restore(smaller, snapshot)
	require.ErrorContains(t, err, "GrouperConfig.Signatures")
	for n := range snapshot {
		if n < 200 || n%97 == 0 {
			_, err = Restore(cfg, snapshot[:n])
			require.Error(t, err, "cut at %d", n)
		}
	}
	_, err = Restore(cfg, append(slices.Clip(snapshot), 0))
	require.ErrorContains(t, err, "follow")
	c.stats.Entries++
	_, err = Restore(cfg, c.Snapshot(nil))
	require.ErrorContains(t, err, "do not add up")
}

func TestSnapshotKnowsEveryField(t *testing.T) {
	c := blindClassifier(t, snapshotConfig(t, snapshotRules))
	testkit.Fields(t, c, func() []byte { return c.Snapshot(nil) },
		// Made by New from its Config.
		"Classifier.normalizer", "-Classifier.rules", "-Classifier.eval",
		// Caches, and the number of the phase in one.
		"Classifier.last", "Classifier.texts", "signatures.table", "signatures.byID", "signatures.bytes", "signatures.maxBytes",
		"decisions.table", "decisions.weight", "decisions.maxWeight",
		"Classifier.sources", "Classifier.phases", "Classifier.phaseNum", "Classifier.phaseKnown",
		"Stats.Signatures", "Stats.TemplateBytes", "Stats.Decisions", "Stats.Sources", "Stats.Phases",
		// Of other counters, and of the grouper.
		"Stats.SignaturesEvicted", "Stats.DecisionsEvicted", "Stats.Groups",
		// About this process alone.
		"Classifier.buf", "Classifier.in", "Classifier.sets",
	)
}

func TestSnapshotAllocatesNothing(t *testing.T) {
	c := blindClassifier(t, snapshotConfig(t, snapshotRules))
	buf := c.Snapshot(nil)
	require.Zero(t, testing.AllocsPerRun(10, func() { c.Snapshot(buf[:0]) }))
}
