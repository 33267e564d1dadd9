package signature

import "math/bits"

// A window is what up to 64 bytes of a text are, one bit for each byte, so that
// the ends and the classes of tokens are found by counting zeros instead of
// looking at each byte: the processor must predict the kind of a token, and not its
// length. In this manner simdjson reads JSON (Langdale and
// Lemire, "Parsing gigabytes of JSON per second", VLDB Journal 28, 2019).
//
// A window begins where a token may begin. All but base is relative to it.
type window struct {
	base  int  // where the window begins in the text
	valid uint // how many bytes are known: all, or up to a token that may go on

	narrow uint64 // bytes of class narrow
	body   uint64 // bytes of narrow tokens: those, and the glue within them
	starts uint64 // their first bytes
	digits uint64 // bytes of class digit
	other  uint64 // '<', bytes of class wide, and white space that is not one space
	// events are the bytes that are not plain, or come before a token that is not:
	// bytes without events are literal, except in the name of an account.
	events uint64
	// mayMean are those events that are none but for the first letters of a word,
	// which have to be looked at.
	mayMean uint64
}

// fill makes the window of the text from i on, where a token may begin.
func (w *window) fill(s string, i int) {
	size := min(len(s)-i, 64)
	n, x, y, z := planesOf(s[i : i+size])
	all := ^uint64(0) >> (uint(64-size) & 63)
	n, x, y, z = n&all, x&all, y&all, z&all
	final := i+size == len(s)
	spaces := x&^(n|y|z) | ^all
	afterSpace := spaces >> 1 // the byte after it is a space
	if final {
		afterSpace |= 1 << 63
	}
	glued := y &^ (n | x | z) // glue, within tokens or not
	other := x & y & z &^ n
	body := n | glued&(n<<1)&(n>>1)
	starts := n &^ (body << 1)
	digits := n & z
	hexes := n & x // eight in a row, hexMin, may be a number
	hexes &= hexes >> 1
	hexes &= hexes >> 2
	hexes &= hexes >> 4
	parens := x & z &^ (n | y)
	stray := (glued&^body | x&y&^(n|z|n<<1)) &^ afterSpace // signs, slashes, points and quotation marks
	// The byte after each byte is known, except after the last one, which is never valid
	// unless it ends the text.
	events := digits | hexes | other | body&^n | stray |
		stray>>1&n | // the last byte of a token before one
		z&^(n|x|y|afterSpace)>>1&n | // the last byte of a token before a colon
		parens&(parens>>1) | // a pair of them
		y&z&^(n|x)&((n|other)>>1) | // '=' before a value
		spaces&((spaces|other)>>1) // more than one space
	w.mayMean = n & y &^ z & starts &^ events
	events |= w.mayMean
	w.base, w.narrow, w.body, w.starts, w.digits, w.other = i, n, body, starts, digits, other

	w.valid, w.events = uint(size), events&all
	if !final {
		w.valid = 63
		if body>>62&1 != 0 {
			w.valid = uint(bits.Len64(starts<<1)) - 2
		}
		w.events = events & (1<<(w.valid&63) - 1)
	}
}

// skip returns the beginning of the first token at or after i, where a token may
// begin, that must be decided about, or of what else must, or len(s); all before is
// literal. Of a narrow token it also returns the end and the classes, as token
// does; otherwise, end is 0.
func (w *window) skip(s string, i int) (start, end int, all class) {
	for i < len(s) {
		from := uint(i - w.base)
		if from >= w.valid || (w.body&^w.starts)>>(from&63)&1 != 0 {
			w.fill(s, i)
			if w.valid == 0 {
				end, all = narrowEnd(s, i)
				return i, end, all | event
			}
			from = 0
		}
		events := w.events >> (from & 63)
		if events == 0 {
			i = w.base + int(w.valid)
			continue
		}
		at := from + uint(bits.TrailingZeros64(events))
		lowest := uint64(1) << (at & 63)
		if w.mayMean&lowest != 0 && !isBeginning(s, w.base+int(at)) {
			w.events &^= lowest
			continue
		}
		if w.body&lowest == 0 {
			return w.base + int(at), 0, 0
		}
		start = w.base + bits.Len64(w.starts&(lowest<<1-1)) - 1
		end, all = w.token(s, start)
		return start, end, all
	}
	return i, 0, 0
}

// token returns the end of the narrow token at i, and which of digit, glue, slash
// and tick occur in it, and event if it may be more than a word.
func (w *window) token(s string, i int) (int, class) {
	from := uint(i - w.base)
	if from >= w.valid || w.starts>>(from&63)&1 == 0 {
		j, all := narrowEnd(s, i)
		return j, all | event
	}
	body := w.body >> (from & 63)
	within := body &^ (body + 1) // its lowest ones
	end := i + bits.TrailingZeros64(^within)
	var all class
	if w.events>>(from&63)&within != 0 {
		all = event
	}
	if w.digits>>(from&63)&within != 0 {
		all |= digit
	}
	for glued := (w.body &^ w.narrow) >> (from & 63) & within; glued != 0; glued &= glued - 1 {
		all |= classes[s[i+bits.TrailingZeros64(glued)]] & (glue | slash | tick)
	}
	return end, all
}
