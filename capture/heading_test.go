package capture

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHeadings: a line that only heads a trace belongs to the record above it, if that names an exception or ends in a
// colon and frames come next.
func TestHeadings(t *testing.T) {
	const frames = "  at Acme.Press.Turn () [0x00012] in <0123abcd>:0\n  at Acme.Loop.Run () [0x00012] in <0123abcd>:0\n"
	for name, c := range map[string]struct {
		text    string
		records int
	}{
		"only a type":         {"Could not turn the press:\nNullReferenceException\n" + frames, 1},
		"below a blank line":  {"Could not turn the press:\n\nNullReferenceException\n" + frames, 1},
		"a heading":           {"Press failed: System.Exception: stuck\nStack trace:\n" + frames, 1},
		"in another language": {"Press failed: System.Exception: stuck\n\nAufrufliste:\n" + frames, 1},
		"two headings":        {"Could not turn the press:\n\nException:\nSystem.NullReferenceException: x\n" + frames, 1},
		"details":             {"Press failed: System.Exception: stuck\n\nTechnical details\n" + frames, 1},
		"patches":             {"Press failed: System.Exception: stuck\n" + frames + "Prefix:\n" + frames, 1},
		"no frames":           {"Press failed: System.Exception: stuck\n\nResults:\nall is well\n", 3},
		"no exception":        {"The press turns\n\nStack trace:\n" + frames, 2},
		"another exception":   {"Press failed: System.Exception: stuck\n" + frames + "NullReferenceException\n" + frames, 2},
	} {
		for _, head := range []string{"[Error  :   Press] ", ""} {
			text := head + c.text
			layout := LayoutPlain
			if head == "" {
				layout = LayoutAuto
				text = "Initialize engine version: 2022.3.35f1 (011206c7a712)\n" + text
			}
			recs, _ := read(t, strings.NewReader(text), Options{Layout: layout})
			if head == "" {
				recs = recs[1:]
			}
			require.Len(t, recs, c.records, "%s, %q:\n%s", name, head, render(recs))
		}
	}
}
