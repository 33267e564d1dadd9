package signature

import "math/bits"

// Eight bytes at a time: the tricks that find the end of a word. Each works on
// the eight bytes of a word in parallel, in the manner of Lamport, "Multiple
// byte processing with full-word instructions" (CACM 18:8, 1975): in bytes
// below 0x80, adding 0x80-x sets the high bit of those that are at least x.

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// plainWord returns the end of the token at i if that is one to seven ASCII
// letters and nothing that would make more of them follows, or 0. It is a word
// then, unless [mayMean] knows its first letters.
func plainWord(s string, i int) int {
	var v uint64
	if i+8 <= len(s) {
		v = load(s, i)
	} else {
		v = loadEnd(s, i)
	}
	lower := v&^highs | 0x20*ones
	letters := (lower + (0x80-'a')*ones) &^ (lower + (0x80-'z'-1)*ones) &^ v
	n := bits.TrailingZeros64(^letters&highs) >> 3
	if n == 0 || n == 8 || !wordEndsAt(s, i+n) {
		return 0
	}
	return i + n
}

// wordEndsAt reports whether s[i] cannot make more of the ASCII letters before it
// than a word, or of the digits than a number: most punctuation cannot, and no glue
// or colon can that white space follows.
func wordEndsAt(s string, i int) bool {
	c := at(s, i)
	return c&ends != 0 || c&narrow == 0 && at(s, i+1)&space != 0
}

// digitRun returns the end of the number without letters at i: digits, and
// maybe a point and more digits. It returns 0 if that is only part of a token.
//
// It counts digits instead of trying each: how many there are is what changes
// from line to line, and what a processor guesses wrong. On lines with ids that is
// 1 to 3 % of all, and no difference where the same line comes again.
func digitRun(s string, i int) int {
	i = digitsEnd(s, i+1)
	if i < len(s) && s[i] == '.' && at(s, i+1)&digit != 0 {
		i = digitsEnd(s, i+2)
	}
	if !wordEndsAt(s, i) {
		return 0
	}
	return i
}

// digitsEnd returns the end of the digits, if any, at i.
func digitsEnd(s string, i int) int {
	for i < len(s) {
		var v uint64
		if i+8 <= len(s) {
			v = load(s, i)
		} else {
			v = loadEnd(s, i)
		}
		// 6 added to a digit leaves the upper half of the byte as it was, 3.
		if odd := (v&(0xf0*ones) | (v+6*ones)&(0xf0*ones)>>4) ^ 0x33*ones; odd != 0 {
			return i + bits.TrailingZeros64(odd)>>3
		}
		i += 8
	}
	return len(s)
}

// narrowEnd returns the end of the narrow token that begins at i, and which of
// digit, glue, slash, tick and cont occur in it. Glue belongs to it between
// narrow bytes only.
func narrowEnd(s string, i int) (int, class) {
	var all class
	for i < len(s) {
		// Letters, digits and '_', and points and dashes before one of those,
		// eight at a time.
		var v uint64
		if i+8 <= len(s) {
			v = load(s, i)
		} else {
			v = loadEnd(s, i)
		}
		low := v &^ highs
		lower := low | 0x20*ones
		letters := (lower + (0x80-'a')*ones) &^ (lower + (0x80-'z'-1)*ones)
		digits := (low + (0x80-'0')*ones) &^ (low + (0x80-'9'-1)*ones)
		bars := ^(low ^ '_'*ones + 0x7f*ones)
		body := (letters | digits | bars) &^ v & highs
		joins := (low + (0x80-'-')*ones) &^ (low + (0x80-'.'-1)*ones) &^ v & (body >> 8)
		end := bits.TrailingZeros64(^(body | joins) & highs)
		before := uint64(1)<<uint(end) - 1 // all of it for 64
		if digits&body&before != 0 {
			all |= digit
		}
		if joins&before != 0 {
			all |= glue
		}
		if end == 64 {
			// A constant step: the next load need not wait for the count.
			i += 8
			continue
		}
		i += end >> 3
		// All else, and a point or dash that is last of the eight, one at a time.
		c := at(s, i)
		if c&narrow == 0 && (c&glue == 0 || at(s, i+1)&narrow == 0) {
			break
		}
		all |= c
		i++
	}
	return i, all
}

// skipPlain returns how far text that begins at i, where a token does, is
// nothing but words of small letters, with single spaces between them, that
// mean no more than they say: the end of the last such word that something of
// class ends follows, or i. The first letter may be a capital, but must not begin
// what [mayMean] knows. If that is i, s[i:seen] is known to be letters.
//
// It takes eight bytes in 4 ns on one 2.7 GHz Xeon, which is most of what plain
// text costs: what can wait for the last block does.
func skipPlain(s string, i int) (end, seen int) {
	from := i
	after := uint64(0)                 // the high bit of byte 0 if byte -1 is a space
	spaceBlock, spaces := 0, uint64(0) // the last block with spaces, and which they are
	for ; ; i += 8 {
		var v uint64 // zeros, which are odd, at the end
		if i+8 <= len(s) {
			v = load(s, i)
		} else if i < len(s) {
			v = loadEnd(s, i)
		}
		// Bytes from 0x80 on are odd; that they are taken for others before that
		// is seen changes nothing before them.
		low := v &^ highs
		lower := low | 0x20*ones
		letters := (lower + (0x80-'a')*ones) &^ (lower + (0x80-'z'-1)*ones)
		notSpace := low ^ ' '*ones + 0x7f*ones
		notU := low ^ 'u'*ones + 0x7f*ones
		blanks := highs &^ notSpace
		first := blanks<<8 | after
		// Eight hexadecimal letters in a row, wherever they begin, fill half of
		// a block up to one of its ends.
		hexes := letters &^ (lower + (0x80-'g')*ones) & highs
		if uint32(hexes) == uint32(highs&0xffffffff) || hexes>>32 == highs>>32 {
			seen = i
			break
		}
		// Not plain are bytes other than letters and spaces, and, after a space,
		// capitals, spaces and the letter u.
		odd := (notSpace&^letters | v | first&^(v<<2&notU&notSpace)) & highs
		if odd == 0 {
			if blanks != 0 {
				spaceBlock, spaces = i, blanks
			}
			after = blanks >> 56
			continue
		}
		lowest := odd & -odd
		end = i + bits.TrailingZeros64(odd)>>3
		if first&lowest != 0 {
			return end - 1, end
		}
		if wordEndsAt(s, end) {
			return end, end
		}
		seen = end
		if blanks &= lowest - 1; blanks != 0 {
			spaceBlock, spaces = i, blanks
		}
		break
	}
	if spaces == 0 {
		return from, seen
	}
	return spaceBlock + (bits.Len64(spaces)-1)>>3, seen
}

// mayMean reports whether the word at i may mean more than it says, by how it
// begins: like a month, a day of the week, or "user". The first letter alone stops
// at most capitals; three of them made text of plain words 15 % faster.
func mayMean(s string, i int) bool {
	if classes[s[i]]&initial == 0 || i+3 > len(s) {
		return false
	}
	v := uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16
	return beginnings[v*beginningsMul>>27] == v
}

// beginnings holds what mayMean knows at places that beginningsMul, found by
// trial, makes all different.
var beginnings = func() (t [32]uint32) {
	for _, w := range [...]string{
		"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
		"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "use",
	} {
		v := uint32(w[0]) | uint32(w[1])<<8 | uint32(w[2])<<16
		if p := &t[v*beginningsMul>>27]; *p == 0 {
			*p = v
		} else {
			panic("BUG: signature: two beginnings of words at one place")
		}
	}
	return t
}()

const beginningsMul = 0xf3009a5d

// loadEnd is load for the last bytes of s: it reads zeros beyond the end.
func loadEnd(s string, i int) uint64 {
	if len(s) >= 8 {
		return load(s, len(s)-8) >> (8 * uint(i+8-len(s)) & 63)
	}
	var v uint64
	for j := len(s) - 1; j >= i; j-- {
		v = v<<8 | uint64(s[j])
	}
	return v
}
