package session

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/internal/bounds"
)

// Defaults of a [Config].
const (
	DefaultTick        = 250 * time.Millisecond
	DefaultSyncTimeout = time.Second
	DefaultTimeline    = 1024

	// DefaultAnswerWithin is less than the two seconds after which bridges in the field let a call through.
	DefaultAnswerWithin = 1500 * time.Millisecond
)

// RulePoll is how often the rule files are read, and SnapshotEvery how often a snapshot is written while entries come.
const (
	RulePoll      = time.Second
	SnapshotEvery = 5 * time.Second
)

// Config sets up a [Session]. The zero Config is all defaults, without a log, snapshots or rule files. Negative values
// are errors.
type Config struct {
	// Engine sets up the engine. RuleFiles or NoDefaults replace its Rules. An empty Epoch becomes a new one, made of the
	// time and random bits.
	Engine heed.Config

	// Log is the game's log, or nil. LogFrom says how its path was found; a person reads it if the log is missing.
	// Without a Log it describes the search, and New reports that no log was found. "" without a Log: no log is wanted.
	Log     Feed
	LogFrom string

	// RuleFiles are rule files that come before the default rules, which NoDefaults leaves out. New reads them, and
	// fails if they do not compile. From then on they are polled every [RulePoll], compiled aside and swapped as a
	// whole. The last good set stays while they do not compile.
	RuleFiles  []string
	NoDefaults bool

	// Installed are mods that are installed, for the names by which blame calls them. They are copied.
	Installed []heed.Mod

	// Snapshot is the file that keeps the engine's state, "" for none. New restores it. It belongs to one Session at a
	// time. It is written when durability demands it (see the package documentation), and otherwise every
	// [SnapshotEvery] in which entries came.
	Snapshot string

	// Tick is how often the engine's time advances while it waits for time to pass.
	Tick time.Duration

	// Settle is how long the end of a call waits for later lines, so that they are in the result. By default it does
	// not wait: later lines hold the next call.
	Settle time.Duration

	// SyncTimeout bounds each [Session.Sync].
	SyncTimeout time.Duration

	// Attention is the effect of items on calls.
	Attention Attention

	// AnswerWithin bounds each answer about the current item, also if the log, the disk or the engine hangs.
	AnswerWithin time.Duration

	// Timeline is how many events [Session.Timeline] keeps.
	Timeline int

	// Limits returns the data of the user that the host cannot keep, for [Session.Status]. Optional.
	Limits func() []Limit

	// Recorder records the engine's input, in its order. Optional.
	Recorder Recorder

	// Now is the time of day. Default [time.Now]. Waits use the clock of the process.
	Now func() time.Time

	// Logger receives messages about the Session itself, never log text of the game. Default: none.
	Logger *slog.Logger
}

// withDefaults returns c with its zeros replaced. An error names the first field that is not valid; New validates the
// engine's.
func (c Config) withDefaults() (Config, error) {
	err := cmp.Or(
		bounds.Complete("session: Config",
			bounds.Of("Tick", &c.Tick, DefaultTick, 1, 0),
			bounds.Of("Settle", &c.Settle, 0, 0, 0),
			bounds.Of("SyncTimeout", &c.SyncTimeout, DefaultSyncTimeout, 1, 0),
			bounds.Of("AnswerWithin", &c.AnswerWithin, DefaultAnswerWithin, 1, 0),
		),
		bounds.Complete("session: Config", bounds.Of("Timeline", &c.Timeline, DefaultTimeline, 1, 0)),
	)
	if err != nil {
		return c, err
	}
	if i := slices.Index(c.RuleFiles, ""); i >= 0 {
		return c, fmt.Errorf("session: Config.RuleFiles[%d] is empty: name a file", i)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	c.Recorder = cmp.Or[Recorder](c.Recorder, unrecorded{})
	return c, nil
}
