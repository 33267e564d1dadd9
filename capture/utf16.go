package capture

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// decoded returns br, or its text if it begins with the mark of UTF-16, as
// the copies do that Windows' own tools make of a log. The mark goes; text in
// UTF-16 without one is not recognized, and UTF-32 is left as it is.
func decoded(br *bufio.Reader) io.Reader {
	mark, _ := br.Peek(8) // an error comes again with the first read
	if len(mark) < 2 || mark[0]^mark[1] != 0xff^0xfe || mark[0] < 0xfe ||
		len(mark) == 8 && mark[2]|mark[3]|mark[6]|mark[7] == 0 && mark[4] != 0 {
		return br
	}
	order := map[byte]binary.ByteOrder{0xff: binary.LittleEndian, 0xfe: binary.BigEndian}[mark[0]]
	_, _ = br.Discard(2)
	return &utf16Reader{src: br, order: order}
}

// utf16Reader turns UTF-16 into UTF-8. Other bytes become U+FFFD.
type utf16Reader struct {
	src   *bufio.Reader
	order binary.ByteOrder
	high  rune   // a first surrogate that waits for its second; 0 if none
	rest  []byte // of buf: decoded and not yet read
	buf   [2 * utf8.UTFMax]byte
}

// Read implements io.Reader. It returns the decoded text when the source has no
// more for now, and its error only after all text before it.
func (u *utf16Reader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(u.rest) == 0 {
			if n > 0 && u.src.Buffered() < 2 {
				break
			}
			if err := u.next(); err != nil {
				return n, err
			}
		}
		m := copy(p[n:], u.rest)
		u.rest = u.rest[m:]
		n += m
	}
	return n, nil
}

// next decodes one unit into rest, which may stay empty: a first surrogate gives
// nothing by itself.
func (u *utf16Reader) next() error {
	out := u.buf[:0]
	unit, err := u.src.Peek(2)
	if err != nil {
		if len(unit) == 0 && u.high == 0 || errors.Is(err, errMore) {
			return err
		}
		_, _ = u.src.Discard(len(unit))
		u.high = 0
		u.rest = utf8.AppendRune(out, utf8.RuneError)
		return nil
	}
	r := rune(u.order.Uint16(unit))
	_, _ = u.src.Discard(2)
	high := u.high
	u.high = 0
	if pair := utf16.DecodeRune(high, r); high != 0 {
		out = utf8.AppendRune(out, pair) // U+FFFD if they are no pair
		if pair != utf8.RuneError {
			u.rest = out
			return nil
		}
	}
	if r >= 0xd800 && r < 0xdc00 {
		u.high = r
	} else {
		out = utf8.AppendRune(out, r) // U+FFFD for a second surrogate alone
	}
	u.rest = out
	return nil
}
