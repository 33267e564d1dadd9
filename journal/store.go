package journal

// budget bounds the entries that are held besides the tail for one purpose, and their text.
type budget struct {
	entries, maxEntries int
	bytes, maxBytes     int
}

// room reports whether one more entry with a text of n bytes fits.
func (b *budget) room(n int) bool { return b.entries < b.maxEntries && b.bytes+n <= b.maxBytes }

// add counts an entry with a text of n bytes.
func (b *budget) add(n int) { b.entries, b.bytes = b.entries+1, b.bytes+n }

// drop is the inverse of add.
func (b *budget) drop(n int) { b.entries, b.bytes = b.entries-1, b.bytes-n }

// tail is the ring of the newest entries: a ring of headers, and a ring of
// bytes that holds their blocks in the same order, end to end. A block may wrap
// around the end of the bytes, so that all of them are used.
//
// Invariants: the headers' sequence numbers follow each other without a gap;
// used is the sum of their sizes; the oldest block begins used bytes before
// write.
type tail struct {
	headers []header
	first   int // position of the oldest header
	count   int

	bytes []byte
	write int // where the next block begins
	used  int

	evicted         uint64
	evictedForBytes uint64 // of these, those for whose text there was no room
}

// at returns the i-th header, counting from the oldest.
func (t *tail) at(i int) *header {
	return &t.headers[(t.first+i)%len(t.headers)]
}

// evict removes the oldest entry.
func (t *tail) evict() {
	t.used -= t.headers[t.first].size()
	t.first = (t.first + 1) % len(t.headers)
	t.count--
	t.evicted++
}

// next returns the header that the next push completes, displacing the oldest
// entry if all are in use.
func (t *tail) next() *header {
	if t.count == len(t.headers) {
		t.evict()
	}
	return t.at(t.count)
}

// push adds the header that next returned, whose block takes size bytes, at most len(t.bytes), and evicts entries in
// its way. It returns the two parts of the block's place; the second is empty unless the block wraps.
func (t *tail) push(h *header, size int) (a, b []byte) {
	for t.used+size > len(t.bytes) {
		t.evict()
		t.evictedForBytes++
	}
	h.at = uint32(t.write)
	t.count++
	t.used += size
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
