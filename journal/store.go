package journal

// blockSize is the unit in which a store hands out text: small against a stack
// trace, large against the four bytes that link it.
const blockSize = 128

// none is the absence of a slot or a block.
const none = ^uint32(0)

// store keeps entries that may go in any order. An entry has a slot for its
// header and a chain of blocks of equal size for its text, so that nothing is
// ever moved and no room is lost to fragmentation. (An arena would need
// compaction; a ring could only drop its oldest.)
type store struct {
	headers  []header
	slotNext []uint32 // links the free slots; the link of a slot in use is for whoever called put
	slotFree uint32
	count    int

	bytes      []byte
	blockNext  []uint32 // links the blocks of an entry, and the free ones
	blockFree  uint32
	blocksFree int
	used       int // bytes of text, without what the last blocks leave empty
}

// newStore returns a store for n entries with the given bytes of text, rounded
// up to whole blocks.
func newStore(n, bytes int) store {
	blocks := (bytes + blockSize - 1) / blockSize
	return store{
		headers: make([]header, n), slotNext: chain(n),
		bytes: make([]byte, blocks*blockSize), blockNext: chain(blocks), blocksFree: blocks,
	}
}

// chain returns n links, each to the one behind it.
func chain(n int) []uint32 {
	c := make([]uint32, n)
	for i := range c {
		c[i] = uint32(i) + 1
	}
	c[n-1] = none
	return c
}

// blocksFor returns how many blocks a text of n bytes takes.
func blocksFor(n int) int { return (n + blockSize - 1) / blockSize }

// room reports whether put would take a text of n bytes.
func (s *store) room(n int) bool { return s.count < len(s.headers) && blocksFor(n) <= s.blocksFree }

// put copies h and its block, and returns its slot. There must be room.
func (s *store) put(h *header, block []byte) uint32 {
	slot := s.slotFree
	s.slotFree = s.slotNext[slot]
	s.count++
	s.used += len(block)

	k := &s.headers[slot]
	*k = *h
	link := &k.at
	for len(block) > 0 {
		b := s.blockFree
		s.blockFree = s.blockNext[b]
		s.blocksFree--
		*link, link = b, &s.blockNext[b]
		block = block[copy(s.bytes[int(b)*blockSize:][:blockSize], block):]
	}
	*link = none
	return slot
}

// drop removes the entry in a slot.
func (s *store) drop(slot uint32) {
	h := &s.headers[slot]
	s.used -= h.size()
	for b := h.at; b != none; {
		next := s.blockNext[b]
		s.blockNext[b], s.blockFree = s.blockFree, b
		s.blocksFree++
		b = next
	}
	*h = header{}
	s.slotNext[slot], s.slotFree = s.slotFree, slot
	s.count--
}

// appendBlock appends the block of the entry in a slot.
func (s *store) appendBlock(dst []byte, slot uint32) []byte {
	h := &s.headers[slot]
	left := h.size()
	for b := h.at; b != none; b = s.blockNext[b] {
		n := min(left, blockSize)
		dst = append(dst, s.bytes[int(b)*blockSize:][:n]...)
		left -= n
	}
	return dst
}

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

// push adds the header that next returned, whose block takes size bytes, at
// most len(t.bytes), and evicts what is in the way. It returns the two parts
// of the block's place; the second is empty unless the block wraps.
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
