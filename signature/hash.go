package signature

import "math/bits"

// hasher hashes a stream of bytes that arrives in pieces; where the pieces end
// makes no difference. It feeds every eight bytes to two chains of different
// construction, the second of which is kept as the check.
//
// The last word is padded with zeros. That is unambiguous, since no template
// holds a NUL byte.
type hasher struct {
	a, b uint64
	word uint64 // bytes not hashed yet, the first one lowest
	n    uint   // how many bits of word are in use: 0, 8, … 56
}

// Odd constants without structure: the fractional parts of the square roots of
// 2, 3, 5 and 7.
const (
	mulA  = 0x6a09e667f3bcc909
	mulB  = 0xbb67ae8584caa73b
	seedA = 0x3c6ef372fe94f82b
	seedB = 0xa54ff53a5f1d36f1
)

func (h *hasher) reset() { *h = hasher{a: seedA, b: seedB} }

// mix takes eight bytes into both chains: a folded 128-bit product, and a
// multiply-rotate.
func (h *hasher) mix(v uint64) {
	hi, lo := bits.Mul64(h.a^v, mulA)
	h.a = hi ^ lo ^ seedA
	h.b = bits.RotateLeft64((h.b+v)*mulB, 29)
}

// add takes the k low bits of v, a multiple of eight up to 64; the bits above
// must be zero.
func (h *hasher) add(v uint64, k uint) {
	w := h.word | v<<(h.n&63)
	n := h.n + k
	if n >= 64 {
		h.mix(w)
		n -= 64
		w = v >> (k - n) // k = 64 and n = 0 shifts everything out
	}
	h.word, h.n = w, n
}

// text takes s[from:to].
func (h *hasher) text(s string, from, to int) {
	for ; to-from >= 8; from += 8 {
		h.add(load(s, from), 64)
	}
	k := to - from
	switch {
	case k <= 0:
		return
	case from+8 <= len(s):
		h.add(load(s, from)&(1<<(uint(k)*8)-1), uint(k)*8)
	case to >= 8:
		h.add(load(s, to-8)>>(64-uint(k)*8), uint(k)*8)
	default:
		var v uint64
		for i := to - 1; i >= from; i-- {
			v = v<<8 | uint64(s[i])
		}
		h.add(v, uint(k)*8)
	}
}

// mask takes the three bytes of the mask.
func (h *hasher) mask() { h.add('<'|'*'<<8|'>'<<16, 24) }

// byte takes one byte.
func (h *hasher) byte(c byte) { h.add(uint64(c), 8) }

func (h *hasher) sum() Key {
	h.mix(h.word)
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
