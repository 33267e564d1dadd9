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

// mayMean reports whether the word at i may be more than a word, by how it
// begins: like a month, a day of the week, "NaN", or "user". The first letter alone stops
// at most capitals; three of them at few words.
func mayMean(s string, i int) bool {
	return classes[s[i]]&initial != 0 && isBeginning(s, i)
}

// isBeginning is mayMean where the first letter is known to be an initial.
func isBeginning(s string, i int) bool {
	if i+3 > len(s) {
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
		"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "NaN", "use",
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
