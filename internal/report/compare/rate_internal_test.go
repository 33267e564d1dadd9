package compare

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/cohort"
)

// TestRatioIsSymmetric: seen from the other side, a ratio is its reciprocal.
func TestRatioIsSymmetric(t *testing.T) {
	z := cohort.Quantile(0.99, 1)
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.Float64Range(1, 1e6)
		a, b := math.Round(count.Draw(t, "a")), math.Round(count.Draw(t, "b"))
		e := exposure{perRecord, count.Draw(t, "old"), count.Draw(t, "new")}
		r, s := ratioOf(a, b, &e, z), ratioOf(b, a, &exposure{perRecord, e.new, e.old}, z)
		require.InEpsilon(t, 1, r.Value*s.Value, 1e-9)
		require.InEpsilon(t, 1, r.Low*s.High, 1e-6)
		require.Less(t, r.Low, r.Value)
		require.Less(t, r.Value, r.High)
		more0, _ := differs(uint64(a), uint64(b), []exposure{e}, z)
		less0, _ := differs(uint64(b), uint64(a), []exposure{{perRecord, e.new, e.old}}, z)
		require.Equal(t, [...]change{same, less, more}[more0], less0, "more is less from the other side")
	})
}

func TestJudge(t *testing.T) {
	one := exposure{perRun, 1, 1}
	for _, test := range []struct {
		a, b     uint64
		measures []exposure
		want     change
	}{
		{1, 1, []exposure{one}, same},
		{1, 6, []exposure{one}, same},
		{1, 10, []exposure{one}, more},
		{10, 1, []exposure{one}, less},
		{1000, 1999, []exposure{one}, same},
		{1000, 2001, []exposure{one}, more},
		{1, 1000, []exposure{one, {perHour, 0, 1}}, more},
		{10, 100, []exposure{one, {perRecord, 100, 1000}}, same},
		{10, 100, []exposure{one, {perRecord, 100, 300}}, more},
		{10, 100, []exposure{one, {perRecord, 100, 300}, {perHour, 1, 10}}, same},
	} {
		v, r := differs(test.a, test.b, test.measures, cohort.Quantile(confidence, 1))
		require.Equal(t, test.want, v, "%+v: %+v", test, r)
	}
	_, least := differs(100, 10, []exposure{one, {perRecord, 100, 90}, {perHour, 1, 1.1}}, 1)
	require.Equal(t, perRecord, least.By)
}

func TestIncreasing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6, 7}).Draw(t, "values")
		last, n := -1, 0
		for i, in := range increasing(values) {
			if in {
				require.Greater(t, values[i], last)
				last = values[i]
				n++
			}
		}
		best := 0
		for set := range 1 << len(values) { // all subsequences
			last, n := -1, 0
			for i, v := range values {
				if set>>i&1 == 1 {
					if v < last {
						n = -1
						break
					}
					last = v
					n++
				}
			}
			best = max(best, n)
		}
		require.Equal(t, best, n)
	})
}

func TestRounded(t *testing.T) {
	for in, want := range map[float64]float64{
		0: 0, math.Inf(1): 1e12, 2e12: 1e12, 123456: 123500, -123456: -123500, 1234: 1234, 1.23456: 1.235,
		0.000123456: 0.0001235,
	} {
		require.Equal(t, want, rounded(in), in) //nolint:testifylint // what is rounded is exact
	}
}

func listed(name, id, version string) capture.ListedMod {
	return capture.ListedMod{Mod: capture.Mod{Name: name, PackageID: id}, Versions: version}
}

// TestModChanges: a list without versions shows no update.
func TestModChanges(t *testing.T) {
	before := []capture.ListedMod{
		listed("Core", "game.core", ""), listed("Mill", "acme.mill", "1"), listed("Ship", "acme.ship", "1"),
		listed("Kiln", "acme.kiln", "1"), listed("Loom", "acme.loom", "1"),
	}
	after := []capture.ListedMod{
		listed("Core", "Game.Core", ""), listed("Loom", "acme.loom", "1"), listed("Mill", "acme.mill", "2"),
		listed("Mast", "acme.mast", "1"), listed("Ship", "acme.ship", "1"), listed("Ship", "acme.ship", "1"),
	}
	require.Len(t, modChanges(before, after), 6, "a mod that a list names twice is one")

	for _, lists := range [][2][]capture.ListedMod{{before, {
		listed("game.core", "game.core", ""),
		listed("acme.mill", "acme.mill", ""),
	}}, {{listed("acme.mill", "acme.mill", "")}, after}} {
		for _, c := range modChanges(lists[0], lists[1]) {
			require.NotEqual(t, updated, c.Change, "a list of package ids alone says nothing of versions")
		}
	}
}
