package signature

import "math/bits"

// A plainName is the name of a frame that [parts] would only copy, as most are:
// letters, digits and '_' with dots and slashes between them, at most one single
// colon, and no part that ends in a digit. It is found eight bytes at a time, and
// hashed as one text or two, which takes a third of the time of parts.
type plainName struct {
	end   int // 0 if the name is not plain
	colon int // where the colon is that becomes a dot, or -1
	dots  bool
}

// Each of the eight bytes of a word is looked at in parallel, in the manner of Lamport, "Multiple byte processing with
// full-word instructions" (CACM 18:8, 1975): in bytes below 0x80, adding 0x80-x sets the high bit of those that are at
// least x.
const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// findPlainName returns the name at the beginning of line, if it is plain.
func findPlainName(line string) plainName {
	name := plainName{colon: -1}
	if line == "" || !isLetter(line[0]) {
		return plainName{}
	}
	afterDigit := uint64(0) // the high bit of byte 0 if byte -1 is a digit
	for i := 0; ; {
		var v uint64 // zeros, which end the name, at the end
		if i+8 <= len(line) {
			v = load(line, i)
		} else if i < len(line) {
			v = loadPart(line, i, len(line))
		}
		low := v &^ highs
		lower := low | 0x20*ones
		letters := (lower + (0x80-'a')*ones) &^ (lower + (0x80-'z'-1)*ones)
		upTo9 := low + (0x80-'9'-1)*ones
		body := (low + (0x80-'.')*ones) &^ upTo9 // '.', '/' and digits
		digits := (low + (0x80-'0')*ones) &^ upTo9 & highs
		bars := ^(low ^ '_'*ones + 0x7f*ones)
		dots := body &^ digits & highs
		end := bits.TrailingZeros64(^((letters | body | bars) &^ v) & highs)
		before := uint64(1)<<uint(end) - 1 // all of it for 64
		if dots&(digits<<8|afterDigit)&before != 0 {
			return plainName{}
		}
		name.dots = name.dots || dots&before != 0
		if end == 64 {
			afterDigit = digits >> 56
			i += 8
			continue
		}
		i += end >> 3
		if c := line[i-1]; !isLetter(c) && c != '_' {
			return plainName{}
		}
		switch c := at(line, i); {
		case c&space != 0 || line[i] == '(':
			name.end = i
			return name
		case line[i] == ':' && name.colon < 0 && i+1 < len(line) && isLetter(line[i+1]):
			name.colon = i
			i++
			afterDigit = 0
		default:
			return plainName{}
		}
	}
}

// hash takes the canonical form of the name at the beginning of line as one
// stretch.
func (n plainName) hash(h hasher, line string) hasher {
	for i := 0; ; i += 8 {
		var v uint64
		if last := i+8 > n.end; last {
			v = loadPart(line, i, n.end)
		} else {
			v = load(line, i)
		}
		if at := uint(n.colon - i); at < 8 {
			v ^= (':' ^ '.') << (at * 8)
		}
		h = h.mix(v)
		if i+8 > n.end {
			return h
		}
	}
}
