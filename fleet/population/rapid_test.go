package population

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/testkit"
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
	data := testkit.Must(json.Marshal(v))
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
		listing := map[[2]string]map[summary.Hash]bool{} // players by game and name, and by id
		for _, log := range logs {
			for _, m := range log.Mods {
				named := [2]string{of(log.Game, m.Name), m.ID}
				if listing[named] == nil {
					listing[named] = map[summary.Hash]bool{}
				}
				listing[named][log.Player] = true
			}
		}
		is := func(game string, m Mod) string {
			var ids []string
			for named, players := range listing {
				if named[0] == of(game, m.ID) && len(players) >= k {
					ids = append(ids, named[1])
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
