package compare_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/report/compare"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

func mod(name, id, version string, assemblies ...string) capture.ListedMod {
	return capture.ListedMod{Mod: capture.Mod{Name: name, PackageID: id, Assemblies: assemblies}, Versions: version}
}

// lists gives a run the header of an upload with mods.
func lists(run *compare.Run, mods ...capture.ListedMod) {
	run.Observe(&capture.Record{Context: true, Mods: &capture.ModList{Mods: mods}}, &heed.Outcome{})
}

func TestInvestigate(t *testing.T) {
	before := []capture.ListedMod{
		mod("Mill", "acme.mill", "1", "MillLib", "0Shared"),
		mod("Ship", "acme.ship", "1", "Ships", "0Shared"), mod("Kiln", "acme.kiln", "1", "Kilns"),
	}
	after := []capture.ListedMod{
		mod("Mill", "acme.mill", "2", "MillLib", "0Shared"),
		mod("Ship", "acme.ship", "1", "Ships", "0Shared"), mod("Looms", "acme.loom", "1", "LoomLib"),
	}
	changed := map[string]int{"Looms": 40, "Mill": 30, "Kiln": 15}
	suspects := func(text string, all ...blame.Suspect) map[string]int {
		c := compare.Collect(compare.Config{})
		lists(c.Run(compare.Old, "old", nil), before...)
		lists(blamed(c, compare.New, text, event.Blocking, all...), after...)
		in := c.Suspects()
		require.True(t, in.OldMods && in.NewMods)
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
	require.Equal(t, changed, suspects("the Mill stands still"), "a name as short as other words")
	require.Equal(t, with("Raft", 75), suspects("something broke", frame("Raft")), "in no list")
}

// TestAccusingEntries: of a group that two mods wrote, each is accused by its own entries, by evidence or by its name in
// a text. The name of the game in a text accuses none. Of a mod with blocking groups, the entries of these count.
func TestAccusingEntries(t *testing.T) {
	rules := testkit.Must(rules.Compile(rules.File{Name: "all.yaml", Data: []byte("version: 1\ngame_code: [Presses]\n" +
		"rules:\n  - {id: all.of_them, when: 'true', disposition: blocking}\n")}))
	c := compare.Collect(compare.Config{Rules: rules})
	mods := []capture.ListedMod{mod("presses", "", "1"), mod("Lanterns", "", "1")}
	lists(c.Run(compare.Old, "old", nil), mods...)
	for _, wrote := range []struct {
		name, text string
		d          event.Disposition
		times      int
	}{
		{"Kiln", "presses.Press cannot load its frame | from Kiln", event.Blocking, 3},
		{"Loom", "presses.Press cannot load its frame | from Loom", event.Blocking, 2},
		{"Lanterns", "presses.Press cannot load its frame | from Lanterns", event.Blocking, 4},
		{"Kiln", "the oven smokes", event.Advisory, 50},
	} {
		engine := &compare.StandIn{Text: wrote.text, Suspects: []blame.Suspect{{Mod: wrote.name, Score: 30}}}
		if wrote.name == "Lanterns" {
			engine.Suspects = nil
		}
		run := c.Run(compare.New, wrote.name, engine)
		lists(run, mods...)
		o := heed.Outcome{Signature: signature.Of([]byte(wrote.text)), Decision: event.Decision{Disposition: wrote.d}}
		for range wrote.times {
			run.Observe(&capture.Record{}, &o)
		}
	}
	entries := map[string]uint64{}
	for _, s := range c.Suspects().Suspects {
		entries[s.Name] += s.Entries
	}
	require.Equal(t, map[string]uint64{"Kiln": 3, "Loom": 2, "Lanterns": 4}, entries)
}

// TestDiffMods: a difference tells which mods came and went, and not which were moved.
func TestDiffMods(t *testing.T) {
	c := compare.Collect(compare.Config{})
	before, after := feed(c, compare.Old, "old.log", session(1)), feed(c, compare.New, "new.log", session(1))
	lists(before, mod("Tools", "anna.tools", "1.0"), mod("Lamps", "anna.lamps", "1.0"), mod("Walls", "anna.walls", "1.0"))
	require.Empty(t, c.Diff().Mods, "one side alone has a list")
	lists(after, mod("Walls", "anna.walls", "1.0"), mod("Lamps", "anna.lamps", "1.1"), mod("Doors", "anna.doors", "1.0"))
	changes := map[string]string{}
	for _, m := range c.Diff().Mods {
		changes[m.Name] = fmt.Sprintf("%s %d %d", m.Change, m.OldPlace, m.Place)
	}
	require.Equal(t, map[string]string{"Lamps": "updated 2 2", "Doors": "added 0 3", "Tools": "removed 1 0"}, changes)
	require.True(t, noDifference(c.Diff()), "the log says the same")

	c = compare.Collect(compare.Config{})
	feed(c, compare.Old, "old.log", session(1))
	lists(feed(c, compare.New, "new.log", session(1)), mod("Walls", "anna.walls", "1.0"))
	require.Empty(t, c.Diff().Mods, "the other side alone has a list")
}

// TestMovedMod: a mod that is loaded at another place is a suspect, if a weak one.
func TestMovedMod(t *testing.T) {
	c := compare.Collect(compare.Config{})
	tools, lamps, walls := mod("Tools", "anna.tools", "1"), mod("Lamps", "anna.lamps", "1"), mod("Walls", "anna.walls", "1")
	lists(feed(c, compare.Old, "old.log", session(1)), tools, lamps, walls)
	lists(feed(c, compare.New, "new.log", append(session(1), "!something broke")), walls, tools, lamps)
	in := c.Suspects()
	require.Len(t, in.Groups, 1)
	require.Len(t, in.Groups[0].Suspects, 1)
	require.Equal(t, "Walls", in.Groups[0].Suspects[0].Name)
	require.Equal(t, 10, in.Groups[0].Suspects[0].Score)
}

// TestNamesOfModsAreScrubbedApart: a scrubber of all texts leaves the names of mods to another one.
func TestNamesOfModsAreScrubbedApart(t *testing.T) {
	c := compare.Collect(compare.Config{
		Scrub: compare.Replaced{
			Texts: func(string) string { return "…" }, Names: strings.NewReplacer("anna", "somebody").Replace,
		},
	})
	lists(feed(c, compare.Old, "old.log", session(1)), mod("Tools", "anna.tools", "1"))
	lists(feed(c, compare.New, "new.log", append(session(1), "!something broke")), mod("Walls", "anna.walls", "1"))
	in := c.Suspects()
	require.Equal(t, "…", in.Groups[0].Group.Template)
	require.Equal(t, "Walls", in.Groups[0].Suspects[0].Name)
	require.Equal(t, "somebody.walls", in.Groups[0].Suspects[0].PackageID)
	require.Equal(t, []string{"…", "…"}, in.Groups[0].Suspects[0].Evidence)
	require.ElementsMatch(t, []string{"Tools", "Walls"}, []string{c.Diff().Mods[0].Name, c.Diff().Mods[1].Name})
}

// TestSkip: an entry that is compared with nothing is one of the log all the same.
func TestSkip(t *testing.T) {
	c := compare.Collect(compare.Config{})
	feed(c, compare.Old, "old.log", session(1))
	lists(feed(c, compare.New, "new.log", session(1)))
	d := c.Diff()
	require.True(t, noDifference(d))
	require.Equal(t, d.Old.Records+1, d.New.Records)
}

func TestInvestigateWithoutLists(t *testing.T) {
	c := compare.Collect(compare.Config{})
	blamed(c, compare.Old, "the mill is old", event.Advisory, blame.Suspect{Mod: "Mill", Score: 60})
	blamed(c, compare.New, "the mill is new", event.Advisory, blame.Suspect{Mod: "mill", Score: 60})
	blamed(c, compare.New, "the ship is new", event.Advisory, blame.Suspect{Mod: "Ship", Score: 60})
	in := c.Suspects()
	scores := map[int][]string{}
	for _, g := range in.Groups {
		scores[g.Suspects[0].Score] = g.Suspects[0].Evidence
	}
	require.Equal(t, map[int][]string{60: nil, 75: {"not blamed for anything in the old logs"}}, scores,
		"who was blamed before is less of a suspect")
	require.Empty(t, in.Mods)
}

// TestRankingOfSuspects: what points at a mod comes before what changed, and what blocks before what does not. A mod that
// is listed by its package id has the name that a record gives it.
func TestRankingOfSuspects(t *testing.T) {
	c := compare.Collect(compare.Config{})
	lists(feed(c, compare.Old, "old.log", session(1)), mod("", "anna.ship", "1"))
	lists(feed(c, compare.New, "new.log", session(1)), mod("", "anna.ship", "1"), mod("Looms", "anna.looms", "1"))
	blamed(c, compare.New, "the first mast breaks", event.Advisory, blame.Suspect{Mod: "Mill", Score: 60})
	blamed(c, compare.New, "the second mast breaks", event.Advisory, blame.Suspect{Mod: "Ship", Score: 40})
	blamed(c, compare.New, "the third mast breaks", event.Blocking, blame.Suspect{Mod: "Ship", Score: 40})
	in := c.Suspects()
	var names []string
	for _, s := range in.Suspects {
		names = append(names, fmt.Sprint(s.Name, " ", s.Direct, " ", s.Blocking, " ", s.Groups, " ", s.Entries))
	}
	require.Equal(t, []string{"Ship true 1 2 1", "Mill true 0 1 1", "Looms false 0 0 0"}, names)

	var many []capture.ListedMod
	for i := range 21 {
		many = append(many, mod("", fmt.Sprint("anna.", i), "1"))
	}
	lists(feed(c, compare.New, "more.log", session(1)), many...)
	in = c.Suspects()
	g := in.Groups[0]
	require.Equal(t, []int{8, 15, 20, 4}, []int{len(g.Suspects), g.More, len(in.Suspects), in.MoreSuspects})
}
