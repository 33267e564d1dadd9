package session

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/heedlog/heed"
)

// Defaults of a [Config].
const (
	DefaultTick          = 250 * time.Millisecond
	DefaultHeartbeat     = 30 * time.Second
	DefaultSettle        = 30 * time.Millisecond
	DefaultQuiet         = 10 * time.Millisecond
	DefaultSyncTimeout   = time.Second
	DefaultSnapshotEvery = 5 * time.Second
	DefaultRulePoll      = time.Second
	DefaultTimeline      = 1024
)

// Config sets up a [Session]. The zero Config is all defaults, without a log,
// snapshots or rules of one's own. Negative values are errors.
type Config struct {
	// Engine sets up the engine. Its Rules are replaced where RuleFiles or
	// NoDefaults say so. An empty Epoch becomes one that was never used: of the
	// time and of random bits.
	Engine heed.Config

	// Log is the game's log, or nil.
	Log Feed

	// RuleFiles are files of rules that come before the default ones, which
	// NoDefaults leaves out. They are read by New, which fails where they do not
	// compile, and watched from then on: looked at every RulePoll, compiled aside
	// and swapped whole. The last good set stays while they are bad.
	RuleFiles  []string
	NoDefaults bool
	RulePoll   time.Duration

	// Snapshot is the file that keeps the engine's state, "" for none. What is
	// there is restored by New. It belongs to one Session at a time. It is
	// written when it has to be (see the package documentation), and otherwise
	// every SnapshotEvery in which something happened.
	Snapshot      string
	SnapshotEvery time.Duration

	// Tick is how often the engine is told the time while something in it waits
	// for time to pass.
	Tick time.Duration

	// Heartbeat is how long after a sign of life ([Session.Alive]) the next one is
	// expected. A host that never calls Alive expects none.
	Heartbeat time.Duration

	// Settle bounds how long the end of a call waits for what the log says right
	// after it, where the log grew since the call began; Quiet is how long the log
	// must then be still to be taken as said. One nanosecond waits for nothing.
	Settle time.Duration
	Quiet  time.Duration

	// SyncTimeout bounds each [Session.Sync].
	SyncTimeout time.Duration

	// Timeline is how many events [Session.Timeline] remembers.
	Timeline int

	// Recorder is told what the engine is given, in the order in which it is, or
	// nil.
	Recorder Recorder

	// Now is the time of day. Default [time.Now]. Waits are by the clock of the
	// process.
	Now func() time.Time

	// Random gives the bits of epochs and of ids of operations. Default
	// [rand.Reader].
	Random io.Reader

	// Logger gets what a Session has to say of itself. It never gets log text of
	// the game. Default: nobody.
	Logger *slog.Logger
}

// Validate returns an error that names the first field of c that is not valid.
// What belongs to the engine is validated by New.
func (c *Config) Validate() error {
	for _, f := range []struct {
		name  string
		value time.Duration
	}{
		{"RulePoll", c.RulePoll},
		{"SnapshotEvery", c.SnapshotEvery},
		{"Tick", c.Tick},
		{"Heartbeat", c.Heartbeat},
		{"Settle", c.Settle},
		{"Quiet", c.Quiet},
		{"SyncTimeout", c.SyncTimeout},
	} {
		if f.value < 0 {
			return fmt.Errorf("live: Config.%s is negative: %v (0 means the default)", f.name, f.value)
		}
	}
	if c.Timeline < 0 {
		return fmt.Errorf("live: Config.Timeline is negative: %d (0 means the default)", c.Timeline)
	}
	for i, name := range c.RuleFiles {
		if name == "" {
			return fmt.Errorf("live: Config.RuleFiles[%d] is empty: name a file", i)
		}
	}
	return nil
}

// withDefaults returns c with its zeros replaced.
func (c Config) withDefaults() Config {
	c.RulePoll = cmp.Or(c.RulePoll, DefaultRulePoll)
	c.SnapshotEvery = cmp.Or(c.SnapshotEvery, DefaultSnapshotEvery)
	c.Tick = cmp.Or(c.Tick, DefaultTick)
	c.Heartbeat = cmp.Or(c.Heartbeat, DefaultHeartbeat)
	c.Settle = cmp.Or(c.Settle, DefaultSettle)
	c.Quiet = cmp.Or(c.Quiet, DefaultQuiet)
	c.SyncTimeout = cmp.Or(c.SyncTimeout, DefaultSyncTimeout)
	c.Timeline = cmp.Or(c.Timeline, DefaultTimeline)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
