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

		{
			"none, and lines of a logger", unity2022_3,
			doc("2031-02-03 12:00:00.100 INFO loader: Loading 3 mods:", "2031-02-03 12:00:00.100 INFO loader:  - Lamp 1.2", "2031-02-03 12:00:01.100 ERROR crypts: no oil"),
			[]string{"2031-02-03 12:00:00.100 INFO loader: Loading 3 mods:", "2031-02-03 12:00:00.100 INFO loader:  - Lamp 1.2", "2031-02-03 12:00:01.100 ERROR crypts: no oil"},
		},

		{
			"none, and lines of a logger without a time", unity2022_3,
			doc("Loader: Loading 3 mods:", "Loader:  - Lamp 1.2", "Loader:  - Door 2.0", "Loader: ERROR crypts: no oil"),
			[]string{"Loader: Loading 3 mods:", "Loader:  - Lamp 1.2", "Loader:  - Door 2.0", "Loader: ERROR crypts: no oil"},
		},
		{
			"items with a tag, and another line with it", unity2022_3,
			doc("Loading 2 mods:", "Loader:  - Lamp 1.2", "Loader:  - Door 2.0", "Loader: ERROR crypts: no oil", "Loader: no door"),
			[]string{"Loader:  - Door 2.0", "Loader: ERROR crypts: no oil", "Loader: no door"},
		},
		{"names, and no list", unity2022_3, doc("Loading 2 mods:", "Loader: Lamp is on", "Loader: no oil"), []string{"Loading 2 mods:", "Loader: Lamp is on", "Loader: no oil"}},

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

func TestMessagesOfSeveralLines(t *testing.T) {
	const head, frame = "Could not start Gadgets: System.Exception: broken", "  at Gadget.Panel.Draw () [0x0001f] in <0123>:0 "
	eight := strings.Split(strings.Repeat("screw;", 8), ";")[:8]
	for _, c := range []struct{ name, banner, in, want string }{
		{"frames claim what is above them", unity2022_3, doc(head, "two screws", "\tof three", "are missing", frame, "next"), `
5-9 frame error/exception 1 frames: Could not start Gadgets: System.Exceptio
10-10 line unknown/none 0 frames: next
`},
		{"so does a reference", unity2022_3, doc(head, "two screws", "[Ref 1A] Duplicate stacktrace, see ref for original"), `
5-7 frame error/exception 0 frames: Could not start Gadgets: System.Exceptio
`},
		{"so does a footer, below a line of one space or not", unity2019_2, doc(head, "two screws", " ", footer, "", head, "two screws ", footer), `
4-7 footer error/exception 0 frames: Could not start Gadgets: System.Exceptio
9-11 footer error/exception 0 frames: Could not start Gadgets: System.Exceptio
`},
		{"so do those of an inner exception", unity2022_3, doc(head, frame, "---> (Inner Exception #0) System.Exception: broken", "two screws", frame, "", "---> (Inner Exception #1) System.Exception: broken", "two screws", "next", "", "last"), `
5-11 form error/exception 2 frames: Could not start Gadgets: System.Exceptio
12-12 line unknown/none 0 frames: two screws
13-13 blank unknown/none 0 frames: next
15-15 line unknown/none 0 frames: last
`},
		{"eight lines are looked at", unity2022_3, doc(head) + doc(eight...) + doc(frame), `
5-14 frame error/exception 1 frames: Could not start Gadgets: System.Exceptio
`},
		{"nine are not", unity2022_3, doc(head) + doc(eight...) + doc("nut", frame), `
5-13 each line unknown/none
14-15 frame unknown/none 1 frames: nut
`},
		{"nor are more than 4 KiB", unity2022_3, doc(head, strings.Repeat("nut ", 600), strings.Repeat("nut ", 600), frame), `
5-6 each line unknown/none
7-8 frame unknown/none 1 frames: nut nut nut nut nut nut nut nut nut nut 
`},
		{"a blank line ends it", unity2022_3, doc(head, "two screws", "", "of three", frame), `
5-5 line unknown/none 0 frames: Could not start Gadgets: System.Exceptio
6-6 blank unknown/none 0 frames: two screws
8-9 frame unknown/none 1 frames: of three
`},
		{"another record ends it, and what was held is read as ever", unity2022_3, doc(head, "Settings:", "one", "two", "\tc", "[Gadgets] on", frame), `
5-5 line unknown/none 0 frames: Could not start Gadgets: System.Exceptio
6-9 indent unknown/none 0 frames: Settings:
10-11 frame unknown/none 1 frames: [Gadgets] on
`},
		{"another exception ends it", unity2022_3, doc(head, "two screws", head, frame), `
5-6 each line unknown/none
7-8 frame error/exception 1 frames: Could not start Gadgets: System.Exceptio
`},
		{"so does another run", unity2022_3, doc(head, "two screws") + unity2019_4, `
5-6 each line unknown/none
notice restarted count=0 pos=7
7-9 each line unknown/none
`},
		{"the end of the input ends it", unity2022_3, doc(head, "two screws", "of three", ""), `
5-6 each line unknown/none
7-7 blank unknown/none 0 frames: of three
`},
		{"so does a hole, at its side of the lines held", unity2022_3, head + "\ntwo screws\n" + strings.Repeat("\x00", 64) + "\n" + frame + "\n", `
5-5 line unknown/none 0 frames: Could not start Gadgets: System.Exceptio
6-6 hole unknown/none 0 frames: two screws
notice hole count=64 pos=7
8-8 line unknown/none 0 frames: at Gadget.Panel.Draw () [0x0001f] in <01
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := c.banner + c.in
			recs := covered(t, in)
			require.Equal(t, strings.TrimPrefix(c.want, "\n"), outline(recs[strings.Count(c.banner, "\n"):]))
		})
	}

	recs := records(t, unity2022_3+doc(head, "two screws", "", "\tof three", frame))
	require.Equal(t, "two screws\n\n\tof three", recs[len(recs)-1].Message)
}
