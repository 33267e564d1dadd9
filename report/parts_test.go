package report

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// observed adds an entry that was folded into an item.
func observed(r *Replay, item, rule string, d event.Disposition, line uint64) {
	o := outcome(1, d, rule)
	o.AttentionID = item
	r.Observe(&capture.Record{StartLine: int(line)}, o)
}

func TestCausesTellApartWhatCameWithThem(t *testing.T) {
	named := []string{"Some Mod"}
	r := newReplay(t, Config{
		Details: true, File: "Player.log",
		Blame: func() []heed.Suspect { return []heed.Suspect{{Mod: named[0], Score: 60}} },
		Rule:  func(id string) RuleText { return RuleText{Summary: "what " + id + " is"} },
	})
	observed(r, "0-1", "some.rule", event.Blocking, 1)
	u := opened("0-1", event.Blocking, 1)
	r.Update(u)
	for line := range uint64(200) {
		observed(r, "0-1", "flood.rule", event.Advisory, line+2)
	}
	for line := range uint64(3) {
		observed(r, "0-1", "late.rule", event.Blocking, line+202)
	}
	u = closed("0-1", event.Blocking, 204)
	u.Item.TotalUrgentEntries = 204
	r.Update(u)
	observed(r, "0-2", "some.rule", event.Blocking, 300)
	observed(r, "0-2", "flood.rule", event.Blocking, 301)
	open := attention("0-2", event.Blocking, 300)
	open.TotalUrgentEntries = 2
	r.End(End{Layout: "unity", Lines: 301, Open: []heed.Item{open}})
	require.Empty(t, r.causes.parts["0-1"], "what is cleared is not kept")
	for range 2 { // asking changes nothing
		list := r.causes.list()
		require.Len(t, list, 1)
		require.EqualValues(t, 206, list[0].Entries)
		require.EqualValues(t, 2, list[0].own())
		with := list[0].others()
		require.Equal(t, []*part{
			{rule: "flood.rule", disposition: event.Blocking, entries: 201, first: 2, last: 301, blame: named},
			{rule: "late.rule", disposition: event.Blocking, entries: 3, first: 202, last: 204, blame: named},
		}, with)
	}
	doc := requireValidPage(t, page(t, r))
	text := readable(doc)
	require.Contains(t, text, "2 entries, plus 204 others")
	require.Contains(t, text, "201 × blocking What flood.rule is. Some Mod line 2 · flood.rule")
}

func TestPartsOfAcknowledgedItemsAreNotKept(t *testing.T) {
	r := newReplay(t, Config{})
	line := uint64(0)
	for n := range 100 {
		id := fmt.Sprint("0-", n)
		line++
		observed(r, id, "some.rule", event.Blocking, line)
		r.Update(opened(id, event.Blocking, line))
		r.Update(closed(id, event.Blocking, line))
		for range 3 { // repeats, of which no update tells
			line++
			observed(r, id, "some.rule", event.Blocking, line)
		}
	}
	require.LessOrEqual(t, len(r.causes.parts), 1)
	list := r.causes.list()
	require.Len(t, list, 1)
	require.EqualValues(t, 100, list[0].own())
}

func TestOthersAreCutWhereThatSavesRoom(t *testing.T) {
	c := &Cause{}
	for _, want := range []struct{ shown, more int }{{1, 0}, {2, 0}, {3, 0}, {2, 2}, {2, 3}} {
		c.parts = append(c.parts, causePart{})
		shown, more := c.first(2)
		require.Len(t, shown, want.shown)
		require.Equal(t, want.more, more)
	}
}

func TestCausesWithoutEntriesAreTheirOwn(t *testing.T) {
	r := newReplay(t, Config{})
	r.Update(opened("0-1", event.Blocking, 1))
	require.EqualValues(t, 1, r.causes.list()[0].own())
	require.Empty(t, r.causes.list()[0].others())
}

func TestCausesLinkToTheirGroups(t *testing.T) {
	r := newReplay(t, Config{Details: true, File: "Player.log"})
	observed(r, "0-1", "some.rule", event.Blocking, 1)
	r.Update(opened("0-1", event.Blocking, 1))
	r.End(End{Layout: "unity", Lines: 1})
	out := page(t, r)
	requireValidPage(t, out)
	require.Contains(t, out, `href="#log1-g1"`)
	require.Contains(t, out, `id="log1-g1"`)

	s := newSection(r.Document(0), 1, 1)
	s.Groups = nil
	s.link()
	require.Empty(t, s.RuleRef(s.Causes[0].Rule).Href, "no link to what was left out")
}

func TestExcerptsOfTheFirstScreenAreLeftOutLast(t *testing.T) {
	s := &section{allExcerpts: 16}
	for i := range 16 {
		s.Excerpts = append(s.Excerpts, &excerptView{cause: i%2 == 0, named: i == 13})
	}
	named := s.Excerpts[13]
	for len(s.Excerpts) > 1 {
		s.halveExcerpts()
		require.Contains(t, s.Excerpts, named)
	}
	require.EqualValues(t, 15, s.LeftOut())
}

func TestSummariesForPeople(t *testing.T) {
	require.Equal(t, `broken (9 entries in 2 groups); blame: "first at entry"; continues item 0-1`,
		forPeople(`broken (9 entries in 2 groups); blame: "first at entry"; first at entry 12; continues item 0-1; see entries after 3`))
	require.Equal(t, "broken; the game's state may have changed; continues item 0-1",
		forPeople("broken; the game's state may have changed: read it again; continues item 0-1"))
}

// TestCauseIsNamedForMostOfIt: not for a first entry that is nearly alone among those that are as urgent.
func TestCauseIsNamedForMostOfIt(t *testing.T) {
	for others, want := range map[uint64]string{19: "odd.rule", 20: "frequent.rule"} {
		r := newReplay(t, Config{})
		observed(r, "0-1", "odd.rule", event.Blocking, 1)
		for line := range others {
			observed(r, "0-1", "frequent.rule", event.Blocking, line+2)
		}
		for line := range uint64(100) {
			observed(r, "0-1", "flood.rule", event.Advisory, line+50)
		}
		u := opened("0-1", event.Blocking, 1)
		u.Item.Cause.Rule = "odd.rule"
		r.Update(u)
		r.End(End{Lines: 150})
		causes := r.Document(0).Causes
		require.Len(t, causes, 1)
		require.Equal(t, want, causes[0].Rule)
		if want == "frequent.rule" {
			require.EqualValues(t, 2, causes[0].First)
		}
	}
}

func marshal(v any) []byte { return text.JSON(v) }
