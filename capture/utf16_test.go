package capture

import (
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

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
