package compare_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/report/compare"
)

// TestDiffEndOfLog: what the end of a log has left of a record is no news, on
// either side; what is no beginning of another text is.
func TestDiffEndOfLog(t *testing.T) {
	fault := "!the mill of Human1000 broke: no water (A = Thing_Wheel1 at 5)"
	tests := map[string]struct {
		last string
		news []string
	}{
		"within a word":         {last: "!the mill of Human1000 br"},
		"at the end of a word":  {last: "!the mill of Human1000 broke:"},
		"within a value":        {last: "!the mill of Human1000 broke: no water (A = Thing_Wh"},
		"within the first word": {last: "?th"},
		"the whole text":        {last: fault},
		"another text":          {last: "!the mill of Human1000 burns", news: []string{"the mill of <*> burns"}},
		"a footer":              {last: "(Filename: C", news: []string{"(Filename: C"}},
		"longer than what was known": {
			last: fault + " and nobody knows why",
			news: []string{"the mill of <*> broke: no water (A = <*> at <*>) and nobody knows why"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			whole := append(session(20), fault)
			ends := append(slices.Clone(whole), test.last)
			for _, sides := range [][2]compare.Side{{compare.Old, compare.New}, {compare.New, compare.Old}} {
				c := compare.Collect(compare.Config{})
				ended(c, sides[0], "whole.log", append(slices.Clone(whole), "the game ends"))
				run := feed(c, sides[1], "cut.log", ends)
				run.End(nil, &capture.Environment{})
				d := c.Diff()
				there, elsewhere := d.Added, d.Gone
				if sides[1] == compare.Old {
					there, elsewhere = elsewhere, there
				}
				require.Equal(t, test.news, heads(there))
				require.Equal(t, []string{"the game ends"}, heads(elsewhere))
				require.Empty(t, d.More)
				require.Empty(t, d.Less)
			}
		})
	}
}

// TestDiffEndOfLogCounts: what is left of an entry is one of the group, on a side that
// has no other as well, and says nothing of how urgent it is.
func TestDiffEndOfLogCounts(t *testing.T) {
	c := compare.Collect(compare.Config{})
	ended(c, compare.Old, "whole.log", append(session(20), "?the mill of Human1000 broke: no water", "the game ends"))
	ended(c, compare.New, "cut.log", append(session(20), "the game ends", "!the mill of Human1007 br"))
	ended(c, compare.New, "cut2.log", append(session(20), "the game ends", "!the mill of Human1008 broke: no"))
	d := c.Diff()
	require.True(t, noDifference(d), "%v", d)
	require.Empty(t, d.Worse)
	ended(c, compare.New, "more.log", slices.Concat(session(20), repeat(300, "?the mill of Human# broke: no water"),
		[]string{"the game ends"}))
	d = c.Diff()
	require.Equal(t, []string{"the mill of <*> broke: no water"}, heads(d.More))
	require.EqualValues(t, 302, d.More[0].New.Count)
	require.Equal(t, "[{cut.log 147} {cut2.log 147} {more.log 146}]", fmt.Sprint(d.More[0].New.First))
	require.Empty(t, d.Added)
}

// TestDiffEndOfLogHidesNothing: the rest of an entry is one of a text of its own side, and other faults stay new.
func TestDiffEndOfLogHidesNothing(t *testing.T) {
	for _, was := range []string{"!the mill broke: no water", "!the mill broke: a fire"} {
		c := compare.Collect(compare.Config{})
		ended(c, compare.Old, "old.log", append(session(5), was, "!the mill br"))
		ended(c, compare.New, "new.log", append(session(5), "!the mill broke: no water", "!the mill broke: a fire", "end"))
		require.Len(t, c.Diff().Added, 2, was)
	}
}

// TestDiffEndsOfLogs: which of two texts that came at ends of logs alone is the beginning of the other cannot be told.
func TestDiffEndsOfLogs(t *testing.T) {
	c := compare.Collect(compare.Config{})
	ended(c, compare.Old, "old.log", session(5))
	ended(c, compare.New, "a.log", append(session(5), "!the mill of A = Thing_"))
	ended(c, compare.New, "b.log", append(session(5), "!the mill of A = Thing_Wheel1 is out"))
	ended(c, compare.New, "c.log", append(session(5), "!the mill of A"))
	require.ElementsMatch(t, []string{"the mill of A <*>", "the mill of A = <*> is out"}, heads(c.Diff().Added))
	d := c.Diff()
	require.Len(t, d.New.Files, 3)
	require.EqualValues(t, 3*len(session(5))+3, d.New.Records)
}

// TestBaselineEndOfLog: a baseline knows the text of which a log has the beginning
// alone, and what is left of a record is not written to one.
func TestBaselineEndOfLog(t *testing.T) {
	fault := "!the mill of Human1000 broke: no water"
	good := compare.Collect(compare.Config{})
	ended(good, compare.New, "good.log", append(session(20), fault, fault, "!the mill of Human1000 br"))
	b := good.Write(compare.WriteOptions{Today: on("2026-01-01")}).Baseline
	for _, e := range b.Entries {
		require.NotContains(t, e.Templates, "the mill of <*> br")
	}
	c := compare.Collect(compare.Config{})
	ended(c, compare.New, "cut.log", append(session(20), "!the mill of Human1001 broke: n"))
	require.Empty(t, c.Check(b, on("2026-01-02")).Added)
}

// TestPeople holds that a fault of another colonist is known, though each log has one text of it, and that other words
// with a capital still make a fault of their own.
func TestPeople(t *testing.T) {
	const boris = "meals for Boris"
	for name, test := range map[string]struct {
		known, found, rest string // rest is another line of the new log
		mod                string
		news               bool
	}{
		"another colonist":       {known: "Anna could not eat", found: "Boris could not eat", rest: boris},
		"named in the known log": {known: "Error: meals of Anna are gone", found: "Error: meals of Boris are gone"},
		"the owner of a thing":   {known: "Anna's needs are broken", found: "Boris's needs are broken"},
		"two names":              {known: "Anna Li is very stuck", found: "Boris is very stuck", rest: boris},
		"another sentence":       {known: "Anna could not eat", found: "Boris could not move", rest: boris, news: true},
		"a word of the language": {known: "Started at the same time", found: "Failed at the same time", news: true},
		"also written small": {
			known: "Valve is not there", found: "Pump is not there", rest: "the Pump is a pump", news: true,
		},
		"the name of a mod": {
			known: "Weaver did not load", found: "Harmony did not load", rest: "the Harmony", mod: "Harmony", news: true,
		},
		"two words for two": {
			known: "the lift went from Waiting to Running", found: "the lift went from Running to Failed", news: true,
		},
		"part of a type": {known: "Anna.Tick is not there", found: "Boris.Tick is not there", rest: boris, news: true},
		"too few words":  {known: "Error: Anna failed", found: "Error: Boris failed", rest: boris, news: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := written(t, "2026-01-01", nil, append(session(9), "!"+test.known)).Baseline
			c := compare.Collect(compare.Config{})
			feed(c, compare.New, "new.log", append(session(9), "!"+test.found, "the "+test.rest))
			mod := capture.ListedMod{}
			mod.Name = test.mod
			c.Mods(compare.New, []capture.ListedMod{mod})
			require.Equal(t, test.news, len(c.Check(b, on("2026-01-02")).Added) > 0)
		})
	}
}
