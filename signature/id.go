package signature

import (
	"fmt"
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// Version numbers the masking. Any change that gives any text another [ID] is
// a new Version.
const Version = 3

// ID is the identity of a shape of text: the XXH64, with seed 0, of the bytes
// of its canonical template. It is the same on every machine, in every process
// and for every version of heed that has the same [Version], and may be stored.
type ID uint64

// String returns the 16 lower-case hexadecimal digits of id.
func (id ID) String() string { return fmt.Sprintf("%016x", uint64(id)) }

// MarshalText returns what [ID.String] returns, for JSON and other encodings.
// The error is always nil.
func (id ID) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%016x", uint64(id)), nil }

// UnmarshalText is the inverse of [ID.MarshalText].
func (id *ID) UnmarshalText(text []byte) (err error) {
	*id, err = ParseID(string(text))
	return err
}

// ParseID is the inverse of [ID.String]. It takes exactly 16 hexadecimal
// digits of either case.
func ParseID(s string) (ID, error) {
	id, err := strconv.ParseUint(s, 16, 64)
	if err != nil || len(s) != 16 {
		return 0, fmt.Errorf("signature: id %.32q: want 16 hexadecimal digits", s)
	}
	return ID(id), nil
}

// Signature identifies a shape of text wherever one is a key. It is
// comparable.
type Signature struct {
	ID ID

	// Check is the 32-bit FNV-1a hash of the canonical template. It is computed
	// from the same bytes by unrelated arithmetic, so two templates that collide
	// in ID differ here, and are not merged unnoticed.
	Check uint32
}

// Of returns the signature of a canonical template. It does not allocate.
func Of(template []byte) Signature {
	check := uint32(2166136261)
	for _, b := range template {
		check = (check ^ uint32(b)) * 16777619
	}
	return Signature{ID: ID(xxhash.Sum64(template)), Check: check}
}

// Key finds a known signature on the hot path. Two texts have the
// same Key exactly if they have the same canonical template, but for
// collisions of Hash, in which Check differs.
//
// A Key belongs to the process and the [Normalizer] that made it. It must not
// be stored: any version of heed may compute it differently.
type Key struct {
	Hash  uint64
	Check uint32
}
