package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

func gz(tb testing.TB, s string) []byte {
	tb.Helper()
	var b bytes.Buffer
	gzipWriter.Reset(&b)
	testkit.Must(io.WriteString(gzipWriter, s))
	require.NoError(tb, gzipWriter.Close())
	return b.Bytes()
}

func zst(tb testing.TB, s string) []byte {
	tb.Helper()
	var b bytes.Buffer
	zstdWriter.Reset(&b)
	testkit.Must(io.WriteString(zstdWriter, s))
	require.NoError(tb, zstdWriter.Close())
	return b.Bytes()
}

// To make a writer costs more than to compress with it.
var (
	gzipWriter = gzip.NewWriter(nil)
	zstdWriter = testkit.Must(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstd.MinWindowSize)))
)

// numbered is a log whose lines do not compress well.
func numbered(n int) string {
	var b strings.Builder
	x := uint64(88172645463325252)
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b.WriteString("[Tools] item ")
		for y := x; y > 0; y /= 26 {
			b.WriteByte('a' + byte(y%26))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestCompressed(t *testing.T) {
	text := unity2022_3 + numbered(12_000)
	requireEveryWay(t, records(t, text), text, "long")
}

func TestCompressedDamage(t *testing.T) {
	text := unity2022_3 + numbered(20_000)
	lines := strings.Split(text+text, "\n")
	for name, c := range map[string]struct {
		data []byte
		op   string
		most int // lines that may be missing for the damage done
	}{
		"gzip cut":                {cutAt(gz(t, text), 0.7), "gzip", 7_000},
		"zstd cut":                {cutAt(zst(t, text), 0.7), "zstd", 7_000},
		"gzip flipped":            {flipAt(gz(t, text), 0.7), "gzip", 20_000},
		"zstd flipped":            {flipAt(zst(t, text), 0.7), "zstd", 20_000},
		"gzip, second member cut": {append(gz(t, text), cutAt(gz(t, text), 0.5)...), "gzip", 0},
		"gzip, garbage behind":    {append(gz(t, text), "garbage"...), "gzip", 0},
	} {
		recs, r, err := readAll(t, bytes.NewReader(c.data), Options{})
		require.ErrorContains(t, err, fmt.Sprintf("capture: after line %d: %s: ", r.At().Lines, c.op), name)
		require.NotErrorIs(t, err, io.EOF, name)
		n := 0
		for _, rec := range recs {
			if rec.StartLine == 0 || rec.StartLine > len(lines) {
				continue
			}
			// A flipped bit shows in gzip only when the whole has been read.
			if rec.StartLine < r.At().Lines && name != "gzip flipped" {
				require.Equal(t, lines[rec.StartLine-1], rec.Message, name)
			}
			n++
		}
		require.GreaterOrEqual(t, n, len(lines)/2-c.most, name)
	}
}

func TestCompressedHeaderDamage(t *testing.T) {
	for _, data := range [][]byte{{0x1f, 0x8b}, gz(t, "a")[:5], {0x1f, 0x8b, 99, 0, 0, 0, 0, 0, 0, 0}} {
		_, err := NewReader(bytes.NewReader(data), Options{})
		require.ErrorContains(t, err, "capture: after line 0: gzip: ")
		require.NotErrorIs(t, err, io.EOF)
	}
	_, _, err := readAll(t, bytes.NewReader(zst(t, "a")[:6]), Options{})
	require.ErrorContains(t, err, "capture: after line 0: zstd: ")

	_, _, err = readAll(t, bytes.NewReader(append(gz(t, "a"), "something else"...)), Options{})
	require.EqualError(t, err, "capture: after line 1: gzip: the data after the compressed text is not gzip and was not read")
	wrong := gz(t, "a")
	wrong[len(wrong)-8] ^= 1 // of the checksum
	_, _, err = readAll(t, bytes.NewReader(wrong), Options{})
	require.EqualError(t, err, "capture: after line 1: gzip: invalid checksum")

	_, err = NewReader(bytes.NewReader(gz(t, string(gz(t, string(zst(t, string(gz(t, "a")))))))), Options{})
	require.ErrorContains(t, err, "gzip: compressed more than 3 times")
	_, err = NewReader(bytes.NewReader(gz(t, string(gz(t, "a")[:5]))), Options{})
	require.ErrorContains(t, err, "capture: after line 0: gzip: ")
	require.NotErrorIs(t, err, io.EOF)

	// Bytes that are not a whole magic are text.
	recs := records(t, "\x1f")
	require.Len(t, recs, 1)
}

func cutAt(b []byte, share float64) []byte { return b[:int(share*float64(len(b)))] }

func flipAt(b []byte, share float64) []byte {
	b = bytes.Clone(b)
	for i := range 16 {
		b[int(share*float64(len(b)))+i] ^= 0x55
	}
	return b
}

// TestTee holds that a Tee gets the bytes of the input, unpacked and before they are decoded.
func TestTee(t *testing.T) {
	text := strings.Repeat("one line\r\n", 20_000) + "\xff torn"
	for _, input := range []string{text, string(gz(t, text)), "\xff\xfea\x00\n\x00"} {
		var got bytes.Buffer
		r := testkit.Must(NewReader(strings.NewReader(input), Options{Tee: &got}))
		for err := error(nil); !errors.Is(err, io.EOF); err = r.Next(new(Record)) {
			require.NoError(t, err)
		}
		want := input
		if input[0] == 0x1f {
			want = text
		}
		require.Equal(t, want, got.String())
	}
}

// encode16 returns s in UTF-16 behind its mark.
func encode16(order binary.AppendByteOrder, s string) []byte {
	out := order.AppendUint16(nil, 0xfeff)
	for _, u := range utf16.Encode([]rune(s)) {
		out = order.AppendUint16(out, u)
	}
	return out
}

func TestUTF16Damage(t *testing.T) {
	for in, want := range map[string]string{
		"":                                 "",
		"\xff\xfe":                         "",
		"\xff":                             "\xff",
		"\xff\xff":                         "\xff\xff",
		"\xff\xfea\x00b":                   "a\uFFFD",
		"\xff\xfe\x3d\xd8":                 "\uFFFD",
		"\xff\xfe\x3d\xd8a\x00":            "\uFFFDa",
		"\xff\xfe\x3d\xd8\x3d\xd8\xa1\xdd": "\uFFFD" + string(utf16.DecodeRune(0xd83d, 0xdda1)),
		"\xff\xfe\xa1\xdda\x00":            "\uFFFDa",
		"\xfe\xff\x00a\xd8\x3d\xdd\xa1":    "a" + string(utf16.DecodeRune(0xd83d, 0xdda1)),
	} {
		r := testkit.Must(NewReader(strings.NewReader(in), Options{}))
		require.Equal(t, want, string(r.Head(99)), "%q", in)
	}
	_, _, err := readAll(t, io.MultiReader(strings.NewReader("\xff\xfea\x00\n\x00"),
		iotest.ErrReader(io.ErrClosedPipe)), Options{})
	require.ErrorIs(t, err, io.ErrClosedPipe)
}
