package cohort_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/cohort"
	"github.com/heedlog/heed/internal/testkit"
)

// player is the sessions of one, and what was planted.
type player struct {
	sessions []cohort.Session
	truth    func(f *cohort.Factor) bool // nil where there is nothing to know
	ways     int                         // in which mods divide the sessions
	table    cohort.Table                // of what was planted
}

// The shape of players: 5 to 60 sessions; 10 to 250 mods at first, as lists of RimWorld's players are long; before three
// of ten sessions up to five mods are added and up to two removed, mostly of the latest, and up to three are updated.
func plant(r *rand.Rand, kind string) *player {
	type state struct{ name, version string }
	next := 0
	var list []state
	add := func() {
		next++
		list = append(list, state{fmt.Sprintf("mod%d", next), "1.0"})
	}
	for range 10 + r.IntN(240) {
		add()
	}
	n := 5 + r.IntN(56)
	var days [][]state
	game := 0
	var games []int
	for range n {
		if len(days) > 0 && r.Float64() < 0.3 {
			for range r.IntN(3) {
				i := len(list) - 1 - r.IntN(len(list))
				if r.Float64() < 0.6 {
					i = len(list) - 1 - r.IntN(min(len(list), 8))
				}
				list = slices.Delete(list, i, i+1)
			}
			for range r.IntN(6) {
				add()
			}
			for range r.IntN(4) {
				m := &list[r.IntN(len(list))]
				m.version += "1"
			}
			if r.Float64() < 0.1 {
				game++
			}
		}
		days = append(days, slices.Clone(list))
		games = append(games, game)
	}
	has := func(day int, name string) (string, bool) {
		i := slices.IndexFunc(days[day], func(s state) bool { return s.name == name })
		if i < 0 {
			return "", false
		}
		return days[day][i].version, true
	}
	part := func(with func(day int) bool) bool { // it divides the sessions
		k := 0
		for day := range days {
			if with(day) {
				k++
			}
		}
		return k > 0 && k < n
	}
	any := func() string { return fmt.Sprintf("mod%d", 1+r.IntN(next)) }
	p := &player{}
	cause := func(int) bool { return false }
	noise, rate := 0.02*r.Float64(), 0.7+0.3*r.Float64()
	for try := 0; ; try++ {
		if try == 2000 {
			return nil // the list never changed so
		}
		a := any()
		hasA := func(day int) bool { _, ok := has(day, a); return ok }
		switch kind {
		case "one":
			cause = hasA
			p.truth = func(f *cohort.Factor) bool { return f.Kind == cohort.KindMod && f.Keys[0] == a }
		case "update":
			cause = func(day int) bool { v, ok := has(day, a); return ok && v != "1.0" }
			p.truth = func(f *cohort.Factor) bool {
				return f.Kind == cohort.KindUpdate && f.Keys[0] == a && f.Version == "1.01"
			}
			if !part(func(d int) bool { v, ok := has(d, a); return ok && v == "1.0" }) {
				continue
			}
		case "none":
			noise = 0.1 + 0.4*r.Float64()
		case "runs": // whatever the mods are, it stays for a while, and away for one
			begin, end, runs := 0.05+0.15*r.Float64(), 0.1+0.3*r.Float64(), make([]bool, n)
			for day := 1; day < n; day++ {
				change := begin
				if runs[day-1] {
					change = end
				}
				runs[day] = runs[day-1] != (r.Float64() < change)
			}
			cause = func(day int) bool { return runs[day] }
		case "stays": // it begins by itself
			first := r.IntN(n)
			cause = func(day int) bool { return day >= first }
		case "always":
			cause = hasA
			if part(hasA) || !hasA(0) {
				continue
			}
		}
		if p.truth == nil || part(cause) {
			break
		}
	}
	ways := map[string]bool{}
	for _, name := range names(next) {
		there := make([]bool, n)
		for day := range days {
			_, there[day] = has(day, name)
		}
		if slices.Contains(there, false) {
			ways[fmt.Sprint(there)] = true
		}
	}
	p.ways = len(ways)
	for day, list := range days {
		s := cohort.Session{Game: fmt.Sprintf("1.%d", games[day]), Fault: r.Float64() < noise}
		with, faults := &p.table.Without, &p.table.WithoutFault
		if cause(day) {
			s.Fault = r.Float64() < rate
			with, faults = &p.table.With, &p.table.WithFault
		}
		*with++
		if s.Fault {
			*faults++
		}
		for _, m := range list {
			s.Mods = append(s.Mods, cohort.Mod{Key: m.name, Version: m.version})
		}
		p.sessions = append(p.sessions, s)
	}
	return p
}

func names(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("mod%d", i+1))
	}
	return all
}

// promised is the share of players, in percent, of whom the answer is right, where there is enough to know: what was
// planted would be significant by itself. Where there is nothing to know, that of those of whom there is no answer.
var promised = map[string]float64{
	"one": 95, "update": 95, "none": 95, "always": 95, "runs": 85, "stays": 50,
}

// firstSeed is that of players that nothing was developed with: what is below 20,000 was.
const firstSeed = 20000

// TestPlanted holds the answers about planted causes to what is promised of them.
func TestPlanted(t *testing.T) {
	players, slack := 500, 0.0
	if !testkit.IsFull() {
		players, slack = 40, 10
	}
	var sizes []int
	var table strings.Builder
	fmt.Fprintf(&table, "\n%-8s %8s %8s %8s %10s %8s %8s\n", "planted", "players", "right", "wrong", "abstains", "knowable", "right %")
	for _, kind := range []string{"one", "update", "none", "always", "runs", "stays"} {
		var right, wrong, abstains, knowable, rightKnowable, all int
		for seed := 1; all < players; seed++ {
			p := plant(rand.New(rand.NewPCG(uint64(firstSeed+seed), uint64(len(kind)))), kind)
			if p == nil {
				continue
			}
			all++
			r := cohort.Suspects(p.sessions)
			is := p.truth != nil && slices.ContainsFunc(r.Factors, func(f cohort.Factor) bool { return p.truth(&f) })
			can := p.truth != nil && p.table.P()*float64(p.ways) <= 0.01
			switch {
			case r.Factors == nil:
				abstains++
			case is:
				right++
			default:
				wrong++
			}
			if is {
				sizes = append(sizes, len(r.Factors))
			}
			if can {
				knowable++
				if is {
					rightKnowable++
				}
			}
		}
		share := 100 * float64(abstains) / float64(all)
		if knowable > 0 {
			share = 100 * float64(rightKnowable) / float64(knowable)
		}
		require.GreaterOrEqual(t, share, promised[kind]-slack, kind)
		fmt.Fprintf(&table, "%-8s %8d %8d %8d %10d %8d %8.1f\n", kind, all, right, wrong, abstains, knowable, share)
	}
	slices.Sort(sizes)
	t.Log(table.String(), sizes[len(sizes)/2], sizes[len(sizes)*95/100])
}
