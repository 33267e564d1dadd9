package coalesce

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/heedlog/heed/internal/bounds"
)

// Window is a span with two measures. The duration counts where the engine's
// time is known at both ends of the span, the number of entries where it is not
// (a captured log without a clock), or where it was set back in between. A zero
// field means the default that the field of [Config] states; neither may be
// negative.
type Window struct {
	Duration time.Duration
	Entries  int
}

// DefaultEpoch is the default of [Config].Epoch.
const DefaultEpoch = "0"

// Config sets the bounds of a [Coalescer]. The zero Config is all defaults. Counts
// are at most 65,536, unless documented otherwise.
type Config struct {
	// Epoch becomes part of every attention id, so that ids stay unique when
	// the process restarts: the host gives each run another one, such as its
	// start time. At most 64 bytes of letters, digits, '.', '_' and '-'.
	// Default "0".
	Epoch string

	// MaxOpen bounds the items that are open at once. One more evicts the
	// advisory item that has been quiet longest; when all block, entries join
	// the newest of them and are counted as overflowed. Default 32.
	MaxOpen int

	// MaxRemembered bounds the cleared items that are kept to recognize repeats of acknowledged faults. Default 64.
	MaxRemembered int

	// MaxGroups bounds the groups of one item that have counters of their own; each variant counts as one. Entries of
	// further groups are counted together. Up to 17 more groups have a counter: the first of a rule, each that makes
	// the item worse, and the severest blocking group that no consumer has seen. At most 16,384. Default 128.
	MaxGroups int

	// MaxOperations bounds the operations known at once, running and ended. One
	// more evicts one, of those that do not run and have no open item first.
	// Default 1024.
	MaxOperations int

	// MaxSamples bounds the samples of an item. Default 5.
	MaxSamples int

	// MaxSampleText bounds the text of a sample, in characters. Default 220.
	MaxSampleText int

	// MaxNamed bounds the other items that the current one names, and that an
	// acknowledgement of it covers. Default 3.
	MaxNamed int

	// MaxSummaryTokens bounds a summary, in tokens of a language model, as estimated
	// from its characters: four of Latin script to a token, and a token for each of
	// any other. What matters least is left out first. From 50
	// to 250. Default 128.
	MaxSummaryTokens int

	// MaxConsumers bounds the consumers whose watermarks are kept, with the unnamed one. One more evicts a consumer,
	// and with it its watermarks: a detached one first, then the least recently seen. Default 8.
	MaxConsumers int

	// MaxSkew is how far an entry's time may be behind the latest one seen. A time further behind sets the engine's
	// time back: a clock was set, or the latest time was wrong. Default 1 min.
	MaxSkew time.Duration

	// Linger is how long after its end an operation still gathers entries that name no operation. Default 2 s, 64
	// entries.
	Linger Window

	// AmbientQuiet is the silence that ends an ambient episode. Repeats of acknowledged faults do not break the
	// silence. Default 30 s, 256 entries.
	AmbientQuiet Window

	// AckMemory is the silence after which something acknowledged counts as
	// new when it returns. Default 10 min, 20,000 entries.
	AckMemory Window

	// AdvisoryTTL is the silence that clears an advisory item. Default 5 min,
	// 5,000 entries.
	AdvisoryTTL Window

	// OperationMax is how long an operation may run before it is abandoned.
	// Default 10 min, 50,000 entries.
	OperationMax Window

	// QuietTime follows an acknowledgement: new groups of its rules that come in it, outside of calls that began since,
	// belong to the same incident. Default 1 s, 500 entries.
	QuietTime Window
}

// minSummaryTokens fits half of a title, and the number of other items; maxSummaryTokens fits the bound of a summary.
const (
	minSummaryTokens = 50
	maxSummaryTokens = maxItemSummary / latinPerToken
)

// complete returns c with every zero field replaced by its default. The error names the first field out of its bounds.
func (c Config) complete() (Config, error) {
	c.Epoch = cmp.Or(c.Epoch, DefaultEpoch)
	numbers := append(c.counts(),
		bounds.Of("MaxSummaryTokens", &c.MaxSummaryTokens, 128, minSummaryTokens, maxSummaryTokens))
	times := []bounds.Field[time.Duration]{bounds.Of("MaxSkew", &c.MaxSkew, time.Minute, 1, 0)}
	// The windows follow the turn of an agent: seconds between calls, minutes between looks.
	for _, w := range []struct {
		name     string
		value    *Window
		fallback Window
	}{
		{"Linger", &c.Linger, Window{2 * time.Second, 64}},
		{"AmbientQuiet", &c.AmbientQuiet, Window{30 * time.Second, 256}},
		{"AckMemory", &c.AckMemory, Window{10 * time.Minute, 20_000}},
		{"AdvisoryTTL", &c.AdvisoryTTL, Window{5 * time.Minute, 5_000}},
		{"OperationMax", &c.OperationMax, Window{10 * time.Minute, 50_000}},
		{"QuietTime", &c.QuietTime, Window{time.Second, 500}},
	} {
		numbers = append(numbers, bounds.Of(w.name+".Entries", &w.value.Entries, w.fallback.Entries, 1, 0))
		times = append(times, bounds.Of(w.name+".Duration", &w.value.Duration, w.fallback.Duration, 1, 0))
	}
	if len(c.Epoch) > 64 {
		return c, fmt.Errorf("coalesce: Config.Epoch has %d bytes: must have at most 64", len(c.Epoch))
	}
	if i := strings.IndexFunc(c.Epoch, func(r rune) bool { return !plainRune(r, "._-") }); i >= 0 {
		return c, fmt.Errorf(
			"coalesce: Config.Epoch holds %q at byte %d: only letters, digits, '.', '_' and '-' are allowed", c.Epoch[i], i)
	}
	return c, cmp.Or(bounds.Complete("coalesce: Config", numbers...), bounds.Complete("coalesce: Config", times...))
}

// plainRune reports whether r is a letter or a digit of ASCII, or one of signs.
func plainRune(r rune, signs string) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(signs, r)
}

// counts returns the bounds that a [State] must fit. They bound memory.
func (c *Config) counts() []bounds.Field[int] {
	return []bounds.Field[int]{
		bounds.Of("MaxOpen", &c.MaxOpen, 32, 1, maxTable),
		bounds.Of("MaxRemembered", &c.MaxRemembered, 64, 1, maxTable),
		bounds.Of("MaxGroups", &c.MaxGroups, 128, 1, maxGroups),
		bounds.Of("MaxOperations", &c.MaxOperations, 1024, 1, maxTable),
		bounds.Of("MaxSamples", &c.MaxSamples, 5, 1, maxTable),
		bounds.Of("MaxSampleText", &c.MaxSampleText, 220, 1, maxTable),
		bounds.Of("MaxNamed", &c.MaxNamed, 3, 1, maxTable),
		bounds.Of("MaxConsumers", &c.MaxConsumers, 8, 1, maxTable),
	}
}

// latinPerToken is how many characters of Latin script one token is estimated to hold:
// about what tokenizers make of English.
const latinPerToken = 4

// maxGroups bounds Config.MaxGroups, and maxTable the other counts.
const (
	maxGroups = 1 << 14
	maxTable  = 1 << 16
)
