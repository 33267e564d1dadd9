package capture

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture/internal/unity"
	"github.com/heedlog/heed/event"
)

// TestCutFrames cuts logs at every byte of a trace, but for those of "[Ref " and
// "(Filename: ": what is left of it belongs to the record above.
func TestCutFrames(t *testing.T) {
	for name, c := range map[string]struct{ above, trace string }{
		"console": {
			"[Tools] on\n" + unity.ConsoleMark + " ()\nVerse.Log:Message (string)\n\n",
			"Exception in Gadgets: System.Exception: bad\n  at Gadget.Panel.Draw () [0x00012] in <0123abcd>:0 \n" + unity.ConsoleMark + " ()\nVerse.Log:Error (string)\n" +
				"(wrapper dynamic-method) Gadget.Panel:Gadget.Panel.Draw_Patch0 (Gadget.Panel)\nGadget.Panel/<>c__DisplayClass1_0:<Draw>b__0 (System.Collections.Generic.List`1<int>,int)\n" +
				"Gadget.Root.Update () (at <0123abcd>:0)\n",
		},
		"reference": {unity2022_3, "Exception in Gadgets: System.Exception: bad\n[Ref 12AB34CD]\n  at Gadget.Panel.Draw () [0x00012] in <0123abcd>:0 \n"},
		"footer":    {unity2019_4, "Exception in Gadgets: System.Exception: bad\n  at Gadget.Panel.Draw () [0x00012] in <0123abcd>:0 \n" + footer + "\n"},
		"player":    {unity2022_3, "Exception in Gadgets: System.Exception: bad\n  at Gadget.Panel.Draw () [0x00012] in <0123abcd>:0 \n  at Gadget.Root.Update () [0x00012] in <0123abcd>:0 \n"},
	} {
		whole := c.above + c.trace
		want := records(t, whole)
		last := want[len(want)-1]
		require.True(t, strings.HasPrefix(last.Message, "Exception in"))
		first := len(c.above) + strings.IndexByte(c.trace, '\n') + 1
		for n := first + 1; n < len(whole); n++ {
			in := whole[:n]
			if tail := in[strings.LastIndexByte(in, '\n')+1:]; tail != "" && (strings.HasPrefix("[Ref ", tail) ||
				strings.HasPrefix("(Filename: ", tail)) {
				continue
			}
			recs := covered(t, in)
			if end := recs[len(recs)-1]; end.Kind == event.KindNotice {
				require.Equal(t, event.StatusTruncated, end.Status)
				recs = recs[:len(recs)-1]
			}
			require.Len(t, recs, len(want), "%s: %q", name, in[len(c.above):])
			require.Equal(t, last.StartLine, recs[len(recs)-1].StartLine)
		}
	}
}

// TestCutLine requires one notice for each line without its end, whether it begins a record, continues one, is held
// back or has holes, as it is read and as it grows.
func TestCutLine(t *testing.T) {
	const frame = "  at Gadget.Panel.Draw () [0x00012] in <0123abcd>:0 \n"
	long, nul := strings.Repeat("x", windowSize), strings.Repeat("\x00", minHole)
	for name, c := range map[string]struct {
		in   string
		want []uint64 // the bytes of each notice
	}{
		"alone":        {"a\nb" + long + "\nc\n", []uint64{1}},
		"without end":  {"a\n" + long + long, []uint64{windowSize}},
		"all there":    {"a\n" + long + "\nc\n", nil},
		"in a record":  {unity2022_3 + "a: System.Exception: x\n  " + long + "\n" + frame + "c\n", []uint64{2}},
		"held back":    {unity2022_3 + "a: System.Exception: x\nbcd" + long + "\n" + frame + "c\n", []uint64{3}},
		"above frames": {unity2022_3 + "Exception in a: System.Exception: x" + long + "\n" + frame + "c\n", []uint64{35}},
		"a hole":       {"a" + nul + long + "bc\nd\n", []uint64{minHole + 4}},
		"begins so":    {nul + long + "bc\nd\n", []uint64{minHole + 2}},
	} {
		recs := records(t, c.in)
		require.Equal(t, c.want, counts(recs, event.StatusHole), name)
		require.Equal(t, recs, streamed(t, []byte(c.in), []int{70_000, 5}, Options{}, nil), name)
		grown := streamed(t, []byte(c.in), []int{70_000}, Options{}, func(int) (bool, bool) { return true, true })
		var all, want uint64
		for _, n := range counts(grown, event.StatusHole) {
			all += n
		}
		for _, n := range c.want {
			want += n
		}
		require.Equal(t, want, all, "%s, as it grows", name)
	}
}

// TestCutText: a log ends in the middle of a record if its last line has no end and is the beginning of a head or a
// frame. A text without one may be whole: editors and uploads strip the end of the last line.
func TestCutText(t *testing.T) {
	const on, player = "[10:00:00] [main/INFO]: on\n[10:00:01] [main/INFO]: off\n", unity2022_3 + "on\n"
	for in, cut := range map[string]bool{
		on + "[10:00:02] [main/INFO]: the press stopped":                       false,
		on + "[10:00:02] [main/INFO]: the press turns\n":                       false,
		on + "[10:00:02] [main/INFO]: the press turns.":                        false,
		on + "[10:00:02] [main/INFO]: sheets: 12":                              false,
		on + "[10:00:02] [ma":                                                  true,
		on + "[10:00:02] [main/ERROR]: x\n\tat acme.Press.turn(Press.java:1":   true,
		on + "[10:00:02] [main/ERROR]: x\n\tat acme.Press.turn(Press.java:12)": false,
		"on\noff\nthe press turns":                                             false,
		player + "[Gadg":                                                       true,
		player + "the press tur":                                               false, // as uploads
	} {
		recs, _ := read(t, strings.NewReader(in), Options{})
		require.Equal(t, cut, recs[len(recs)-1].Status == event.StatusTruncated, in)
	}
}

func TestIsCutFrame(t *testing.T) {
	table(t, isCutFrame, []string{
		"Verse.Root", "Verse.Root_Play:Upd", "Verse.Root_Play:Update (", "Verse.Root_Play:Update (int,Verse.Thi", "Verse.Root:Update () (at <01",
		"(wrapper dynamic-meth", "(wra", "Gadget.List`1<in", "Verse", "V", "Verse.Log:Error (string) [0x0",
	}, []string{"[Tools] on", "Tools are on", "Tools: on", "- item", "3.5", "(Filename: "})
}

// TestLastLine: a log whose last run lacks the awaited line counts as cut.
func TestLastLine(t *testing.T) {
	const banner = "Mono path[0] = 'a'\nInitialize engine version: 2022.3.35f1 (abc)\n"
	for in, cut := range map[string]bool{
		banner + "[Boats] tests finished\n":                                false,
		banner + "[Boats] tests finished\nafterwards\n":                    false,
		banner + "[Boats] tests finished":                                  false,
		banner + "[Boats] tests fin":                                       true,
		banner + "[Boats] tests began\n":                                   true,
		banner + "[Boats] tests finished\n" + banner + "[Boats] began\n":   true,
		banner + "began\n" + banner + "[Boats] \x1b[31mtests finished\n\n": false,
		"": false, // empty, which is a finding of its own
	} {
		recs, _ := read(t, strings.NewReader(in), Options{LastLine: "tests finished"})
		got := len(recs) > 0 && recs[len(recs)-1].Status == event.StatusTruncated
		require.Equal(t, cut, got, in)
	}
}
