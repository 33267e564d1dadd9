package capture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

// TestEncodings reads one log as it comes from different hands: with line ends of
// each system, marks, without its last line end; as UTF-16 the way Windows' own
// shells redirect; compressed. Records, levels and line numbers are the same.
func TestEncodings(t *testing.T) {
	in := unity2022_3 + doc(
		"[Gadgets] Мира, 은비 and 🦡",
		"Loading game from file a with mods:",
		"  - acme.mill",
		"Could not start Gadgets: System.Exception: broken",
		"  at Gadget.Panel.Draw () [0x0001f] in <0123>:0 ",
		"",
		"bye",
	)
	want := records(t, in)
	require.Len(t, want, strings.Count(unity2022_3, "\n")+4)
	ends := map[string]func(string) string{
		"\\n":            func(s string) string { return s },
		"\\r\\n":         func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"\\r\\r\\n":      func(s string) string { return strings.ReplaceAll(s, "\n", "\r\r\n") },
		"\\r":            func(s string) string { return strings.ReplaceAll(s, "\n", "\r") },
		"\\r\\n, no end": func(s string) string { return strings.TrimSuffix(strings.ReplaceAll(s, "\n", "\r\n"), "\r\n") },
		"\\r, no end":    func(s string) string { return strings.TrimSuffix(strings.ReplaceAll(s, "\n", "\r"), "\r") },
		"no end":         func(s string) string { return strings.TrimSuffix(s, "\n") },
	}
	encodings := map[string]func(string) string{
		"UTF-8":           func(s string) string { return s },
		"UTF-8 with mark": func(s string) string { return byteOrderMark + s },
		"UTF-16LE":        func(s string) string { return string(encode16(binary.LittleEndian, s)) },
		"UTF-16BE":        func(s string) string { return string(encode16(binary.BigEndian, s)) },
	}
	for end, ended := range ends {
		for encoding, encoded := range encodings {
			requireEveryWay(t, want, encoded(ended(in)), end+", "+encoding)
		}
	}
}

// TestHolesInEncodings requires that a run of NUL parts what is around it, and is
// counted, however the log comes: in UTF-16 by characters.
func TestHolesInEncodings(t *testing.T) {
	in := unity2022_3 + "first\r\nsecond" + strings.Repeat("\x00", 4096) + "\r\nthird\r\n" + strings.Repeat("\x00", 300_000) + "fourth\r\nfi\x00fth"
	want := records(t, in)
	require.Equal(t, []uint64{4096, 300_000}, counts(want, event.StatusHole))
	for _, data := range []string{in, string(encode16(binary.LittleEndian, in)), string(encode16(binary.BigEndian, in))} {
		requireEveryWay(t, want, data, "")
	}
}

// TestCutEncodings cuts a log in UTF-16 at each byte: what is whole is read, half a
// character becomes U+FFFD, and no line is lost.
func TestCutEncodings(t *testing.T) {
	data := encode16(binary.LittleEndian, unity2022_3+"[Gadgets] 🦡\r\nbye")
	for n := len(data) - 20; n < len(data); n++ {
		cut := data[:n]
		want := "\uFFFD"
		lines := 1 + bytes.Count(cut, []byte("\n\x00"))
		everyWay(t, string(cut), func(way string, src io.Reader) {
			recs, r := read(t, src, Options{})
			require.Contains(t, []int{lines - 1, lines}, r.At().Lines, "%d bytes, %s", n, way)
			recs = slices.DeleteFunc(recs, func(r Record) bool { return r.Kind == event.KindNotice }) // a head that is cut
			last := recs[len(recs)-1].Message
			require.Equal(t, n%2 == 1 || bytes.HasSuffix(cut, []byte("\x3e\xd8")), strings.HasSuffix(last, want),
				"%d bytes, %s: %q", n, way, last)
		})
	}
}

// requireEveryWay fails unless data has the records in every way.
func requireEveryWay(t *testing.T, want []Record, data, name string) {
	t.Helper()
	everyWay(t, data, func(way string, src io.Reader) {
		got, _ := read(t, src, Options{})
		require.Equal(t, want, got, "%s, %s", name, way)
	})
}

// everyWay calls f with data as it is, byte by byte, and compressed in each way.
func everyWay(t *testing.T, data string, f func(way string, src io.Reader)) {
	t.Helper()
	f("plain", strings.NewReader(data))
	if len(data) < 4096 {
		f("by bytes", iotest.OneByteReader(strings.NewReader(data)))
	}
	f("gzip", bytes.NewReader(gz(t, data)))
	f("zstd", bytes.NewReader(zst(t, data)))
	f("gzip within zstd", bytes.NewReader(zst(t, string(gz(t, data)))))
	half := len(data) / 2
	f("gzip in two members", bytes.NewReader(append(gz(t, data[:half]), gz(t, data[half:])...)))
	f("zstd in two frames", bytes.NewReader(append(zst(t, data[:half]), zst(t, data[half:])...)))
	f("thrice", bytes.NewReader(zst(t, string(gz(t, string(gz(t, data)))))))
}

// TestCutCompressed requires that all that was unpacked before the damage is
// delivered, in each encoding.
func TestCutCompressed(t *testing.T) {
	text := unity2022_3 + strings.Repeat("[Gadgets] some line or other\r\n", 20_000)
	for _, data := range []string{text, string(encode16(binary.LittleEndian, text))} {
		packed := gz(t, data)
		recs, r, err := readAll(t, bytes.NewReader(packed[:len(packed)-12]), Options{})
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.ErrorContains(t, err, fmt.Sprintf("after line %d: ", r.At().Lines))
		require.Greater(t, len(recs), 10_000)
	}
}
