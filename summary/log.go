package summary

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// Log identifies a log by all its bytes, unpacked. A copy is the same log, whatever it is named.
type Log struct {
	Name  string `json:"name"  jsonschema:"Name of the file, without folders."`
	Bytes uint64 `json:"bytes" jsonschema:"Its length, unpacked."`
	Hash  Hash   `json:"hash"  jsonschema:"XXH64 of all its bytes, as 16 digits." pattern:"^[0-9a-f]{16}$"`

	// Beginnings are the hashes of the first bytes of the log, by their number: of those numbers that the [Hasher] was
	// asked for. A log that ended there before is a shorter copy of this one.
	Beginnings map[uint64]Hash `json:"-"`
}

// Same reports whether an earlier log is this one, or began as it does and was shorter.
func (l *Log) Same(earlier *Log) bool {
	if l.Bytes == earlier.Bytes {
		return l.Hash == earlier.Hash
	}
	hash, ok := l.Beginnings[earlier.Bytes]
	return ok && earlier.Bytes > 0 && hash == earlier.Hash
}

// Hash is an XXH64 with seed 0; as JSON its 16 digits.
type Hash uint64

// String returns its 16 digits.
func (h Hash) String() string { return fmt.Sprintf("%016x", uint64(h)) }

// MarshalText implements [encoding.TextMarshaler].
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (h *Hash) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	if err != nil || len(text) != 16 {
		return fmt.Errorf("summary: hash %q: want 16 hexadecimal digits", text)
	}
	*h = Hash(n)
	return nil
}

// Hasher is a writer that makes a [Log] of the bytes of one. It is for one goroutine.
type Hasher struct {
	digest     *xxhash.Digest
	bytes      uint64
	ask        []uint64 // what is still to come, in order
	beginnings map[uint64]Hash
}

// NewHasher returns a hasher that notes the hash after each of the given numbers of bytes: the lengths of the logs that
// are known already.
func NewHasher(lengths []uint64) *Hasher {
	ask := slices.Clone(lengths)
	slices.Sort(ask)
	return &Hasher{digest: xxhash.New(), ask: slices.Compact(ask), beginnings: map[uint64]Hash{}}
}

// Write implements [io.Writer]. It never fails, and does not keep p.
func (h *Hasher) Write(p []byte) (int, error) {
	n := len(p)
	for len(h.ask) > 0 && h.ask[0] <= h.bytes+uint64(len(p)) {
		head := p[:h.ask[0]-h.bytes]
		h.add(head)
		p = p[len(head):]
		h.beginnings[h.bytes] = Hash(h.digest.Sum64())
		h.ask = h.ask[1:]
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
	return Log{Name: name, Bytes: h.bytes, Hash: Hash(h.digest.Sum64()), Beginnings: h.beginnings}
}
