package compare_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/blame"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/report/compare"
	"github.com/heedlog/heed/signature"
)

func mod(name, id, version string, assemblies ...string) compare.Mod {
	return compare.Mod{Name: name, PackageID: id, Version: version, Assemblies: assemblies}
}

func TestModChanges(t *testing.T) {
	before := []compare.Mod{mod("Core", "game.core", ""), mod("Mill", "acme.mill", "1"), mod("Ship", "acme.ship", "1"), mod("Kiln", "acme.kiln", "1"), mod("Loom", "acme.loom", "1")}
	after := []compare.Mod{mod("Core", "Game.Core", ""), mod("Loom", "acme.loom", "1"), mod("Mill", "acme.mill", "2"), mod("Mast", "acme.mast", "1"), mod("Ship", "acme.ship", "1"), mod("Ship", "acme.ship", "1")}
	type change struct {
		name     string
		change   compare.Change
		from, to int
	}
	got := []change{}
	for _, c := range compare.ModChanges(before, after) {
		got = append(got, change{c.Mod.Name, c.Change, c.OldPlace, c.NewPlace})
	}
	require.Equal(t, []change{
		{"Core", compare.Unchanged, 1, 1},
		{"Loom", compare.Moved, 5, 2},
		{"Mill", compare.Updated, 2, 3},
		{"Mast", compare.Added, 0, 4},
		{"Ship", compare.Unchanged, 3, 5},
		{"Kiln", compare.Removed, 4, 0},
	}, got)

	shuffled := []compare.Mod{before[3], before[0], before[2], before[4], before[1]}
	require.Equal(t, compare.ModsHash(before), compare.ModsHash(shuffled), "load order is no part of it")
	require.NotEqual(t, compare.ModsHash(before), compare.ModsHash(after))
	require.Equal(t, compare.ModsHash(before), compare.ModsHash(slices.Concat(before, shuffled)), "two logs name the same mods")
	require.Zero(t, compare.ModsHash(nil))

	for _, lists := range [][2][]compare.Mod{{before, {mod("game.core", "game.core", ""), mod("acme.mill", "acme.mill", "")}}, {{mod("acme.mill", "acme.mill", "")}, after}} {
		for _, c := range compare.ModChanges(lists[0], lists[1]) {
			require.NotEqual(t, compare.Updated, c.Change, "a list of package ids alone says nothing of versions")
		}
	}
}

func TestInvestigate(t *testing.T) {
	before := []compare.Mod{mod("Mill", "acme.mill", "1", "MillLib", "0Shared"), mod("Ship", "acme.ship", "1", "Ships", "0Shared"), mod("Kiln", "acme.kiln", "1", "Kilns")}
	after := []compare.Mod{mod("Mill", "acme.mill", "2", "MillLib", "0Shared"), mod("Ship", "acme.ship", "1", "Ships", "0Shared"), mod("Looms", "acme.loom", "1", "LoomLib")}
	changed := map[string]int{"Looms": 40, "Mill": 30, "Kiln": 15}
	suspects := func(text string, blamed ...blame.Suspect) map[string]int {
		c := collector(t, compare.Config{})
		c.Run(compare.Old, compare.RunConfig{File: "old", Template: nil}).Mods(before)
		run := c.Run(compare.New, compare.RunConfig{
			File: "new", Template: func(signature.Signature) (string, bool) { return text, true }, Blame: func() []blame.Suspect { return blamed },
		})
		run.Mods(after)
		o := heed.Outcome{Signature: signature.Of([]byte(text)), Decision: event.Decision{Disposition: event.Blocking}}
		run.Observe(&capture.Record{}, &o, event.Blocking)
		in := c.Investigate(c.Diff())
		require.Equal(t, [2]bool{true, true}, in.Listed)
		require.Len(t, in.Groups, 1)
		out := map[string]int{}
		last := 1000
		for _, s := range in.Groups[0].Suspects {
			require.LessOrEqual(t, s.Score, last)
			require.NotEmpty(t, s.Evidence)
			require.Equal(t, s.Score == changed[s.Name], slices.Contains(s.Evidence, "nothing in the log points at it"), s.Name)
			last = s.Score
			out[s.Name] = s.Score
		}
		return out
	}
	frame := func(name string) blame.Suspect {
		return blame.Suspect{Mod: name, Score: 60, Evidence: []blame.Evidence{{Kind: blame.Frame, Line: 2}}}
	}
	with := func(name string, score int) map[string]int {
		out := map[string]int{name: score}
		for k, v := range changed {
			if _, ok := out[k]; !ok {
				out[k] = v
			}
		}
		return out
	}
	require.Equal(t, changed, suspects("something broke"))
	require.Equal(t, with("Looms", 100), suspects("something broke", frame("Looms")))
	require.Equal(t, with("Mill", 90), suspects("something broke", frame("MillLib")), "by an assembly")
	require.Equal(t, with("Ship", 60), suspects("something broke", frame("ship")), "it is as it was, and on the stack")
	require.Equal(t, with("Kiln", 45), suspects("cannot find Kilns.Oven"), "what was removed is missed")
	require.Equal(t, changed, suspects("cannot load 0Shared"), "an assembly of several mods")
	require.Equal(t, changed, suspects("the Kilnsman is here"), "a part of a word")
	require.Equal(t, with("Raft", 75), suspects("something broke", frame("Raft")), "in no list")
}

// TestDiffMods: a difference tells which mods came and went, and not which were moved.
func TestDiffMods(t *testing.T) {
	c := collector(t, compare.Config{})
	before, after := feed(c, compare.Old, "old.log", session(1)), feed(c, compare.New, "new.log", session(1))
	before.Mods([]compare.Mod{mod("Tools", "anna.tools", "1.0"), mod("Lamps", "anna.lamps", "1.0"), mod("Walls", "anna.walls", "1.0")})
	require.Empty(t, c.Diff().Mods, "one side alone has a list")
	after.Mods([]compare.Mod{mod("Walls", "anna.walls", "1.0"), mod("Lamps", "anna.lamps", "1.1"), mod("Doors", "anna.doors", "1.0")})
	changes := map[string]compare.Change{}
	for _, m := range c.Diff().Mods {
		changes[m.Mod.Name] = m.Change
	}
	require.Equal(t, map[string]compare.Change{"Lamps": compare.Updated, "Doors": compare.Added, "Tools": compare.Removed}, changes)
	require.True(t, c.Diff().Empty(), "the log says the same")
}

// TestSkip: an entry that is compared with nothing is one of the log all the same.
func TestSkip(t *testing.T) {
	c := collector(t, compare.Config{})
	feed(c, compare.Old, "old.log", session(1))
	feed(c, compare.New, "new.log", session(1)).Skip()
	d := c.Diff()
	require.True(t, d.Empty())
	require.Equal(t, d.Old.Records+1, d.New.Records)
}

func TestInvestigateWithoutLists(t *testing.T) {
	c := collector(t, compare.Config{})
	give := func(side compare.Side, text, name string) {
		o := heed.Outcome{Signature: signature.Of([]byte(text)), Decision: event.Decision{Disposition: event.Advisory}}
		c.Run(side, compare.RunConfig{
			Template: func(signature.Signature) (string, bool) { return text, true },
			Blame:    func() []blame.Suspect { return []blame.Suspect{{Mod: name, Score: 60}} },
		}).Observe(&capture.Record{}, &o, event.Advisory)
	}
	give(compare.Old, "the mill is old", "Mill")
	give(compare.New, "the mill is new", "mill")
	give(compare.New, "the ship is new", "Ship")
	in := c.Investigate(c.Diff())
	scores := []int{}
	for _, g := range in.Groups {
		scores = append(scores, g.Suspects[0].Score)
	}
	slices.Sort(scores)
	require.Equal(t, []int{60, 75}, scores, "who was blamed before is less of a suspect")
	require.Empty(t, in.Changes)
}
