package capture

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
