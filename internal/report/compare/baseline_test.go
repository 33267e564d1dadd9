package compare_test

import (
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

// on returns a day.
func on(day string) time.Time { return testkit.Must(time.Parse(time.DateOnly, day)) }

// written makes a baseline of lines.
func written(t require.TestingT, today string, previous *compare.Baseline, lines []string) *compare.Written {
	c := compare.Collect(compare.Config{})
	feed(c, compare.New, "good.log", lines)
	return c.Write(compare.WriteOptions{Today: on(today), Previous: previous})
}

func checked(t require.TestingT, today string, b *compare.Baseline, lines []string) *compare.Check {
	c := compare.Collect(compare.Config{})
	feed(c, compare.New, "new.log", lines)
	return c.Check(b, on(today))
}

// taken are texts of one group.
var taken = []string{
	"?the bench is taken by Anna", "?the bench is taken by Boris", "?the bench is taken by Clara",
	"?the bench is taken by Dora",
}

func TestCheck(t *testing.T) {
	good := slices.Concat(session(50), repeat(20, "!lost Human#"), taken)
	b := written(t, "2026-01-01", nil, good).Baseline
	require.Len(t, b.Entries, 4)
	for name, test := range map[string]struct {
		today                       string
		lines                       []string
		added, more, worse, expired []string
		unseen                      int
	}{
		"the same":           {lines: good},
		"longer":             {lines: slices.Concat(session(150), repeat(60, "!lost Human#"), taken)},
		"one name more":      {lines: append(slices.Clone(good), "?the bench is taken by Emil")},
		"another name alone": {lines: append(session(50), "?the bench is taken by Emil"), unseen: 1},
		"new":                {lines: append(slices.Clone(good), "!the ship sinks"), added: []string{"the ship sinks"}},
		"new, but ignored":   {lines: append(slices.Clone(good), "the ship sails")},
		"a flood of the known": {
			lines: append(slices.Clone(good), repeat(3000, "!lost Human#")...),
			more:  []string{"lost <*>"},
		},
		"worse": {
			lines: append(session(50), "!no path for Human1 to the bench"),
			worse: []string{"no path for <*> to the bench"}, unseen: 2,
		},
		"a day before": {today: "2026-03-31", lines: good},
		"expired": {
			today: "2026-04-01", lines: append(session(50), repeat(20, "!lost Human#")...), unseen: 1,
			expired: []string{"lost <*>", "no path for <*> to the bench", "a definition of the mod is broken"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.today == "" {
				test.today = "2026-01-02"
			}
			c := checked(t, test.today, b, test.lines)
			require.Equal(t, test.added, heads(c.Added))
			require.Equal(t, test.more, heads(c.More))
			require.Equal(t, test.worse, heads(c.Worse))
			require.Equal(t, test.expired, heads(c.Expired))
			require.Len(t, c.Unseen, test.unseen)
			require.False(t, c.RulesChanged)
		})
	}
	same := checked(t, "2026-01-02", b, good)
	require.Equal(t, []any{4, uint64(79)}, []any{same.Known, same.KnownEntries})
	c := compare.Collect(compare.Config{})
	b.Rules = 4
	require.True(t, c.Check(b, on("2026-01-02")).RulesChanged)
}

// TestCheckNames: a baseline that was written with one name of a fault knows it with others.
func TestCheckNames(t *testing.T) {
	names := []string{"Tobin", "Old Hob", "J. Vale", "Muffalo 3", "Muffalo77", "Ilsebet"}
	for _, statement := range []string{"!# could not reach the lamp on the floor", "!the order of today was refused by # and by all"} {
		for _, one := range names {
			b := written(t, "2026-01-01", nil, []string{strings.ReplaceAll(statement, "#", one)}).Baseline
			var lines []string
			for _, name := range names {
				lines = append(lines, strings.ReplaceAll(statement, "#", name))
			}
			require.Empty(t, heads(checked(t, "2026-01-02", b, lines).Added), one)
		}
	}
}

func TestWriteAgain(t *testing.T) {
	first := written(t, "2026-01-01", nil, []string{"?the mill is idle", "!lost Human1", "a chat"})
	require.Equal(t, 2, first.Added)
	b := first.Baseline
	for i := range b.Entries {
		b.Entries[i].Note = "seen by Ann: " + b.Entries[i].Templates[0]
	}
	again := written(t, "2026-02-01", b, []string{"!lost Human2", "!lost Human3", "?the kiln is hot"})
	require.Equal(t, []int{1, 1, 1, 0, 0}, []int{again.Added, again.Kept, again.Unseen, again.Dropped, again.Expired})
	byHead := map[string]compare.Known{}
	for _, k := range again.Baseline.Entries {
		byHead[k.Templates[0]] = k
	}
	text := string(again.Baseline.Append(nil))
	require.Contains(t, text, "seen: {count: 2, records: 3, runs: 1}  # 667 in 1,000 records\n")
	require.Contains(t, text, "    template: \"lost <*>\"\n")
	lost := byHead["lost <*>"]
	require.Equal(t, "seen by Ann: lost <*>", lost.Note)
	require.EqualValues(t, 2, lost.Count)
	require.EqualValues(t, "2026-01-01", lost.First)
	require.EqualValues(t, "2026-04-01", lost.Expires)
	require.EqualValues(t, "2026-05-02", byHead["the kiln is hot"].Expires)
	require.Contains(t, byHead, "the mill is idle")

	ignored := written(t, "2026-02-02", b, []string{"the mill is idle"}) // by a rule of today
	require.Equal(t, []int{0, 0, 2, 0}, []int{ignored.Added, ignored.Kept, ignored.Unseen, ignored.Dropped})

	late := written(t, "2026-06-01", again.Baseline, []string{"!lost Human2"})
	require.Equal(t, []int{0, 1, 0, 2, 1}, []int{late.Added, late.Kept, late.Unseen, late.Dropped, late.Expired})
}

// TestEntriesBecomeOne: entries that turn out to be one group are one, with the rates of all; what is written is read.
func TestEntriesBecomeOne(t *testing.T) {
	words := strings.Fields("apple pear plum cherry quince fig grape lemon melon peach mango kiwi date lime olive papaya")
	lines := repeat(200, "a chat")
	for _, word := range words[:2] {
		lines = append(lines, repeat(30, "?the bench is taken by the "+word+" of old")...)
	}
	first := written(t, "2026-01-01", nil, lines).Baseline
	require.Len(t, first.Entries, 2)
	first.Entries[0].Note, first.Entries[1].Note = "one", "two"
	for _, word := range words[2:] {
		lines = append(lines, "?the bench is taken by the "+word+" of old")
	}
	d := checked(t, "2026-01-02", first, lines)
	require.Empty(t, d.More)
	require.Empty(t, d.Added)
	require.Empty(t, d.Unseen)
	require.Equal(t, 1, d.Known)

	again := written(t, "2026-01-02", first, lines)
	require.Equal(t, []int{0, 1, 0}, []int{again.Added, again.Kept, again.Unseen})
	require.Equal(t, "one; two", again.Baseline.Entries[0].Note)
	read := testkit.Must(compare.ParseBaseline("b.yaml", again.Baseline.Append(nil)))
	require.Len(t, read.Entries, 1)
	require.Len(t, first.Entries, 2, "the previous one does not change")
	require.Len(t, first.Entries[0].Templates, 1)
}

// TestWriteWithoutText: a group without a text cannot be recognized, so that it is
// neither written nor counted.
func TestWriteWithoutText(t *testing.T) {
	c := compare.Collect(compare.Config{})
	run := c.Run(compare.New, "good.log", &compare.StandIn{})
	o := heed.Outcome{
		Signature: signature.Of([]byte("too large to be kept")),
		Decision:  event.Decision{Disposition: event.Blocking},
	}
	run.Observe(&capture.Record{StartLine: 1}, &o)
	w := c.Write(compare.WriteOptions{Today: on("2026-01-01")})
	require.Empty(t, w.Baseline.Entries)
	require.Zero(t, w.Added)
}

// TestNameStays: an entry keeps its id while the signature that gave it is seen,
// so that a rewrite is no change.
func TestNameStays(t *testing.T) {
	b := written(t, "2026-01-01", nil, taken).Baseline
	require.Len(t, b.Entries, 1)
	more := append(slices.Clone(taken), "?the bench is taken by Emil", "?the bench is taken by Fred",
		"?the bench is taken by Gus", "?the bench is taken by Hal")
	again := written(t, "2026-01-02", b, more).Baseline
	require.Len(t, again.Entries, 1)
	require.Equal(t, b.Entries[0].Signature, again.Entries[0].Signature)
	require.Equal(t, b.Entries[0].Templates[0], again.Entries[0].Templates[0])
	require.Len(t, again.Entries[0].Templates, 8)
}

func TestBaselineRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.String(),
			rapid.SampledFrom([]string{
				"plain", "a: b", "# no comment", "- item", "'q'", `"q" \ n`, "\u202eevil", "\xff\xfe",
				"한국 🧑‍🚀", "~", "1e3", "a\nb\nc", "\ufeff", "\u2028", "trailing ", " leading", "\U000e0041",
			}),
		)
		b := &compare.Baseline{
			Signatures: 1, Masking: 2, Rules: 3,
			Written: "2026-01-31", Incomplete: rapid.Bool().Draw(t, "incomplete"),
		}
		used := map[string]bool{}
		for range rapid.IntRange(0, 5).Draw(t, "entries") {
			k := compare.Known{
				Rule: "a" + text.Draw(t, "rule"), Disposition: event.Advisory, Count: 3,
				Records: rapid.Uint64Range(3, 1<<40).Draw(t, "records"), Runs: 2,
				First: "2026-01-01", Expires: "2026-04-01", Note: text.Draw(t, "note"),
			}
			for range rapid.IntRange(1, 4).Draw(t, "forms") {
				if s := text.Draw(t, "template"); s != "" && !used[s] {
					used[s] = true
					k.Templates = append(k.Templates, s)
				}
			}
			if !valid(k.Rule) || !valid(k.Note) || len(k.Templates) == 0 {
				continue
			}
			k.Signature = signature.Of([]byte(k.Templates[0]))
			b.Entries = append(b.Entries, k)
		}
		data := b.Append(nil)
		require.NotContains(t, string(data), "\u202e")
		got, err := compare.ParseBaseline("b.yaml", data)
		require.NoError(t, err, "%s", data)
		require.Equal(t, b.Entries, got.Entries, "%s", data)
		require.Equal(t, data, got.Append(nil))
	})
}

func valid(s string) bool { return strings.ToValidUTF8(s, "") == s }

const goodBaseline = `version: 1
signatures: 1
masking: "0000000000000002"
rules: "0000000000000003"
written: 2026-01-01
entries:
  - id: "96ed32e6ca4ed05f"
    rule: test.rule
    disposition: blocking
    seen: {count: 2, records: 10, runs: 1}
    first: 2026-01-01
    expires: 2026-04-01
    template: lost <*>
`

func TestParseBaselineErrors(t *testing.T) {
	id := signature.Of([]byte("lost <*>")).ID.String()
	good := strings.Replace(goodBaseline, "96ed32e6ca4ed05f", id, 1)
	testkit.Must(compare.ParseBaseline("b.yaml", []byte(good)))
	for _, test := range []struct{ from, to, want string }{
		{"version: 1", "version: 2", `b.yaml:1:10: version: is 2, but this program reads 1`},
		{"version: 1", "version: x", `b.yaml:1:10: version: is "x" (want a whole number`},
		{"signatures: 1\n", "", `b.yaml:1:1: signatures: is missing`},
		{"rules: \"0000000000000003\"", "rules: 3", `b.yaml:4:8: rules: is "3" (want 16 hexadecimal digits in quotes)`},
		{"written: 2026-01-01", "written: today", `b.yaml:5:10: written: is "today" (want a day such as 2026-01-31)`},
		{"entries:", "entrys:", `b.yaml:6:1: unknown field "entrys" (did you mean "entries"?)`},
		{
			"\"" + id + "\"", `"0000000000000001"`,
			`b.yaml:7:9: entries[1].id: is 0000000000000001, but the template has ` + id,
		},
		{"\"" + id + "\"", "7", `b.yaml:7:9: entries[1].id: is "7" (want the id of a signature`},
		{
			"disposition: blocking", "disposition: ignore",
			`b.yaml:9:18: entries[1].disposition: is "ignore" (want blocking or advisory)`,
		},
		{"count: 2", "count: 0", `b.yaml:10:19: entries[1].seen.count: is "0" (want a whole number from 1 on)`},
		{"count: 2", "count: 20", `entries[1].seen.count: is 20 of 10 records`},
		{"expires: 2026-04-01", "expires: 2026-13-01", `b.yaml:12:14: entries[1].expires: is "2026-13-01"`},
		{"template: lost <*>", "template: [a]", `b.yaml:13:15: entries[1].template: is a list (want a text)`},
		{"template: lost <*>", "template: lost <*>\n    note: a\n    note: b", `b.yaml:15:5: entries[1]: "note" is given twice, first in line 14`},
		{
			"template: lost <*>", "template: lost <*>\n    forms: [lost <*>, \"\"]",
			`b.yaml:14:23: entries[1].forms[2]: is "" (want a text)`,
		},
		{
			"template: lost <*>", "template: lost <*>\n    forms: [" + strings.Repeat("a, ", 16) + "]",
			`b.yaml:14:12: entries[1].forms: has 16 templates (want at most 15)`,
		},
		{"template: lost <*>", "template: lost <*>\n    forms: [lost <*>]", `has the same template as entries[1]`},
		{"entries:", "incomplete: [1]\nentries:", `b.yaml:6:13: incomplete: must be true or false, not a list`},
		{"version: 1", "version: [", `b.yaml:`},
		{"template: lost <*>", "template: lost <*>\n---\nversion: 1", `b.yaml:14:1: a second YAML document`},
		{"template: lost <*>", "template: lost <*>\n--- [", `b.yaml:`},
	} {
		require.Contains(t, good, test.from)
		_, err := compare.ParseBaseline("b.yaml", []byte(strings.Replace(good, test.from, test.to, 1)))
		require.ErrorContains(t, err, test.want)
	}
	for _, empty := range []string{"", "# nothing\n"} {
		_, err := compare.ParseBaseline("b.yaml", []byte(empty))
		require.ErrorContains(t, err, "the file ")
	}
	_, err := compare.ParseBaseline("b.yaml", make([]byte, compare.MaxBaselineBytes+1))
	require.ErrorContains(t, err, "more than the")
}

func FuzzParseBaseline(f *testing.F) {
	f.Add(strings.Replace(goodBaseline, "96ed32e6ca4ed05f", signature.Of([]byte("lost <*>")).ID.String(), 1))
	f.Add("entries: [*a]")
	f.Add("a: &a [*a]")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := compare.ParseBaseline("b.yaml", []byte(text))
		require.NotEqual(t, b == nil, err == nil)
		if b != nil {
			again := testkit.Must(compare.ParseBaseline("b.yaml", b.Append(nil)))
			require.Equal(t, b, again)
		}
	})
}

// TestWorseByPhase holds that a group is worse than in the baseline only if it would be in each phase of the game.
func TestWorseByPhase(t *testing.T) {
	const template = "a cow is lost"
	b := written(t, "2026-01-01", nil, append(session(9), "?"+template)).Baseline
	for alone, worse := range map[event.Disposition]int{event.Ignore: 0, event.Advisory: 0, event.Blocking: 1} {
		c := compare.Collect(compare.Config{})
		run := c.Run(compare.New, "new.log", &compare.StandIn{Text: template, Set: compare.AllIs(alone)})
		run.Observe(&capture.Record{StartLine: 1}, &heed.Outcome{
			Signature: signature.Of([]byte(template)),
			Decision:  event.Decision{Rule: "test.rule", Disposition: event.Blocking},
		})
		require.Len(t, c.Check(b, on("2026-01-02")).Worse, worse, alone)
	}
}

// TestOtherMods: a group that names other mods alone does not fail, unless it breaks play by itself.
func TestOtherMods(t *testing.T) {
	other := []blame.Suspect{{Mod: "Other Mod", Score: 60}}
	mine := []blame.Suspect{{Mod: "code: RiverBoats", Score: 60}}
	byID := []blame.Suspect{{Mod: "Boats", PackageID: "oak.rb", Score: 60}}
	two := []blame.Suspect{{Mod: "A", Score: 60}, {Mod: "Riverboats", Score: 60}}
	known := []string{"all mods count", "package id", "end of a package id", "one of two", "the last asked"}
	for name, test := range map[string]struct {
		blamed []blame.Suspect
		mods   []string
		tag    string
		other  bool
	}{
		"another mod":         {other, []string{"Riverboats"}, "play", true},
		"all mods count":      {other, nil, "", false},
		"the mod":             {mine, []string{"Doors", "river boats"}, "", false},
		"package id":          {byID, []string{"Oak.rb"}, "", false},
		"end of a package id": {two, []string{"oakapple.riverboats"}, "", false},
		"one of two":          {two, []string{"Riverboats"}, "", false},
		"no mod":              {nil, []string{"Riverboats"}, "", false},
		"too weak to name":    {[]blame.Suspect{{Mod: "Other Mod", Score: 5}}, []string{"Riverboats"}, "", false},
		"crash of another":    {other, []string{"Riverboats"}, "crash", false},
		"failed load":         {other, []string{"Riverboats"}, "breaks", false},
		"the last asked":      {other, []string{"Riverboats"}, "last", false},
		"hang":                {other, []string{"Riverboats"}, "hang", false},
		"shortage of another": {other, []string{"Riverboats"}, "memory", true},
	} {
		c := compare.Collect(compare.Config{Mods: test.mods})
		engine := &compare.StandIn{Text: "the ship sinks", Suspects: test.blamed}
		run := c.Run(compare.New, "new.log", engine)
		for i := range 40 { // the tag is of one entry
			entry := event.Entry{Kind: event.KindLog, Level: event.LevelError, Message: "it sinks"}
			if i == 15 && test.tag == "last" {
				engine.Suspects = mine
			}
			d := event.Decision{Rule: "test.rule", Disposition: event.Blocking}
			if d.Tags = []string{test.tag}; i > 0 {
				d.Tags = nil
			}
			run.Observe(&capture.Record{Entry: entry, StartLine: i + 1}, &heed.Outcome{
				Decision: d, Signature: signature.Of([]byte("the ship sinks")),
			})
		}
		check := c.Check(&compare.Baseline{}, on("2026-01-01"))
		added := check.Added
		require.Len(t, added, 1, name)
		require.Equal(t, test.other, added[0].OtherMod, name)
		require.Equal(t, slices.Contains(known, name), len(check.UnknownMods) == 0, name)
	}
}
