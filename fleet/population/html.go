package population

import (
	"cmp"
	_ "embed" // for the parts of the page
	"html/template"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/signature"
)

var (
	//go:embed page.html
	pageTemplate string
	//go:embed page.css
	pageStyle string
)

// The most that the page shows; the rest is in the report as JSON.
const (
	pageGroups = 200
	pageMods   = 200
)

// page returns the template of the page.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"count": text.Count,
		"sum":   func(a, b int) int { return a + b },
		"num":   func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) },
	}).Parse(pageTemplate))
})

// shownPage is the data of the page.
type shownPage struct {
	*Report
	Policy     string
	Style      template.CSS
	Shown      []ReportGroup // groups that break play first
	Lists      [2]shownList
	Hidden     int
	ShownMods  []ReportMod
	HiddenMods int
}

// shownList is a list of groups. Its first group has the place From among all.
type shownList struct {
	Title  string
	From   int
	Groups []ReportGroup
}

// Anchor returns the place of a group on the page, "" if it is not shown. Groups without a game's name have none that
// lead there, since too few have them.
func (p *shownPage) Anchor(game string, id signature.ID) string {
	i := slices.IndexFunc(p.Shown, func(g ReportGroup) bool {
		return g.Signature == id && g.Game == game && !g.GameMasked
	})
	if i < 0 {
		return ""
	}
	return "g" + strconv.Itoa(i)
}

// HTML returns the report as a page that is complete in itself and has no script and no way out.
func (r *Report) HTML() []byte {
	style := strings.ReplaceAll(pageStyle, "\r\n", "\n")
	shown := slices.Clone(r.Groups)
	slices.SortStableFunc(shown, func(a, b ReportGroup) int { return cmp.Compare(b.Breaks, a.Breaks) })
	shown = shown[:min(len(shown), pageGroups)]
	breaking := 0
	for breaking < len(shown) && shown[breaking].Breaks > 0 {
		breaking++
	}
	return text.Rendered(page(), &shownPage{
		Report: r,
		Policy: "default-src 'none'; style-src " + text.PolicySource(style) + "; base-uri 'none'; form-action 'none'",
		Style:  template.CSS(style), // a file of this package
		Shown:  shown,
		Lists:  [...]shownList{{"Breaks play", 0, shown[:breaking]}, {"Other problems", breaking, shown[breaking:]}},
		Hidden: max(0, len(r.Groups)-pageGroups), ShownMods: r.Mods[:min(len(r.Mods), pageMods)],
		HiddenMods: max(0, len(r.Mods)-pageMods),
	})
}
