package classify

import (
	"math/bits"

	"github.com/heedlog/heed/signature"
)

// front knows the latest texts that came more than once, byte for byte, and where
// the table of signatures has them. What a game writes each tick is mostly the
// same line, and finding that out takes 20 ns where its [signature.Key] takes 80
// to 150, and some 1,000 with a stack trace.
//
// It is exact: a text is compared whole, never by a hash, and the entry of the
// table that it stands for must still be the one that its key would find. So
// nothing else has to know of it: decisions, phases, groups and evictions are as
// they would be without it, which a fuzz test holds it to.
//
// It is a table of one place for each sum. A text is kept when it has come twice
// without another one of its place in between. While nothing repeats, only one text
// in eight is looked for: the sum and the misses of a place took 20 ns of a text that
// is new each time.
type front struct {
	sums  []uint64 // of the text that came last at each place
	texts []frontText

	// The texts themselves, each in one piece, one after the other and then from
	// the beginning. written counts all bytes ever put there, those left empty at
	// the end included.
	ring    []byte
	written uint64

	// hit is where the latest text was found, or none.
	hit int32

	// credit is for how many more misses all texts are looked for; without, skipped
	// counts those that are not.
	credit  int
	skipped uint64

	off bool // for tests, which compare a classifier with one that has no front
}

// frontText is a text that was kept: its place in the ring, the lengths of message
// and stack, and what to find in the table of signatures, and where.
type frontText struct {
	from           uint64 // in front.written
	hash           uint64
	check          uint32
	slot           int32
	message, stack uint32
}

// The bounds of front: 1.4 MiB. With 8,192 places, one in ten of eight hundred texts
// that take turns is in the way of another one, and the ring holds some 10,000 lines. A
// burst of faults repeats hundreds of records with their traces, of 300 B on average:
// a replay of captures took 2.5 % more with half of these bounds, and 7 % more with 64 KiB
// and 1,024 places. What has more than frontMaxBytes is worth its key.
const (
	frontPlaces   = 8192
	frontBytes    = 1 << 20
	frontMaxBytes = 8 << 10
)

// A hit saves some eight times what a miss costs, so it pays for as many. What may
// be saved up is what a storm of other texts may cost in vain.
const (
	frontCredit    = 8
	frontMaxCredit = 256
	frontSample    = 8 // of so many texts, one is looked for without credit
)

// idle reports whether a text is better not looked for.
func (f *front) idle() bool {
	if f.credit > 0 {
		f.credit--
		return f.off
	}
	f.skipped++
	return f.off || f.skipped%frontSample != 0
}

func newFront() front {
	return front{
		sums: make([]uint64, frontPlaces), texts: make([]frontText, frontPlaces), ring: make([]byte, frontBytes),
		hit:     none,
		credit:  frontMaxCredit,
		written: 2 * frontBytes, // so that the zero frontText is one whose text is gone
	}
}

// textSum is a quick hash of a text: two lanes of sixteen bytes, each multiplied
// with what was before, as in wyhash. Texts with the same sum are in each other's
// way, and no more than that. It takes 7 ns for 85 bytes, where XXH64 takes 12. (Of
// a few words out of the text instead, 1 ns, ids that lie between them do not show:
// a storm of one template would be kept line by line.)
func textSum(message, stack string) uint64 {
	h := sum(0, message)
	if len(stack) > 0 {
		h = sum(h, stack)
	}
	return h
}

// Odd constants with their bits spread; nothing depends on which they are.
const (
	mixA = 0x9e3779b97f4a7c15
	mixB = 0xbf58476d1ce4e5b9
)

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

func sum(h uint64, s string) uint64 {
	n := len(s)
	a := (h ^ uint64(n)) * mixA
	b := a ^ mixB
	switch {
	case n >= 32:
		for i := 0; i < n-32; i += 32 {
			a = mix(load64(s, i)^mixA, load64(s, i+8)^a)
			b = mix(load64(s, i+16)^mixB, load64(s, i+24)^b)
		}
		a = mix(load64(s, n-32)^mixA, load64(s, n-24)^a)
		b = mix(load64(s, n-16)^mixB, load64(s, n-8)^b)
	case n >= 16:
		a = mix(load64(s, 0)^mixA, load64(s, 8)^a)
		b = mix(load64(s, n-16)^mixB, load64(s, n-8)^b)
	case n >= 8:
		a = mix(load64(s, 0)^mixA, load64(s, n-8)^a)
	default:
		for i := range n {
			a = mix(a^uint64(s[i]), mixB)
		}
	}
	return mix(a, b)
}

// load64 returns the eight bytes of s from i on, in one load: the compiler knows
// this form.
func load64(s string, i int) uint64 {
	b := s[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// find returns the slot that the table has for a text, or none where the text is
// not kept or the table has given it up.
func (f *front) find(table *signatures, sum uint64, message, stack string) int32 {
	place := sum % frontPlaces
	if f.sums[place] != sum {
		return none
	}
	t := &f.texts[place]
	if t.from+frontBytes < f.written || !f.holds(t, message, stack) {
		return none
	}
	if s := table.table.at(t.slot, &t.hash); s == nil || s.value.check != t.check {
		return none
	}
	f.credit = min(f.credit+frontCredit, frontMaxCredit)
	f.hit = int32(place)
	return t.slot
}

// holds reports whether t, whose bytes are still there, is this text.
func (f *front) holds(t *frontText, message, stack string) bool {
	if int(t.message) != len(message) || int(t.stack) != len(stack) {
		return false
	}
	text := f.ring[t.from%frontBytes:][:len(message)+len(stack)]
	return string(text[:len(message)]) == message && (stack == "" || string(text[len(message):]) == stack)
}

// note tells front of a text that it did not find, and of what the table has for
// its key.
func (f *front) note(sum uint64, message, stack string, key signature.Key, slot int32) {
	place := sum % frontPlaces
	if f.sums[place] != sum {
		f.sums[place] = sum
		return
	}
	n := uint64(len(message) + len(stack))
	if n > frontMaxBytes {
		return
	}
	if left := frontBytes - f.written%frontBytes; left < n {
		f.written += left
	}
	at := f.written % frontBytes
	copy(f.ring[at:], message)
	copy(f.ring[at+uint64(len(message)):], stack)
	f.texts[place] = frontText{
		from: f.written, hash: key.Hash, check: key.Check, slot: slot,
		message: uint32(len(message)), stack: uint32(len(stack)),
	}
	f.written += n
}
