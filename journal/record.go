package journal

import (
	"time"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/signature"
)

// Record is one entry as the journal kept it. It is a copy and belongs to the
// caller.
//
// Time is the same instant as the entry's, in UTC and without a monotonic
// reading.
type Record struct {
	event.Entry
	event.Decision
	Signature signature.Signature `json:"-"`

	// Truncated reports that the entry had more text than the journal keeps of
	// one: its message, its stack or one of its names is cut, or tags are
	// missing.
	Truncated bool `json:"truncated,omitzero" jsonschema:"heed did not keep the rest of its text."`
}

// header is an entry without its text. It holds no pointers, so that the garbage collector skips tables of headers, and
// has 72 bytes.
//
// The text of an entry is one block of bytes: message, stack, operation, rule, source, parent, tags, in this order,
// with the lengths below. Each tag is a byte with its length and its bytes.
//
// Rule and tags are copied with the rest, although they come from a rule set that outlives the entry: a table of the
// strings in use would need reference counts to be bounded over changes of the rule set, for some twenty bytes of an
// entry.
type header struct {
	seq   uint64
	sec   int64
	count uint64
	pos   uint64
	id    signature.ID
	check uint32
	nsec  uint32

	at      uint32 // where the block is: offset in the tail, first block in a store
	message uint32
	stack   uint32
	tags    uint16

	operation, rule, source, parent uint8

	kind        event.Kind
	level       event.Level
	status      event.Status
	disposition event.Disposition
	severity    event.Severity
	flags       uint8
}

// Flags of a header.
const (
	flagTruncated = 1 << iota
	flagInvalidates
	flagByCaller
	flagFirst  // counted in the firsts
	flagPinned // counted in the pinned entries

	flagsKept = flagFirst | flagPinned
)

// size is the length of the block.
func (h *header) size() int {
	return int(h.message) + int(h.stack) + int(h.operation) + int(h.rule) + int(h.source) + int(h.parent) + int(h.tags)
}

// set fills all of h from an entry, but for the place of its block, and returns the
// size of the block, which is at most room.
func (h *header) set(e *event.Entry, s signature.Signature, d *event.Decision, maxText, room int) int {
	// Field by field: a literal is made elsewhere and copied with wide loads,
	// which wait for the narrow stores before them (go test -bench Append).
	h.seq, h.count, h.pos = e.Seq, e.Count, e.Pos
	h.sec, h.nsec = e.Time.Unix(), uint32(e.Time.Nanosecond())
	h.id, h.check = s.ID, s.Check
	h.kind, h.level, h.status = e.Kind, e.Level, e.Status
	h.disposition, h.severity = d.Disposition, d.Severity
	h.flags, h.tags = 0, 0
	if d.Invalidates {
		h.flags |= flagInvalidates
	}
	if e.ByCaller {
		h.flags |= flagByCaller
	}
	text := len(e.Message) + len(e.Stack)
	size := text + len(e.OperationID) + len(d.Rule) + len(e.Source) + len(e.Parent)
	longest := len(e.OperationID) | len(d.Rule) | len(e.Source) | len(e.Parent) // at most maxName, all ones, iff each is
	if longest <= maxName && text <= maxText && size <= room && len(d.Tags) == 0 {
		h.message, h.stack = uint32(len(e.Message)), uint32(len(e.Stack))
		h.operation, h.rule = uint8(len(e.OperationID)), uint8(len(d.Rule))
		h.source, h.parent = uint8(len(e.Source)), uint8(len(e.Parent))
		return size
	}
	h.fit(e, d, maxText, room)
	return h.size()
}

// fit sets the lengths in h so that the block is at most room. Names come
// before text, since they are short and others refer to them.
func (h *header) fit(e *event.Entry, d *event.Decision, maxText, room int) {
	name := func(s string) uint8 {
		n := text.Prefix(s, min(maxName, room))
		if n < len(s) {
			h.flags |= flagTruncated
		}
		room -= n
		return uint8(n)
	}
	h.operation, h.rule, h.source, h.parent = name(e.OperationID), name(d.Rule), name(e.Source), name(e.Parent)

	for _, tag := range d.Tags {
		kept := text.Prefix(tag, maxName)
		fits := 1+kept <= min(room, maxTags-int(h.tags))
		if !fits || kept < len(tag) {
			h.flags |= flagTruncated
		}
		if !fits {
			break
		}
		h.tags += uint16(1 + kept)
		room -= 1 + kept
	}

	maxText = min(maxText, room)
	stack := min(len(e.Stack), max(maxText/4, maxText-len(e.Message)))
	message := text.Prefix(e.Message, maxText-stack)
	stack = text.Prefix(e.Stack, stack)
	if message < len(e.Message) || stack < len(e.Stack) {
		h.flags |= flagTruncated
	}
	h.message, h.stack = uint32(message), uint32(stack)
}

// encode writes the block into dst, whose length is h.size().
func (h *header) encode(dst []byte, e *event.Entry, d *event.Decision) {
	n := copy(dst, e.Message[:h.message])
	n += copy(dst[n:], e.Stack[:h.stack])
	n += copy(dst[n:], e.OperationID[:h.operation])
	n += copy(dst[n:], d.Rule[:h.rule])
	n += copy(dst[n:], e.Source[:h.source])
	n += copy(dst[n:], e.Parent[:h.parent])
	for _, tag := range d.Tags {
		if n == len(dst) {
			break
		}
		l := text.Prefix(tag, maxName)
		dst[n] = uint8(l)
		n += 1 + copy(dst[n+1:], tag[:l])
	}
}

// decode makes the record of h and its block, whose memory the record's strings
// share.
func (h *header) decode(block string) Record {
	take := func(n int) (s string) {
		s, block = block[:n], block[n:]
		return s
	}
	r := Record{
		Entry: event.Entry{
			Seq: h.seq, Time: time.Unix(h.sec, int64(h.nsec)).UTC(),
			Kind: h.kind, Level: h.level, Status: h.status,
			ByCaller: h.flags&flagByCaller != 0, Count: h.count, Pos: h.pos,
		},
		Signature: signature.Signature{ID: h.id, Check: h.check},
		Decision: event.Decision{
			Disposition: h.disposition, Severity: h.severity, Invalidates: h.flags&flagInvalidates != 0,
		},
		Truncated: h.flags&flagTruncated != 0,
	}
	r.Message, r.Stack = take(int(h.message)), take(int(h.stack))
	r.OperationID, r.Rule = take(int(h.operation)), take(int(h.rule))
	r.Source, r.Parent = take(int(h.source)), take(int(h.parent))
	for len(block) > 0 {
		r.Tags = append(r.Tags, take(1 + int(block[0]))[1:])
	}
	return r
}

// parts returns the pieces of a block that filters look at.
func (h *header) parts(block []byte) (message, stack, operation, rule, source []byte) {
	take := func(n int) (b []byte) {
		b, block = block[:n], block[n:]
		return b
	}
	return take(int(h.message)), take(int(h.stack)), take(int(h.operation)), take(int(h.rule)), take(int(h.source))
}
