package capture

import (
	"bufio"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// decoded returns br, or what it holds if it begins with the mark of UTF-16, as
// the copies do that Windows' own tools make of a log. The mark goes; text in
// UTF-16 without one is not recognized, and a mark of UTF-32 is none.
func decoded(br *bufio.Reader) io.Reader {
	mark, _ := br.Peek(4) // an error comes again with the first read
	if len(mark) < 2 || mark[0]^mark[1] != 0xff^0xfe || mark[0] < 0xfe || string(mark[2:]) == "\x00\x00" {
		return br
	}
	big := mark[0] == 0xfe
	_, _ = br.Discard(2)
	return &utf16Reader{src: br, big: big}
}

// utf16Reader turns UTF-16 into UTF-8. What is no character becomes U+FFFD.
type utf16Reader struct {
	src  *bufio.Reader
	big  bool
	high rune   // a first surrogate that waits for its second; 0 if none
	rest []byte // of buf: decoded and not yet read
	buf  [2 * utf8.UTFMax]byte
}

// Read implements io.Reader. It returns what has been decoded when the source
// has nothing more at hand, and its error only after all that came before it.
func (u *utf16Reader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(u.rest) == 0 {
			if n += u.ascii(p[n:]); n == len(p) {
				break
			}
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

// ascii decodes what is ASCII of the units at hand, which is nearly all of a log, and
// returns how many those were.
func (u *utf16Reader) ascii(p []byte) int {
	if u.high != 0 {
		return 0
	}
	low, high := 0, 1 // where in a unit
	if u.big {
		low, high = 1, 0
	}
	units, _ := u.src.Peek(min(u.src.Buffered(), 2*len(p))) // all there
	n := 0
	for ; 2*n+1 < len(units) && units[2*n+high] == 0 && units[2*n+low] < utf8.RuneSelf; n++ {
		p[n] = units[2*n+low]
	}
	_, _ = u.src.Discard(2 * n)
	return n
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
	r := rune(unit[0]) | rune(unit[1])<<8
	if u.big {
		r = rune(unit[0])<<8 | rune(unit[1])
	}
	_, _ = u.src.Discard(2)
	if u.high != 0 {
		pair := utf16.DecodeRune(u.high, r)
		u.high = 0
		out = utf8.AppendRune(out, pair) // U+FFFD if they are no pair
		if pair != utf8.RuneError {
			u.rest = out
			return nil
		}
	}
	switch {
	case r >= 0xd800 && r < 0xdc00:
		u.high = r
	default:
		out = utf8.AppendRune(out, r) // U+FFFD for a second surrogate alone
	}
	u.rest = out
	return nil
}
