package signature

import "math/bits"

// hasher hashes the stretches of a template: the text between two masks, or between a
// mask and the end of a line, or the name of a frame. Bytes of a stretch may
// arrive in pieces; where the pieces end makes no difference. It feeds every
// eight bytes to two chains of different construction. The second becomes
// the check.
//
// Every stretch begins with a word of its own, so that its words are loaded
// without shifts. The last word is padded with zeros, and its highest byte ends the
// stretch. That is unambiguous, since no template holds a control character within a line.
type hasher struct {
	a, b uint64
	word uint64 // bytes not hashed yet, the first one lowest
	n    uint   // how many bits of word are in use: 0, 8, … 56
}

// The ends of a stretch, in the highest byte of its last word.
const (
	endLine = 0
	endMask = 1 << 56
)

// Odd constants without structure: the fractional parts of the square roots of
// 2, 3, 5 and 7.
const (
	mulA  = 0x6a09e667f3bcc909
	mulB  = 0xbb67ae8584caa73b
	seedA = 0x3c6ef372fe94f82b
	seedB = 0xa54ff53a5f1d36f1
)

// newHasher returns a hasher that has taken nothing.
//
// A hasher is passed and returned by value: so its four words stay in registers
// where bytes are taken, and the chains of multiplications do not run through
// memory, which made hashing 79 bytes a quarter slower.
func newHasher() hasher { return hasher{a: seedA, b: seedB} }

// mix takes eight bytes into both chains: a folded 128-bit product, and a
// multiply-rotate.
func (h hasher) mix(v uint64) hasher {
	hi, lo := bits.Mul64(h.a^v, mulA)
	h.a, h.b = hi^lo^seedA, bits.RotateLeft64((h.b+v)*mulB, 29)
	return h
}

// add takes the k low bits of v, a multiple of eight up to 56; the bits above
// must be zero.
func (h hasher) add(v uint64, k uint) hasher {
	h.word |= v << (h.n & 63)
	h.n += k
	if h.n >= 64 {
		h = h.mix(h.word)
		h.n -= 64
		h.word = v >> ((k - h.n) & 63) // never 64: k is less
	}
	return h
}

// text takes s[from:to].
func (h hasher) text(s string, from, to int) hasher {
	for n := h.n & 63; to-from >= 8; from += 8 { // add, for 64 bits
		v := load(s, from)
		h = h.mix(h.word | v<<n)
		h.word = v >> 1 >> (63 - n) // not v>>(64-n): that compares n with 0
	}
	if from >= to {
		return h
	}
	return h.add(loadPart(s, from, to), uint(to-from)*8)
}

// end ends a stretch.
func (h hasher) end(mark uint64) hasher {
	h = h.mix(h.word | mark)
	h.word, h.n = 0, 0
	return h
}

// sum ends the text. All its stretches must have ended.
func (h hasher) sum() Key {
	a := h.a ^ bits.RotateLeft64(h.b, 17)
	a ^= a >> 32
	a *= mulB
	a ^= a >> 29
	b := h.b ^ h.b>>33
	b *= mulA
	return Key{Hash: a, Check: uint32(b >> 32)}
}

// load reads the eight bytes at s[i:], the first one lowest; i+8 must not
// exceed len(s).
func load(s string, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// loadPart reads the bytes of s[from:to], fewer than eight, and zeros above.
func loadPart(s string, from, to int) uint64 {
	if to >= 8 {
		return load(s, to-8) >> ((8 - uint(to-from)) * 8 & 63)
	}
	var v uint64
	for i := to - 1; i >= from; i-- {
		v = v<<8 | uint64(s[i])
	}
	return v
}
