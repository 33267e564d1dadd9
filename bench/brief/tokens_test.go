package main

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/briefing/heedsource"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/testkit"
)

// The bounds of estimates of tokens: of the worst brief of all, and of the median.
const (
	worstUnder  = 0.05
	medianError = 0.15
)

// TestTokenEstimates compares what the built-in templates estimate of whole briefs with what tokenizers count. The
// figures of the templates are set on the labeled captures.
func TestTokenEstimates(t *testing.T) {
	testkit.Full(t, "counts the tokens of many briefs")
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	for _, vocabulary := range []string{tiktoken.MODEL_O200K_BASE, tiktoken.MODEL_CL100K_BASE} {
		tokenizer, err := tiktoken.GetEncoding(vocabulary)
		require.NoError(t, err)
		t.Run(vocabulary, func(t *testing.T) {
			t.Run(string(ours), func(t *testing.T) { requireEstimates(t, tokenizer, filepath.Join(captures, "*.*")) })
			t.Run(string(labeled), func(t *testing.T) {
				requireEstimates(t, tokenizer, filepath.Join(testkit.Dir(t, "rimworld"), "rw*"))
			})
			t.Run(string(players), func(t *testing.T) {
				requireEstimates(t, tokenizer, filepath.Join(testkit.Dir(t, "players"), "p0[1-7]-*"))
			})
			t.Run(string(held), func(t *testing.T) {
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
	const moments = 6
	set := defaults(t)
	seen := map[string]bool{}
	var ratios []float64
	ask := func(g *game) {
		for _, class := range []string{heedsource.TemplateAgent, heedsource.TemplatePerson, heedsource.TemplateModAuthor} {
			for _, tokens := range budgets {
				c, err := g.briefFor(class, "", tokens)
				require.NoError(t, err)
				if c.Text == "" || seen[c.Text] {
					continue
				}
				seen[c.Text] = true
				ratios = append(ratios, float64(c.Used.Tokens)/float64(len(tokenizer.EncodeOrdinary(c.Text))))
			}
		}
	}
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			if strings.HasSuffix(path, ".jsonl") {
				continue
			}
			log, err := replay(path, set)
			require.NoError(t, err)
			n := 0
			g, err := play(path, set, func(*game, *capture.Record) {}, func(g *game, _ *capture.Record, _ *heed.Outcome) {
				if n++; n%(1+len(log.records)/moments) == 0 {
					ask(g)
				}
			})
			require.NoError(t, err)
			ask(g)
			require.NoError(t, g.close())
		}
	}
	require.NotEmpty(t, ratios)
	slices.Sort(ratios)
	errors := make([]float64, len(ratios))
	for i, r := range ratios {
		errors[i] = math.Abs(r - 1)
	}
	slices.Sort(errors)
	t.Logf("%d briefs: estimates from %.3f to %.3f of what is counted, median %.3f; median error %.1f %%",
		len(ratios), ratios[0], ratios[len(ratios)-1], ratios[len(ratios)/2], 100*errors[len(errors)/2])
	require.GreaterOrEqual(t, ratios[0], 1-worstUnder)
	require.LessOrEqual(t, errors[len(errors)/2], medianError)
}
