package classify

import (
	"math"
	"math/bits"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// textCache finds the signatures of texts that repeat byte for byte without their
// [signature.Key], which costs several times as much.
//
// It is exact: a text is compared whole, never by a hash, and the entry of the
// table that it stands for must still be the one that its key would find. So it
// changes no decision, phase, group or eviction, which a fuzz test holds it to.
//
// It has two places for each sum, one beside the other. A text is kept when it came
// twice before too many others of its two places; what is kept goes last, so that a
// round of more texts than there are places finds some of them each time. While
// nothing repeats, only one text in eight is looked up.
type textCache struct {
	tags  []uint32 // of the sum of the text that came last at each place
	texts []cachedText

	// The texts themselves, each in one piece, one after the other and then from
	// the beginning. written counts all bytes put there since texts was empty, those
	// left empty at the end included.
	ring    []byte
	written uint32

	// hit is the place where the last text was found, or none.
	hit int32

	// credit is the number of misses until texts are sampled; skipped counts the
	// texts since then.
	credit  int
	skipped uint64

	off bool // for tests, which compare with a classifier that has no text cache
}

// cachedText is a text that was kept: its place in the ring, the lengths of message
// and stack, and what to find in the table of signatures, and where.
type cachedText struct {
	hash           uint64
	check          uint32
	slot           int32
	from           uint32 // in textCache.written
	message, stack uint16
}

// The bounds of textCache: 1.4 MiB. A burst of faults repeats hundreds of records
// with their traces, of 300 B on average; smaller bounds made a replay of captures
// slower (go run ./bench/replay). A text of more than maxTextBytes is worth its key.
const (
	textPlaces   = 16384
	textBytes    = 1 << 20
	maxTextBytes = 8 << 10
)

// firstWritten is textCache.written of an empty cache, so large that the text of the
// zero cachedText has been overwritten.
const firstWritten = 2 * textBytes

// A hit saves what the key costs, less what it costs itself, so it pays for a miss for
// each hitBytes of the text, besides its own look. maxCredit bounds what a storm of other
// texts may cost without result.
const (
	hitBytes  = 32
	maxCredit = 256
	sampling  = 8 // of so many texts, one is looked for without credit
)

// idle reports whether a text is not to be looked up.
func (c *textCache) idle() bool {
	if c.credit > 0 {
		c.credit--
		return c.off
	}
	c.skipped++
	return c.off || c.skipped%sampling != 0
}

func newTextCache() textCache {
	return textCache{
		tags: make([]uint32, textPlaces), texts: make([]cachedText, textPlaces), ring: make([]byte, textBytes),
		hit:     none,
		credit:  maxCredit,
		written: firstWritten,
	}
}

// textSum is a quick hash of a text: two lanes of sixteen bytes, each multiplied
// with what was before, as in wyhash. Of texts with the same sum, one is kept. (A
// sum of a few words of the text would be quicker, but a storm of lines that differ
// in an id between them would be kept line by line.)
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

// place returns the place of the texts with this sum, or none: the lower bits choose two
// places, the upper ones are the tag.
func (c *textCache) place(sum uint64) int32 {
	i, tag := int32(sum%textPlaces&^1), uint32(sum>>32)
	switch tag {
	case c.tags[i]:
		return i
	case c.tags[i+1]:
		return i + 1
	}
	return none
}

// kept reports whether the bytes of t are still in the ring.
func (c *textCache) kept(t *cachedText) bool { return c.written-t.from <= textBytes }

// find returns the slot of a text in the table, or none where the text is not kept
// or the table has evicted it.
func (c *textCache) find(table *signatures, sum uint64, message, stack string) int32 {
	place := c.place(sum)
	if place == none {
		return none
	}
	t := &c.texts[place]
	if !c.kept(t) || !c.holds(t, message, stack) {
		return none
	}
	if s := table.table.at(t.slot, &t.hash); s == nil || s.value.check != t.check {
		return none
	}
	c.credit = min(c.credit+1+(len(message)+len(stack))/hitBytes, maxCredit)
	c.hit = place
	return t.slot
}

// holds reports whether t, whose bytes are still there, is this text.
func (c *textCache) holds(t *cachedText, message, stack string) bool {
	if int(t.message) != len(message) || int(t.stack) != len(stack) {
		return false
	}
	text := c.ring[t.from%textBytes:][:len(message)+len(stack)]
	return string(text[:len(message)]) == message && (stack == "" || string(text[len(message):]) == stack)
}

// note records a text that find did not find, with its key and slot in the table.
func (c *textCache) note(sum uint64, message, stack string, key signature.Key, slot int32) {
	place := c.place(sum)
	if place == none {
		place = int32(sum % textPlaces &^ 1)
		old, other := &c.texts[place], &c.texts[place+1]
		if other.from < old.from {
			place, old, other = place+1, other, old
		}
		c.tags[place] = uint32(sum >> 32)
		old.from = c.written - textBytes - 1 // not kept, but newer than all others that are not
		if other.from == old.from {
			other.from--
		}
		return
	}
	n := uint32(len(message) + len(stack))
	if n > maxTextBytes {
		return
	}
	if c.written > math.MaxUint32-2*textBytes {
		clear(c.texts)
		c.written = firstWritten
	}
	if left := textBytes - c.written%textBytes; left < n {
		c.written += left
	}
	at := c.written % textBytes
	copy(c.ring[at:], message)
	copy(c.ring[at+uint32(len(message)):], stack)
	c.texts[place] = cachedText{
		from: c.written, hash: key.Hash, check: key.Check, slot: slot,
		message: uint16(len(message)), stack: uint16(len(stack)),
	}
	c.written += n
}

// lastResult is the result of the entry that came last, and, where it is valid,
// that entry: another one like it gets the same result. It is for a storm of one
// line, mostly without anything in between.
//
// Nothing that a result depends on can have changed since that entry: phase,
// blindness, groups and tables change with entries alone, and entries that change
// one are not kept. The slots that it stands for were used last in both tables and
// stay so. It is kept when the text cache has found a text twice in a row, so that
// lines that alternate do not pay for it.
type lastResult struct {
	valid  bool
	level  event.Level
	status event.Status
	source string // of the table of sources
	place  int32  // of the text in the text cache, which keeps it at least until another text comes
	result Result // set whether valid or not
}

// keep records an entry that the text cache has found at place and whose result
// depends on nothing but its text, level, status, source and the phase.
func (l *lastResult) keep(e *event.Entry, source string, place int32) {
	if e.Kind != event.KindLog {
		return
	}
	if rule := l.result.Rule; rule != nil && (rule.SetsPhase != "" || rule.Blinds || len(rule.Resolves) > 0) {
		return
	}
	l.valid, l.level, l.status, l.source, l.place = true, e.Level, e.Status, source, place
}

// is reports whether e is like the entry that was kept.
func (l *lastResult) is(e *event.Entry, c *textCache) bool {
	return e.Kind == event.KindLog && e.Level == l.level && e.Status == l.status &&
		c.holds(&c.texts[l.place], e.Message, e.Stack) && e.Source == l.source
}
