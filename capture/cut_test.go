package capture

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

// TestCutFrames cuts logs at every byte of a trace, but for those of "[Ref " and
// "(Filename: ": what is left of it belongs to the record above.
func TestCutFrames(t *testing.T) {
	for name, c := range map[string]struct{ above, trace string }{
		"console": {
			"[Tools] on\n" + consoleMark + " ()\nVerse.Log:Message (string)\n\n",
			"Exception in Gadgets: System.Exception: bad\n  at Gadget.Panel.Draw () [0x00012] in <0123abcd>:0 \n" + consoleMark + " ()\nVerse.Log:Error (string)\n" +
				"(wrapper dynamic-method) Gadget.Panel:Gadget.Panel.Draw_Patch0 (Gadget.Panel)\nGadget.Panel/<>c__DisplayClass1_0:<Draw>b__0 (System.Collections.Generic.List`1<int>,int)\n" +
				"Gadget.Root.Update () (at <0123abcd>:0)\n",
		},
		"reference": {unity2022_3, "Exception in Gadgets: System.Exception: bad\n[Ref 12AB34CD]\n  at Gadget.Panel.Draw () [0x00012] in <0123abcd>:0 \n"},
		"footer":    {unity2019_4, "Exception in Gadgets: System.Exception: bad\n  at Gadget.Panel.Draw () [0x00012] in <0123abcd>:0 \n" + footer + "\n"},
		"player":    {unity2022_3, "Exception in Gadgets: System.Exception: bad\n  at Gadget.Panel.Draw () [0x00012] in <0123abcd>:0 \n  at Gadget.Root.Update () [0x00012] in <0123abcd>:0 \n"},
	} {
		whole := c.above + c.trace
		want, _, err := readAll(t, strings.NewReader(whole), Options{})
		require.NoError(t, err)
		last := want[len(want)-1]
		require.True(t, strings.HasPrefix(last.Message, "Exception in"))
		first := len(c.above) + strings.IndexByte(c.trace, '\n') + 1
		for n := first + 1; n < len(whole); n++ {
			in := whole[:n]
			if tail := in[strings.LastIndexByte(in, '\n')+1:]; tail != "" && (strings.HasPrefix("[Ref ", tail) ||
				strings.HasPrefix("(Filename: ", tail)) {
				continue
			}
			recs, _, err := readAll(t, strings.NewReader(in), Options{})
			require.NoError(t, err)
			requireCovers(t, in, recs)
			if end := recs[len(recs)-1]; end.Kind == event.KindNotice {
				require.Equal(t, event.StatusTruncated, end.Status)
				recs = recs[:len(recs)-1]
			}
			require.Len(t, recs, len(want), "%s: %q", name, in[len(c.above):])
			require.Equal(t, last.StartLine, recs[len(recs)-1].StartLine)
		}
	}
}

func TestIsCutFrame(t *testing.T) {
	table(t, isCutFrame, []string{
		"Verse.Root", "Verse.Root_Play:Upd", "Verse.Root_Play:Update (", "Verse.Root_Play:Update (int,Verse.Thi", "Verse.Root:Update () (at <01",
		"(wrapper dynamic-meth", "(wra", "Gadget.List`1<in", "Verse", "V", "Verse.Log:Error (string) [0x0",
	}, []string{"[Tools] on", "Tools are on", "Tools: on", "- item", "3.5", "(Filename: "})
}
