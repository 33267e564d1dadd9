package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/report/compare"
	"github.com/heedlog/heed/signature"
)

func TestSidesInWords(t *testing.T) {
	for hours, want := range map[float64]string{
		0.5: "a.log (1 record, 0.5 hours)", 0: "a.log (1 record)", 99.5: "a.log (1 record, 99.5 hours)",
		1234: "a.log (1 record, 1234 hours)",
	} {
		side := compare.Totals{Files: []compare.File{{Name: "a.log"}}, Records: 1, Hours: hours}
		require.Equal(t, want, sideName(&side))
	}
	side := compare.Totals{Files: []compare.File{{
		Name: "a.log",
		Gaps: []compare.Gap{
			{Kind: "blind", From: 3, To: 9, Rule: "some.rule"},
			{Kind: "hole", From: 12},
			{Kind: "hole", From: 13},
		},
	}}}
	require.Equal(t, []string{
		"went BLIND at line 3 (some.rule), when logging stopped, until line 9",
		"has missing bytes at line 12",
		"has 1 more such gap",
	}, gapsOf(&side))
}

func TestChangedModsAreFew(t *testing.T) {
	mods := []compare.ModChange{{Name: "z", Change: "removed"}}
	for i := range maxChangedMods + 2 {
		mods = append(mods, compare.ModChange{Name: string(rune('a' + i)), Change: "added"})
	}
	require.Equal(t, "Mods: added a, b, c, d, e, 2 more; removed z.", changedMods(mods, literally))
}

func TestGapsNameTheirLog(t *testing.T) {
	empty := compare.File{Name: "a.log", Gaps: []compare.Gap{{Kind: "empty"}}}
	require.Equal(t, []string{"is empty"}, gapsOf(&compare.Totals{Files: []compare.File{empty}}))
	require.Equal(t, []string{"has a log that is empty (a.log)"},
		gapsOf(&compare.Totals{Files: []compare.File{empty, {}}}))
}

// TestSamplesOfCause: the first entry, and the most frequent other one of the largest item.
func TestSamplesOfCause(t *testing.T) {
	sample := func(id signature.ID, n uint64) heed.Sample {
		return heed.Sample{Signature: signature.Signature{ID: id}, RepeatCount: n}
	}
	var c cause
	require.Empty(t, c.samples())
	c.FirstItem.Cause.Signature.ID = 1
	c.FirstItem.Sample = []heed.Sample{sample(1, 1), sample(9, 9)}
	require.Equal(t, []heed.Sample{sample(1, 1)}, c.samples())
	c.Largest.Sample = []heed.Sample{sample(1, 50), sample(2, 3), sample(3, 5), sample(4, 4)}
	require.Equal(t, []heed.Sample{sample(1, 1), sample(3, 5)}, c.samples())
}
