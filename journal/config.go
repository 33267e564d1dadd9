package journal

import (
	"math"

	"github.com/heedlog/heed/internal/bounds"
)

// Limits that no configuration changes.
const (
	// maxName bounds the bytes that are kept of an entry's source, operation, parent and rule, and of each of its tags.
	maxName = 255

	// maxTags bounds the bytes that are kept of an entry's tags together: the length of each and one byte more.
	maxTags = 1024

	// defaultLimit is the number of records in a page when the reader does
	// not say.
	defaultLimit = 100

	// MaxLimit is the largest number of records in a page. A larger limit is
	// lowered to it.
	MaxLimit = 1000
)

// maxCapacity bounds every count and size in Config, since positions are kept in 32 bits.
const maxCapacity = math.MaxInt32 - 1

// Config sets the capacities of a [Journal]. The zero Config is all defaults;
// zero in a field means its default, negative is an error. All are hard limits.
type Config struct {
	// Entries is how many entries the tail holds. Default 24,576.
	Entries int

	// Bytes is how much text the tail holds: messages and stacks, and the
	// names that come with an entry (source, operation, parent, rule, tags).
	// An entry with more text than this is cut to it. Default 3 MiB.
	Bytes int

	// Firsts is how many entries the firsts hold. Default 2,048.
	Firsts int

	// FirstsBytes is how much text the firsts hold. An entry with more text
	// than all of this is refused. Default 1 MiB.
	FirstsBytes int

	// FirstsPerBurst is how many firsts of one burst are held. Default
	// 64.
	FirstsPerBurst int

	// Pinned is how many entries may be pinned, and how many pins there may
	// be. Default 2,048.
	Pinned int

	// PinnedBytes is how much text pinned entries may have. Default 1 MiB.
	PinnedBytes int

	// MaxText is how many bytes are kept of one entry's message and stack
	// together. Of an entry with more, the stack keeps up to a quarter of
	// MaxText, the message the rest. Default 16 KiB.
	MaxText int

	// ReadEntries is how many entries one [Scan] examines, including
	// those that a filter leaves out. Default 4,096.
	ReadEntries int

	// ReadBytes is how many bytes of text one [Scan] looks at, either
	// to search or to copy them; at least one entry, whatever its size.
	// Default 1 MiB.
	ReadBytes int

	// After is the sequence number before the first entry of this journal, for an engine that was restored and
	// continues to count. Entries up to it count as written and lost.
	After uint64

	// Epoch distinguishes this journal's cursors from cursors of other runs. It is part of every cursor and never
	// interpreted.
	Epoch string
}

// withDefaults returns c with its zero capacities replaced. An error names the
// first field that is not valid. The defaults together take 7.3 MiB, a quarter of the memory of an engine.
func (c Config) withDefaults() (Config, error) {
	err := bounds.Complete("journal: Config",
		bounds.Of("Entries", &c.Entries, 24576, 1, maxCapacity),
		bounds.Of("Bytes", &c.Bytes, 3<<20, 1, maxCapacity), // 128 bytes for each entry
		bounds.Of("Firsts", &c.Firsts, 2048, 1, maxCapacity),
		bounds.Of("FirstsBytes", &c.FirstsBytes, 1<<20, 1, maxCapacity),    // 512 bytes for each, since errors have stacks
		bounds.Of("FirstsPerBurst", &c.FirstsPerBurst, 64, 1, maxCapacity), // 32 open bursts can fill the budget
		bounds.Of("Pinned", &c.Pinned, 2048, 1, maxCapacity),               // 120 causes with eight neighbors each side
		bounds.Of("PinnedBytes", &c.PinnedBytes, 1<<20, 1, maxCapacity),
		bounds.Of("MaxText", &c.MaxText, 16<<10, 1, maxCapacity),
		bounds.Of("ReadEntries", &c.ReadEntries, 4096, 1, maxCapacity),
		bounds.Of("ReadBytes", &c.ReadBytes, 1<<20, 1, maxCapacity),
	)
	return c, err
}
