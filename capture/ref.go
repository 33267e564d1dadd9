package capture

import "github.com/hashicorp/golang-lru/v2/simplelru"

// refTable has the stack traces of references, at most a fixed number
// of traces and of bytes; it evicts the least recently used.
type refTable struct {
	traces   *simplelru.LRU[uint64, []byte]
	bytes    int
	maxBytes int
}

func newRefTable(slots, maxBytes int) *refTable {
	t := &refTable{maxBytes: maxBytes}
	t.traces, _ = simplelru.NewLRU(slots, func(_ uint64, trace []byte) { t.bytes -= len(trace) })
	return t
}

// get returns the trace of ref. It is valid until the next put.
func (t *refTable) get(ref uint64) ([]byte, bool) { return t.traces.Get(ref) }

// put remembers a copy of trace under ref, in place of an earlier one. A trace
// larger than the whole table is not kept; an empty trace is ignored.
func (t *refTable) put(ref uint64, trace []byte) {
	if len(trace) == 0 || len(trace) > t.maxBytes {
		return
	}
	room, _ := t.traces.Peek(ref)
	t.bytes += len(trace) - len(room)
	if cap(room) > 4*len(trace) {
		room = nil // so that the memory stays in proportion to the traces
	}
	t.traces.Add(ref, append(room[:0], trace...))
	for t.bytes > t.maxBytes {
		t.traces.RemoveOldest()
	}
}
