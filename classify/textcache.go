package classify

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unsafe"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// textCache finds the signatures of texts that repeat byte for byte without their [signature.Key], which costs several
// times as much.
//
// It is exact: a text is compared whole, never by a hash, and the entry of the table that it refers to must still be
// the one that its key would find. So it changes no decision, phase, group or eviction (a fuzz test).
//
// In a storm each line has other numbers, but few lengths of numbers. So a line whose key is the same with any digits
// ([signature.Normalizer.DigitsVary]) is kept for all lines that differ from it in digits alone, digit for digit.
//
// It has two adjacent places for each sum. A text is kept if it came twice before too many others of its two places; a
// kept text goes last, so that a round of more texts than places finds some of them each time.
type textCache struct {
	exact kept // texts by their textSum
	alike kept // lines by their sum with 0 in place of each digit

	scratch [maxLine]byte // for zero

	storm bool // the latest text was found in alike: look there first for the next one
	off   bool // for tests, which compare with a classifier that has no text cache
}

// kept is a number of texts that are found by a sum.
type kept struct {
	tags  []uint32 // of the sum of the text that came last at each place, with hasText
	texts []cachedText

	// The texts themselves, each in one piece, one after the other and then from
	// the beginning once there are size bytes. written counts all bytes put there since
	// there were none, those left empty at the end included.
	ring    []byte
	size    uint32
	written uint32
}

// hasText is the bit of a tag whose text came twice.
const hasText = 1

// newKept returns an empty kept, whose count of written bytes makes every zero cachedText overwritten.
func newKept(places, bytes int) kept {
	return kept{
		tags: make([]uint32, places), texts: make([]cachedText, places),
		size: uint32(bytes), written: 2 * uint32(bytes),
	}
}

// cachedText is a text that was kept: its place in the ring, the lengths of message
// and stack, and what to find in the table of signatures, and where.
type cachedText struct {
	hash           uint64
	check          uint32
	slot           int32
	from           uint32 // in kept.written
	source         uint32 // its number
	message, stack uint16 // the latter may be ownDigits

	// bare is one more than a level at which this is the text of a log record that has it as its message, or 0.
	bare event.Level
}

// isOf reports whether t, which is the message of e, is known to be the text of e.
func (t *cachedText) isOf(e *event.Entry) bool { return e.Kind != event.KindLog || t.bare == e.Level+1 }

// ownDigits takes the place of the length of a stack, of a line that is not kept for others, since digits count in it.
const ownDigits = math.MaxUint16

// maxLine bounds the lines that are kept for others.
const maxLine = 256

// The bounds of textCache: 2 MiB. A burst of faults repeats hundreds of records
// with their traces, of 300 B on average; smaller bounds made a replay of captures
// slower (go run ./bench replay). A text of more than maxTextBytes is worth its key.
const (
	textPlaces   = 16384
	textBytes    = 1 << 20
	maxTextBytes = 8 << 10
	linePlaces   = 4096
	lineBytes    = 256 << 10
)

// textSum is a quick hash of a text: two lanes of sixteen bytes, each multiplied with the sum so far, as in wyhash. Of
// texts with the same sum, one is kept. (A sum of a few words of the text would be quicker, but a storm of lines that
// differ in an id between them would be kept line by line.)
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
	case n >= 16:
		for i := 0; i < n-16; i += 16 {
			a, b = mix(load64(s, i)^mixA, load64(s, i+8)^b), a
		}
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

// zero returns the line, which has at most maxLine bytes, with 0 in place of each digit, and its sum, 0 if it has no
// digit or is shorter than a step. The text is valid until the next call. (Most texts that repeat need textSum alone,
// which costs less. A sum of the text afterwards would read bytes just written, and wait for them.)
func (c *textCache) zero(line string) (zeroed string, of uint64) {
	const step = 16
	if len(line) < step {
		return "", 0
	}
	text := c.scratch[:len(line)]
	of = uint64(len(line))
	var digits uint64
	for i := 0; i < len(line); i += step {
		i = min(i, len(line)-step)
		from, to := line[i:i+step], text[i:i+step] // so that no step within needs a check
		v, w := load64(from, 0), load64(from, 8)
		dv, dw := digitsOf(v), digitsOf(w)
		digits |= dv | dw
		v, w = v&^dv, w&^dw
		binary.LittleEndian.PutUint64(to, v)
		binary.LittleEndian.PutUint64(to[8:], w)
		of = mix(v^mixA, w^of)
	}
	zeroed = unsafe.String(unsafe.SliceData(text), len(text))
	if digits == 0 {
		return zeroed, 0
	}
	return zeroed, of
}

// findLine returns the line that is kept for text, or nil, and the sum by which it is found; 0 if none can be.
func (c *textCache) findLine(
	table *signatures, text, stack string, source uint32, seed uint64,
) (t *cachedText, sum uint64) {
	if stack != "" || len(text) > maxLine {
		return nil, 0
	}
	zeroed, sum := c.zero(text)
	if sum == 0 {
		return nil, 0
	}
	sum += seed
	return c.alike.find(table, sum, zeroed, "", source), sum
}

// digitsOf returns a byte of 0x0f for each of the eight bytes of v that is a digit, and 0
// for the others.
func digitsOf(v uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	low := v&^highs ^ '0'*ones // 0 to 9 for a digit
	is := ^(low + (0x80-10)*ones | v) & highs
	return is>>3 - is>>7
}

// load64 returns the eight bytes of s from i on, in one load: the compiler knows
// this form.
func load64(s string, i int) uint64 {
	b := s[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// place returns the place of the texts with this sum, or none: the lower bits choose two
// places, the upper ones are the tag.
func (k *kept) place(sum uint64) int32 {
	i, tag := k.first(sum), tagOf(sum)
	switch pair := k.tags[i:][:2]; tag {
	case pair[0] &^ hasText:
		return i
	case pair[1] &^ hasText:
		return i + 1
	}
	return none
}

func tagOf(sum uint64) uint32 { return uint32(sum>>32) &^ hasText }

// first returns the first of the two places of a sum.
func (k *kept) first(sum uint64) int32 { return int32(sum & uint64(len(k.tags)-1) &^ 1) }

// has reports whether the bytes of t are still in the ring.
func (k *kept) has(t *cachedText) bool { return k.written-t.from <= k.size }

// text returns the first n bytes of t.
func (k *kept) text(t *cachedText, n int) []byte { return k.ring[t.from&(k.size-1):][:n] }

// find returns a text that is kept, or nil where it is not or the table has evicted its signature.
func (k *kept) find(table *signatures, sum uint64, message, stack string, source uint32) *cachedText {
	place := k.place(sum)
	if place == none {
		return nil
	}
	t := &k.texts[place]
	if !k.has(t) || t.source != source || !k.holds(t, message, stack) || !table.has(t) {
		return nil
	}
	return t
}

// has reports whether the table still has the entry that t refers to.
func (s *signatures) has(t *cachedText) bool {
	slot := s.table.at(t.slot, &t.hash)
	return slot != nil && slot.value.check == t.check
}

// holds reports whether t, whose bytes are still there, is this text.
func (k *kept) holds(t *cachedText, message, stack string) bool {
	if int(t.message) != len(message) || int(t.stack) != len(stack) {
		return false
	}
	text := k.text(t, len(message)+len(stack))
	return string(text[:len(message)]) == message && (stack == "" || string(text[len(message):]) == stack)
}

// note records a text that was not found, with its key and slot in the table. It reports whether the text came before.
func (c *textCache) note(sum uint64, message, stack string, source uint32, key signature.Key, slot int32) (again bool) {
	t := c.exact.again(sum)
	if t != nil && len(message)+len(stack) <= maxTextBytes {
		c.exact.keep(t, message, stack, source, key, slot)
	}
	return t != nil
}

// noteLine records a line that was not found by its sum.
func (c *textCache) noteLine(
	n *signature.Normalizer, sum uint64, line, name string, source uint32, key signature.Key, slot int32,
) {
	t := c.alike.again(sum)
	switch {
	case t == nil || t.stack == ownDigits && c.alike.has(t):
	case n.DigitsVary(line, name, key, c.scratch[:]):
		zeroed, _ := c.zero(line)
		c.alike.keep(t, zeroed, "", source, key, slot)
	default:
		c.alike.keep(t, "", "", source, key, slot)
		t.stack = ownDigits
	}
}

// again returns the text at the place of a sum that came before. Else it gives the sum a place, and returns nil. It
// reads texts only if it replaces one: where nothing repeats, that would be another miss of the processor's caches.
func (k *kept) again(sum uint64) *cachedText {
	if i := k.place(sum); i != none {
		k.tags[i] |= hasText
		return &k.texts[i]
	}
	i, replaced := k.first(sum), 0
	pair := k.tags[i:][:2]
	switch pair[0]&hasText + pair[1]&hasText<<1 {
	case 0:
		pair[1] = pair[0] // the older one
	case 1:
		replaced = 1
	case 1 | 1<<1:
		texts := k.texts[i:][:2]
		if texts[1].from < texts[0].from {
			replaced = 1
		}
		texts[replaced].from = k.written - k.size - 1 // no text
	}
	pair[replaced] = tagOf(sum)
	return nil
}

// keep makes t a text.
func (k *kept) keep(t *cachedText, message, stack string, source uint32, key signature.Key, slot int32) {
	n := uint32(len(message) + len(stack))
	if k.written > math.MaxUint32-2*k.size {
		clear(k.texts)
		k.written = 2 * k.size
	}
	if left := k.size - k.written%k.size; left < n {
		k.written += left
	}
	*t = cachedText{
		from: k.written, hash: key.Hash, check: key.Check, slot: slot,
		source: source, message: uint16(len(message)), stack: uint16(len(stack)),
	}
	if k.ring == nil {
		k.ring = make([]byte, k.size)
	}
	k.written += n
	text := k.text(t, int(n))
	copy(text[copy(text, message):], stack)
}
