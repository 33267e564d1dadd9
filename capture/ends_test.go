package capture

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mixedEnds is a log with a blank line in every place that could be taken for the
// middle of a report.
const mixedEnds = `Hello one
Hello two

Allow patch: Gadgets
Something else
Exception filling window: System.Exception: bad
  at Gadget.Panel.Draw () [0x00012] in <00000000000000000000000000000000>:0 
` + footer + `

Hello three

Gadgets: System.NullReferenceException: none
  at Gadget.Panel.Draw () [0x00012] in <00000000000000000000000000000000>:0 
` + footer + `

System.InvalidOperationException: no
  at Gadget.Panel.Draw () [0x00012] in <00000000000000000000000000000000>:0 
` + footer + `

Bye
`

// TestExceptionBelowMixedEnds requires that no exception vanishes in a record that a
// blank line opened, whichever of the lines end in \r\r\n: those of copies that
// went through a translation of line ends once more, in whole or in part.
func TestExceptionBelowMixedEnds(t *testing.T) {
	trace := func(l string) bool { return strings.HasPrefix(l, "  at ") || l == footer }
	ends := map[string]func(l string) string{
		"twice":                  func(string) string { return "\r\r\n" },
		"twice, but blank lines": func(l string) string { return map[bool]string{true: "\r\n", false: "\r\r\n"}[l == ""] },
		"twice, but traces":      func(l string) string { return map[bool]string{true: "\r\n", false: "\r\r\n"}[trace(l)] },
		"twice, but traces and blank lines": func(l string) string {
			return map[bool]string{true: "\r\n", false: "\r\r\n"}[l == "" || trace(l)]
		},
		"thrice": func(string) string { return "\r\r\r\n" },
	}
	for _, banner := range []string{"", unity2019_2, unity2019_4} {
		want := records(t, banner+mixedEnds)
		for name, end := range ends {
			var in strings.Builder
			for l := range strings.SplitSeq(strings.TrimSuffix(banner+mixedEnds, "\n"), "\n") {
				in.WriteString(l + end(l))
			}
			got := records(t, in.String())
			if banner != "" || name == "twice, but traces and blank lines" || name == "twice, but blank lines" {
				require.Equal(t, render(want), render(got), name)
			}
			requireOwn(t, got, "Exception filling window", name)
			requireOwn(t, got, "Gadgets: System.NullReferenceException", name)
			requireOwn(t, got, "System.InvalidOperationException", name)
		}
	}
}

// requireOwn requires that a record, and one only, begins with head, and is an error.
func requireOwn(t *testing.T, recs []Record, head, name string) {
	t.Helper()
	n := 0
	for i := range recs {
		if strings.HasPrefix(recs[i].Message, head) {
			n++
			require.Equal(t, "error", recs[i].Level.String(), "%s: %s", name, head)
		}
	}
	require.Equal(t, 1, n, "%s: %s\n%s", name, head, render(recs))
}

// TestExceptionInBlocks requires the same of what else claims lines by what came
// before them: lists, sections, the traces of failed patches.
func TestExceptionInBlocks(t *testing.T) {
	const frame = "  at Gadget.Panel.Draw () [0x00012] in <00000000000000000000000000000000>:0 "
	for name, above := range map[string]string{
		"announced":   doc("[Gadgets] panels:"),
		"list":        doc("[Gadgets] panels:", "Lamp: one", "Door: two"),
		"words":       doc("[Gadgets] panels:", "Lamp", "Door"),
		"section":     doc("[Gadgets] panels", "", "GRAMMAR RESOLUTION TRACE", "a -> b"),
		"patch trace": doc("[Gadgets - Start of stack trace]", `Verse.PatchOperationAdd(xpath="a"): Failed to find a node`),
	} {
		for _, head := range []string{"Exception ticking panel: System.Exception: bad", "System.Exception: bad", "Gadget.PanelException: bad"} {
			for _, banner := range []string{unity2019_4, unity2022_3} {
				in := banner + above + doc(head, frame, "", "[Tools] on")
				got := records(t, in)
				requireOwn(t, got, head, name)
			}
		}
	}
}
