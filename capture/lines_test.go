package capture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

type readLine struct {
	text  string
	cut   uint64
	hole  uint64
	first bool
	ended bool
}

func allLines(tb testing.TB, src io.Reader) []readLine {
	tb.Helper()
	l := newLineReader()
	r := Reader{lines: l, src: bufio.NewReader(src)}
	var out []readLine
	for {
		var ln line
		for !l.next(&ln) && !l.ended {
			r.more()
		}
		if ln.no == 0 {
			require.ErrorIs(tb, r.failed, io.EOF)
			require.Equal(tb, len(out), l.no)
			require.Equal(tb, windowSize, cap(l.buf))
			require.LessOrEqual(tb, cap(l.long), windowSize)
			return out
		}
		require.Equal(tb, len(out)+1, ln.no)
		out = append(out, readLine{string(ln.text), ln.cut, ln.hole, ln.holeFirst, ln.ended})
	}
}

func TestLines(t *testing.T) {
	nul := strings.Repeat("\x00", 64)
	long := strings.Repeat("a", windowSize)
	for name, c := range map[string]struct {
		in   string
		want []readLine
	}{
		"empty": {"", nil},
		"one":   {"a", []readLine{{text: "a"}}},
		"ends": {"a\nb\r\nc\r\r\n\n", []readLine{
			{text: "a", ended: true}, {text: "b", ended: true}, {text: "c", ended: true}, {ended: true},
		}},
		"lone CR": {"a\rb\r", []readLine{{text: "a\rb"}}},
		"a CR before a head": {"10:00:00 a\r10:00:01 b\r\n[ERROR] c\r\r[INFO] d\n\r10:00:02 e\r10:00:03", []readLine{
			{text: "10:00:00 a", ended: true},
			{text: "10:00:01 b", ended: true},
			{text: "[ERROR] c", ended: true},
			{text: "[INFO] d", ended: true},
			{ended: true},
			{text: "10:00:02 e", ended: true},
			{text: "10:00:03"},
		}},
		"a CR before text": {"10:00:00 10%\r20%\r10:00:01 b", []readLine{
			{text: "10:00:00 10%\r20%", ended: true}, {text: "10:00:01 b"},
		}},
		"a CR after a long line": {long[:windowSize-30] + "\r10:00:00 b", []readLine{
			{text: long[:windowSize-30], ended: true}, {text: "10:00:00 b"},
		}},
		"long, by CRs": {"10:00:00 " + long[9:] + "\r10:00:01 b\r\n", []readLine{
			{text: "10:00:00 " + long[9:], cut: 12, ended: true},
		}},
		"63 NULs are text":        {"a" + nul[:63] + "b", []readLine{{text: "a" + nul[:63] + "b"}}},
		"64 NULs are a hole":      {nul + "b", []readLine{{text: "b", hole: 64, first: true}}},
		"text, hole, text":        {"a" + nul + "b\r\n", []readLine{{text: "a\nb", hole: 64, ended: true}}},
		"text, hole":              {"a" + nul + "\r\n", []readLine{{text: "a", hole: 64, ended: true}}},
		"blank, hole, text, hole": {" \t" + nul + "b" + nul, []readLine{{text: "b", hole: 128, first: true}}},
		"hole and nothing": {nul + "\n" + nul, []readLine{
			{hole: 64, first: true, ended: true}, {hole: 64, first: true},
		}},
		"as long as the buffer":  {long + "\nb", []readLine{{text: long, ended: true}, {text: "b"}}},
		"longer than the buffer": {long + "xyz\r\nb", []readLine{{text: long, cut: 4, ended: true}, {text: "b"}}},
		"long, no end":           {long + long, []readLine{{text: long, cut: windowSize}}},
		"a long hole and its text": {"a" + strings.Repeat("\x00", 3*windowSize) + "b\nc", []readLine{
			{text: "a\nb", hole: 3 * windowSize, ended: true}, {text: "c"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, allLines(t, strings.NewReader(c.in)))
			require.Equal(t, c.want, allLines(t, iotest.HalfReader(strings.NewReader(c.in))))
			require.Equal(t, c.want, allLines(t, iotest.DataErrReader(strings.NewReader(c.in))))
			if len(c.in) < 1000 {
				require.Equal(t, c.want, allLines(t, iotest.OneByteReader(strings.NewReader(c.in))))
			}
		})
	}
}

// stuck is a source that never has anything.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// TestLinesOfOldMacs holds that a \r ends a line where no \n does, and only there.
func TestLinesOfOldMacs(t *testing.T) {
	text := unity2022_3 + "Crash!!!\n\n0x00007FF0DECADE00 (a) b\n" + numbered(10_000)
	want := records(t, text)
	mac := strings.ReplaceAll(text, "\n", "\r")
	for name, src := range map[string]io.Reader{
		"whole": strings.NewReader(mac), "by bytes": iotest.OneByteReader(strings.NewReader(mac)),
		"other ends later": strings.NewReader(mac[:detectSize] + strings.ReplaceAll(mac[detectSize:], "\r", "\r\n")),
		"by halves": iotest.HalfReader(strings.NewReader(
			mac[:detectSize] + strings.ReplaceAll(mac[detectSize:], "\r", "\n"))),
		"gzip": bytes.NewReader(gz(t, mac)),
	} {
		got, r := read(t, src, Options{})
		require.Equal(t, want, got, name)
		require.Equal(t, layoutUnity2022_3, r.At().Layout)
	}
	for in, want := range map[string]int{"a\rb": 2, "a\rb\r": 2, "a\r\rb": 3, "a\rb\n": 1, "a\rb\r\nc\r\r\n": 2, "a": 1} {
		_, r := read(t, strings.NewReader(in), Options{})
		require.Equal(t, want, r.At().Lines, "%q", in)
	}
	_, r := read(t, strings.NewReader("a\rb"), Options{Layout: LayoutPlain})
	require.Equal(t, 1, r.At().Lines, "who names the layout waits for nothing")
}

// mixedReturns is a log with lines that end in \r, and one that holds progress.
const mixedReturns = "2026-01-01 10:00:00 ERROR a\r2026-01-01 10:00:00 INFO b\r\n" +
	"2026-01-01 10:00:00 WARN c 10%\rc 100%\r\r\n2026-01-01 10:00:00 ERROR d\n\r2026-01-01 10:00:00 INFO e\n"

// TestLinesByReturns: more lines by \r than the buffer holds are as many.
func TestLinesByReturns(t *testing.T) {
	lines := allLines(t, iotest.HalfReader(strings.NewReader(strings.Repeat("10:00:00 abcdefg\r", windowSize/8))))
	require.Len(t, lines, windowSize/8)
	for _, ln := range lines {
		require.Equal(t, "10:00:00 abcdefg", ln.text)
		require.Zero(t, ln.cut)
	}
}

// TestBytes: all that was read counts, once it is decompressed and in UTF-8.
func TestBytes(t *testing.T) {
	long, nul := strings.Repeat("x", 3*windowSize)+"\n", strings.Repeat("\x00", 700)
	for name, c := range map[string]struct {
		src  io.Reader
		want int
	}{
		"nothing":           {strings.NewReader(""), 0},
		"lines":             {iotest.OneByteReader(strings.NewReader("a\r\n\nb")), 5},
		"a mark":            {strings.NewReader(byteOrderMark + "a"), 4},
		"holes":             {strings.NewReader("a\n" + nul + "b\n" + nul[:80]), 784},
		"a long line":       {strings.NewReader(long + long), 2 * len(long)},
		"other line ends":   {strings.NewReader("a\rb\r\nc"), 6},
		"gzip":              {bytes.NewReader(gz(t, long)), len(long)},
		"UTF-16":            {bytes.NewReader(encode16(binary.LittleEndian, "ж\n")), len("ж\n")},
		"broken off midway": {io.MultiReader(strings.NewReader("a\nb\n"), iotest.ErrReader(io.ErrUnexpectedEOF)), 4},
	} {
		_, r, _ := readAll(t, c.src, Options{}) // an error leaves what was read before
		require.Equal(t, uint64(c.want), r.At().Bytes, name)
	}
	r := testkit.Must(NewReader(strings.NewReader("one\ntwo\nthree\n"), Options{Layout: LayoutPlain}))
	require.Zero(t, r.At().Bytes)
	require.NoError(t, r.Next(&Record{}))
	require.Equal(t, uint64(len("one\ntwo\n")), r.At().Bytes, "the line after a record tells that it is complete")
}

func TestHead(t *testing.T) {
	r := testkit.Must(NewReader(bytes.NewReader(gz(t, string(encode16(binary.BigEndian, "one\ntwo\n")))), Options{}))
	require.Equal(t, "one", string(r.Head(3)))
	require.Equal(t, "one\ntwo\n", string(r.Head(1<<30)))
	var rec Record
	require.NoError(t, r.Next(&rec))
	require.Empty(t, r.Head(3))
}

func TestLinesNoProgress(t *testing.T) {
	_, err := NewReader(stuck{}, Options{})
	require.ErrorIs(t, err, io.ErrNoProgress)
}

// endless repeats text, up to size bytes.
type endless struct {
	text string
	size int64
	at   int64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.at >= e.size {
		return 0, io.EOF
	}
	n := copy(p[:min(int64(len(p)), e.size-e.at)], e.text[e.at%int64(len(e.text)):])
	e.at += int64(n)
	return n, nil
}

// TestMemoryIsFlat checks the bounds themselves instead of the heap: every
// buffer that a Reader keeps stays within what its documentation says.
func TestMemoryIsFlat(t *testing.T) {
	trace := "oh: System.Exception: x\n[Ref 12AB]\n" + strings.Repeat("  at Gadget.Panel.Draw (System.Int32 x) [0x0001f] in <0123>:0 \n", 50)
	for name, src := range map[string]io.Reader{
		"one line of 12 MB":   &endless{text: "0123456789abcdef", size: 12 << 20},
		"one record of 12 MB": io.MultiReader(strings.NewReader(unity2022_3+"head\n"), &endless{text: "  an indented line of a record\n", size: 12 << 20}),
		"NULs": io.MultiReader(strings.NewReader("a"), &endless{text: strings.Repeat("\x00", 4096), size: 12 << 20},
			strings.NewReader("b\n")),
		"many traces": io.MultiReader(strings.NewReader(unity2022_3), &endless{text: trace, size: 1 << 20}),
		"JSON":        &endless{text: `{"msg":"a\tb","level":"info","n":1}` + "\n", size: 256 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			r := testkit.Must(NewReader(src, Options{}))
			var rec Record
			var err error
			for err == nil {
				err = r.Next(&rec)
				a := &r.asm
				for _, buf := range [][]byte{a.message, a.previous, a.stack} {
					require.LessOrEqual(t, cap(buf), 2*defaultMaxRecordText)
				}
				require.LessOrEqual(t, cap(r.lines.long), windowSize)
				require.Equal(t, windowSize, cap(r.lines.buf))
				require.LessOrEqual(t, a.refs.bytes, maxRefBytes)
				require.LessOrEqual(t, cap(r.out), 8)
				require.LessOrEqual(t, cap(r.json.buf)+cap(r.json.rest), 1024)
			}
			require.ErrorIs(t, err, io.EOF)
		})
	}
}

func TestReadingAllocatesNothing(t *testing.T) {
	text := "[Tools] on\nException ticking Мира (at (1, 0, 2)): \nSystem.NullReferenceException: x\n[Ref 12AB]\n  at Gadget.Panel.Draw () [0x0001f] in <0123>:0 \n" +
		"Exception ticking 은비 (at (1, 0, 2)): \nSystem.NullReferenceException: x\n[Ref 12AB] Duplicate stacktrace, see ref for original\n\nUnloadTime: 0.3 ms\n"
	json := `{"time":"2026-01-02T03:04:05Z","level":"info","msg":"drawn","panel":3}` + "\n"
	if raceDetector {
		t.Skip("allocations cannot be counted under the race detector")
	}
	for name, text := range map[string]string{
		"2022.3": text, "2019.4": strings.ReplaceAll(text, "x\n", "x \n"+footer+"\n\n"), "JSON": json,
		"held": "a: System.Exception: x\nb\nc\n  at Gadget.Panel.Draw () [0x0001f] in <0123>:0 \n[Tools][WARN] a\nd: System.Exception: x\ne\n[Tools] on\n",
	} {
		r := testkit.Must(NewReader(&endless{text: text, size: 1 << 40}, Options{}))
		var rec Record
		next := func() {
			for range 100 {
				if err := r.Next(&rec); err != nil {
					panic(err)
				}
			}
		}
		next()
		require.Zero(t, testing.AllocsPerRun(20, next), name)
	}
}

func TestReadErrors(t *testing.T) {
	broken := errors.New("the disk is gone")
	recs, r, err := readAll(t, io.MultiReader(strings.NewReader("a\nb\nc"), iotest.ErrReader(broken)),
		Options{Layout: LayoutPlain})
	require.ErrorIs(t, err, broken)
	require.EqualError(t, err, "capture: after line 3: read: the disk is gone")
	require.Equal(t, "1-1 line \"a\"\n2-2 line \"b\"\n3-3 line \"c\"\n", render(recs))
	var rec Record
	require.ErrorIs(t, r.Next(&rec), broken, "said again")

	_, err = NewReader(iotest.ErrReader(broken), Options{})
	require.ErrorIs(t, err, broken)
	require.EqualError(t, err, "capture: after line 0: read: the disk is gone")
}

// TestLinesLookAlikeInAnyChunks is the property on a text that straddles the
// buffer in every way.
func TestLinesLookAlikeInAnyChunks(t *testing.T) {
	var b bytes.Buffer
	for i := 0; b.Len() < 3*windowSize; i += 7919 {
		b.WriteString(strings.Repeat("x", i%(windowSize/3)))
		b.WriteString("\r\n")
	}
	want := allLines(t, bytes.NewReader(b.Bytes()))
	for _, size := range []int{4095, 65537, windowSize - 1, windowSize + 1} {
		require.Equal(t, want, allLines(t, &chunked{data: b.Bytes(), sizes: []int{size}}))
	}
}

// chunked hands out data in pieces of the given sizes, in turn.
type chunked struct {
	data  []byte
	sizes []int
	i     int
}

func (c *chunked) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := len(c.data)
	if len(c.sizes) > 0 {
		n = min(n, max(1, c.sizes[c.i%len(c.sizes)]))
		c.i++
	}
	n = copy(p, c.data[:n])
	c.data = c.data[n:]
	return n, nil
}
