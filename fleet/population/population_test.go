package population

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/report/summary"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

var someLogs = rapid.Custom(func(t *rapid.T) []*Log {
	logs := make([]*Log, rapid.IntRange(0, 12).Draw(t, "logs"))
	for i := range logs {
		text := rapid.Custom(func(t *rapid.T) string { return fmt.Sprintf("text %d", rapid.IntRange(0, 5).Draw(t, "n")) })
		logs[i] = &Log{
			Extent: Extent{
				strconv.Itoa(i), rapid.Uint64Range(9, 11).Draw(t, "bytes"),
				bytes.Repeat([]byte("mark"), rapid.IntRange(0, 2).Draw(t, "marks")), rapid.IntRange(0, 3).Draw(t, "part"),
				rapid.Bool().Draw(t, "crashed"),
			},
			Copies:   Distinct{uint64(i)},
			Player:   Pseudonym([]byte("x"), fmt.Sprintf("secret%d", rapid.IntRange(0, 5).Draw(t, "player"))),
			State:    rapid.SampledFrom([]string{"healthy", "broken"}).Draw(t, "state"),
			Complete: rapid.Bool().Draw(t, "complete"), Records: 10,
		}
		if logs[i].Crashed {
			logs[i].Reason = rapid.SampledFrom([]string{"", "out_of_memory"}).Draw(t, "reason")
		}
		if v := rapid.IntRange(0, 4).Draw(t, "version"); v > 0 {
			logs[i].Game = rapid.SampledFrom([]string{"", "Press", "Mill"}).Draw(t, "game")
			logs[i].Version = fmt.Sprintf("1.%d.0", 3*v)
		}
		for _, mod := range rapid.SliceOfNDistinct(rapid.IntRange(0, 7), 0, 4, rapid.ID).Draw(t, "mods") {
			id, name := fmt.Sprintf("mod%d", mod), fmt.Sprintf("Mod %d", mod/rapid.IntRange(1, 2).Draw(t, "name"))
			named := rapid.IntRange(0, 3).Draw(t, "no id") == 0
			if named {
				id, name = name, ""
			}
			logs[i].Mods = append(logs[i].Mods, Mod{id, name, named})
		}
		ids := rapid.SliceOfNDistinct(rapid.Uint64Range(1, 12), 0, 8, rapid.ID).Draw(t, "signatures")
		for len(ids) > 0 {
			n := rapid.IntRange(1, min(3, len(ids))).Draw(t, "members")
			g := LoggedGroup{
				Template: text.Draw(t, "template"), Sample: text.Draw(t, "sample"),
				Disposition: rapid.SampledFrom([]event.Disposition{event.Advisory, event.Blocking}).Draw(t, "disposition"),
				Rule:        rapid.SampledFrom([]string{"a", "b"}).Draw(t, "rule"), Count: rapid.Uint64Range(1, 9).Draw(t, "count"),
				Breaks: rapid.Bool().Draw(t, "breaks"),
				Blame:  []string{fmt.Sprintf("mod%d", rapid.IntRange(0, 7).Draw(t, "blamed"))},
			}
			for _, id := range ids[:n] {
				g.Signatures = append(g.Signatures, signature.ID(id))
			}
			slices.Sort(g.Signatures)
			ids = ids[n:]
			logs[i].Groups = append(logs[i].Groups, g)
		}
	}
	return logs
})

// travel is what happens to a value between workers.
func travel[T any](t *rapid.T, v *T) *T {
	data, err := json.Marshal(v)
	require.NoError(t, err)
	fresh := new(T)
	require.NoError(t, json.Unmarshal(data, fresh))
	return fresh
}

// merged merges values of each key in any order and grouping.
func merged[K comparable, T any](t *rapid.T, all map[K][]*T, merge func(a, b *T)) []*T {
	var out []*T
	for _, values := range all {
		for len(values) > 1 {
			i := rapid.IntRange(1, len(values)-1).Draw(t, "from")
			j := rapid.IntRange(0, i-1).Draw(t, "into")
			into, from := travel(t, values[j]), travel(t, values[i])
			merge(into, from)
			values[j] = into
			values = slices.Delete(values, i, i+1)
		}
		out = append(out, values...)
	}
	return out
}

// TestOrderAndSharding holds that a report is the same, byte for byte, in any order and sharding, and where logs are
// delivered twice.
func TestOrderAndSharding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logs := someLogs.Draw(t, "logs")
		k := rapid.IntRange(1, 3).Draw(t, "k")
		want := Sum(logs, nil, k)

		copies := map[string][]*Log{}
		for _, log := range logs {
			for range rapid.IntRange(1, 3).Draw(t, "deliveries") {
				copies[log.Key] = append(copies[log.Key], log)
			}
		}
		read := merged(t, copies, (*Log).Merge)
		linked, extents := map[int][]*Links{0: {{}}}, map[summary.Hash][]Extent{}
		for _, log := range read {
			links := &Links{K: k}
			links.Observe(log)
			linked[0] = append(linked[0], links)
			extents[log.Player] = append(extents[log.Player], log.Extent)
		}
		for _, logs := range extents {
			links := &Links{Shorter: Shorter(rapid.Permutation(logs).Draw(t, "order"))}
			linked[0] = append(linked[0], links)
		}
		names, lost := merged(t, linked, (*Links).Merge)[0].Resolve()
		players, sets := map[summary.Hash][]*Player{}, map[string][]*Set{}
		for _, log := range read {
			players[log.Player] = append(players[log.Player], NewPlayer(log, names))
			if names.Shorter[log.Key] {
				continue
			}
			set := NewSet(log, names)
			sets[set.Key()] = append(sets[set.Key()], set)
		}
		parts := map[int][]*Parts{0: {{Lost: lost}}}
		groups := map[string][]*Group{}
		for _, player := range merged(t, players, (*Player).Merge) {
			totals, seen := player.Count()
			parts[0] = append(parts[0], &Parts{Totals: *totals})
			for _, g := range seen {
				groups[g.Key()] = append(groups[g.Key()], g)
			}
		}
		for _, g := range merged(t, groups, (*Group).Merge) {
			parts[0] = append(parts[0], g.Parts())
		}
		for _, s := range merged(t, sets, (*Set).Merge) {
			parts[0] = append(parts[0], s.Parts())
		}
		got := NewReport(merged(t, parts, (*Parts).Merge)[0], k)
		require.Equal(t, string(want.JSON()), string(got.JSON()))
		require.Equal(t, string(want.HTML()), string(got.HTML()))
	})
}

// TestReportIsTrue holds a report to what a person would count, and to show nothing that fewer than k players have.
func TestReportIsTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logs := someLogs.Draw(t, "logs")
		for _, log := range logs {
			log.Marks = nil // no copies
		}
		k := rapid.IntRange(1, 3).Draw(t, "k")
		r := Sum(logs, nil, k)

		type key struct {
			game string
			id   signature.ID
		}
		all := map[key]bool{}
		one := map[key]map[signature.ID]bool{} // signatures that lead to each other
		for _, log := range logs {
			for _, g := range log.Groups {
				linked := map[signature.ID]bool{}
				for _, id := range g.Signatures {
					linked[id] = true
					maps.Copy(linked, one[key{log.Game, id}])
				}
				for id := range linked {
					one[key{log.Game, id}] = linked
					all[key{log.Game, id}] = true
				}
			}
		}
		seen := func(has func(*Log) bool) uint64 {
			players := map[summary.Hash]bool{}
			for _, log := range logs {
				if has(log) {
					players[log.Player] = true
				}
			}
			return uint64(len(players))
		}
		listing := map[string]map[string]map[summary.Hash]bool{} // players by game and name, and by id
		for _, log := range logs {
			for _, m := range log.Mods {
				name := of(log.Game, m.Name)
				if m.Name == "" {
					continue
				}
				if listing[name] == nil {
					listing[name] = map[string]map[summary.Hash]bool{}
				}
				if listing[name][m.ID] == nil {
					listing[name][m.ID] = map[summary.Hash]bool{}
				}
				listing[name][m.ID][log.Player] = true
			}
		}
		is := func(game string, m Mod) string {
			var ids []string
			for id, players := range listing[of(game, m.ID)] {
				if len(players) >= k {
					ids = append(ids, id)
				}
			}
			if m.Named && len(ids) == 1 {
				return ids[0]
			}
			return m.ID
		}
		lists := func(game, mod string) func(*Log) bool {
			return func(l *Log) bool {
				return l.Game == game && slices.ContainsFunc(l.Mods, func(m Mod) bool { return is(game, m) == mod })
			}
		}
		plays := func(game string) func(*Log) bool { return func(l *Log) bool { return l.Game == game } }
		masked := 0
		groups := map[key]bool{}
		for _, g := range r.Groups {
			if g.GameMasked {
				require.Less(t, g.Players, uint64(k))
				require.Empty(t, g.Game)
				masked += 1 + len(g.Members)
				continue
			}
			require.GreaterOrEqual(t, seen(plays(g.Game)), uint64(k))
			linked := one[key{g.Game, g.Signature}]
			require.False(t, groups[key{g.Game, g.Signature}])
			for id := range linked {
				groups[key{g.Game, id}] = true
				require.LessOrEqual(t, g.Signature, id)
			}
			has := func(f func(g *LoggedGroup) bool) func(*Log) bool {
				return func(l *Log) bool {
					return l.Game == g.Game &&
						slices.ContainsFunc(l.Groups, func(g LoggedGroup) bool { return linked[g.Signatures[0]] && f(&g) })
				}
			}
			require.Len(t, g.Members, len(linked)-1)
			require.Equal(t, seen(has(func(*LoggedGroup) bool { return true })), g.Players)
			require.Equal(t, seen(has(func(l *LoggedGroup) bool { return l.Breaks })), g.Breaks)
			if g.Template != "" {
				n := seen(has(func(l *LoggedGroup) bool { return l.Template == g.Template }))
				require.GreaterOrEqual(t, n, uint64(k))
			}
			for _, s := range g.Samples {
				require.Equal(t, s.Count, seen(has(func(l *LoggedGroup) bool { return l.Sample == s.Name })))
				require.GreaterOrEqual(t, s.Count, uint64(k))
			}
			mentions := map[string]bool{}
			for _, l := range logs {
				for _, in := range l.Groups {
					if l.Game == g.Game && linked[in.Signatures[0]] {
						mentions[fmt.Sprint(l.Player, in.Sample)] = true
					}
				}
			}
			for _, s := range g.Samples {
				g.Masked += s.Count
			}
			require.Len(t, mentions, int(g.Masked))
			for _, b := range g.Blamed {
				require.GreaterOrEqual(t, max(seen(lists(g.Game, b.Name)), b.Count), uint64(k))
			}
		}
		require.Equal(t, len(all), len(groups)+masked)
		for _, g := range r.Games {
			require.Equal(t, g.Players, seen(plays(g.Name)))
			require.Equal(t, g.Listed, seen(func(l *Log) bool { return l.Game == g.Name && len(l.Mods) > 0 }))
			require.GreaterOrEqual(t, g.Players, uint64(k))
		}
		for _, m := range r.Mods {
			require.Equal(t, m.Players, seen(lists(m.Game, m.ID)))
			require.GreaterOrEqual(t, m.Players, uint64(k))
		}
		for _, v := range r.Versions {
			require.Equal(t, v.Count, seen(func(l *Log) bool { return l.Game == v.Game && l.Version == v.Name }))
			require.GreaterOrEqual(t, v.Count, uint64(k))
		}
		require.Equal(t, uint64(len(logs)), r.Logs)
		require.Equal(t, seen(func(*Log) bool { return true }), r.Players)
		require.Equal(t, seen(func(l *Log) bool { return l.Crashed }), r.Crashed)
		for _, c := range r.Reasons {
			require.Equal(t, c.Count, seen(func(l *Log) bool { return l.Crashed && l.Reason == c.Name }))
		}
		if r.Compared != nil {
			require.Equal(t, seen(func(l *Log) bool { return l.Part&Before != 0 }), r.Compared.BeforePlayers)
			require.Equal(t, seen(func(l *Log) bool { return l.Part&After != 0 }), r.Compared.AfterPlayers)
		}
		in := r.OtherLogs
		for _, c := range r.Clusters {
			require.GreaterOrEqual(t, c.Players, uint64(k))
			in += c.Logs
		}
		require.Equal(t, r.Logs, in)
		require.NotContains(t, string(r.JSON())+string(r.HTML()), "secret")
	})
}

// TestTallyIsExact holds that what a full tally keeps is counted exactly, and is the same in any order.
func TestTallyIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOf(rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 1, 2, -1)).Draw(t, "keys")
		all, whole := Tally{}, Tally{}
		var shards [3]Tally
		for _, key := range keys {
			whole.add(Tally{key: 1}, 100)
			shards[rapid.IntRange(0, 2).Draw(t, "shard")].add(Tally{key: 1}, 4)
		}
		for _, s := range rapid.Permutation(shards[:]).Draw(t, "order") {
			all.add(s, 4)
		}
		whole.trim(4)
		require.Equal(t, whole, all)
	})
}

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

// TestCulprit holds that the mod that a fault goes with is named, and that none is where the fault is anybody's.
func TestCulprit(t *testing.T) {
	r := Sum(crowd(70, func(i int, log *Log) {
		if i%7 == 3 && i != 3 || i == 8 {
			log.Groups = append(log.Groups, fault(1))
		}
		if i%5 == 0 {
			log.Groups = append(log.Groups, fault(2))
		}
	}), nil, 5)
	require.Len(t, r.Groups, 2)
	require.Empty(t, r.Groups[0].Mods)
	lift := r.Groups[1].Mods
	require.Len(t, lift, 1)
	require.Equal(t, "mod3", lift[0].ID)
	require.Equal(t, []uint64{10, 9, 60, 1}, []uint64{lift[0].With, lift[0].WithGroup, lift[0].Without, lift[0].OnlyGroup})
	require.Less(t, lift[0].P, 1e-6)
	require.Greater(t, lift[0].Low, 3.0)
	require.Equal(t, 7, r.Groups[1].Tested, "who has the base is everybody")
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
	}), nil, 5)
	require.Equal(t, uint64(20), r.Compared.BeforePlayers)
	require.Equal(t, 4, r.Compared.Tested)
	require.Len(t, r.Compared.Changes, 2)
	what := map[signature.ID]string{}
	for _, c := range r.Compared.Changes {
		what[c.Signature] = c.What
		require.Less(t, c.P, 0.001)
	}
	require.Equal(t, map[signature.ID]string{1: "new", 2: "gone"}, what)
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

// TestClusters holds that logs of which each shares half with another are together.
func TestClusters(t *testing.T) {
	r := Sum(crowd(30, func(i int, log *Log) {
		switch i % 3 {
		case 0:
			log.Groups = []LoggedGroup{fault(1), fault(2), fault(3)}
		case 1:
			log.Groups = []LoggedGroup{fault(1), fault(2)}
		}
	}), nil, 5)
	require.Len(t, r.Clusters, 2)
	require.Equal(t, uint64(20), r.Clusters[0].Logs)
	require.Equal(t, []signature.ID{1, 2, 3}, r.Clusters[0].Groups)
	require.Empty(t, r.Clusters[1].Groups)
	require.Zero(t, r.OtherLogs)
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

// TestNameOfMod holds that an id that fewer than k players' logs list does not stand for a name that many list, and
// neither of two ids that k list.
func TestNameOfMod(t *testing.T) {
	named, one := ReportMod{ID: "Farm", Players: 6}, ReportMod{ID: "x.farm", Name: "Farm", Players: 5}
	for _, c := range []struct {
		listing, rivals int
		want            []ReportMod
	}{
		{4, 4, []ReportMod{named}},
		{5, 4, []ReportMod{{ID: "x.farm", Name: "Farm", Players: 11}}},
		{5, 5, []ReportMod{named, {ID: "another.farm", Name: "Farm", Players: 5}, one}},
	} {
		r := Sum(crowd(6+c.listing+c.rivals, func(i int, log *Log) {
			switch log.Mods = []Mod{{ID: "Farm", Named: true}}; {
			case i >= 6+c.listing: // four have no power over what others list
				log.Mods = []Mod{{ID: "another.farm", Name: "Farm"}}
			case i >= 6:
				log.Mods = []Mod{{ID: "x.farm", Name: "Farm"}}
			}
		}), nil, 5)
		require.Equal(t, c.want, r.Mods)
		require.Equal(t, c.listing == 5, strings.Contains(string(r.JSON()), "x.farm"))
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

// TestNothingToCompare holds that a comparison without players on one side is none.
func TestNothingToCompare(t *testing.T) {
	r := Sum(crowd(10, func(_ int, log *Log) { log.Part, log.Groups = After, []LoggedGroup{fault(1)} }), nil, 5)
	require.Empty(t, r.Compared.Changes)
	require.Contains(t, string(r.HTML()), "Nothing to compare")
}

// TestHostilePage holds that what logs and paths hold is text on the page.
func TestHostilePage(t *testing.T) {
	const evil = `<script>alert(1)</script>"'` + "\u202e"
	r := Sum(crowd(5, func(_ int, log *Log) {
		log.Game, log.Version, log.Mods[0].Name = evil, evil, evil
		g := fault(1)
		g.Template, g.Sample, g.Blame, g.Rule = evil, evil, []string{evil}, evil
		log.Groups, log.State = []LoggedGroup{g}, evil
	}), []Failure{{Path: evil, Error: evil}}, 5)
	require.NotEmpty(t, r.Groups[0].First, "k players have the version")
	page := string(r.HTML())
	require.NotContains(t, page, "<script")
	require.GreaterOrEqual(t, strings.Count(page, "&lt;script"), 8)
	require.Contains(t, page, "default-src &#39;none&#39;")
}

func TestVersions(t *testing.T) {
	require.Equal(t, -1, compareVersions("Press 1.9", "Press 1.10"))
	require.Equal(t, 1, compareVersions("v1.10", "1.9"))
	require.Equal(t, Neither, PartOf("Press", "1.0"))
	for _, c := range []struct {
		game, split string
		want        int
	}{
		{"Press 1.5.9 rev3", "v1.6", Before},
		{"Press 1.6.0", "v1.6", After},
		{"Press 1.6", "v1.6", After},
		{"Euro Truck 2 v1.49", "1.49", After},
		{"Euro Truck 2 v1.48", "1.49", Before},
		{"Press 1.6.4566 rev607", "1.6.4566", After},
		{"Press 1.6.4566 rev607", "1.6.4566 rev607", After},
		{"Press 1.5", "Press 1.6", Before},
		{"Press v1.6", "Press v1.6", After},
		{"Mill 1.5", "Press 1.6", Neither},
		{"Press 1.9", "1.09", After},
	} {
		require.Equal(t, c.want, PartOf(c.game, c.split), c)
	}
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

// TestSchema holds schema.json to the types; HEED_UPDATE=1 writes it.
func TestSchema(t *testing.T) {
	text, err := schema.For(reflect.TypeFor[Report](), false)
	require.NoError(t, err)
	var indented any
	require.NoError(t, json.Unmarshal(text, &indented))
	text, err = json.MarshalIndent(indented, "", " ")
	require.NoError(t, err)
	text = append(text, '\n')
	if os.Getenv("HEED_UPDATE") != "" {
		require.NoError(t, os.WriteFile("schema.json", text, 0o644))
	}
	want, err := os.ReadFile("schema.json")
	require.NoError(t, err)
	require.Equal(t, string(want), string(text))
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

// TestGames holds that the same signature, mod and version in two games are two: neither has the other's players.
func TestGames(t *testing.T) {
	logs := crowd(80, func(i int, log *Log) {
		log.Game, log.Version = []string{"Press", "Mill"}[i%2], "1.0"
		log.Mods = []Mod{{ID: fmt.Sprintf("mod%d", i/2%4)}}
		g := fault(1)
		if i%2 == 0 && i/2%4 == 3 || i%2 == 1 && i%3 == 0 {
			g.Signatures = append(g.Signatures, signature.ID(2+i%2))
			log.Groups = append(log.Groups, g)
		}
	})
	logs[78].Game, logs[79].Game = "Rare", ""
	r := Sum(logs, nil, 5)
	require.Equal(t, []ReportGame{{"Mill", 39, 39, 0, 0}, {"Press", 39, 39, 0, 0}}, r.Games)
	require.Equal(t, uint64(2), r.OtherGames)
	require.Len(t, r.Mods, 8)
	require.Equal(t, []ReportVersion{{"Mill", Counted{"1.0", 39}}, {"Press", Counted{"1.0", 39}}}, r.Versions)
	byGame := map[string]ReportGroup{}
	for _, g := range r.Groups {
		byGame[g.Game] = g
	}
	press, mill := byGame["Press"], byGame["Mill"]
	require.Equal(t, []signature.ID{2}, press.Members)
	require.Equal(t, []signature.ID{3}, mill.Members)
	require.Equal(t, "1.0", press.First)
	require.Empty(t, mill.Mods)
	require.Len(t, press.Mods, 1)
	lift := press.Mods[0]
	require.Equal(t, []uint64{9, 9, 30, 0}, []uint64{lift.With, lift.WithGroup, lift.Without, lift.OnlyGroup})
	require.Equal(t, 4, press.Tested)
	require.True(t, byGame[""].GameMasked)
	require.NotContains(t, string(r.JSON())+string(r.HTML()), "Rare")
}

// TestLinksAreBounded holds that what is kept of links is the same in any order, and what is not is counted.
func TestLinksAreBounded(t *testing.T) {
	const edges, names, logs = 1000, 100, 4000
	var want *Names
	for _, shards := range []int{1, 7} {
		parts := make([]Links, shards)
		for i := range logs {
			l := &Links{}
			l.Observe(&Log{
				Game: "Press", Mods: []Mod{{ID: strconv.Itoa(i / 2 % 150), Name: fmt.Sprint("Mod ", i/2%150)}},
				Groups: []LoggedGroup{{Signatures: []signature.ID{signature.ID(i / 2), signature.ID(i/2 + 1)}}},
			})
			parts[i*31%logs%shards].merge(l, edges, names)
		}
		for i := range parts[1:] {
			parts[0].merge(&parts[1+i], edges, names)
		}
		got, lost := parts[0].resolve(edges, names)
		require.InEpsilon(t, logs/2-edges, lost.Edges, 0.1)
		require.InEpsilon(t, 50, lost.Names, 0.3)
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
	require.Equal(t, []signature.ID{3, 3, 4, 9},
		[]signature.ID{n.Root("Press", 9), n.Root("Press", 1<<63), n.Root("Press", 4), n.Root("Mill", 9)})
}

// TestAnchors holds that each link of the page leads to a group that it shows.
func TestAnchors(t *testing.T) {
	r := Sum(crowd(80, func(i int, log *Log) {
		log.Game, log.Part = []string{"Press", "Mill"}[i/40], 1+i%2
		for id := range signature.ID(150) {
			if i%2 == 0 || id >= 40 {
				log.Groups = append(log.Groups, fault(id+1))
			}
		}
	}), nil, 1)
	page := string(r.HTML())
	ids, links := map[string]bool{}, 0
	for _, m := range regexp.MustCompile(`id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		require.False(t, ids[m[1]])
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
		require.True(t, ids[m[1]], m[1])
		links++
	}
	require.Len(t, ids, pageGroups)
	require.Positive(t, links)
	require.Contains(t, page, "<td><code>fault 0000000000000001</code></td><td>Mill</td>")
}

// TestPathsAreUnknown holds that a log has nothing of its path and its player's name that is found without the salt.
func TestPathsAreUnknown(t *testing.T) {
	const path, player = "/players/maria/Player.log", "maria"
	logs := map[string]bool{}
	for _, salt := range []string{"a", "b"} {
		l := NewLog(Pseudonym([]byte(salt), path), Pseudonym([]byte(salt), player), Neither, &summary.Session{}, nil)
		data, err := json.Marshal(l)
		require.NoError(t, err)
		require.NotContains(t, string(data), player)
		require.NotContains(t, string(data), fmt.Sprint(xxhash.Sum64String(path)))
		logs[string(data)] = true
	}
	require.Len(t, logs, 2)
}

// TestManyTexts holds that what is not shown of texts is counted exactly, however many there are.
func TestManyTexts(t *testing.T) {
	r := Sum(crowd(200, func(i int, log *Log) {
		for n, sample := range []string{"the same", "of " + strconv.Itoa(i), "of two: " + strconv.Itoa(i/2)} {
			g := fault(1)
			g.Signatures = []signature.ID{1, signature.ID(n + 2)}
			g.Sample = sample
			log.Groups = append(log.Groups, g)
		}
	}), nil, 5)
	require.Equal(t, []Counted{{"the same", 200}}, r.Groups[0].Samples)
	require.Equal(t, uint64(2*200), r.Groups[0].Masked)
}

// TestHeadline holds that the first sentence says how many players crashed, and why.
func TestHeadline(t *testing.T) {
	for want, reasons := range map[string][]string{
		"0 of 10 players crashed.":                                                       {},
		"1 of 10 players crashed, out of memory.":                                        {"out_of_memory"},
		"2 of 10 players crashed, all out of memory.":                                    {"out_of_memory", "out_of_memory"},
		"2 of 10 players crashed, all for an unknown reason.":                            {"", ""},
		"3 of 10 players crashed: 2 out of memory, 1 for an unknown reason.":             {"out_of_memory", "", "out_of_memory"},
		"3 of 10 players crashed: 1 for an unknown reason, 1 graphics, 1 native module.": {"graphics", "native_module", ""},
	} {
		r := Sum(crowd(10, func(i int, log *Log) {
			if log.Crashed = i < len(reasons); log.Crashed {
				log.Reason = reasons[i]
			}
		}), nil, 5)
		require.Equal(t, want, r.Headline)
		require.Contains(t, string(r.HTML()), "<h1>"+want+"</h1>")
	}
}

// TestBreaksPlayFirst holds that the page lists what breaks play first, whatever more players have.
func TestBreaksPlayFirst(t *testing.T) {
	r := Sum(crowd(10, func(i int, log *Log) {
		rare, common := fault(1), fault(2)
		rare.Breaks = i < 3
		if i < 6 {
			log.Groups = append(log.Groups, rare)
		}
		log.Groups = append(log.Groups, common)
	}), nil, 5)
	require.Equal(t, "fault 0000000000000002", r.Groups[0].Template)
	page := string(r.HTML())
	breaks, other := strings.Index(page, "<h2>Breaks play</h2>"), strings.Index(page, "<h2>Other problems</h2>")
	at := func(text string) int { return strings.Index(page, text) }
	require.Less(t, breaks, at("fault 0000000000000001"))
	require.Less(t, at("fault 0000000000000001"), other)
	require.Less(t, other, at("fault 0000000000000002"))
	require.Contains(t, page, "3 of 6 players")
}

// TestOneIsNoPlural holds that the page counts one thing as one.
func TestOneIsNoPlural(t *testing.T) {
	one := Sum(crowd(1, func(_ int, log *Log) { log.Groups = append(log.Groups, fault(1)) }), nil, 1)
	one.OtherGames, one.OtherVersions, one.OtherMods, one.OtherLogs, one.OtherClusters = 1, 1, 1, 1, 1
	one.Copies, one.LeftOut, one.MoreGroups, one.MoreEntries, one.K = 1, 1, 1, 1, 5
	require.Empty(t, regexp.MustCompile(`\b1 (further )?\w+[^s]s\b`).FindAllString(string(one.HTML()), -1))
}

// TestBreaks holds that a group breaks play by its rule or its number, in a log whose game did not go on.
func TestBreaks(t *testing.T) {
	set, err := rules.Compile(rules.File{Name: "x.yaml", Data: []byte(`version: 1
rules:
  - {id: x.crash, when: 'true', disposition: blocking, tags: [crash]}
`)})
	require.NoError(t, err)
	group := func(rule string, n uint64) summary.Group {
		return summary.Group{Rule: rule, Count: n, Disposition: event.Blocking, Signature: signature.ID(n)}
	}
	for want, s := range map[string]summary.Session{
		"[true false true false]": {State: "crashed"}, "[false false false false]": {State: "wrong"},
	} {
		s.Groups = []summary.Group{
			group("x.crash", 1), group("default.exception.error", 2), group("default.exception.error", 10),
			group("default.log.error", 11),
		}
		var got []bool
		for _, g := range NewLog(1, 1, Neither, &s, set).Groups {
			got = append(got, g.Breaks)
		}
		require.Equal(t, want, fmt.Sprint(got))
	}
}
