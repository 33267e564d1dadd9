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

// TestLocalFrames: frames with a word of any language before the method, or without one, are a stack from two in
// sequence on.
func TestLocalFrames(t *testing.T) {
	for name, c := range map[string]struct {
		trace  string
		frames int
	}{
		"German":       {"   bei Acme.Press.Turn(String text) in C:\\src\\press.cs:Zeile 12.\n   bei Acme.Loop.Run()", 2},
		"Russian":      {"   в Acme.Press.Turn(String text) в C:\\src\\press.cs:строка 12\n   в Acme.Loop.Run()\n   в Acme.Main.Main()", 3},
		"Chinese":      {"   在 Acme.Press.Turn(String text) 位置 C:\\src\\press.cs:行号 12\n   在 Acme.Loop.Run()", 2},
		"Korean":       {"   위치: Acme.Press.Turn(String text) 파일 C:\\src\\press.cs:줄 12\n   위치: Acme.Loop.Run()", 2},
		"without":      {"\tAcme.Recipes.Loader+<Load>d__4.MoveNext ()\n\tEngine.Coroutine.Invoke (IEnumerator enumerator, IntPtr address)", 2},
		"English":      {"   at Acme.Press.Turn(String text) in C:\\src\\press.cs:line 12\n   at Acme.Loop.Run()", 2},
		"one":          {"   bei Acme.Press.Turn(String text)\n   und nichts mehr", 0},
		"two words":    {"   bei Acme.Press.Turn(String text)\n   von Acme.Loop.Run()", 0},
		"prose":        {"   see Acme.Press.Turn for more (or ask)\n   see Acme.Loop.Run for more (or ask)", 0},
		"after a line": {"   values\n   bei Acme.Press.Turn()\n   bei Acme.Loop.Run()", 2},
	} {
		for _, head := range []string{
			"2026-03-01 10:00:00 ERROR could not turn: System.Exception: x\n", "Initialize engine version: 2022.3.35f1 (011206c7a712)\nException: x\n",
		} {
			recs := records(t, head+c.trace+"\n")
			rec := recs[len(recs)-1]
			got := 0
			if rec.Stack != "" {
				got = strings.Count(rec.Stack, "\n") + 1
			}
			require.Equal(t, c.frames, got, "%s: %q", name, rec.Stack)
			for line := range strings.SplitSeq(c.trace, "\n") {
				require.Contains(t, rec.Message+"\n"+rec.Stack, strings.TrimSpace(line), name)
			}
		}
	}
}
