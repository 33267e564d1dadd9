package journal

// room reports whether one more entry with a text of n bytes fits.
func (b *Budget) room(n int) bool { return b.Entries < b.Capacity && b.Bytes+n <= b.MaxBytes }

// add counts an entry with a text of n bytes.
func (b *Budget) add(n int) { b.Entries, b.Bytes = b.Entries+1, b.Bytes+n }

// drop is the inverse of add.
func (b *Budget) drop(n int) { b.Entries, b.Bytes = b.Entries-1, b.Bytes-n }

// tail is the ring of the newest entries: a ring of headers, and a ring of
// bytes that holds their blocks in the same order, end to end. A block may wrap
// around the end of the bytes, so that all of them are used. Both rings grow up to their capacity.
//
// Invariants: the headers' sequence numbers follow each other without a gap;
// Bytes is the sum of their sizes; the oldest block begins so many bytes before
// write.
type tail struct {
	Budget
	headers []header
	first   int // position of the oldest header

	bytes []byte
	write int // where the next block begins
}

// The room of the rings at first, for small logs. The next step is their capacity.
const (
	tailHeaders = 256
	tailBytes   = 32 << 10
)

// growHeaders makes room for more headers in the ring, which is full and below its capacity.
func (t *tail) growHeaders() {
	size := t.Capacity
	if t.headers == nil {
		size = min(size, tailHeaders)
	}
	grown := make([]header, size)
	copy(grown[copy(grown, t.headers[t.first:]):], t.headers[:t.first])
	t.headers, t.first = grown, 0
}

// growBytes makes room in the ring of bytes, which is below its capacity, for a block of size bytes at least.
func (t *tail) growBytes(size int) {
	start := t.write - t.Bytes // of the oldest block
	if start < 0 {
		start += len(t.bytes)
	}
	room := t.MaxBytes
	if t.bytes == nil && size <= tailBytes {
		room = min(room, tailBytes)
	}
	grown := make([]byte, room)
	copy(grown[copy(grown, t.bytes[start:]):], t.bytes[:start])
	at := 0
	for i := range t.Entries {
		h := t.at(i)
		h.at = uint32(at)
		at += h.size()
	}
	t.bytes, t.write = grown, t.Bytes
}

// at returns the i-th header, counting from the oldest.
func (t *tail) at(i int) *header {
	return &t.headers[(t.first+i)%len(t.headers)]
}

// evict removes the oldest entry.
func (t *tail) evict() {
	t.Bytes -= t.headers[t.first].size()
	t.first = (t.first + 1) % len(t.headers)
	t.Entries--
	t.Evicted++
}

// push adds h, which follows the newest header. Its block takes size bytes, for which there is room. It returns the two
// parts of the block's place; the second is empty unless the block wraps.
func (t *tail) push(h *header, size int) (a, b []byte) {
	h.at = uint32(t.write)
	t.Entries++
	t.Bytes += size
	t.write += size
	if t.write < len(t.bytes) {
		return t.bytes[h.at:t.write], nil
	}
	t.write -= len(t.bytes)
	return t.bytes[h.at:], t.bytes[:t.write]
}

// block returns the two parts of the block of h.
func (t *tail) block(h *header) (a, b []byte) {
	end := int(h.at) + h.size()
	if end <= len(t.bytes) {
		return t.bytes[h.at:end], nil
	}
	return t.bytes[h.at:], t.bytes[:end-len(t.bytes)]
}
