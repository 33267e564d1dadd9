package classify

import "github.com/heedlog/heed/signature"

// signatures maps the hash of a key to the signature and the canonical template
// of the text that has it, and signatures to templates. It is bounded by number
// and by the bytes of the templates.
type signatures struct {
	table    lru[uint64, shape]
	byID     []int32 // by the low bits of a signature's id: first slot of the chain
	bytes    int     // of all templates
	maxBytes int
	evicted  uint64
}

// shape is one known signature, in 64 bytes: there are as many as there are slots
// in the largest table of an engine.
type shape struct {
	check    uint32 // of the key
	sigCheck uint32 // of the signature,
	id       signature.ID
	group    signature.Place // where the grouper has it
	next     int32           // next slot in the chain of byID
	decision int32           // slot of the decision used last; a hint
	varied   bool            // the variant was found
	variant  string
	template string
}

func (s shape) signature() signature.Signature {
	return signature.Signature{ID: s.id, Check: s.sigCheck}
}

func newSignatures(limit, maxBytes int) signatures {
	return signatures{table: newLRU[uint64, shape](limit), byID: newHeads(1), maxBytes: maxBytes}
}

// find returns the slot of the text with the hash h, or none, and makes it the newest.
func (s *signatures) find(h uint64) int32 {
	i := s.table.find(uint32(h), &h)
	if i != none {
		s.table.touch(i)
	}
	return i
}

// add stores what find did not find, and makes room for it first. It returns the
// slot.
func (s *signatures) add(h uint64, v shape) int32 {
	for s.table.full() || s.bytes+len(v.template) > s.maxBytes {
		s.evict()
	}
	i := s.table.add(uint32(h), &h, v)
	s.bytes += len(v.template)
	if len(s.byID) == len(s.table.heads) {
		s.chain(i)
		return i
	}
	s.byID = newHeads(len(s.table.heads))
	for j := range s.table.slots {
		s.chain(int32(j))
	}
	return i
}

// chain puts slot i into the chain of its id.
func (s *signatures) chain(i int32) {
	v := &s.table.slots[i].value
	b := s.idBucket(v.id)
	v.next, *b = *b, i
}

func (s *signatures) evict() {
	i, v := s.table.removeOldest()
	p := s.idBucket(v.id)
	for *p != i {
		p = &s.table.slots[*p].value.next
	}
	*p = v.next
	s.bytes -= len(v.template)
	s.evicted++
}

func (s *signatures) idBucket(id signature.ID) *int32 {
	return &s.byID[int(uint32(id))&(len(s.byID)-1)]
}

// template returns the canonical template of a signature.
func (s *signatures) template(sig signature.Signature) (string, bool) {
	for i := *s.idBucket(sig.ID); i != none; i = s.table.slots[i].value.next {
		if v := &s.table.slots[i].value; v.signature() == sig {
			return v.template, true
		}
	}
	return "", false
}
