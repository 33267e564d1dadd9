package population

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// town returns the sessions of forty players of two games, the second of every third player in another version.
func town() (logs []*Log) {
	mod := func(name, id string) capture.ListedMod {
		return capture.ListedMod{Mod: capture.Mod{Name: name, PackageID: id}}
	}
	set := testkit.Must(rules.Compile(rules.File{Name: "x.yaml", Data: []byte("version: 1\n")}))
	for i := range 40 {
		for n := range 1 + i%3/2 {
			s := &summary.Session{
				Log: summary.Log{Hash: summary.Hash(100*n + i), Bytes: 5000}, Records: uint64(50 + i), Complete: i%9 != 0,
				State: []string{"broken", "healthy", "crashed"}[i%3], MoreMods: i % 2,
				Mods: []capture.ListedMod{
					mod("Base", "Acme.Base"), mod("base again", "acme.base"), mod("loose", ""), mod("", ""), mod("Split", []string{"a.split", "b.split"}[i%2]),
				},
			}
			s.Facts.Game = []string{"Press 1.9", "Press 1.10", "Mill 2.0", "Press"}[(i+n)%4]
			if i == 5 {
				s.Facts.Game = "Rare\x00 1.0"
			}
			if s.State == "crashed" {
				s.Reason = []string{"out_of_memory", "", "graphics"}[i/3%3]
			}
			if i%4 < 2 {
				s.Mods = append(s.Mods, mod("Rollers", "press.rollers"))
			} else if i%8 == 2 {
				s.Mods = append(s.Mods, mod("Rollers", ""))
			}
			group := func(id signature.ID, sample string, members ...signature.ID) {
				s.Groups = append(s.Groups, summary.Group{
					Signature: id, Members: members, Template: fmt.Sprint("template ", id%7), Sample: sample, Count: uint64(i + 1),
					Disposition: event.Blocking, Severity: event.SeverityError + event.Severity(i%2),
					Rule: []string{"default.exception.error", "b"}[i/2%2], Blame: []summary.Blame{
						{Mod: "Rollers"}, {Mod: "Rollers"}, {Mod: "X", PackageID: "Acme.Base"}, {Mod: fmt.Sprint("one of ", i%5)}, {},
					},
				})
			}
			group(9, "left out")
			s.Groups[0].Disposition = event.Ignore
			if i%4 < 2 && i != 8 || i == 3 {
				group(30, "a roll of "+strconv.Itoa(i/8), 20, 40)
			}
			if i%4 == 0 {
				group(50, "older")
			}
			if i%2 == 1 {
				group(60+signature.ID(n), "odd", 70)
				s.Groups[len(s.Groups)-1].Disposition = event.Advisory
			}
			if i%13 == 0 {
				group(80, "rare")
			}
			logs = append(logs, NewLog(summary.Hash(1000+i), summary.Hash(i), i%4, s, set))
		}
	}
	return logs
}

// TestGolden holds a log and the report of a population to a file, figure by figure.
func TestGolden(t *testing.T) {
	logs := town()
	var out strings.Builder
	for _, log := range logs[:4] {
		out.Write(testkit.Must(json.MarshalIndent(log, "", " ")))
		out.WriteByte('\n')
	}
	for _, log := range []*Log{logs[2], logs[0]} {
		player := NewPlayer(log, &Names{})
		slices.SortFunc(player.Groups, (*Group).Compare)
		out.Write(testkit.Must(json.MarshalIndent(player, "", " ")))
		out.WriteByte('\n')
	}
	r := Sum(logs, []Failure{{"b", "1"}, {"a <&>", "3"}, {"b", "2"}}, 4)
	out.Write(r.JSON())
	require.Contains(t, string(r.HTML()), "28.2 (1.8 to 444)")
	testkit.Golden(t, "testdata/report.txt", out.String())
	require.Nil(t, Sum(crowd(3, func(int, *Log) {}), nil, 1).Compared, "no log is in a population")
}

// TestMergesAddUp holds that the parts of a population that are merged with themselves have each count twice.
func TestMergesAddUp(t *testing.T) {
	part := func() *Parts {
		return &Parts{
			Totals: Totals{
				Players: 1, Logs: 2, Copies: 3, PartPlayers: [parts]uint64{4, 5, 6}, PartLogs: [parts]uint64{7, 8, 9},
				Incomplete: 10, Records: 11, Entries: 12, LeftOut: 13, ModMentions: 14, States: Tally{"a": 15},
				Crashed: Tally{"b": 16}, Games: Tally{"c": 17}, PartGames: [parts]Tally{{"d": 18}, {"e": 19}, {"f": 20}},
				Listed: Tally{"g": 21}, Versions: Tally{"h": 22}, Mods: Tally{"i": 23}, Names: Tally{"j": 24},
			},
			Lost: Lost{25, 26}, Groups: Top[*Group]{Others: 27}, Sets: Top[*Set]{Others: 28}, Failures: Top[Failure]{Others: 29},
		}
	}
	group := &Group{
		Game: "Press", Signature: 1, Members: []signature.ID{1, 2}, Players: 3, Logs: 4, PartPlayers: [parts]uint64{5, 6, 7},
		PartLogs: [parts]uint64{8, 9, 10}, Entries: 11, Breaks: 12, Disposition: event.Advisory,
		Severity: event.SeverityWarning, Rules: Tally{"a": 13}, Versions: Tally{"b": 14}, Templates: Tally{"c": 15},
		Samples: Tally{"d": 16}, Mentions: 17, Blamed: Tally{"e": 18}, Listed: 19, Mods: Tally{"f": 20},
	}
	set := &Set{"Press", []signature.ID{1, 2}, 3, Distinct{4}, Tally{"a": 5}}
	p, g, s := part(), Group{}, Set{}
	p.Merge(part())
	for range 2 {
		g.Merge(group)
		s.Merge(set)
	}
	testkit.Golden(t, "testdata/merged.txt", string(testkit.Must(json.MarshalIndent([]any{p, g, s}, "", " ")))+"\n")
	higher := *group
	higher.Disposition, higher.Severity = event.Blocking, event.SeverityError
	g.Merge(&higher)
	g.Merge(group)
	require.Equal(t, []any{event.Blocking, event.SeverityError}, []any{g.Disposition, g.Severity})
}

// TestBounds holds tables to the number of entries that they keep: those with the least hashes, or the first.
func TestBounds(t *testing.T) {
	var log Log
	texts := func(n int, key func(string) string) (keys []string) {
		for i := range n {
			keys = append(keys, key(strconv.Itoa(i)))
		}
		slices.SortFunc(keys, compareByHash)
		return keys
	}
	log.Game, log.Player = "Press", 1
	for i := range maxPlayerGroups + 1 {
		log.Groups = append(log.Groups, fault(signature.ID(i)))
	}
	player := NewPlayer(&log, &Names{})
	require.Len(t, player.Groups, 4096)
	last := slices.MaxFunc(log.Groups, func(a, b LoggedGroup) int {
		return compareByHash(of("Press", a.Signatures[0].String()), of("Press", b.Signatures[0].String()))
	})
	require.False(t, slices.ContainsFunc(player.Groups, func(g *Group) bool { return g.Signature == last.Signatures[0] }))
	totals, _ := player.Count()
	require.Equal(t, []uint64{4097, 1}, []uint64{totals.Entries, totals.LeftOut})
	r := NewReport(&Parts{Totals: *totals}, 1)
	require.Equal(t, []uint64{1, 4096}, []uint64{r.LeftOut, r.MoreEntries})

	byHash := texts(257, func(n string) string { return signature.ID(testkit.Must(strconv.Atoi(n))).String() })
	slices.Sort(byHash[:256])
	log.Groups = log.Groups[:257]
	var kept []string
	for _, id := range NewSet(&log, &Names{}).Groups {
		kept = append(kept, id.String())
	}
	require.Equal(t, byHash[:256], kept)

	l := Links{K: 1}
	ids := texts(17, func(n string) string { return "id" + n })
	for _, id := range ids {
		l.Observe(&Log{Mods: []Mod{{ID: id, Name: "Name"}}})
	}
	require.Len(t, l.Mods[of("", "Name")], 16)
	require.NotContains(t, l.Mods[of("", "Name")], ids[16])

	large := Tally{}
	for _, key := range texts(maxMods+1, func(n string) string { return n }) {
		large[key] = 1
	}
	small := large.first(maxGames + 1)
	all, g := Totals{}, Group{}
	all.Merge(&Totals{
		States: small, Crashed: small, Games: small, Listed: small, Versions: small, Mods: large, Names: large,
		PartGames: [parts]Tally{small, small, small},
	})
	g.Merge(&Group{Rules: small, Versions: small, Templates: small, Samples: small, Blamed: small, Mods: large})
	require.Equal(t, []int{32, 32, 1024, 1024, 1024, 32768, 32768, 1024, 32, 1024, 256, 256, 256, 32768}, []int{
		len(all.States), len(all.Crashed), len(all.Games), len(all.Listed), len(all.Versions), len(all.Mods), len(all.Names),
		len(all.PartGames[2]), len(g.Rules), len(g.Versions), len(g.Templates), len(g.Samples), len(g.Blamed), len(g.Mods),
	})

	var p Parts
	for i := range 1001 {
		p.Merge((&Group{Signature: signature.ID(i)}).Parts())
		p.Merge((&Set{Game: strconv.Itoa(i)}).Parts())
		p.Merge(Failure{Path: strconv.Itoa(i)}.Parts())
	}
	require.Equal(t, []int{1000, 1000, 1000}, []int{len(p.Groups.Kept), len(p.Sets.Kept), len(p.Failures.Kept)})
	r = NewReport(&p, 1)
	require.Equal(t, []uint64{1, 1001, 1}, []uint64{r.MoreGroups, r.OtherClusters, r.MoreFailures})

	two := &Links{Mods: map[string]Owners{"a": {}, "b": {}}, Edges: []Edge{{1, 2, 3}, {1, 2, 4}}}
	_, lost := two.resolve(2, 2)
	require.Zero(t, lost)
	_, lost = two.resolve(1, 1)
	require.Equal(t, Lost{1, 1}, lost)
}

// TestShown holds the report and its page to the number of lines that they have: one more of each is counted.
func TestShown(t *testing.T) {
	r := Sum(crowd(70, func(i int, log *Log) {
		log.Game, log.Part = "Press", 1+i%2
		for m := range 201 {
			log.Mods = append(log.Mods, Mod{ID: fmt.Sprint("more ", m)})
		}
		for id := range 201 {
			g := fault(signature.ID(2 * (id + 1)))
			for m := range 11 {
				g.Blame = append(g.Blame, fmt.Sprint("more ", m))
			}
			g.Rule, g.Sample = fmt.Sprint("rule ", i%11), fmt.Sprint("sample ", i%8)
			if g.Breaks = id == 7 && i == 0; i%2 == 0 && (i > 2 || id > 0) {
				log.Groups = append(log.Groups, g)
			}
		}
	}), nil, 5)
	g := r.Groups[0]
	require.Equal(t, []uint64{1, 8}, []uint64{g.OtherBlamed, g.Masked})
	require.Equal(t, []int{10, 10, 3}, []int{len(g.Blamed), len(g.Rules), len(g.Samples)})
	require.Equal(t, []int{200, 1, 201}, []int{len(r.Compared.Changes), r.Compared.More, r.Compared.Tested})
	require.Equal(t, []int{1, 30, 171}, []int{len(r.Clusters) - 1, len(r.Clusters[0].Groups), r.Clusters[0].More})
	page := string(r.HTML())
	for _, text := range []string{"1 more groups are in", "9 more are in", `id="g199"`, `href="#g0"`, "1 changes are not listed"} {
		require.Contains(t, page, text)
	}
	require.Less(t, strings.Index(page, `id="g0"`), strings.Index(page, "<h2>Other problems"))
	require.Equal(t, 1+200, strings.Count(page, `<td>Press</td><td class="n">70</td>`), "of the game and the mods")
	require.NotRegexp(t, "more (groups )?are", string(Sum(nil, nil, 1).HTML()))

	r = Sum(crowd(505, func(i int, log *Log) {
		log.State, log.Groups = "wrong", []LoggedGroup{fault(signature.ID(i/5 + 1))}
	}), nil, 5)
	require.Equal(t, []uint64{100, 1, 5}, []uint64{uint64(len(r.Clusters)), r.OtherClusters, r.OtherLogs})
}

// TestShorterWithinPopulations holds that a log is a shorter copy only of a log in at least its populations.
func TestShorterWithinPopulations(t *testing.T) {
	for parts, want := range map[[2]int]bool{
		{0, 0}: true, {0, 1}: false, {1, 0}: false, {1, 1}: true, {1, 2}: false, {1, 3}: true, {3, 1}: false, {3, 3}: true,
	} {
		got := Shorter([]Extent{
			{Key: "long", Bytes: 9, Marks: []byte("mm"), Part: parts[1]},
			{Key: "short", Bytes: 5, Marks: []byte("m"), Part: parts[0]},
			{Key: "alone", Bytes: 5, Marks: []byte("n"), Part: parts[0]},
			{Key: "same", Bytes: 5, Marks: []byte("m"), Part: parts[0]},
		})
		require.Equal(t, want, got["short"] && got["same"] && len(got) == 2, parts)
		require.Equal(t, want, len(got) > 0, parts)
	}
}
