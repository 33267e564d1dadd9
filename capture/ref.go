package capture

import "bytes"

// parseRef reads a stack reference: "[Ref 5EED0003]" alone on its line stands
// above the trace that it names, "[Ref 5EED0003] Duplicate stacktrace, see ref
// for original" stands in place of it. The number is hexadecimal without
// padding.
func parseRef(b []byte) (ref uint64, duplicate, ok bool) {
	if !hasPrefix(b, "[Ref ") {
		return 0, false, false
	}
	end := bytes.IndexByte(b, ']')
	digits := b[len("[Ref "):max(end, len("[Ref "))]
	if len(digits) == 0 || len(digits) > 16 {
		return 0, false, false
	}
	for _, c := range digits {
		if !isHex(c) {
			return 0, false, false
		}
		d := uint64(c | 0x20)
		if isDigit(c) {
			d = uint64(c - '0')
		} else {
			d -= 'a' - 10
		}
		ref = ref<<4 | d
	}
	rest := trimLeft(b[end+1:])
	switch {
	case len(rest) == 0:
		return ref, false, true
	case hasPrefix(rest, "Duplicate stacktrace"):
		return ref, true, true
	}
	return 0, false, false
}

// refTable remembers the stack traces that references stand for. It holds at
// most a fixed number of traces and of bytes; the least recently used give way.
type refTable struct {
	slots    []refSlot
	index    map[uint64]int32
	head     int32 // most recently used; -1 if empty
	tail     int32
	used     int32 // slots in use are [0, used) and not on the free list
	free     int32 // list of freed slots through next; -1 if empty
	bytes    int
	maxBytes int
	evicted  uint64
}

type refSlot struct {
	ref        uint64
	trace      []byte
	prev, next int32
}

func newRefTable(slots, maxBytes int) *refTable {
	return &refTable{
		slots: make([]refSlot, slots), index: make(map[uint64]int32, slots),
		head: -1, tail: -1, free: -1, maxBytes: maxBytes,
	}
}

// get returns the trace of ref. It is valid until the next put.
func (t *refTable) get(ref uint64) ([]byte, bool) {
	i, ok := t.index[ref]
	if !ok {
		return nil, false
	}
	t.unlink(i)
	t.pushFront(i)
	return t.slots[i].trace, true
}

// put remembers a copy of trace under ref, in place of what was there. A trace
// larger than the whole table is not kept; an empty one would erase what the
// reference stands for, and is ignored.
func (t *refTable) put(ref uint64, trace []byte) {
	if len(trace) == 0 || len(trace) > t.maxBytes || len(t.slots) == 0 {
		return
	}
	i, ok := t.index[ref]
	if ok {
		t.unlink(i)
	} else {
		i = t.slot()
		t.slots[i].ref = ref
		t.index[ref] = i
	}
	s := &t.slots[i]
	t.bytes += len(trace) - len(s.trace)
	if cap(s.trace) > 4*len(trace) {
		s.trace = nil // so that what is allocated stays in proportion to what is held
	}
	s.trace = append(s.trace[:0], trace...)
	t.pushFront(i)
	for t.bytes > t.maxBytes {
		t.evict()
	}
}

// slot returns a slot that is in no list, evicting one if all are in use.
func (t *refTable) slot() int32 {
	if t.free < 0 && int(t.used) == len(t.slots) {
		t.evict()
	}
	if i := t.free; i >= 0 {
		t.free = t.slots[i].next
		return i
	}
	t.used++
	return t.used - 1
}

func (t *refTable) evict() {
	i := t.tail
	s := &t.slots[i]
	t.unlink(i)
	delete(t.index, s.ref)
	t.bytes -= len(s.trace)
	*s = refSlot{next: t.free}
	t.free = i
	t.evicted++
}

func (t *refTable) unlink(i int32) {
	s := &t.slots[i]
	if s.prev >= 0 {
		t.slots[s.prev].next = s.next
	} else {
		t.head = s.next
	}
	if s.next >= 0 {
		t.slots[s.next].prev = s.prev
	} else {
		t.tail = s.prev
	}
}

func (t *refTable) pushFront(i int32) {
	s := &t.slots[i]
	s.prev, s.next = -1, t.head
	if t.head >= 0 {
		t.slots[t.head].prev = i
	} else {
		t.tail = i
	}
	t.head = i
}

// isCutRef reports whether b is the beginning of a reference that lacks its end.
func isCutRef(b []byte) bool { return hasPrefix(b, "[Ref ") && bytes.IndexByte(b, ']') < 0 }
