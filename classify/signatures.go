package classify

import "github.com/heedlog/heed/signature"

// signatures maps the hash of a key to the signature and the canonical template
// of the text that has it, and signatures to templates. It is bounded by number
// and by the bytes of the templates.
type signatures struct {
	table    lru[uint64, shape]
	bytes    int // of all templates
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
	decision int32           // slot of the decision used last; a hint
	varied   bool            // the variant was found
	variant  string
	template string
}

func (s shape) signature() signature.Signature {
	return signature.Signature{ID: s.id, Check: s.sigCheck}
}

func newSignatures(limit, maxBytes int) signatures {
	return signatures{table: newLRU[uint64, shape](limit), maxBytes: maxBytes}
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
		s.bytes -= len(s.table.removeOldest().template)
		s.evicted++
	}
	s.bytes += len(v.template)
	return s.table.add(uint32(h), &h, v)
}

// template returns the canonical template of a signature. It looks at all, the newest first: of an entry that was just
// classified it is the first.
func (s *signatures) template(sig signature.Signature) (string, bool) {
	t := &s.table
	for i := t.newest; i != none; i = t.slots[i].older {
		if v := &t.slots[i].value; v.signature() == sig {
			return v.template, true
		}
	}
	return "", false
}
