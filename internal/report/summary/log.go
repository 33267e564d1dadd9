package summary

import (
	"bytes"
	"encoding/binary"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/heedlog/heed/signature"
)

// Log identifies a log by its bytes, unpacked. A copy is the same log, under any name.
type Log struct {
	Name  string `json:"name"  jsonschema:"Name of the file, without folders."`
	Bytes uint64 `json:"bytes" jsonschema:"Its length, unpacked; 0 if it is not known."`
	Hash  Hash   `json:"hash"  jsonschema:"XXH64 of all its bytes, as 16 digits." pattern:"^[0-9a-f]{16}$"`

	// Marks are four bytes of the hash of each beginning of certain lengths: of 4 KiB, and of 64 lengths in each doubling
	// from there on.
	Marks []byte `json:"-"`
}

// The lengths of beginnings with a mark: two starts of a game can agree in less than the first, and the part after the
// last mark of a log is at most its 64th part.
const (
	firstMark = 4 << 10
	inDouble  = 64
)

// Times are the first and the last time in a log, and the number of entries that have one.
type Times struct {
	First, Last time.Time
	Entries     uint64
}

// See counts the time of an entry, zero if it has none.
func (t *Times) See(at time.Time) {
	if at.IsZero() {
		return
	}
	if t.Entries == 0 || at.Before(t.First) {
		t.First = at
	}
	if at.After(t.Last) {
		t.Last = at
	}
	t.Entries++
}

// Begins reports whether the log is another one, or its beginning as far as the last mark shows. A log that is
// shorter than 4 KiB is no beginning.
func (l *Log) Begins(other *Log) bool {
	if l.Bytes == other.Bytes {
		return l.Hash == other.Hash
	}
	return l.Bytes < other.Bytes && len(l.Marks) > 0 && bytes.HasPrefix(other.Marks, l.Marks)
}

// Hash is an XXH64 with seed 0, as the id of a template is; as JSON its 16 digits.
type Hash = signature.ID

// Hasher is a writer that makes a [Log] of the bytes of one. It is for one goroutine.
type Hasher struct {
	digest     *xxhash.Digest
	bytes      uint64
	next, step uint64 // length of the next mark, and how far it is to the one after that
	marks      []byte
}

// NewHasher returns a hasher of no bytes yet.
func NewHasher() *Hasher {
	return &Hasher{digest: xxhash.New(), next: firstMark, step: firstMark / inDouble}
}

// Write implements [io.Writer]. It never fails, and does not keep p.
func (h *Hasher) Write(p []byte) (int, error) {
	n := len(p)
	for h.next <= h.bytes+uint64(len(p)) {
		head := p[:h.next-h.bytes]
		h.add(head)
		p = p[len(head):]
		h.marks = binary.BigEndian.AppendUint32(h.marks, uint32(h.digest.Sum64()))
		if h.next == 2*inDouble*h.step {
			h.step *= 2
		}
		h.next += h.step
	}
	h.add(p)
	return n, nil
}

func (h *Hasher) add(p []byte) {
	_, _ = h.digest.Write(p) // never fails
	h.bytes += uint64(len(p))
}

// Log returns the log that was written so far.
func (h *Hasher) Log(name string) Log {
	return Log{Name: name, Bytes: h.bytes, Hash: Hash(h.digest.Sum64()), Marks: slices.Clip(h.marks)}
}
