package journal

import (
	"cmp"
	"fmt"
	"math"
)

// Defaults of [Config]. Together they take 7.3 MiB, a quarter of what an engine
// may use.
const (
	DefaultEntries        = 24576   // entries in the tail
	DefaultBytes          = 3 << 20 // text in the tail: 128 bytes for each entry
	DefaultFirsts         = 2048    // entries in the firsts
	DefaultFirstsBytes    = 1 << 20 // text in the firsts: 512 bytes for each entry, since errors have stacks
	DefaultFirstsPerBurst = 64      // firsts of one burst: 32 open bursts can fill the budget
	DefaultPinned         = 2048    // pinned entries: 120 causes with eight neighbors each side
	DefaultPinnedBytes    = 1 << 20 // text of pinned entries
	DefaultMaxText        = 16 << 10
	DefaultReadEntries    = 4096    // examined by one Read, about 0.1 ms
	DefaultReadBytes      = 1 << 20 // text looked at by one Read, about 0.3 ms
)

// Limits that no configuration changes.
const (
	// MaxName bounds, in bytes, what is kept of an entry's source, operation,
	// parent and rule and of each of its tags.
	MaxName = 255

	// MaxTags bounds, in bytes, what is kept of an entry's tags together, one
	// byte more than its length for each.
	MaxTags = 1024

	// DefaultLimit is the number of records in a page when the reader does
	// not say.
	DefaultLimit = 100

	// MaxLimit is the largest number of records in a page. A larger limit is
	// lowered to it.
	MaxLimit = 1000
)

// maxCapacity bounds every count and size in Config, since positions are kept
// in 32 bits with one value reserved.
const maxCapacity = math.MaxInt32 - blockSize

// Config sets the capacities of a [Journal]. The zero Config is all defaults;
// zero in a field means its default, negative is an error. All are hard limits.
type Config struct {
	// Entries is how many entries the tail holds. Default [DefaultEntries].
	Entries int

	// Bytes is how much text the tail holds: messages and stacks, and the
	// names that come with an entry (source, operation, parent, rule, tags).
	// An entry with more text than this is cut to it. Default [DefaultBytes].
	Bytes int

	// Firsts is how many entries the firsts hold. Default [DefaultFirsts].
	Firsts int

	// FirstsBytes is how much text the firsts hold, in blocks of 128 bytes,
	// of which each entry takes a whole number; rounded up to such a block.
	// An entry with more text than all of this is refused. Default
	// [DefaultFirstsBytes].
	FirstsBytes int

	// FirstsPerBurst is how many firsts of one burst are held. Default
	// [DefaultFirstsPerBurst].
	FirstsPerBurst int

	// Pinned is how many entries may be pinned, and how many pins there may
	// be. Default [DefaultPinned].
	Pinned int

	// PinnedBytes is how much text pinned entries may have, counted like
	// FirstsBytes. Default [DefaultPinnedBytes].
	PinnedBytes int

	// MaxText is how many bytes are kept of one entry's message and stack
	// together. Of an entry with more, the stack keeps up to a quarter of
	// MaxText, the message the rest. Default [DefaultMaxText].
	MaxText int

	// ReadEntries is how many entries one [Journal.Read] examines, including
	// those that a filter leaves out. Default [DefaultReadEntries].
	ReadEntries int

	// ReadBytes is how many bytes of text one [Journal.Read] looks at, either
	// to search or to copy them; at least one entry, whatever its size.
	// Default [DefaultReadBytes].
	ReadBytes int

	// After is the sequence number before the first entry of this journal, for
	// an engine that was restored and goes on counting. Entries up to it count
	// as written and lost.
	After uint64

	// Epoch tells this journal's cursors from those of other runs. It is
	// carried in every cursor and never interpreted.
	Epoch string
}

// fields calls f with each capacity, its name and its default. It returns the
// first error.
func (c *Config) fields(f func(name string, v *int, def int) error) error {
	return cmp.Or(
		f("Entries", &c.Entries, DefaultEntries),
		f("Bytes", &c.Bytes, DefaultBytes),
		f("Firsts", &c.Firsts, DefaultFirsts),
		f("FirstsBytes", &c.FirstsBytes, DefaultFirstsBytes),
		f("FirstsPerBurst", &c.FirstsPerBurst, DefaultFirstsPerBurst),
		f("Pinned", &c.Pinned, DefaultPinned),
		f("PinnedBytes", &c.PinnedBytes, DefaultPinnedBytes),
		f("MaxText", &c.MaxText, DefaultMaxText),
		f("ReadEntries", &c.ReadEntries, DefaultReadEntries),
		f("ReadBytes", &c.ReadBytes, DefaultReadBytes),
	)
}

// Validate returns an error that names the first field with a value that [New]
// would refuse. It changes nothing.
func (c Config) Validate() error {
	return c.fields(func(name string, v *int, _ int) error {
		switch {
		case *v < 0:
			return fmt.Errorf("journal: Config.%s is %d; it must not be negative (0 means the default)", name, *v)
		case *v > maxCapacity:
			return fmt.Errorf("journal: Config.%s is %d; the largest is %d", name, *v, maxCapacity)
		}
		return nil
	})
}

// withDefaults returns c with its zero capacities replaced.
func (c Config) withDefaults() Config {
	_ = c.fields(func(_ string, v *int, def int) error {
		*v = cmp.Or(*v, def)
		return nil
	})
	return c
}
