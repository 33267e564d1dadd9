package classify

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

const stateRules = `
version: 1
rules:
  - {id: load, when: 'template startsWith "Loading"', disposition: ignore, sets_phase: load}
  - {id: limit, when: 'template startsWith "No more"', disposition: blocking, blinds: true}
  - {id: gone, when: 'template startsWith "Gone"', disposition: blocking, blinds: true}
  - {id: resumed, when: 'template startsWith "Again"', disposition: ignore, resolves: [limit]}
  - {id: play, when: 'phase == "play" && template startsWith "Odd"', disposition: advisory}
`

// encoded returns the state of c as JSON.
func encoded(t require.TestingT, c *Classifier) []byte {
	return testkit.Must(json.Marshal(c.State()))
}

// restored returns the Classifier of a state as JSON.
func restored(cfg Config, state []byte) (*Classifier, error) {
	var s State
	if err := json.Unmarshal(state, &s); err != nil {
		return nil, err
	}
	return Restore(cfg, &s)
}

func stateConfig(t testing.TB, text string) Config {
	set := testkit.Must(rules.Compile(rules.File{Name: "f.yaml", Data: []byte(text)}))
	return Config{Rules: set, Signatures: 30, Decisions: 30, TemplateBytes: 2000}
}

// TestStateGoesOn classifies alike with two Classifiers from the moment that
// one was restored from the state of the other: all that is decided is the same, but
// for what was cached.
func TestStateGoesOn(t *testing.T) {
	cfg := stateConfig(t, stateRules)
	rapid.Check(t, func(t *rapid.T) {
		next := func() *event.Entry {
			n := rapid.IntRange(0, 30).Draw(t, "n")
			e := &event.Entry{Message: fmt.Sprintf("%s of Name_%d and that other thing", rapid.SampledFrom([]string{"Loading", "No more", "Gone", "Again", "Odd", "Else"}).Draw(t, "text"), n)}
			if n == 0 {
				e = &event.Entry{Kind: event.KindState, Status: event.StatusPhase, Message: rapid.SampledFrom([]string{"", "play", "a phase with a name that is longer than all those that are kept whole"}).Draw(t, "phase")}
			}
			return e
		}
		a := testkit.Must(New(cfg))
		for range rapid.IntRange(0, 60).Draw(t, "before") {
			a.Decide(next())
		}
		state := encoded(t, a)
		b := testkit.Must(restored(cfg, state))
		require.Equal(t, string(state), string(encoded(t, b)))
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
	c := testkit.Must(New(cfg))
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
	state := blindClassifier(t, stateConfig(t, stateRules)).State()
	for text, want := range map[string]string{
		stateRules: "limit",
		"version: 1\nrules:\n  - {id: gone, when: 'template startsWith \"Gone\"', disposition: blocking, blinds: true}\n": "gone",
		"version: 1\nrules:\n  - {id: gone, when: 'template startsWith \"Gone\"', disposition: blocking}\n":               "",
	} {
		c := testkit.Must(Restore(stateConfig(t, text), state))
		require.Equal(t, want, append(c.Blind(), "")[0])
		require.Equal(t, "play", c.Phase())
	}
}

func TestRestoreRefused(t *testing.T) {
	cfg := stateConfig(t, stateRules)
	c := blindClassifier(t, cfg)
	_, err := Restore(Config{}, c.State())
	require.ErrorContains(t, err, "Config.Rules is nil")
	smaller := cfg
	smaller.Groups.Signatures = 10
	_, err = Restore(smaller, c.State())
	require.ErrorContains(t, err, "GrouperConfig.Signatures")
	_, err = Restore(cfg, &State{})
	require.ErrorContains(t, err, "Groups are missing")
	for _, n := range []func(*Stats) *uint64{
		func(s *Stats) *uint64 { return &s.Entries }, func(s *Stats) *uint64 { return &s.Hits },
		func(s *Stats) *uint64 { return &s.Uncached },
	} {
		s := c.State()
		*n(&s.Stats)++
		_, err = Restore(cfg, s)
		require.ErrorContains(t, err, "do not add up")
	}
}

func TestStateHasEveryField(t *testing.T) {
	c := blindClassifier(t, stateConfig(t, stateRules))
	testkit.Fields(t, c, func() []byte { return encoded(t, c) },
		// Made by New from its Config.
		"Classifier.normalizer", "-Classifier.rules", "-Classifier.eval",
		// Caches, and the number of the phase in one.
		"-Classifier.result", "Classifier.texts", "signatures.table", "signatures.bytes", "signatures.maxBytes",
		"decisions.table", "decisions.weight", "decisions.maxWeight",
		"Classifier.sources", "Classifier.phases", "Classifier.phaseNum", "Classifier.phaseKnown",
		"Stats.Signatures", "Stats.TemplateBytes", "Stats.Decisions", "Stats.Sources", "Stats.Phases",
		// Of other counters, and of the grouper.
		"Stats.SignaturesEvicted", "Stats.DecisionsEvicted", "Stats.Groups",
		// About this process alone.
		"Classifier.buf", "Classifier.in", "Classifier.sum", "-Classifier.unkept",
	)
}
