package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/report/compare"
	"github.com/heedlog/heed/rules"
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
	d := &compare.Suspects{OldMods: true, NewMods: true}
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
		require.Contains(t, form, "Mods: 9 added, 0 updated, 0 removed, 0 moved in the load order.")
		require.Contains(t, form, "Mod 7")
		require.NotContains(t, form, "Mod 8")
		require.Contains(t, form, "… and 1 more (--top 0 shows all)")
	}
}
