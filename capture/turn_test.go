package capture

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture/internal/unity"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// silence is longer than what the layout is recognized by, and tells nothing.
var silence = strings.Repeat("Human4711 doing ThinkNode_DutyConstant with no duty.\n", 2+detectSize/52)

// below reads text below silence, and returns the layout and the records of text, with
// lines counted from its first.
func below(tb testing.TB, text string, opt Options) (Layout, []Record) {
	tb.Helper()
	in := silence + text
	recs, r := read(tb, strings.NewReader(in), opt)
	requireCovers(tb, in, recs)
	n := strings.Count(silence, "\n")
	var own []Record
	for i := range recs {
		rec := &recs[i]
		switch {
		case rec.StartLine > n:
			rec.StartLine, rec.EndLine = rec.StartLine-n, rec.EndLine-n
			own = append(own, *rec)
		case rec.StartLine > 0:
			require.Equal(tb, LayoutPlain, rec.Layout)
			require.Equal(tb, rec.StartLine, rec.EndLine)
		default:
			rec.Pos -= uint64(n)
			own = append(own, *rec)
		}
	}
	return r.At().Layout, own
}

// TestTurn holds which lines show, wherever they stand, that what was taken for plain text
// is a log of Unity's, and which do not.
func TestTurn(t *testing.T) {
	const bare = "\n(Filename: C:/press.cs Line: 3)\n"
	for name, c := range map[string]struct {
		in   string
		want Layout
		recs string
	}{
		"game": {"Loading game from file A with mods:\n  - b.c\n", layoutUnity2022_3, ""},
		"cap":  {"Reached max messages limit. Stopping logging to avoid spam.\n", layoutUnity2022_3, ""},
		"crash": {
			"on\nCrash!!!\nSymInit: Symbol-SearchPath: '.'\n========== OUTPUTTING STACK TRACE ==\nx\n", layoutUnity2022_3,
			"1-1 line \"on\"\n2-2 line \"Crash!!!\"\n3-3 line \"SymInit: Symbol-SearchPath: '.'\"\n" +
				"4-5 block fatal/crash \"========== OUTPUTTING STACK TRACE ==\\nx\"\n",
		},
		"banner": {
			"2031 ERROR stuck\n" + unity2019_4, layoutUnity2019_4,
			"1-1 line error/tag \"2031 ERROR stuck\"\nnotice restarted count=0 pos=2\n2-2 line \"Mono path[0] = 'C:/games/RimWorld/RimWorldWin64_Data/Managed'\"\n",
		},
		"an upload in words":        {"Log uploaded on Monday\nby Juno\nLoaded mods:\n", LayoutPlain, ""},
		"a quoted footer":           {"[10:00:00] [main/INFO]: it says:\nPanel stuck" + bare + "[10:00:00] [main/INFO]: on\n", LayoutPlain, ""},
		"footers quoted in a row":   {strings.Repeat("2031 INFO it says"+bare, 3), LayoutPlain, ""},
		"a paragraph of its own":    {"2031 INFO it says:\n" + bare + "\n2031 INFO on\n", LayoutPlain, ""},
		"a footer within a message": {"2031 INFO it says (Filename:  Line: 3)\n2031 INFO on \n  (Filename:  Line: 3)\n", LayoutPlain, ""},
		"a cut footer":              {"2031 INFO on \n(Filename: C:/press.cs", LayoutPlain, ""},
		"a footnote":                {"2031 INFO on\n[Ref 7]\n[Ref 12AB] is missing\n", LayoutPlain, ""},
		"a frame":                   {"2031 ERROR stuck\n  at A.B () [0x0] in <1>:0 \n", LayoutPlain, ""},
		"prose":                     {"Unloading cargo\nMono path\nInitialize engine\nGot a crash\nCrash!!! (again)\nCrash!!!\nRimWorld is on\n", LayoutPlain, ""},
	} {
		t.Run(name, func(t *testing.T) {
			layout, recs := below(t, c.in, Options{})
			require.Equal(t, c.want, layout, outline(recs))
			if name == "banner" {
				recs = recs[:3]
			}
			if c.recs != "" {
				require.Equal(t, c.recs, render(recs))
			}
			layout, _ = below(t, c.in, Options{Layout: LayoutPlain})
			require.Equal(t, LayoutPlain, layout, "it was said to be plain")
		})
	}
}

// synthetic is a capture in the layout of Unity 2022.3 or, with footers, of
// 2019.4: messages, reports of errors, exceptions with traces and references.
func synthetic(footers bool) string {
	var b strings.Builder
	end := func() {
		if footers {
			b.WriteString(" \r\n" + footer + "\r\n\r\n")
		} else {
			b.WriteString("\r\n")
		}
	}
	names := []string{"Мира", "은비", "Anselm", "Juno"}
	for i := range 10 {
		name := names[i%len(names)]
		fmt.Fprintf(&b, "[Tools] item %d of %s is ready\r\n", i, name)
		b.WriteString("Fallback handler could not load library C:/games/RimWorld/Mono/data-0000012345678900.dll\r\n")
		fmt.Fprintf(&b, "Could not resolve reference to object with loadID Thing_%d of type Verse.Thing. curParent=%s", i, name)
		end()
		fmt.Fprintf(&b, "Exception ticking Human%d (at (%d, 0, 7)): System.NullReferenceException: Object reference not set to an instance of an object", i, i%250)
		fmt.Fprintf(&b, "\r\n[Ref %X]", 1+i%7)
		if i < 7 {
			for j := range 12 {
				fmt.Fprintf(&b, "\r\n  at Gadget.Panel%d.Draw (System.Int32 x, Verse.Pawn pawn) [0x000%02x] in <0123456789abcdef0123456789abcdef>:0 ", j, j)
			}
		} else {
			b.WriteString(" Duplicate stacktrace, see ref for original")
		}
		end()
		fmt.Fprintf(&b, "%s doing ThinkNode_Duty with no duty.", name)
		end()
	}
	return b.String()
}

// TestJoined requires that a log below another one is read as it would be alone.
func TestJoined(t *testing.T) {
	console := strings.Repeat("Panel stuck\nin the tray\n"+unity.ConsoleMark+" ()\nVerse.Log:Error (string)\n\n", 1+detectSize/80)
	player, footed := synthetic(false), synthetic(true)
	logs := map[string]string{
		"console": console,
		"2022.3":  unity2022_3 + player, "2019.4": unity2019_4 + footed,
		"upload":            "Log uploaded on Monday\nLoaded mods:\nA(a.b): C(1)\n\nLog file contents:\n" + unity2019_4 + footed,
		"upload, no banner": "Log uploaded on Monday\nLoaded mods:\nA(a.b): C(1)\n\nLog file contents:\n" + player,
		"uploaded console":  "Log uploaded on Monday\nLoaded mods:\nA(a.b): C(1)\n\nLog file contents:\n" + console,
	}
	for second, text := range logs {
		if second == "console" {
			continue // nothing says where it begins
		}
		alone := records(t, text)
		want := extents(alone, 10) // that a copy of the console begins shows with its first frame
		for first, above := range logs {
			in := above + text
			recs := covered(t, in)
			require.Equal(t, want, extents(recs, 10+strings.Count(above, "\n")), "%s below %s", second, first)
		}
	}
}

// extents renders the first and last lines, counted from line above, of the records below it.
func extents(recs []Record, above int) string {
	var b strings.Builder
	for i := range recs {
		if r := &recs[i]; r.StartLine > above {
			fmt.Fprintf(&b, "%d-%d\n", r.StartLine-above, r.EndLine-above)
		}
	}
	return b.String()
}

// interrupted returns the records of data, fed in parts, after the record number stop, and where the Stream was then.
// Up to there what is open is asked for after each part.
func interrupted(tb testing.TB, data []byte, size, stop int, partly bool, opt Options) (at Position, after []Record) {
	tb.Helper()
	s := testkit.Must(NewStream(opt))
	n := 0
	take := func() {
		var rec Record
		for s.Next(&rec) {
			switch n++; {
			case n == stop:
				at = s.At()
				s.flush, s.partly = false, false // as if the process had ended here
			case n > stop:
				after = append(after, kept(rec))
			}
		}
	}
	for part := range slices.Chunk(data, size) {
		s.Feed(bytes.Clone(part))
		take()
		if n < stop {
			s.Flush(partly)
			take()
		}
	}
	s.End()
	take()
	return at, after
}

// resumed returns the records of data that a Stream returns which continues at a position.
func resumed(tb testing.TB, data []byte, after int, at Position, opt Options) (out []Record) {
	tb.Helper()
	s := testkit.Must(NewStream(opt))
	s.Resume(after, at)
	var rec Record
	take := func() {
		for s.Next(&rec) {
			if !s.Resuming() {
				out = append(out, kept(rec))
			}
		}
	}
	for part := range slices.Chunk(data, 4096) {
		s.Feed(bytes.Clone(part))
		take()
	}
	s.End()
	take()
	return out
}

// TestStreamResume: a Stream that continues after any record of another returns the rest of its records.
func TestStreamResume(t *testing.T) {
	for name, data := range captures(t) {
		data = data[:min(len(data), 20_000)]
		all, r := read(t, bytes.NewReader(data), Options{})
		opt := Options{Layout: r.At().Layout} // which is recognized by more the second time
		for stop := 1; stop < len(all); stop += 1 + len(all)/20 {
			for _, size := range []int{1 << 20, 900, 150} {
				at, want := interrupted(t, data, size, stop, size == 150, opt)
				got := resumed(t, data, 0, at, opt)
				// Parts that were looked at may decide whether the rest of a record comes alone or again with its beginning.
				if len(got) > 0 && len(got) == len(want) && got[0].Part+want[0].Part == event.Again+event.Rest {
					got[0], want[0] = Record{}, Record{EndLine: want[0].EndLine - got[0].EndLine}
				}
				require.Equal(t, want, got, "%s: %d records in parts of %d, %+v", name, stop, size, at)
			}
		}
	}
}
