package population

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/signature"
	"github.com/heedlog/heed/summary"
)

var someLogs = rapid.Custom(func(t *rapid.T) []*Log {
	logs := make([]*Log, rapid.IntRange(0, 12).Draw(t, "logs"))
	for i := range logs {
		text := rapid.Custom(func(t *rapid.T) string { return fmt.Sprintf("text %d", rapid.IntRange(0, 5).Draw(t, "n")) })
		path := fmt.Sprintf("secret/%d", i)
		logs[i] = &Log{
			Extent: Extent{
				strconv.Itoa(i), rapid.Uint64Range(9, 11).Draw(t, "bytes"),
				bytes.Repeat([]byte("mark"), rapid.IntRange(0, 2).Draw(t, "marks")),
			},
			Path: path, Copies: Distinct{uint64(i)},
			Player:   PlayerHash([]byte("x"), fmt.Sprintf("secret%d", rapid.IntRange(0, 5).Draw(t, "player"))),
			Part:     rapid.IntRange(0, 2).Draw(t, "part"),
			State:    rapid.SampledFrom([]string{"healthy", "broken"}).Draw(t, "state"),
			Complete: rapid.Bool().Draw(t, "complete"), Records: 10,
		}
		if v := rapid.IntRange(0, 4).Draw(t, "version"); v > 0 {
			logs[i].Game = fmt.Sprintf("Press 1.%d.0", 3*v)
		}
		for _, mod := range rapid.SliceOfNDistinct(rapid.IntRange(0, 7), 0, 4, rapid.ID).Draw(t, "mods") {
			id, name := fmt.Sprintf("mod%d", mod), fmt.Sprintf("Mod %d", mod/rapid.IntRange(1, 2).Draw(t, "name"))
			if rapid.IntRange(0, 3).Draw(t, "no id") == 0 {
				id, name = name, ""
			}
			logs[i].Mods = append(logs[i].Mods, Mod{id, name})
		}
		ids := rapid.SliceOfNDistinct(rapid.Uint64Range(1, 12), 0, 8, rapid.ID).Draw(t, "signatures")
		for len(ids) > 0 {
			n := rapid.IntRange(1, min(3, len(ids))).Draw(t, "members")
			g := LoggedGroup{
				Template: text.Draw(t, "template"), Sample: text.Draw(t, "sample"),
				Disposition: rapid.SampledFrom([]event.Disposition{event.Advisory, event.Blocking}).Draw(t, "disposition"),
				Rule:        rapid.SampledFrom([]string{"a", "b"}).Draw(t, "rule"), Count: rapid.Uint64Range(1, 9).Draw(t, "count"),
				Blame: []string{fmt.Sprintf("mod%d", rapid.IntRange(0, 7).Draw(t, "blamed"))},
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
		want, err := Sum(logs, nil, k)
		require.NoError(t, err)

		copies := map[string][]*Log{}
		for _, log := range logs {
			for range rapid.IntRange(1, 3).Draw(t, "deliveries") {
				copies[log.Key] = append(copies[log.Key], log)
			}
		}
		read := merged(t, copies, (*Log).Merge)
		linked, extents := map[int][]*Links{0: {{}}}, map[summary.Hash][]Extent{}
		for _, log := range read {
			links := &Links{}
			links.Observe(log)
			linked[0] = append(linked[0], links)
			extents[log.Player] = append(extents[log.Player], log.Extent)
		}
		for _, logs := range extents {
			links := &Links{Shorter: Shorter(rapid.Permutation(logs).Draw(t, "order"))}
			linked[0] = append(linked[0], links)
		}
		links := merged(t, linked, func(a, b *Links) { require.NoError(t, a.Merge(b)) })[0]
		players, sets := map[summary.Hash][]*Player{}, map[string][]*Set{}
		for _, log := range read {
			players[log.Player] = append(players[log.Player], NewPlayer(log, links))
			if links.Shorter[log.Key] {
				continue
			}
			set := NewSet(log, links)
			sets[set.Key()] = append(sets[set.Key()], set)
		}
		parts := map[int][]*Parts{0: {{}}}
		groups := map[signature.ID][]*Group{}
		for _, player := range merged(t, players, (*Player).Merge) {
			totals, seen := player.Count()
			parts[0] = append(parts[0], &Parts{Totals: *totals})
			for _, g := range seen {
				groups[g.Signature] = append(groups[g.Signature], g)
			}
		}
		for _, g := range merged(t, groups, (*Group).Merge) {
			parts[0] = append(parts[0], PartsOf(g, nil, nil))
		}
		for _, s := range merged(t, sets, (*Set).Merge) {
			parts[0] = append(parts[0], PartsOf(nil, s, nil))
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
		r, err := Sum(logs, nil, k)
		require.NoError(t, err)

		var ids []signature.ID // signatures that lead to each other
		one := map[signature.ID]map[signature.ID]bool{}
		for _, log := range logs {
			for _, g := range log.Groups {
				all := map[signature.ID]bool{}
				for _, id := range g.Signatures {
					all[id] = true
					maps.Copy(all, one[id])
				}
				for id := range all {
					one[id] = all
					ids = append(ids, id)
				}
			}
		}
		slices.Sort(ids)
		seen := func(has func(*Log) bool) uint64 {
			players := map[summary.Hash]bool{}
			for _, log := range logs {
				if has(log) {
					players[log.Player] = true
				}
			}
			return uint64(len(players))
		}
		owners := map[string]map[string]bool{}
		for _, log := range logs {
			for _, m := range log.Mods {
				if m.Name != "" {
					owners[m.Name] = maps.Collect(maps.All(owners[m.Name]))
					owners[m.Name][m.ID] = true
				}
			}
		}
		lists := func(mod string) func(*Log) bool {
			return func(l *Log) bool {
				return slices.ContainsFunc(l.Mods, func(m Mod) bool {
					ids := owners[m.ID] // of a mod that is known by its name
					return m.ID == mod && len(ids) != 1 || len(ids) == 1 && ids[mod]
				})
			}
		}
		has := func(id signature.ID, f func(g *LoggedGroup) bool) func(*Log) bool {
			return func(l *Log) bool {
				return slices.ContainsFunc(l.Groups, func(g LoggedGroup) bool { return one[id][g.Signatures[0]] && f(&g) })
			}
		}
		groups := map[signature.ID]bool{}
		for _, g := range r.Groups {
			require.False(t, groups[g.Signature])
			for id := range one[g.Signature] {
				groups[id] = true
				require.LessOrEqual(t, g.Signature, id)
			}
			require.Len(t, g.Members, len(one[g.Signature])-1)
			require.Equal(t, seen(has(g.Signature, func(*LoggedGroup) bool { return true })), g.Players)
			if g.Template != "" {
				n := seen(has(g.Signature, func(l *LoggedGroup) bool { return l.Template == g.Template }))
				require.GreaterOrEqual(t, n, uint64(k))
			}
			for _, s := range g.Samples {
				require.Equal(t, s.Count, seen(has(g.Signature, func(l *LoggedGroup) bool { return l.Sample == s.Name })))
				require.GreaterOrEqual(t, s.Count, uint64(k))
			}
			for _, b := range g.Blamed {
				require.GreaterOrEqual(t, max(seen(lists(b.Name)), b.Count), uint64(k))
			}
		}
		require.Len(t, groups, len(slices.Compact(ids)))
		for _, m := range r.Mods {
			require.Equal(t, m.Players, seen(lists(m.ID)))
			require.GreaterOrEqual(t, m.Players, uint64(k))
		}
		for _, v := range r.Versions {
			require.Equal(t, v.Count, seen(func(l *Log) bool { return l.Game == v.Name }))
			require.GreaterOrEqual(t, v.Count, uint64(k))
		}
		require.Equal(t, uint64(len(logs)), r.Logs)
		require.Equal(t, seen(func(*Log) bool { return true }), r.Players)
		if r.Compared != nil {
			require.Equal(t, seen(func(l *Log) bool { return l.Part == Before }), r.Compared.BeforePlayers)
			require.Equal(t, seen(func(l *Log) bool { return l.Part == After }), r.Compared.AfterPlayers)
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
			Extent: Extent{Key: strconv.Itoa(i)}, Path: strconv.Itoa(i), Player: summary.Hash(i), State: "broken",
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
	r, err := Sum(crowd(70, func(i int, log *Log) {
		if i%7 == 3 && i != 3 || i == 8 {
			log.Groups = append(log.Groups, fault(1))
		}
		if i%5 == 0 {
			log.Groups = append(log.Groups, fault(2))
		}
	}), nil, 5)
	require.NoError(t, err)
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
	r, err := Sum(crowd(40, func(i int, log *Log) {
		log.Game = []string{"Press 1.9.1", "Press 1.10.0"}[i%2]
		log.Part = PartOf(log.Game, "1.10")
		switch {
		case i%2 == 1 && i > 10:
			log.Groups = []LoggedGroup{fault(1)}
		case i%2 == 0 && i > 10:
			log.Groups = []LoggedGroup{fault(2)}
		}
		if i%3 == 0 {
			log.Groups = append(log.Groups, fault(3))
		}
	}), nil, 5)
	require.NoError(t, err)
	require.Equal(t, uint64(20), r.Compared.BeforePlayers)
	require.Equal(t, 3, r.Compared.Tested)
	require.Len(t, r.Compared.Changes, 2)
	what := map[signature.ID]string{}
	for _, c := range r.Compared.Changes {
		what[c.Signature] = c.What
		require.Less(t, c.P, 0.001)
	}
	require.Equal(t, map[signature.ID]string{1: "new", 2: "gone"}, what)
	i := slices.IndexFunc(r.Groups, func(g ReportGroup) bool { return g.Signature == 1 })
	require.Equal(t, "Press 1.10.0", r.Groups[i].First)
}

// TestClusters holds that logs of which each shares half with another are together.
func TestClusters(t *testing.T) {
	r, err := Sum(crowd(30, func(i int, log *Log) {
		switch i % 3 {
		case 0:
			log.Groups = []LoggedGroup{fault(1), fault(2), fault(3)}
		case 1:
			log.Groups = []LoggedGroup{fault(1), fault(2)}
		}
	}), nil, 5)
	require.NoError(t, err)
	require.Len(t, r.Clusters, 2)
	require.Equal(t, uint64(20), r.Clusters[0].Logs)
	require.Equal(t, []signature.ID{1, 2, 3}, r.Clusters[0].Groups)
	require.Empty(t, r.Clusters[1].Groups)
	require.Zero(t, r.OtherLogs)
}

// TestHostilePage holds that what logs and paths hold is text on the page.
func TestHostilePage(t *testing.T) {
	const evil = `<script>alert(1)</script>"'` + "\u202e"
	r, err := Sum(crowd(5, func(_ int, log *Log) {
		log.Game, log.Mods[0].Name = evil, evil
		g := fault(1)
		g.Template, g.Sample, g.Blame, g.Rule = evil, evil, []string{evil}, evil
		log.Groups, log.State = []LoggedGroup{g}, evil
	}), []Failure{{Path: evil, Error: evil}}, 5)
	require.NoError(t, err)
	page := string(r.HTML())
	require.NotContains(t, page, "<script")
	require.GreaterOrEqual(t, strings.Count(page, "&lt;script"), 8)
	require.Contains(t, page, "default-src &#39;none&#39;")
}

func TestVersions(t *testing.T) {
	require.Equal(t, -1, compareVersions("Press 1.9", "Press 1.10"))
	require.Equal(t, Neither, PartOf("Press", "1.0"))
}

func TestDistinct(t *testing.T) {
	var d Distinct
	for i := range uint64(20000) {
		d.add(Distinct{i * 0x9e3779b97f4a7c15})
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

// TestCopies holds that copies of a log are one, and whose it is does not depend on the order, or on a second delivery.
func TestCopies(t *testing.T) {
	copies := make([]*Log, 3)
	for i := range copies {
		path := strconv.Itoa(i)
		copies[i] = &Log{
			Extent: Extent{Key: "x"}, Path: path, Copies: Distinct{uint64(i + 7)}, Player: summary.Hash(i), Part: 1 + i%2,
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		one := *rapid.SampledFrom(copies).Draw(t, "first")
		for _, i := range rapid.Permutation([]int{0, 0, 1, 2}).Draw(t, "order") {
			one.Merge(copies[i])
		}
		require.Equal(t, []any{"0", summary.Hash(0), Before, uint64(3)},
			[]any{one.Path, one.Player, one.Part, one.Copies.Count()})
	})
	r, err := Sum(copies, nil, 1)
	require.NoError(t, err)
	require.Equal(t, []uint64{1, 1, 2, 1, 0},
		[]uint64{r.Logs, r.Players, r.Copies, r.Compared.BeforePlayers, r.Compared.AfterPlayers})
}

// TestShorter holds that a log is a shorter copy where a longer one begins as it does, up to its last mark.
func TestShorter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfDistinct(rapid.StringMatching("[ab]{0,7}"), rapid.ID).Draw(t, "texts")
		var logs []Extent
		want := map[string]bool{}
		for _, text := range texts {
			marked := text[:len(text)/2*2]
			logs = append(logs, Extent{text, uint64(len(text)), []byte(marked)})
			if marked != "" && slices.ContainsFunc(texts, func(other string) bool {
				return len(other) > len(text) && strings.HasPrefix(other, marked)
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
		for _, g := range want.Kept[min(n, limit):] {
			want.Others++
			want.leave(g.Weight())
		}
		want.Kept = want.Kept[:min(n, limit)]
		for _, s := range rapid.Permutation(shards).Draw(t, "order") {
			got.Merge(&s, limit)
		}
		require.Equal(t, want.Others, got.Others)
		require.Equal(t, want.Left, got.Left)
		require.Len(t, got.Kept, len(want.Kept))
		for i, g := range got.Kept {
			require.Same(t, want.Kept[i], g)
		}
	})
}
