package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/frame"
	"github.com/heedlog/heed/internal/logline"
)

// FuzzReader feeds any bytes in any chunks: the records must be the same as of
// the whole, and account for every line that is not blank exactly once.
func FuzzReader(f *testing.F) {
	add := func(s string) {
		f.Add([]byte(s), uint8(0), uint16(1))
		f.Add([]byte(strings.ReplaceAll(s, "\n", "\r\n")), uint8(2), uint16(7))
	}
	add("")
	add(unity2019_2 + "Key binding conflict\n \n" + footer + "\n\nGrammar unresolvable.\n\nTRACE OF IT\n1    root → a\n \n" + footer + "\n")
	add(unity2019_4 + "Parsed 2.5 as int. \n" + footer + "\n\nLoading with mods:\n  - a\nCrash!!!\n\n0x00007FF0DECADE00 (a) b\n")
	add(unity2022_3 + "oh: \nSystem.Exception: x\n[Ref 1A]\n  at A.B () [0x0] in <1>:0 \noh\n[Ref 1A] Duplicate stacktrace, see ref for original\nMemory Statistics:\n[ALLOC_A] x\n")
	add("Log uploaded on Monday\n\nLog file contents:\n" + unity2022_3 + strings.Repeat("a\n", 99))
	add("oh\nUnityEngine.StackTraceUtility:ExtractStackTrace ()\nVerse.Log:Error (string)\n\nah\n")
	add("{\"kind\":\"operation\",\"operation\":\"a\",\"status\":\"failed\"}\n{\"msg\":\"\\u00e9\",\"a\":[1,{\"b\":\"\\\\\"}]}\n{\n")
	add("\xef\xbb\xbfplain\n  text\n\xff\xfe\n")
	add("a" + strings.Repeat("\x00", 100) + "b\n" + strings.Repeat("\x00", 70) + "\n \x00\n")
	add("{\"msg\":1}\n{\"msg\":2}" + strings.Repeat("\x00", 64) + "\n")
	add("[X - Start of stack trace]\na\n[End of stack trace]\nSource file: x\n==========================\n\tNative Crash Reporting\nx\n")
	add(unity2022_3 + "a: System.Exception: x\nb\n\tc\n  at A.B () [0x0] in <1>:0 \nd: System.Exception: y\ne\n\nf\ng: System.Exception: z\nh" + strings.Repeat("\x00", 64) + "i\n")
	add(unity2019_4 + "a: System.Exception: x\nb\n" + strings.Repeat("c\n", 9) + "d: System.Exception: x\nb\n \n" + footer + "\n\nStacktrace:\n\n  at A.B () [0x0]\n\nNative stacktrace:\n\nx\n")
	add("Log uploaded on Monday\nLoaded mods:\nA(a.b)[mv:1]: C(1)\n\nActive Harmony patches:\nA.BException: PRE: C\n\nLog file contents:\n" + unity2022_3)
	add("[x] Loaded 2 mods:\n[x]    a 1.0\n[x]    b 2.0\nLoading game from file a with mods:\n  - a.b\n  - c.d\nLoading mods:\n  - a.b\n  - e.f\nLoading [a 1]\n")
	add(crashReport(2))
	add(mixedReturns + "a\r10:00:00 b\rc\r[ERROR] d\r")
	add(unity2022_3 + "a\n" + crashReport(0) + unity2019_4 + "b\n" + crashCause + "\nThread 2 (Thread 0x7f3a5c7fe700 (LWP 1)):\n#1 0x007f39f1a0c2e4 in A.B:C ()\n")
	add("0\n0)\n")
	add("__CURSOR=a\nMESSAGE\n\x09\x00\x00\x00\x00\x00\x00\x00a\n\nb: c=d\nPRIORITY=3\n\n__CURSOR=b\nM\n\n__CURSOR=c\n\x01\n")
	add("10:00:00 ERROR a\nmain.b\n\t/c.go:1\nd\ngoroutine 1 [running]:\npanic({0x1})\n\t/c.go:2\n10:00:00 ERROR a\nmain.b\nError: c\n    at d\n")
	add("10:00:00 ERROR a\nTraceback (most recent call last):\n\n> File \"a\"\n\nKeyError: b\n\n\nDuring handling of the above exception, x\n")
	add("[10:00:00] INFO a\n           WARN b\n           ╭ Traceback (most recent call last)\n           \n           c\nApr 05, 2031 10:00:00 AM a.B c\nINFO: d\n")
	add("Process:  a [1]\nException Type: EXC_CRASH (SIGKILL)\nThread 0:\n0   a \t0x00 b\nThread 1 Crashed::\n0   a \t0x00 b\nBinary Images:\n")
	f.Add([]byte("oh \n"+footer+"\n\n[Ref 5EED0003]\n  at A.B () [0x0] in <1>:0 \nah\n"), uint8(0x80), uint16(7))
	f.Add([]byte("oh\n"+footer+"\n\noh\n"+footer+"\n\nah\n"), uint8(0x80), uint16(7))
	f.Fuzz(func(t *testing.T, data []byte, layout uint8, chunk uint16) {
		if layout&0x80 != 0 { // below what the layout is recognized by
			data, layout = append([]byte(silence), data...), uint8(LayoutAuto)
		}
		if len(data) >= 2 && data[0] == 0x1f && data[1] == 0x8b || bytes.HasPrefix(data, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
			bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
			t.Skip("compressed or UTF-16")
		}
		opt := Options{Layout: Layout(layout) % layoutCount, maxRecordText: 256}
		if opt.Layout == LayoutAuto && bytes.IndexByte(data[:min(len(data), detectSize)], '\n') < 0 &&
			bytes.IndexByte(data, '\r') >= 0 {
			t.Skip("lines may end in \\r")
		}
		recs, r := read(t, bytes.NewReader(data), opt)
		text := returned(string(data))
		requireCovers(t, text, recs)
		lines := strings.Count(text, "\n")
		if n := len(bytes.TrimPrefix(data, []byte(byteOrderMark))); n > 0 && data[len(data)-1] != '\n' {
			lines++
		}
		require.Equal(t, lines, r.At().Lines)
		require.Equal(t, uint64(len(data)), r.At().Bytes)
		for i := range recs {
			require.LessOrEqual(t, len(recs[i].Message), 256)
			require.LessOrEqual(t, len(recs[i].Stack), 256)
			if recs[i].IsLog() {
				require.True(t, recs[i].Message != "" || recs[i].Split == evidenceJSON)
				require.Equal(t, uint64(recs[i].StartLine), recs[i].Pos)
			}
		}
		again, _ := read(t, &chunked{data: data, sizes: []int{1 + int(chunk%64), 1, 1 + int(chunk/64)}}, opt)
		require.Equal(t, recs, again)
	})
}

// returned is in with a \n in place of each \r that ends a line, found one by one.
func returned(in string) string {
	out := []byte(in)
	for i, c := range out {
		head := in[i+1:]
		if n := strings.IndexAny(head, "\r\n"); n >= 0 {
			head = head[:n]
		}
		if c == '\r' && logline.Parse(head[:min(len(head), maxHead)]).Sure {
			out[i] = '\n'
		}
	}
	return string(out)
}

// FuzzFormKinds holds formKinds and typeKinds, which know most lines by their first word, to what all of a line shows.
func FuzzFormKinds(f *testing.F) {
	for _, s := range []string{
		"Foo.Bar:Baz (int)", "Foo.Bar.Baz(int)", "System.List`1[[Foo.Bar, Assembly, Version=1.0]]..ctor(IEnumerable`1 c)", "  a> b(int)",
		"Foo at offset 0 in file:line:column <filename unknown>:0:0", "0ECADE00 (Mono JIT Code) A.B:C ()", "plain prose (with a remark)",
		"   в A.B(Int32 x) в C:\\a.cs:строка 12", "--- End of stack trace", "Rethrow as X", "\t[0x00012] in <0123>:0 ", "  - acme.mill", "at Foo.Bar () <0x0001b>",
		"KeyError: x", "java.lang.Error: x", "main.turn(0x1, 2)", "created by main.run",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if blank(b) {
			t.Skip("lines that are looked at are not blank")
		}
		at := trimLeft(b)
		dotted := len(at) < len(b) && hasPrefix(at, "at ") && frame.Dotted(text(at[len("at "):]))
		whole, c := frame.Parse(text(b))
		want := ofFrame.when(dotted || c == frame.Sure && !whole.Address && !whole.Python || isOffsetFrame(b, 0)) |
			ofCall.when(!dotted && c > frame.None && !whole.Led && whole.Path != "")
		n, qualified := frame.Throwable(text(b))
		want |= ofThrown.when(n > 0) | ofQualified.when(qualified) | ofReport.when(n > 0 && n < len(b) && b[n] == ':')
		require.Equal(t, want, formKinds(b), "%q", b)

		n = frame.TypeLen(text(b))
		isType := n > 0 && !isDigit(b[0]) && b[n-1] != '.' &&
			(blank(b[n:]) || hasPrefix(b[n:], ": ") || hasPrefix(b[n:], " --->"))
		word, _, named := strings.Cut(text(b), ": ")
		isError := named && b[0]-'A' < 26 && len(word) > len("Error") &&
			(strings.HasSuffix(word, "Error") || strings.HasSuffix(word, "Exception"))
		want = ofType.when(isType) | ofErrorType.when(isType && (isError || bytes.IndexByte(b[:n], '.') >= 0)) |
			ofGoCall.when(hasPrefix(b, "created by ") || isGoCall(b))
		require.Equal(t, want, typeKinds(b), "%q", b)
	})
}

// FuzzUTF16 encodes any text: its records are those of the text itself, however
// it comes in.
func FuzzUTF16(f *testing.F) {
	f.Add(unity2019_4+"Мира, 은비 \U0001F9A1 \n"+footer+"\nbye", uint8(1))
	f.Add("\xef\xbb\xbfa\r\r\n\x00\n  b", uint8(3))
	f.Add(strings.Repeat("\x00", minHole)+"a\n", uint8(3))
	f.Fuzz(func(t *testing.T, in string, size uint8) {
		in = strings.ToValidUTF8(in, "?")
		if strings.HasPrefix(in, "\x1f\x8b") || strings.HasPrefix(in, byteOrderMark+byteOrderMark) ||
			len(in) > 2 && in[0] == 0 && in[2] == 0 {
			t.Skip("not text, or UTF-32")
		}
		want := records(t, in)
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			got, _ := read(t, &chunked{data: encode16(order, in), sizes: []int{1 + int(size)}}, Options{})
			require.Equal(t, want, got)
		}
	})
}

// FuzzCompressed feeds damaged streams: reading ends with io.EOF or an error that names the line, and never panics.
func FuzzCompressed(f *testing.F) {
	f.Add(gz(f, "a\nb\n"))
	f.Add(zst(f, "a\nb\n"))
	f.Add(gz(f, "a\nb\n")[:20])
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := NewReader(bytes.NewReader(data), Options{})
		if err != nil {
			require.ErrorContains(t, err, "capture: after line ")
			return
		}
		var rec Record
		for range 10_000 {
			if err := r.Next(&rec); err != nil {
				require.True(t, errors.Is(err, io.EOF) != strings.HasPrefix(err.Error(), "capture: after line "), "%v", err)
				return
			}
		}
	})
}
