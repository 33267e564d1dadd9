package text

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCheck is the table of the beginnings of files that are text, and of those that are not.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		head string
		want error
	}{
		{"empty", "", nil},
		{"text", "Mono path[0] = 'C:/Games'\r\n", nil},
		{"colors", "\x1b[31mred\x1b[0m\n\x1b[32mgreen\x1b[0m\n", nil},
		{"a stray control", "one \x01 in a line", nil},
		{"hole of NULs", "text\n" + strings.Repeat("\x00", 4096) + "text\n", nil},
		{"nothing but NULs", strings.Repeat("\x00", 4096), nil},
		{"legacy encoding", strings.Repeat("\xcf\xf0\xe8\xe2\xe5\xf2 ", 50), nil},
		{"executable", "\x7fELF\x02\x01\x01\x00\x00\x03\x00\x3e\x00\x01\x00", ErrBinary},
		{"picture", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x04\x00\x00\x00\x03\x00\x08\x02", ErrBinary},
		{"gzip", "\x1f\x8b\x08\x00", errCompressed},
		{"zip", "PK\x03\x04", errArchive},
		{"tar", "Player.log" + strings.Repeat("\x00", 247) + "ustar", errArchive},
		{"zstd, of text as it is", "\x28\xb5\x2f\xfd\x04\x58some text", errCompressed},
		{"UTF-16 with a mark", "\xff\xfe" + strings.Repeat("h\x00i\x00 \x00", 20), nil},
		{"UTF-16 with a mark, big-endian", "\xfe\xff" + strings.Repeat("\x00h\x00i\x00 ", 20), nil},
		{"UTF-32", "h\x00\x00\x00i\x00\x00\x00\n\x00\x00\x00h\x00\x00\x00", encoded("UTF-32LE")},
		{"UTF-32 with a mark", "\xff\xfe\x00\x00h\x00\x00\x00i\x00\x00", encoded("UTF-32LE")},
		{"UTF-32, big-endian", strings.Repeat("\x00\x00\x00h\x00\x00\x00i\x00\x00\x00 ", 20), encoded("UTF-32BE")},
		{"UTF-32 with a mark, big-endian", "\x00\x00\xfe\xff\x00\x00\x00h\x00\x00\x00i", encoded("UTF-32BE")},
		{"UTF-32 of other scripts", strings.Repeat("\x16\x04\x00\x00\x87\x65\x00\x00\x00\xf6\x01\x00", 20), encoded("UTF-32LE")},
		{"a hole, and text", strings.Repeat("\x00", 4096) + "text", nil},
		{"UTF-16", strings.Repeat("h\x00i\x00 \x00", 20), encoded("UTF-16LE")},
		{"UTF-16, big-endian", strings.Repeat("\x00h\x00i\x00 ", 20), encoded("UTF-16BE")},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, Check([]byte(c.head))) })
	}
}
