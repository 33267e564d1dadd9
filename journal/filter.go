package journal

import (
	"bytes"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// Filter chooses entries of a page. The zero Filter chooses all; an entry must
// satisfy every field that is set. Names longer than [MaxName] are compared up
// to what is kept of them.
type Filter struct {
	MinDisposition event.Disposition // at least this urgent
	MinSeverity    event.Severity    // at least this severe
	Kinds          []event.Kind      // one of these; empty: any
	Signature      signature.ID      // this id; 0: any
	Operation      string            // names this operation itself; empty: any
	Rule           string            // decided by this rule; empty: any
	Source         string            // from this source, or of this method; empty: any
	Contains       string            // has these bytes, as they are, in its message or in its stack
}

// matcher is a Filter in the form in which it is applied.
type matcher struct {
	Filter
	kinds    uint64 // a bit for each kind
	contains []byte
	plain    bool // decided by the header alone
}

func (f Filter) matcher() matcher {
	m := matcher{
		Filter: f, contains: []byte(f.Contains),
		plain: f.Operation == "" && f.Rule == "" && f.Source == "" && f.Contains == "",
	}
	for _, k := range f.Kinds {
		m.kinds |= 1 << k
	}
	if len(f.Kinds) == 0 {
		m.kinds = ^uint64(0)
	}
	for _, name := range []*string{&m.Operation, &m.Rule, &m.Source} {
		*name = (*name)[:cut(*name, MaxName)]
	}
	return m
}

// header reports whether an entry may match, going by its header.
func (m *matcher) header(h *header) bool {
	return h.disposition >= m.MinDisposition && h.severity >= m.MinSeverity &&
		m.kinds>>h.kind&1 != 0 &&
		(m.Signature == 0 || h.id == m.Signature) &&
		mayEqual(h.operation, m.Operation) && mayEqual(h.rule, m.Rule) && mayEqual(h.source, m.Source)
}

// mayEqual reports whether a name of length n can be the one wanted.
func mayEqual(n uint8, want string) bool { return want == "" || int(n) == len(want) }

// block reports whether an entry whose header matches does so with its text.
func (m *matcher) block(h *header, block []byte) bool {
	message, stack, operation, rule, source := h.parts(block)
	return (m.Operation == "" || string(operation) == m.Operation) &&
		(m.Rule == "" || string(rule) == m.Rule) &&
		(m.Source == "" || string(source) == m.Source) &&
		(bytes.Contains(message, m.contains) || bytes.Contains(stack, m.contains))
}
