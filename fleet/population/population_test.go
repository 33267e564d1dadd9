package population

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/signature"
)

// crowd returns logs of players, each with a mod list and groups that f chooses.
func crowd(players int, f func(player int, log *Log)) []*Log {
	var logs []*Log
	for i := range players {
		log := &Log{
			Extent: Extent{Key: strconv.Itoa(i)}, Copies: Distinct{uint64(i)}, Player: summary.Hash(i), State: "broken",
			Mods: []Mod{{ID: "base"}, {ID: fmt.Sprintf("mod%d", i%7)}},
		}
		f(i, log)
		logs = append(logs, log)
	}
	return logs
}

func fault(id signature.ID) LoggedGroup {
	return LoggedGroup{
		Signatures: []signature.ID{id}, Template: "fault " + id.String(), Disposition: event.Blocking, Rule: "r", Count: 1,
	}
}

// TestRegression holds that a fault that came with a version is found, and one that went.
func TestRegression(t *testing.T) {
	r := Sum(crowd(40, func(i int, log *Log) {
		log.Game, log.Version = "Press", []string{"1.9.1", "1.10.0"}[i%2]
		log.Part = 1 + i%2
		switch {
		case i%2 == 1 && i > 10:
			log.Groups = []LoggedGroup{fault(1)}
		case i%2 == 0 && i > 10:
			log.Groups = []LoggedGroup{fault(2)}
		}
		if i%3 == 0 {
			log.Groups = append(log.Groups, fault(3))
		}
		if i%2 == 1 && i < 10 {
			log.Groups = append(log.Groups, fault(4)) // new, as chance has it
		}
		if i%2 == 1 || i < 20 {
			log.Groups = append(log.Groups, fault(5))
		}
	}), nil, 5)
	require.Equal(t, uint64(20), r.Compared.BeforePlayers)
	require.Equal(t, 5, r.Compared.Tested)
	var changes []string
	for _, c := range r.Compared.Changes {
		changes = append(changes, fmt.Sprintf("%d %s %d %d %g", c.Signature, c.What, c.Before, c.After, c.P))
	}
	require.Equal(t, []string{"1 new 0 15 3.85e-06", "2 gone 14 0 1.34e-05", "5 more 10 20 0.00131"}, changes)
	i := slices.IndexFunc(r.Groups, func(g ReportGroup) bool { return g.Signature == 1 })
	require.Equal(t, "1.10.0", r.Groups[i].First)
}

// TestComparedWithinGames holds that players of another game, who all came after, make no group of a game rarer.
func TestComparedWithinGames(t *testing.T) {
	r := Sum(crowd(60, func(i int, log *Log) {
		log.Game, log.Part = "Press", 1+i%2
		if i >= 20 {
			log.Game, log.Part = "Mill", After
		}
		log.Groups = []LoggedGroup{fault(1)}
	}), nil, 5)
	require.Equal(t, []ReportGame{{"Mill", 40, 40, 0, 40}, {"Press", 20, 20, 10, 10}}, r.Games)
	require.Equal(t, 1, r.Compared.Tested, "nobody had the other game before")
	require.Empty(t, r.Compared.Changes)
}

// TestClustersDoNotChain holds that logs with nothing in common are not together by what is between them, and that half
// of the logs of a cluster have one of the groups that it shows.
func TestClustersDoNotChain(t *testing.T) {
	r := Sum(crowd(200, func(i int, log *Log) {
		for id := range i%2 + 2 {
			log.Groups = append(log.Groups, fault(signature.ID(i%20/2+id+1)))
		}
	}), nil, 5)
	require.Greater(t, len(r.Clusters), 2)
	for _, c := range r.Clusters {
		require.NotEmpty(t, c.Groups)
	}
	require.NotContains(t, string(r.HTML()), "noneand")
}

// TestChanceIsOfAllGroups holds that of many groups none has a mod by chance, and the one with a mod has that.
func TestChanceIsOfAllGroups(t *testing.T) {
	r := Sum(crowd(70, func(i int, log *Log) {
		if i%7 == 3 && i != 3 {
			log.Groups = append(log.Groups, fault(1))
		}
		for id := range 400 {
			if xxhash.Sum64String(fmt.Sprint(i, id))%3 == 0 {
				log.Groups = append(log.Groups, fault(signature.ID(id+2)))
			}
		}
	}), nil, 5)
	require.Equal(t, uint64(401*7), r.Tested)
	for _, g := range r.Groups {
		require.Equal(t, g.Signature == 1, len(g.Mods) == 1, "%v %v", g.Signature, g.Mods)
	}
}

// TestNameThatIsAnID holds that a mod whose package id is the name of another is no other.
func TestNameThatIsAnID(t *testing.T) {
	r := Sum(crowd(10, func(i int, log *Log) {
		if log.Mods = []Mod{{ID: "cool", Name: "Other"}}; i < 5 {
			log.Mods = []Mod{{ID: "acme.cool", Name: "cool"}}
		}
	}), nil, 5)
	require.Equal(t, []ReportMod{
		{ID: "acme.cool", Name: "cool", Players: 5}, {ID: "cool", Name: "Other", Players: 5},
	}, r.Mods)
}

func TestDistinct(t *testing.T) {
	var d Distinct
	for i := range uint64(20000) {
		d.add(Distinct{i * 0x9e3779b97f4a7c15})
		if i < maxDistinct {
			require.Equal(t, i+1, d.Count())
		}
	}
	require.InEpsilon(t, 20000, d.Count(), 0.1)
}

// TestCopies holds that copies of a player's log are one, in each population that has one, whatever the order, and that
// each player whose log has the same bytes has that log.
func TestCopies(t *testing.T) {
	session := &summary.Session{Log: summary.Log{Hash: 7}}
	copies := []*Log{
		NewLog(7, 1, Before, session, nil), NewLog(8, 1, After, session, nil), NewLog(9, 1, Neither, session, nil),
	}
	rapid.Check(t, func(t *rapid.T) {
		one := *rapid.SampledFrom(copies).Draw(t, "first")
		for _, i := range rapid.Permutation([]int{0, 0, 1, 2}).Draw(t, "order") {
			one.Merge(copies[i])
		}
		require.Equal(t, []any{Before | After, uint64(3)}, []any{one.Part, one.Copies.Count()})
	})
	r := Sum(append(copies, NewLog(10, 2, After, session, nil)), nil, 1)
	require.Equal(t, []uint64{2, 2, 2, 1, 2, 0}, []uint64{
		r.Logs, r.Players, r.Copies, r.Compared.BeforePlayers, r.Compared.AfterPlayers, r.Compared.Neither,
	})
}

// TestShorter holds that a log is a shorter copy where a longer one begins as it does, up to its last mark,
// has the crash that it has, and is in the populations that it is in.
func TestShorter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfDistinct(rapid.StringMatching("[ab]{0,7}"), rapid.ID).Draw(t, "texts")
		var logs []Extent
		want := map[string]bool{}
		for _, text := range texts {
			marked := text[:len(text)/2*2]
			crashed := strings.HasSuffix(text, "b")
			part := strings.Count(text, "b") / 2
			logs = append(logs, Extent{text, uint64(len(text)), []byte(marked), part, crashed})
			if marked != "" && slices.ContainsFunc(texts, func(other string) bool {
				in := strings.Count(other, "b") / 2
				return len(other) > len(text) && strings.HasPrefix(other, marked) && in&part == part && (in == 0) == (part == 0) &&
					(!crashed || strings.HasSuffix(other, "b"))
			}) {
				want[text] = true
			}
		}
		require.Equal(t, want, Shorter(logs))
	})
}

// TestTop holds that the first stay and the others are counted, in any order and grouping.
func TestTop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const limit = 3
		var want, got Top[*Group]
		n := rapid.IntRange(0, 12).Draw(t, "groups")
		shards := make([]Top[*Group], 3)
		for i := range n {
			g := &Group{Signature: signature.ID(i), Players: uint64(i % 4), Logs: 2, Entries: uint64(i)}
			shards[rapid.IntRange(0, 2).Draw(t, "shard")].Merge(&Top[*Group]{Kept: []*Group{g}}, limit)
			want.Kept = append(want.Kept, g)
		}
		slices.SortFunc(want.Kept, (*Group).Compare)
		want.Others = uint64(n - min(n, limit))
		want.Kept = want.Kept[:min(n, limit)]
		for _, s := range rapid.Permutation(shards).Draw(t, "order") {
			got.Merge(&s, limit)
		}
		require.Equal(t, want.Others, got.Others)
		require.Len(t, got.Kept, len(want.Kept))
		for i, g := range got.Kept {
			require.Same(t, want.Kept[i], g)
		}
	})
}

// TestLinksAreBounded holds that what is kept of links is the same in any order, and what is not is counted.
func TestLinksAreBounded(t *testing.T) {
	const edges, names, logs = 1000, 100, 4000
	var want *Names
	for _, shards := range []int{1, 7} {
		parts, most := make([]Links, shards), [2]int{}
		for i := range logs {
			l := &Links{}
			l.Observe(&Log{
				Game: "Press", Mods: []Mod{{ID: strconv.Itoa(i / 2 % 250), Name: fmt.Sprint("Mod ", i/2%250)}},
				Groups: []LoggedGroup{{Signatures: []signature.ID{signature.ID(i / 2), signature.ID(i/2 + 1)}}},
			})
			into := &parts[i*31%logs%shards]
			into.merge(l, edges, names)
			most = [2]int{max(most[0], len(into.Edges)), max(most[1], len(into.Mods))}
		}
		if shards == 1 {
			require.Equal(t, [2]int{1001 + 500 + 1024, 2 * names}, most)
		}
		for i := range parts[1:] {
			parts[0].merge(&parts[1+i], edges, names)
		}
		got, lost := parts[0].resolve(edges, names)
		require.InEpsilon(t, logs/2-edges, lost.Edges, 0.1)
		require.InEpsilon(t, 150, lost.Names, 0.3)
		require.Len(t, got.Mods, names)
		if want == nil {
			want = got
		}
		require.Equal(t, want, got)
	}
	l := &Links{}
	for _, ids := range [][]signature.ID{{5, 9}, {3, 5, 8}, {8, 1 << 63}} {
		l.Observe(&Log{Game: "Press", Groups: []LoggedGroup{{Signatures: ids}}})
	}
	n, lost := l.Resolve()
	require.Zero(t, lost)
	require.Len(t, n.Signatures, 5)
	require.Equal(t, []signature.ID{3, 3, 4, 9},
		[]signature.ID{n.Root("Press", 9), n.Root("Press", 1<<63), n.Root("Press", 4), n.Root("Mill", 9)})
}
