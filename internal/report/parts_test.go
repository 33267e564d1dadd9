package report

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
)

func TestCausesTellApartWhatCameWithThem(t *testing.T) {
	named := coalesce.Accused{{Name: "Some Mod", Entries: 200}}
	r := newReplay(t, Config{
		Details: true, File: "Player.log",
		Rule: func(id string) RuleText { return RuleText{Summary: "what " + id + " is"} },
	})
	r.Update(opened("0-1", event.Blocking, 1))
	u := closed("0-1", event.Blocking, 204)
	u.Item.TotalUrgentEntries = 204
	own := heed.Member{Rule: "some.rule", Disposition: event.Blocking, Entries: 1, First: 1, Last: 1}
	flood := heed.Member{
		Rule: "flood.rule", Disposition: event.Advisory, Entries: 200, First: 2, Last: 201, Accused: named,
	}
	late := heed.Member{Rule: "late.rule", Disposition: event.Blocking, Entries: 3, First: 202, Last: 204}
	u.Item.Members = []heed.Member{own, late, flood}
	r.Update(u)
	open := attention("0-2", event.Blocking, 300)
	open.TotalUrgentEntries = 2
	own.First, own.Last = 300, 300
	flood.Disposition, flood.Entries, flood.First, flood.Last = event.Blocking, 1, 301, 301
	open.Members = []heed.Member{own, flood}
	r.End(End{Layout: "unity", Lines: 301, Open: []heed.Item{open}})
	for range 2 { // asking changes nothing
		list := r.causes.list()
		require.Len(t, list, 1)
		require.EqualValues(t, 206, list[0].Entries)
		require.EqualValues(t, 2, list[0].own().Entries)
		var others []string
		for _, m := range list[0].others() {
			blame, _ := m.Mods()
			others = append(others, fmt.Sprintf("%s %s %d %d %d %v", m.Rule, m.Disposition, m.Entries, m.First, m.Last, blame))
		}
		require.Equal(t, []string{"flood.rule blocking 201 2 301 [Some Mod]", "late.rule blocking 3 202 204 []"}, others)
	}
	doc := requireValidPage(t, page(t, r))
	text := readable(doc)
	require.Contains(t, text, "2 entries, plus 204 others")
	require.Contains(t, text, "201 × blocking What flood.rule is. Some Mod line 2 · flood.rule")
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

func TestCausesLinkToTheirGroups(t *testing.T) {
	r := newScript(t).play(t, "1 error rule=some.rule\n1 end")
	out := page(t, r.Replay)
	requireValidPage(t, out)
	require.Contains(t, out, `href="#log1-g1"`)
	require.Contains(t, out, `id="log1-g1"`)

	s := newSection(r.Document(0), 1, 1, 9)
	require.Empty(t, s.RuleRef(s.Causes[0].Rule).Href, "no link to what was left out")
}

func TestExcerptsOfTheFirstScreenAreLeftOutLast(t *testing.T) {
	var all []*excerpt
	for i := range 16 {
		all = append(all, &excerpt{cause: i%2 == 0, named: i == 13})
	}
	named := all[13]
	for len(all) > 1 {
		all = halved(all)
		require.Contains(t, all, named)
	}
}
