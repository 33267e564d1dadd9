package capture

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// drain takes what s has.
func drain(dst []Record, s *Stream) []Record {
	var rec Record
	for s.Next(&rec) {
		dst = append(dst, kept(rec))
	}
	return dst
}

// asked feeds part, asks for all that is open, and appends the records of s to dst.
func asked(dst []Record, s *Stream, part []byte) []Record {
	s.Feed(part)
	dst = drain(dst, s)
	s.Flush(true)
	return drain(dst, s)
}

// lineNumbers returns the lines of records.
func lineNumbers(recs []Record) map[int]bool {
	all := map[int]bool{}
	for i := range recs {
		for n := recs[i].StartLine; n <= recs[i].EndLine; n++ {
			all[n] = true
		}
	}
	return all
}

// streamed feeds data in parts of the given sizes, in turn. After each part
// flush, unless nil, is asked with its number.
func streamed(tb testing.TB, data []byte, sizes []int, opt Options, flush func(i int) (whole, partly bool)) []Record {
	tb.Helper()
	s := testkit.Must(NewStream(opt))
	var out []Record
	for i := 0; len(data) > 0; i++ {
		n := min(sizes[i%len(sizes)], len(data))
		s.Feed(bytes.Clone(data[:n]))
		data = data[n:]
		out = drain(out, s)
		if flush == nil {
			continue
		}
		if whole, partly := flush(i); whole {
			s.Flush(partly)
			out = drain(out, s)
			line, part := s.Pending()
			require.True(tb, line == 0 || part && !partly, "line %d", line)
		}
	}
	s.End()
	out = drain(out, s)
	line, _ := s.Pending()
	require.Zero(tb, line)
	return out
}

func TestStreamReadsAsReader(t *testing.T) {
	all := captures(t)
	all["carriage returns"] = []byte(strings.Repeat(mixedReturns, 2000))
	for name, data := range all {
		want, _ := read(t, bytes.NewReader(data), Options{})
		for _, sizes := range [][]int{{1 << 20}, {70_000}, {4096, 1, 3}, {17}} {
			require.Equal(t, want, streamed(t, data, sizes, Options{}, nil), name)
		}
		utf16 := encode16(binary.LittleEndian, string(data))
		if strings.ToValidUTF8(string(data), "?") == string(data) {
			require.Equal(t, want, streamed(t, utf16, []int{4097, 3}, Options{}, nil), name)
		}
	}
}

// TestStreamOfReturns asks for each record as soon as the \r after it is there: it comes once, and waits for nothing.
func TestStreamOfReturns(t *testing.T) {
	s := testkit.Must(NewStream(Options{}))
	var got []Record
	for _, line := range []string{"10:00:00 ERROR a\n", "10:00:01 ERROR b\r", "10:00:02 ERROR c 10%\r20%\r", "10:00:03 ERROR d\n"} {
		before := len(got)
		got = asked(got, s, []byte(line))
		require.Greater(t, len(got), before, "%q", line)
		require.Equal(t, event.LevelError, got[len(got)-1].Level)
	}
	s.End()
	got = drain(got, s)
	last := map[int]string{}
	for i := range got {
		require.True(t, got[i].Part != event.Whole || last[got[i].StartLine] == "", "%d twice", got[i].StartLine)
		last[got[i].StartLine] = got[i].Message
	}
	require.Equal(t, map[int]string{
		1: "10:00:00 ERROR a", 2: "10:00:01 ERROR b", 3: "10:00:02 ERROR c 10%\r20%", 4: "10:00:03 ERROR d",
	}, last)
}

// TestStreamFlushedAtLines asks for what is open after every line: each line is
// delivered at once, and no error that a Reader does not see is made of it.
func TestStreamFlushedAtLines(t *testing.T) {
	for name, data := range captures(t) {
		whole, reader := read(t, bytes.NewReader(data), Options{})
		s := testkit.Must(NewStream(Options{Layout: reader.At().Layout}))
		var got []Record
		for line := range bytes.Lines(data) {
			got = asked(got, s, line)
			at, _ := s.Pending()
			require.Zero(t, at, name)
		}
		s.End()
		got = drain(got, s)
		for i := range got {
			if got[i].Part == event.Rest {
				require.Equal(t, event.LevelUnknown, got[i].Level)
			}
		}
		delivered := lineNumbers(got)
		for n := range lineNumbers(whole) {
			require.True(t, delivered[n] || n == 0 || blankLine(data, n), "%s: line %d", name, n)
		}
	}
}

// TestStreamDecidesEarly asks for what is open once, after a few lines, which decide the layout. What comes after that is
// split as by a Reader, but for the record that was open.
func TestStreamDecidesEarly(t *testing.T) {
	for name, data := range captures(t) {
		whole, reader := read(t, bytes.NewReader(data), Options{})
		byStart := map[int]*Record{}
		for i := range whole {
			byStart[whole[i].StartLine] = &whole[i]
		}
		for _, lines := range []int{1, 3, 10, 40} {
			s := testkit.Must(NewStream(Options{}))
			var got []Record
			early, n := 0, 0
			for line := range bytes.Lines(data) {
				s.Feed(line)
				got = drain(got, s)
				if n++; n == lines {
					s.Flush(false)
					got = drain(got, s)
					early = len(got)
				}
			}
			s.End()
			got = drain(got, s)
			require.Equal(t, reader.At().Layout, s.At().Layout, name)
			for _, r := range got[early:] {
				want := byStart[r.StartLine]
				if r.StartLine == 0 || r.Part != event.Whole || want != nil && want.StartLine <= lines {
					continue // a notice, or what was open
				}
				require.NotNil(t, want, "%s: line %d", name, r.StartLine)
				require.Equal(t, want.Message, r.Message, "%s: line %d", name, r.StartLine)
				require.Equal(t, want.Stack, r.Stack, "%s: line %d", name, r.StartLine)
				if r.Level != event.LevelUnknown {
					require.Equal(t, want.Level, r.Level, "%s: line %d", name, r.StartLine)
				}
			}
		}
	}
}

func blankLine(data []byte, no int) bool {
	return blank(bytes.TrimRight(bytes.Split(data, []byte("\n"))[no-1], "\r"))
}

func TestStreamContinues(t *testing.T) {
	type step struct{ feed, want string }
	const ask, askAll = "<flush>", "<flush all>"
	for name, steps := range map[string][]step{
		"late frames of what was an error": {
			{unity2022_3, ""},
			{ask, "*"},
			{"NullReferenceException: no panel\n", ""},
			{ask, `log error "NullReferenceException: no panel" ""`},
			{"  at Gadget.Panel.Draw () [0x0001f] in <0123>:0 \n", ""},
			{ask, `continuation unknown "" "  at Gadget.Panel.Draw () [0x0001f] in <0123>:0 "`},
			{"  at Gadget.Panel.Show () [0x0001f] in <0123>:0 \nnext\n", `continuation unknown "" "  at Gadget.Panel.Show () [0x0001f] in <0123>:0 "`},
			{ask, `log unknown "next" ""`},
		},
		"late lines that make it an error": {
			{unity2022_3, ""},
			{ask, "*"},
			{"Could not start Gadgets:\n", ""},
			{ask, `log unknown "Could not start Gadgets:" ""`},
			{"System.Exception: broken\n  at A.B () [0x0] in <1>:0 \n", ""},
			{ask, `log error "Could not start Gadgets:\nSystem.Exception: broken" "  at A.B () [0x0] in <1>:0 "+`},
			{"next\n", ""},
			{ask, `log unknown "next" ""`},
		},
		"half a line": {
			{"one\ntwo", ""},
			{ask, `log unknown "one" ""`},
			{askAll, `log unknown "two" ""`},
			{askAll, ""},
			{" is longer\n", ""},
			{ask, `log unknown "two is longer" ""+`},
			{"\tmore", ""},
			{askAll, `continuation unknown "\tmore" ""+`},
			{" of it\nnext\n", `continuation unknown "\tmore of it" ""+`},
			{ask, `log unknown "next" ""`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := testkit.Must(NewStream(Options{}))
			for _, st := range steps {
				switch st.feed {
				case ask:
					s.Flush(false)
				case askAll:
					s.Flush(true)
				default:
					s.Feed([]byte(st.feed))
				}
				var got []string
				for _, r := range drain(nil, s) {
					line := r.KindName() + " " + r.Level.String() + " " + strconv.Quote(r.Message) + " " + strconv.Quote(r.Stack)
					if r.Part != event.Whole && !strings.HasSuffix(st.want, ` "`) && strings.HasSuffix(st.want, "+") {
						line += "+"
					}
					got = append(got, line)
				}
				if st.want != "*" {
					require.Equal(t, st.want, strings.Join(got, "\n"), st.feed)
				}
			}
		})
	}
}

// TestStreamLongLine feeds a line longer than the window, in parts.
func TestStreamLongLine(t *testing.T) {
	data := []byte("a\n" + strings.Repeat("x", windowSize) + strings.Repeat("\x00", minHole) + strings.Repeat("y",
		windowSize) + "\r\nz")
	want, _ := read(t, bytes.NewReader(data), Options{})
	require.Equal(t, want, streamed(t, data, []int{40_000, 7}, Options{}, nil))
	got := streamed(t, data, []int{200_000}, Options{Layout: LayoutPlain}, func(int) (bool, bool) { return true, true })
	require.Equal(t, want[len(want)-1].Entry, got[len(got)-1].Entry)
}

// FuzzStream feeds any bytes in any parts. Where nobody asks for what is open, the
// records are those of a Reader; where somebody does, no line is lost.
func FuzzStream(f *testing.F) {
	f.Add([]byte(unity2022_3+"oh: \nSystem.Exception: x\n[Ref 1A]\n  at A.B () [0x0] in <1>:0 \noh\n"), uint8(3), uint16(9), uint8(5))
	f.Add([]byte(unity2019_4+"a: System.Exception: x\nb\n\tc\nParsed 2.5 as int. \n"+footer+"\n"), uint8(4),
		uint16(40), uint8(1))
	f.Add([]byte("a"+strings.Repeat("\x00", 100)+"b\nc"), uint8(1), uint16(7), uint8(3))
	f.Add([]byte("{\"msg\":1}\n{\"msg\":2}\n{\"kind\":\"state\",\"status\":\"stall\"}"), uint8(2), uint16(5), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, layout uint8, chunk uint16, every uint8) {
		if len(data) > 4096 { // looking at a long line after every byte of it takes long
			t.Skip("long")
		}
		_, op, err := decompressed(bytes.NewReader(data))
		if wide := bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")); err != nil ||
			op != "read" || wide {
			t.Skip("compressed or UTF-16")
		}
		opt := Options{Layout: Layout(layout) % layoutCount, maxRecordText: 256}
		want, _ := read(t, bytes.NewReader(data), opt)
		sizes := []int{1 + int(chunk), 1, 1 + int(chunk/64)}
		require.Equal(t, want, streamed(t, data, sizes, opt, nil))
		if opt.Layout == LayoutAuto && bytes.IndexByte(data, '\r') >= 0 {
			return // on its first part it may be seen that lines end in \r
		}
		flushed := streamed(t, data, sizes, opt, func(i int) (whole, partly bool) {
			return i%int(1+every%8) == 0, every%2 == 0
		})
		delivered := lineNumbers(flushed)
		for i := range want {
			if want[i].StartLine > 0 {
				require.True(t, delivered[want[i].EndLine], "line %d", want[i].EndLine)
			}
		}
	})
}

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
