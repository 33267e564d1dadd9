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

// shape is one known signature.
type shape struct {
	check     uint32 // of the key
	signature signature.Signature
	group     signature.Signature // that it was put into when it was learned
	template  string
	next      int32 // next slot in the chain of byID
}

func newSignatures(limit, maxBytes int) signatures {
	return signatures{table: newLRU[uint64, shape](limit), byID: newHeads(limit), maxBytes: maxBytes}
}

// keyHash picks the half of a key's hash that chains are found by.
func keyHash(h uint64) uint32 { return uint32(h) }

// get returns what is known of the text with the hash h, and makes it the
// newest. The pointer is valid until the next add.
func (s *signatures) get(h uint64) *shape {
	i := s.table.find(keyHash(h), &h)
	if i == none {
		return nil
	}
	s.table.touch(i)
	return &s.table.slots[i].value
}

// fits reports whether a template can be kept at all.
func (s *signatures) fits(template []byte) bool { return len(template) <= s.maxBytes }

// add stores what get did not find, and makes room for it first.
func (s *signatures) add(h uint64, v shape) {
	for s.table.full() || s.bytes+len(v.template) > s.maxBytes {
		s.evict()
	}
	b := s.idBucket(v.signature.ID)
	v.next = *b
	*b = s.table.add(keyHash(h), &h, v)
	s.bytes += len(v.template)
}

func (s *signatures) evict() {
	i, v := s.table.removeOldest()
	p := s.idBucket(v.signature.ID)
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
		if v := &s.table.slots[i].value; v.signature == sig {
			return v.template, true
		}
	}
	return "", false
}
