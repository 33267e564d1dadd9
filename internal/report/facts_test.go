package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report/compare"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// TestFormsStateTheSameFacts: each fact of the first screen, of a cause and of the accounting is in text, in Markdown
// under the same label, and in the page.
func TestFormsStateTheSameFacts(t *testing.T) {
	r := newScript(t).play(t, "1 error rule=some.rule item=1 mod=Some_Mod\n2 advisory rule=other.rule item=1\n2 end")
	d := r.Document(0)
	text := string(Text(nil, d, TextOptions{}))
	markdown := string(Markdown(nil, d))
	page := readable(requireValidPage(t, page(t, r.Replay)))
	cause := &d.Causes[0]
	plain, marked := d.glance(plainly), d.glance(inMarkdown)
	plain = append(plain, cause.facts(plainly, textWith, true)...)
	marked = append(marked, cause.facts(inMarkdown, textWith, true)...)
	require.Len(t, marked, len(plain))
	labels := map[string]bool{}
	for i, f := range plain {
		labels[f.Label] = true
		require.Equal(t, f.Label, marked[i].Label)
		require.Contains(t, text, f.Says)
		require.Contains(t, markdown, marked[i].Says)
	}
	for _, label := range []string{"problem", "log", "what", "why", "blame", "count", "others"} {
		require.True(t, labels[label], label)
		require.Contains(t, markdown, "- "+label+":")
	}
	require.NotContains(t, d.MarkdownCause(cause), "its run and its number", "only the first of a report explains the id")
	for _, f := range d.Accounting() {
		require.Contains(t, text, f.Label)
		require.Contains(t, page, capital(f.Label)+" "+strings.ReplaceAll(f.Says, "\n", " "))
	}
}

// TestComparisonsHaveOneTable: Markdown has the columns, the rows and the bounds of text, of suspects too.
func TestComparisonsHaveOneTable(t *testing.T) {
	side := compare.Totals{Files: []compare.File{{Name: "a.log"}}}
	d := &compare.Suspects{Old: side, New: side, OldMods: true, NewMods: true}
	for i := range 9 {
		d.Mods = append(d.Mods, compare.ModChange{Name: fmt.Sprintf("Mod %d", i), Change: "added", Place: i + 1})
	}
	german := rules.Texts("de")
	require.Contains(t, string(Text(nil, &Comparison{Found: d, Language: german}, TextOptions{})),
		"\n"+german["MODS that changed"]+"\n")
	c := &Comparison{Found: d, Top: 2}
	text, markdown := string(Text(nil, c, TextOptions{})), string(Markdown(nil, c))
	require.Contains(t, text, "  CHANGE  PLACE  PACKAGE  MOD\n")
	require.Contains(t, markdown, "| CHANGE | PLACE | PACKAGE | MOD |\n| --- | ---: | --- | --- |\n"+
		"| added | 1 |  | `Mod 0` |\n")
	for _, form := range []string{text, markdown} {
		require.Contains(t, form, "Mods: 9 added.")
		require.Contains(t, form, "Mod 7")
		require.NotContains(t, form, "Mod 8")
		require.Contains(t, form, "… and 1 more (--top 0 shows all)")
	}
}

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
		c.parts = append(c.parts, heed.Member{})
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

// statements stands in for an engine that has ids of one statement in one group: 100 to 199 is one, all others are
// alone.
func statements(s signature.Signature) signature.Signature {
	if s.ID >= 100 && s.ID < 200 {
		s = signature.Signature{ID: 100, Check: 100}
	}
	return s
}

// variant stands in for an engine that has learned nothing.
func variant(template string) string {
	g, _ := signature.NewGrouper(signature.GrouperConfig{Signatures: 1, Columns: 1}) // the bounds are right
	return string(g.AppendVariant(nil, []byte(template)))
}

// TestVariants: each form shows what the entries of a group decide differently, eight values and all others as one.
func TestVariants(t *testing.T) {
	play := func(ids int, template func(id int) string) *Document {
		r := newReplay(t, Config{
			Details: true, Group: statements, Variant: variant,
			Template: func(s signature.Signature) (string, bool) {
				return template(int(s.ID)), true
			},
		})
		for i := range ids {
			for range ids - i {
				rec := &capture.Record{StartLine: i + 1}
				r.Observe(rec, outcome(signature.ID(100+i), event.Blocking, "r"))
			}
		}
		r.End(End{Lines: ids})
		return r.Document(0)
	}
	code := func(id int) string { return fmt.Sprintf("pump <*> failed, code %d", id) }
	d := play(3, code)
	want := heed.Variants{{Value: "100", Count: 3}, {Value: "101", Count: 2}, {Value: "102", Count: 1}}
	require.Equal(t, want, d.Signatures[0].Variants)
	require.EqualValues(t, 6, d.Signatures[0].Count)
	const shown = "100 ×3, 101 ×2, 102 ×1"
	require.Contains(t, string(Text(nil, d, TextOptions{})), shown)
	require.Contains(t, string(Markdown(nil, d)), shown)
	require.Contains(t, string(HTML(nil, d)), shown)
	var doc struct {
		Files []struct {
			Signatures []struct{ Variants []map[string]any }
		}
	}
	require.NoError(t, json.Unmarshal(JSON(nil, d), &doc))
	require.Equal(t, map[string]any{"value": "101", "count": 2.0}, doc.Files[0].Signatures[0].Variants[1])

	many := play(12, code).Signatures[0].Variants
	require.Len(t, many, maxVariants+1)
	require.Equal(t, heed.Variant{Others: true, Count: 4 + 3 + 2 + 1}, many[maxVariants])

	names := func(id int) string { return []string{"Anna", "Boris", "Chloe"}[id-100] + " is late" }
	require.Empty(t, play(3, names).Signatures[0].Variants, "forms that decide the same")
}
