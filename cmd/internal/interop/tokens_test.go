package interop

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/agent/briefing/heedsource"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/cmd/internal/brief"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

const captures = "../../../testdata/captures"

// The bounds of estimates of tokens: of the worst brief of all, and of the median.
const (
	worstUnder  = 0.05
	medianError = 0.15
)

// TestTokenEstimates compares what the built-in templates estimate of whole briefs with what tokenizers count. The
// figures of the templates are set on the labeled captures.
func TestTokenEstimates(t *testing.T) {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	for _, vocabulary := range []string{tiktoken.MODEL_O200K_BASE, tiktoken.MODEL_CL100K_BASE} {
		tokenizer := testkit.Must(tiktoken.GetEncoding(vocabulary))
		t.Run(vocabulary, func(t *testing.T) {
			if vocabulary != tiktoken.MODEL_O200K_BASE {
				testkit.Full(t, "another tokenizer")
			}
			t.Run("captures", func(t *testing.T) { requireEstimates(t, tokenizer, filepath.Join(captures, "*.*")) })
			t.Run("labeled", func(t *testing.T) {
				testkit.Full(t, "briefs of many logs")
				requireEstimates(t, tokenizer, filepath.Join(testkit.Dir(t, "rimworld"), "rw*"))
			})
			t.Run("players", func(t *testing.T) {
				testkit.Full(t, "briefs of many logs")
				requireEstimates(t, tokenizer, filepath.Join(testkit.Dir(t, "players"), "p0[1-7]-*"))
			})
			t.Run("held out", func(t *testing.T) {
				if !testkit.HeldOut() {
					t.Skip("logs that are held out; set HEED_PLAYERS=held")
				}
				dir := testkit.Dir(t, "players")
				requireEstimates(t, tokenizer, filepath.Join(dir, "p0[89]-*"), filepath.Join(dir, "p1?-*"))
			})
		})
	}
}

// requireEstimates assembles briefs at several moments of each log, by each template and within each budget.
func requireEstimates(t *testing.T, tokenizer *tiktoken.Tiktoken, patterns ...string) {
	t.Helper()
	moments := 2
	if testkit.IsFull() {
		moments = 6
	}
	set := testkit.Must(rules.Compile(rules.Defaults()...))
	seen := map[string]bool{}
	var ratios []float64
	ask := func(s *briefing.Service) {
		for _, class := range []string{heedsource.TemplateAgent, heedsource.TemplatePerson, heedsource.TemplateModAuthor} {
			for _, tokens := range []int{500, 1500, 4000} {
				c := testkit.Must(s.Assemble(t.Context(), briefing.Request{AgentClass: class, MaxContextTokens: tokens}))
				if c.Text == "" || seen[c.Text] {
					continue
				}
				seen[c.Text] = true
				ratios = append(ratios, float64(c.Used.Tokens)/float64(len(tokenizer.EncodeOrdinary(c.Text))))
			}
		}
	}
	for _, pattern := range patterns {
		paths := testkit.Must(filepath.Glob(pattern))
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			if strings.HasSuffix(path, ".jsonl") {
				continue
			}
			n := 0
			play(t, path, set, func(*briefing.Service) { n++ })
			every := 1 + n/moments
			n = 0
			ask(play(t, path, set, func(s *briefing.Service) {
				if n++; n%every == 0 {
					ask(s)
				}
			}))
		}
	}
	require.NotEmpty(t, ratios)
	slices.Sort(ratios)
	off := make([]float64, len(ratios))
	for i, r := range ratios {
		off[i] = math.Abs(r - 1)
	}
	slices.Sort(off)
	t.Logf("%d briefs: estimates from %.3f to %.3f of what is counted, median %.3f; median error %.1f %%",
		len(ratios), ratios[0], ratios[len(ratios)-1], ratios[len(ratios)/2], 100*off[len(off)/2])
	require.GreaterOrEqual(t, ratios[0], 1-worstUnder)
	require.LessOrEqual(t, off[len(off)/2], medianError)
}

// play gives the records of a log to an engine, and calls after behind each. It returns what makes briefs of the engine.
func play(t *testing.T, path string, set *rules.Set, after func(*briefing.Service)) *briefing.Service {
	t.Helper()
	f := testkit.Must(os.Open(path))
	defer func() { require.NoError(t, f.Close()) }()
	in := testkit.Must(capture.NewReader(f, capture.Options{}))
	engine := testkit.Must(heed.New(heed.Config{Rules: set}))
	var began capture.Environment
	var mods []capture.ListedMod
	s := testkit.Must(briefing.New(heedsource.Sources(heedsource.Config{
		Engine: engine, Rules: func() *rules.Set { return set }, Mods: func() []capture.ListedMod { return mods },
		Environment: began.Facts, Next: brief.SessionNext,
		Now: func() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) }, // no budget of time changes a text
	})))
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	var rec capture.Record
	var o heed.Outcome
	for {
		err := in.Next(&rec)
		if errors.Is(err, io.EOF) {
			return s
		}
		require.NoError(t, err)
		if program := began.Observe(&rec); program != "" {
			engine.LearnGame(program)
		}
		if rec.Mods != nil {
			mods = append(mods, rec.Mods.Mods...)
			engine.LearnMods(rec.Mods.Plain())
		}
		engine.ObserveInto(&o, &rec.Entry)
		after(s)
	}
}
