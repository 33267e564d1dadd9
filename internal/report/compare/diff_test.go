package compare_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/report/compare"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/signature"
)

var normalizer = testkit.Must(signature.New(signature.Config{}))

// feed gives lines to one side. A line that begins with "!" blocks, one with "?"
// is advisory; the signs are no part of it.
func feed(c *compare.Collector, side compare.Side, file string, lines []string) *compare.Run {
	engine := &compare.StandIn{}
	run := c.Run(side, file, engine)
	for i, line := range lines {
		o := heed.Outcome{Decision: event.Decision{Rule: "test.rule"}}
		switch line[0] {
		case '!':
			o.Decision.Disposition, line = event.Blocking, line[1:]
		case '?':
			o.Decision.Disposition, line = event.Advisory, line[1:]
		}
		engine.Text = string(normalizer.AppendTemplate(nil, line, ""))
		o.Signature = signature.Of([]byte(engine.Text))
		run.Observe(&capture.Record{StartLine: i + 1}, &o)
	}
	return run
}

// ended feeds a log to its end.
func ended(c *compare.Collector, side compare.Side, file string, lines []string) {
	feed(c, side, file, lines).End(nil, &capture.Environment{})
}

// compared collects one log of each side.
func compared(older, newer []string) *compare.Collector {
	c := compare.Collect(compare.Config{})
	ended(c, compare.Old, "old.log", older)
	ended(c, compare.New, "new.log", newer)
	return c
}

// blamed gives a log with one entry to one side.
func blamed(
	c *compare.Collector, side compare.Side, text string, d event.Disposition, suspects ...blame.Suspect,
) *compare.Run {
	run := c.Run(side, "log", &compare.StandIn{Text: text, Suspects: suspects})
	o := heed.Outcome{Signature: signature.Of([]byte(text)), Decision: event.Decision{Disposition: d}}
	run.Observe(&capture.Record{}, &o)
	return run
}

func repeat(n int, format string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strings.ReplaceAll(format, "#", fmt.Sprint(1000+i))
	}
	return out
}

// heads returns the templates of rows.
func heads(rows []compare.Group) (out []string) {
	for _, r := range rows {
		out = append(out, r.Template)
	}
	return out
}

// noDifference reports whether nothing is new, gone, more or less frequent.
func noDifference(d *compare.Diff) bool { return len(d.Added)+len(d.Gone)+len(d.More)+len(d.Less) == 0 }

// notice gives a run a notice about the evidence, at a line.
func notice(run *compare.Run, status event.Status, line int) {
	run.Observe(&capture.Record{StartLine: line, Entry: event.Entry{Kind: event.KindNotice, Status: status}},
		&heed.Outcome{})
}

// session is what a game writes when it starts, and while it is played.
func session(played int) []string {
	var out []string
	for i := range 60 {
		out = append(out, "starting part "+strings.Repeat("x", i+1)+" of the game")
	}
	for range 5 {
		out = append(out, "?a definition of the mod is broken")
	}
	for i := range played {
		out = append(out, fmt.Sprintf("landed Ship%d at (%d, 0, 5)", 1000+i, i),
			fmt.Sprintf("?no path for Human%d to the bench", 1000+i),
			fmt.Sprintf("Job_%d is done", 1000+i), fmt.Sprintf("autosave %d", i))
	}
	return out
}

func TestDiff(t *testing.T) {
	lost := func(n int) []string { return append(session(50), repeat(n, "!lost Human#")...) }
	tests := map[string]struct {
		old, new                []string
		added, gone, more, less []string
	}{
		"the same":       {old: session(100), new: session(100)},
		"played longer":  {old: session(100), new: session(300)},
		"played shorter": {old: session(300), new: session(40)},
		"one line": {
			old: session(50), new: append(session(50), "!the world could not be saved"),
			added: []string{"the world could not be saved"},
		},
		"a new flood": {old: session(50), new: append(session(50),
			repeat(5000, "!the world Map# could not be saved")...), added: []string{"the world <*> could not be saved"}},
		"one that is gone": {
			old: append(session(50), "?the mill is idle"), new: session(50),
			gone: []string{"the mill is idle"},
		},
		"a known flood grows, and nothing else seems to shrink": {old: lost(20), new: lost(4000), more: []string{"lost <*>"}},
		"two grow, one as a flood": {
			old:  slices.Concat(session(50), repeat(20, "!lost Human#"), repeat(20, "?hungry Human#")),
			new:  slices.Concat(session(50), repeat(9000, "!lost Human#"), repeat(90, "?hungry Human#")),
			more: []string{"lost <*>", "hungry <*>"},
		},
		"fewer":           {old: lost(200), new: lost(20), less: []string{"lost <*>"}},
		"one and six":     {old: lost(1), new: lost(6)},
		"one and ten":     {old: lost(1), new: lost(10)},
		"one and thirty":  {old: lost(1), new: lost(30), more: []string{"lost <*>"}},
		"many, not twice": {old: lost(1000), new: lost(1900)},
		"nothing in common": {
			old: []string{"?a mill stands"}, new: []string{"!a ship sinks"},
			added: []string{"a ship sinks"}, gone: []string{"a mill stands"},
		},
		"empty": {},
		"names that vary": {
			old: []string{"Anna is at her bench today", "Boris is at her bench today", "Clara is at her bench today"},
			new: []string{"Dora is at her bench today", "Emil is at her bench today", "Anna is at her bench today"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := compared(test.old, test.new).Diff()
			require.Equal(t, test.added, heads(d.Added))
			require.Equal(t, test.gone, heads(d.Gone))
			require.Equal(t, test.more, heads(d.More))
			require.Equal(t, test.less, heads(d.Less))
			require.Empty(t, d.Worse)
			require.Equal(t, len(test.added)+len(test.gone)+len(test.more)+len(test.less) == 0, noDifference(d))
		})
	}
}

func TestDiffRow(t *testing.T) {
	c := compare.Collect(compare.Config{})
	feed(c, compare.Old, "old.log", session(10))
	feed(c, compare.New, "a.log", append(session(10), "?lost Human1", "!lost Human2"))
	notice(feed(c, compare.New, "b.log", append([]string{"?lost Human3"}, session(10)...)), event.StatusHole, 3)
	d := c.Diff()
	require.Len(t, d.Added, 1)
	r := d.Added[0]
	require.Equal(t, "test.rule", r.Rule)
	require.Equal(t, &compare.Tally{Count: 3, Per1000: 14.08, Disposition: event.Blocking, First: r.New.First}, r.New)
	require.Equal(t, "[{a.log 106} {b.log 1}]", fmt.Sprint(r.New.First))
	require.Zero(t, r.Old)
	require.Equal(t, []compare.Gap{{Kind: "hole", From: 3, To: 3}}, d.New.Files[1].Gaps)
	require.Empty(t, d.Old.Files[0].Gaps)
	require.EqualValues(t, 213, d.New.Records)
}

// TestOrder: what matters comes first.
func TestOrder(t *testing.T) {
	c := compared(session(1), slices.Concat(session(1), repeat(50, "chatter of Mod#"),
		[]string{"?one advice is given"}, repeat(9, "?advice of Mod#"), []string{"!stop the game"}))
	require.Equal(t, []string{"stop the game", "advice of <*>", "one advice is given", "chatter of <*>"},
		heads(c.Diff().Added))
}

func TestWorse(t *testing.T) {
	d := compared(append(session(10), "?lost Human1"), append(session(10), "!lost Human2")).Diff()
	require.True(t, noDifference(d))
	require.Equal(t, []string{"lost <*>"}, heads(d.Worse))
}

// TestHours: where all logs have a clock, a rate by the hour has a say.
func TestHours(t *testing.T) {
	for _, test := range []struct {
		name  string
		hours time.Duration
		more  int
	}{{"in the same time", 1, 1}, {"in ten times the time", 10, 0}} {
		t.Run(test.name, func(t *testing.T) {
			c := compare.Collect(compare.Config{})
			start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			give := func(side compare.Side, hours time.Duration, n int) {
				engine := &compare.StandIn{Text: "the mill is stuck"}
				run := c.Run(side, "x", engine)
				observe := func(at time.Duration) {
					o := heed.Outcome{Signature: signature.Of([]byte(engine.Text))}
					run.Observe(&capture.Record{Entry: event.Entry{Time: start.Add(at)}}, &o)
				}
				for i := range n {
					observe(hours * time.Hour * time.Duration(i) / time.Duration(n))
				}
				engine.Text = "all is well"
				for range 1000 {
					observe(0)
				}
				observe(hours * time.Hour)
			}
			give(compare.Old, 1, 10)
			give(compare.New, test.hours, 100)
			d := c.Diff()
			require.Len(t, d.More, test.more)
			require.InDelta(t, 1, d.Old.Hours, 1e-9)
			if test.more == 1 {
				require.InDelta(t, 100, d.More[0].New.PerHour, 1e-9)
			}
		})
	}
}

// TestUnseen: what is less frequent, or gone, in a log with gaps may stand in them.
func TestUnseen(t *testing.T) {
	for _, gap := range []bool{false, true} {
		c := compare.Collect(compare.Config{})
		feed(c, compare.Old, "old.log", append(repeat(500, "?the mill is stuck"), repeat(500, "all is well")...))
		run := feed(c, compare.New, "new.log", append(repeat(20, "?the mill is stuck"), repeat(980, "all is well")...))
		if gap {
			notice(run, event.StatusHole, 5)
		}
		d := c.Diff()
		require.Equal(t, []string{"the mill is stuck"}, heads(d.Less))
		require.Equal(t, gap, d.Less[0].MayBeUnseen)
	}
}

// TestGaps: a log lacks what came while it was blind, what was not read, and its beginning.
func TestGaps(t *testing.T) {
	c := compare.Collect(compare.Config{})
	run := feed(c, compare.New, "new.log", []string{"all is well"})
	blind := event.Decision{Rule: "cap"}
	run.Observe(&capture.Record{StartLine: 3}, &heed.Outcome{Blind: true, Decision: blind})
	run.Observe(&capture.Record{StartLine: 4}, &heed.Outcome{Blind: true, Decision: blind})
	run.Observe(&capture.Record{StartLine: 7}, &heed.Outcome{})
	notice(run, event.StatusLogFound, 8)
	require.Empty(t, run.End(errors.New("broken"), &capture.Environment{}))
	require.Equal(t, []compare.Gap{{Kind: "blind", From: 3, To: 7, Rule: "cap"}, {Kind: "unread", From: 8}},
		c.Diff().New.Files[0].Gaps)
	require.Equal(t, "empty", c.Run(compare.Old, "old.log", nil).End(nil, &capture.Environment{}))
}

// TestBlameOfTheGone: a group that is gone has the blame of the logs in which it was.
func TestBlameOfTheGone(t *testing.T) {
	c := compare.Collect(compare.Config{})
	blamed(c, compare.Old, "the mill is stuck", event.Blocking, blame.Suspect{Mod: "Mill", Score: 60})
	feed(c, compare.New, "new.log", []string{"all is well"})
	require.Equal(t, []string{"Mill"}, c.Diff().Gone[0].Blame)
}

// TestFirstOfGroup: a group of several texts came first in a log where the first of them did.
func TestFirstOfGroup(t *testing.T) {
	lines := []string{"all is well"}
	for _, name := range []string{"Tobin", "Ilsebet", "Quillon", "Ostap", "Maren"} {
		lines = append(lines, "?No path was found for pawn "+name)
	}
	d := compared(lines[:1], lines).Diff()
	require.Len(t, d.Added, 1)
	require.Equal(t, "[{new.log 2}]", fmt.Sprint(d.Added[0].New.First))
}

// TestHoursOfFewTimes: the length of a side is not known where less than half of a log's records have a time, or all
// have the same.
func TestHoursOfFewTimes(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, test := range []struct {
		name           string
		timed, untimed int // records of one log; the timed ones are an hour apart
		still          bool
		hours          float64
	}{
		{"half of them", 2, 2, false, 1},
		{"less than half", 2, 3, false, 0},
		{"one time", 1, 0, false, 0},
		{"and a log of one time", 2, 0, true, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := compare.Collect(compare.Config{})
			give := func(at ...time.Time) {
				run := c.Run(compare.Old, "x", &compare.StandIn{Text: "the mill is stuck"})
				for _, at := range at {
					run.Observe(&capture.Record{Entry: event.Entry{Time: at}}, &heed.Outcome{})
				}
			}
			times := make([]time.Time, test.timed+test.untimed)
			for i := range test.timed {
				times[i] = start.Add(time.Duration(i) * time.Hour)
			}
			give(times...)
			if test.still {
				give(start)
			}
			d := c.Diff()
			require.InDelta(t, test.hours, d.Old.Hours, 1e-9)
			require.InDelta(t, test.hours*float64(len(times)), d.Gone[0].Old.PerHour, 1e-9)
		})
	}
}

// TestShuffled: a log has no difference from itself with its lines in another
// order, in several files or one, whatever their ids.
func TestShuffled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SampledFrom([]string{
			"Anna", "Boris", "mill", "ship", "lost", "no path to", "is idle",
			"Bench_Large", "jams", "(1, 0, 5)", "at 12",
		})
		line := rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"!", "?", "the "}).Draw(t, "kind") +
				strings.Join(rapid.SliceOfN(words, 2, 7).Draw(t, "words"), " ")
		})
		lines := rapid.SliceOfN(line, 1, 40).Draw(t, "lines")
		seed := rapid.Uint64().Draw(t, "seed")
		shuffled := slices.Clone(lines)
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(shuffled), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		for i, l := range shuffled {
			shuffled[i] = strings.NewReplacer("12", fmt.Sprint(20+i), "(1, 0, 5)", fmt.Sprintf("(%d, 0, %d)", i, 2*i)).Replace(l)
		}
		d := compared(lines, shuffled).Diff()
		require.True(t, noDifference(d), "%v", d)

		const fault = "!quarry collapsed under its own weight yesterday"
		c := compare.Collect(compare.Config{})
		feed(c, compare.New, "new.log", slices.Insert(shuffled, len(shuffled)/2, fault))
		feed(c, compare.Old, "old.log", lines)
		d = c.Diff()
		require.Equal(t, []string{fault[1:]}, heads(d.Added))
		require.Empty(t, slices.Concat(d.Gone, d.More, d.Less))

		// The order of files is that of the list of firsts, and of nothing else.
		sums := map[string]bool{}
		cut := len(shuffled) / 2
		for _, files := range [][][]string{{shuffled[:cut], shuffled[cut:]}, {shuffled[cut:], shuffled[:cut]}} {
			c = compare.Collect(compare.Config{})
			feed(c, compare.Old, "old.log", []string{"nothing"})
			for _, f := range files {
				feed(c, compare.New, "new.log", f)
			}
			sum := ""
			for _, r := range c.Diff().Added {
				sum += fmt.Sprintln(r.ID, r.Forms, r.Template, r.New.Count)
			}
			sums[sum] = true
		}
		require.Len(t, sums, 1)
	})
}

func TestBounds(t *testing.T) {
	c := compare.Collect(compare.Config{})
	c.Limit(3, 1<<20)
	feed(c, compare.Old, "old.log", []string{"one mill", "two ships", "three looms", "four kilns", "four kilns"})
	d := c.Diff()
	require.EqualValues(t, 2, d.Old.Uncounted)
	require.EqualValues(t, 5, d.Old.Records)
	require.Len(t, d.Gone, 3)

	feed(c, compare.New, "new.log", []string{"four kilns", "one mill"})
	d = c.Diff()
	require.Zero(t, d.New.Uncounted, "a flood of texts on one side leaves room for the other")
	require.Equal(t, []string{"four kilns"}, heads(d.Added))

	c = compare.Collect(compare.Config{})
	c.Limit(1<<20, 20)
	feed(c, compare.Old, "old.log", []string{"a mill of stone", "a mill of wood"})
	require.EqualValues(t, 1, c.Diff().Old.Uncounted)
}

// TestNewCode: a code that a known statement did not have before is new, though the statement is one group; another
// name in it is not.
func TestNewCode(t *testing.T) {
	var lines []string
	for _, code := range []int{400, 401, 403, 404, 408, 409, 410, 412, 423, 428, 429, 431, 451} {
		lines = append(lines, fmt.Sprintf("!the pump of the mill failed, status: %d", code))
	}
	for _, name := range []string{"Anna", "Boris", "Chloe", "Dmitri", "Eun", "Farid"} {
		lines = append(lines, "!"+name+" has no way to the bed in the house")
	}
	c := compared(lines, append(lines, "!the pump of the mill failed, status: 500", "!Gil has no way to the bed in the house"))
	require.Equal(t, []string{"the pump of the mill failed, status: 500"}, heads(c.Diff().Added))
}

// TestMayBeUnseen: where one side has a gap, groups of the other side may only be missing there.
func TestMayBeUnseen(t *testing.T) {
	gap := &capture.Record{StartLine: 1, Entry: event.Entry{Kind: event.KindNotice, Status: event.StatusHole}}
	chat := repeat(200, "a chat")
	older := slices.Concat(chat, repeat(2, "?the mill stands"), repeat(60, "?an ox is lost"), []string{"?a lamp went out"})
	newer := slices.Concat(chat, repeat(60, "?the mill stands"), repeat(2, "?an ox is lost"), []string{"?the roof leaks"})
	for _, missing := range []compare.Side{compare.Old, compare.New} {
		c := compare.Collect(compare.Config{})
		runs := [2]*compare.Run{feed(c, compare.Old, "old.log", older), feed(c, compare.New, "new.log", newer)}
		runs[missing].Observe(gap, &heed.Outcome{})
		d := c.Diff()
		for _, groups := range [][]compare.Group{d.Added, d.More} {
			require.Len(t, groups, 1)
			require.Equal(t, missing == compare.Old, groups[0].MayBeUnseen)
		}
		for _, groups := range [][]compare.Group{d.Gone, d.Less} {
			require.Len(t, groups, 1)
			require.Equal(t, missing == compare.New, groups[0].MayBeUnseen)
		}
	}
}
