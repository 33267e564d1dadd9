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

// drop forgets the entry in a slot.
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
