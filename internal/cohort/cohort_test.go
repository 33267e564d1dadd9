package cohort_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/internal/cohort"
)

// TestP holds Fisher's test to sums of exact fractions.
func TestP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 30).Draw(t, "with")
		m := rapid.Int64Range(0, 30).Draw(t, "without")
		a := rapid.Int64Range(0, n).Draw(t, "withFault")
		b := rapid.Int64Range(0, m).Draw(t, "withoutFault")
		sum := new(big.Int)
		for k := a; k <= min(n, a+b); k++ {
			if a+b-k <= m {
				ways := new(big.Int).Mul(new(big.Int).Binomial(n, k), new(big.Int).Binomial(m, a+b-k))
				sum.Add(sum, ways)
			}
		}
		want, _ := new(big.Rat).SetFrac(sum, new(big.Int).Binomial(n+m, a+b)).Float64()
		table := cohort.Table{With: uint64(n), WithFault: uint64(a), Without: uint64(m), WithoutFault: uint64(b)}
		require.InEpsilon(t, 1+want, 1+table.P(), 1e-9)
		if want > 0 {
			require.InEpsilon(t, want, table.P(), 1e-9)
		}
		lift := table.Lift(1.96)
		require.False(t, math.IsNaN(lift.Low+lift.Value+lift.High), "%+v", lift)
		require.LessOrEqual(t, lift.Low, lift.High)
	})
	lift := cohort.Table{With: 10, WithFault: 5, Without: 20, WithoutFault: 4}.Lift(2)
	require.InDeltaSlice(t, []float64{0.861, 2.386, 6.617}, []float64{lift.Low, lift.Value, lift.High}, 0.001)
	require.InEpsilon(t, 1.0/715, cohort.Table{With: 4, WithFault: 4, Without: 9}.P(), 1e-12)
	large := cohort.Table{With: 400_000, WithFault: 5_000, Without: 600_000, WithoutFault: 6_000}
	require.InDelta(t, 0, large.P(), 1e-20)
	large.WithFault = 4_000
	require.InDelta(t, 0.5, large.P(), 0.02)
	require.InDelta(t, 1, cohort.Table{WithFault: math.MaxUint64}.P(), 1e-12)
}

func TestHolm(t *testing.T) {
	cohort.Holm(nil, 0)
	p := [...]float64{0.04, 0.01, 0.03, 0.9}
	cohort.Holm([]*float64{&p[0], &p[1], &p[2], &p[3]}, 4)
	require.InDeltaSlice(t, []float64{0.09, 0.04, 0.09, 0.9}, p[:], 1e-12)
}

// TestTie: two mods are equally likely with other numbers of sessions, so the order of sessions does not choose one.
func TestTie(t *testing.T) {
	a, b := cohort.Mod{Key: "a"}, cohort.Mod{Key: "b"}
	sessions := []cohort.Session{
		{Mods: []cohort.Mod{a}, Fault: true},
		{},
		{},
		{Mods: []cohort.Mod{b}},
		{Mods: []cohort.Mod{a, b}, Fault: true},
		{Mods: []cohort.Mod{a, b}, Fault: true},
	}
	for range 4 {
		sessions = append(sessions, cohort.Session{Mods: []cohort.Mod{b}, Fault: true})
	}
	want := cohort.Suspects(sessions).Table
	slices.Reverse(sessions)
	require.Equal(t, want, cohort.Suspects(sessions).Table)
}

// TestOrder holds that without versions the order of sessions can only silence an answer, where a fault comes in runs.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sessions []cohort.Session
		for range rapid.IntRange(0, 40).Draw(t, "sessions") {
			s := cohort.Session{Fault: rapid.Bool().Draw(t, "fault")}
			for m := range 6 {
				if rapid.Bool().Draw(t, "mod") {
					s.Mods = append(s.Mods, cohort.Mod{Key: fmt.Sprint(m)})
				}
			}
			if slices.ContainsFunc(s.Mods, func(m cohort.Mod) bool { return m.Key == "3" }) {
				s.Fault = true
			}
			sessions = append(sessions, s)
		}
		want := cohort.Suspects(sessions)
		got := cohort.Suspects(rapid.Permutation(sessions).Draw(t, "order"))
		require.Equal(t, want.Table, got.Table)
		require.InDelta(t, want.P, got.P, 1e-12)
		names := func(r cohort.Result) (all []string) {
			for i := range r.Factors {
				all = append(all, r.Factors[i].String())
			}
			slices.Sort(all)
			return all
		}
		if want.Factors != nil && got.Factors != nil {
			require.Equal(t, names(want), names(got))
		}
	})
}

func FuzzSuspects(f *testing.F) {
	f.Add([]byte("\x01\x02\x03\x04\x05\x06"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		var sessions []cohort.Session
		for len(data) >= 3 {
			s := cohort.Session{Fault: data[0]&1 != 0, Game: string(data[1:2])}
			for n := range binary.LittleEndian.Uint16(data[1:]) % 9 {
				s.Mods = append(s.Mods, cohort.Mod{Key: string(data[n%3]), Version: string(data[(n+1)%3])})
			}
			sessions = append(sessions, s)
			data = data[2:]
		}
		r := cohort.Suspects(sessions)
		require.NotEmpty(t, r.Text)
		require.True(t, r.P >= 0 && r.P <= 1, r.P)
		require.LessOrEqual(t, len(r.Factors), cohort.MaxAlike)
	})
}

func TestQuantile(t *testing.T) {
	require.InDelta(t, 1.959964, cohort.Quantile(0.95, 1), 1e-6)
	require.InDelta(t, 2.575829, cohort.Quantile(0.95, 5), 1e-6)
	require.InDelta(t, 2.575829, cohort.Quantile(0.99, 0), 1e-6)
}

// TestWilson holds the interval to published values, at its ends too.
func TestWilson(t *testing.T) {
	for _, c := range []struct{ k, n, low, high float64 }{
		{0, 10, 0, 0.277533}, {5, 10, 0.236593, 0.763407}, {10, 10, 0.722467, 1}, {1, 1, 0.206549, 1},
	} {
		low, high := cohort.Wilson(c.k, c.n, 1.959964)
		require.InDelta(t, c.low, low, 1e-5, c)
		require.InDelta(t, c.high, high, 1e-5, c)
	}
}
