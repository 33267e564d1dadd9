package capture

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnnouncedLists gives lines of which the first ends in a colon, and how many
// records they are.
func TestAnnouncedLists(t *testing.T) {
	const announced = "[Gadgets] panels that may be opened:"
	for _, c := range []struct {
		name, banner, in string
		want             []string // the last lines of the records' texts
	}{
		{"words", unity2022_3, doc(announced, "Lamp", "Door", "[Tools] on"), []string{"Door", "[Tools] on"}},
		{"one word", unity2022_3, doc(announced, "Lamp", "[Tools] on"), []string{"Lamp", "[Tools] on"}},
		{"marks", unity2022_3, doc(announced, "- old lamp", "- new lamp", "Tools are on"), []string{"- new lamp", "Tools are on"}},
		{"packages", unity2022_3, doc(announced, "[A] Anna's tools (anna.tools)", "Tools are on"), []string{"[A] Anna's tools (anna.tools)", "Tools are on"}},
		{"columns", unity2022_3, doc(announced, "Lamp   is new", "Tools are on"), []string{"Lamp   is new", "Tools are on"}},
		{"markup", unity2022_3, doc(announced, "<li>Lamp of glass</li>", "Tools are on"), []string{"<li>Lamp of glass</li>", "Tools are on"}},
		{"markup with text", unity2022_3, doc(announced, "<text>Lamp of glass", "Tools are on"), []string{"<text>Lamp of glass", "Tools are on"}},

		{"none, and a report", unity2022_3, doc(announced, "Lamp has no glass", "Tools are on"), []string{announced, "Lamp has no glass", "Tools are on"}},
		{"none, and a report of a mod's", unity2022_3, doc(announced, "Tools: lamp was added", "Doors are on"), []string{announced, "Tools: lamp was added", "Doors are on"}},
		{"none, and a report with a footer", unity2019_4, doc(announced, "Lamp has no glass ", footer, "", "Tools are on"), []string{announced, "Lamp has no glass", "Tools are on"}},
		{"none, and a tag in brackets", unity2022_3, doc(announced, "[Tools] lamp", "[Tools] door"), []string{announced, "[Tools] lamp", "[Tools] door"}},
		{"marks, and the end of a reload", unity2022_3, doc(announced, "- old lamp", "- Completed reload, in  0.1 seconds"), []string{"- old lamp", "- Completed reload, in  0.1 seconds"}},
		{"none, and an upload", unity2022_3, doc(announced, "Log of lamps", "Log uploaded on Friday"), []string{announced, "Log of lamps", "Log uploaded on Friday"}},
		{"none, and the end", unity2022_3, doc(announced, "Lamp has no glass"), []string{announced, "Lamp has no glass"}},
		{"none, and a blank line", unity2022_3, doc(announced, "Lamp has no glass", "", "Lamp has no wire"), []string{announced, "Lamp has no glass", "Lamp has no wire"}},

		{"the cause of a failure", unity2022_3, doc("[Gadgets] Could not load settings, error:", "the file is locked", "Tools are on"), []string{"the file is locked", "Tools are on"}},
		{
			"none among lines that are read again", unity2022_3,
			doc("Could not start Gadgets: System.Exception: bad", announced, "Lamp: glass", "", "Door: wood", "Tools are on"),
			[]string{"Could not start Gadgets: System.Exception: bad", announced, "Lamp: glass", "Door: wood", "Tools are on"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := c.banner + c.in
			recs := covered(t, in)
			var got []string
			for i := range recs {
				if recs[i].StartLine > strings.Count(c.banner, "\n") {
					lines := strings.Split(recs[i].Message, "\n")
					got = append(got, lines[len(lines)-1])
				}
			}
			require.Equal(t, c.want, got)
		})
	}
}
