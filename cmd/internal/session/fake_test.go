package session_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

const testRules = `version: 1
rules:
  - {id: broken, when: 'template startsWith "Broken"', disposition: blocking, invalidates: true, summary: something broke}
  - {id: odd, when: 'template startsWith "Odd"', disposition: advisory}
  - {id: stalled, when: 'kind == "state" and status == "stall"', disposition: blocking, summary: the game does not answer}
  - {id: limit, when: 'template startsWith "No more"', disposition: advisory, blinds: true}
  - {id: no_log, when: 'kind == "notice" and status == "no_log"', disposition: blocking, blinds: true}
  - {id: log_found, when: 'kind == "notice" and status == "log_found"', disposition: ignore, resolves: [no_log]}
`

func compile(t testing.TB, text string) *rules.Set {
	t.Helper()
	set, err := rules.Compile(rules.File{Name: "test.yaml", Data: []byte(text)})
	require.NoError(t, err)
	return set
}

// small returns an engine that is quickly made.
func small(set *rules.Set) heed.Config {
	groups := signature.GrouperConfig{Signatures: 16, Columns: 8}
	return heed.Config{Rules: set, Groups: groups, Journal: journal.Config{Entries: 99}}
}

// feed is a log that a test writes. What is written is unseen until the feed looks
// at it: by a Sync, or when it is told to.
type feed struct {
	mu     sync.Mutex
	unseen []string
	h      func(*follow.Record)
	err    error // of Sync
	end    chan error
	stuck  bool          // Sync returns no more
	ahead  time.Duration // of the clock, as the times in the log are
	gone   atomic.Bool   // there is no file
	folder atomic.Bool   // a folder is at the path, and the file is still open
	absent string        // why
	failed error         // of the status
}

func newFeed() *feed { return &feed{end: make(chan error, 1)} }

func (f *feed) Run(ctx context.Context, h func(*follow.Record)) error {
	f.mu.Lock()
	f.h = h
	f.mu.Unlock()
	select {
	case <-ctx.Done():
		return nil
	case err := <-f.end:
		return err
	}
}

func (f *feed) write(lines ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unseen = append(f.unseen, lines...)
}

// followed reports whether a session reads the log.
func (f *feed) followed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.h != nil
}

// look hands over what was written.
func (f *feed) look() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.h == nil {
		return
	}
	for _, line := range f.unseen {
		now := time.Now().UTC()
		r := &follow.Record{
			Arrived: now, Position: follow.Position{File: line},
			Record: capture.Record{Entry: event.Entry{Time: now.Add(f.ahead), Message: line}},
		}
		if strings.HasPrefix(line, "Loaded mods:") {
			r.Context = true
			r.Mods = &capture.ModList{Mods: []capture.ListedMod{{Mod: capture.Mod{
				Name: "Some Mod", PackageID: "author.somemod", Assemblies: []string{"SomeMod"},
			}}}}
		}
		if line == "another run" {
			r.Entry = event.Notice{Time: now, Status: event.StatusRestarted}.Entry()
		}
		f.h(r)
	}
	f.unseen = nil
}

// record hands over a record as it is.
func (f *feed) record(rec capture.Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.h(&follow.Record{Arrived: rec.Time, Record: rec})
}

func (f *feed) Sync(ctx context.Context) error {
	if f.stuck {
		<-ctx.Done()
		return ctx.Err()
	}
	f.look()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *feed) Status() follow.Status {
	if f.gone.Load() {
		f.mu.Lock()
		defer f.mu.Unlock()
		return follow.Status{Path: "logs/Player.log", Absent: f.absent, LastError: f.failed}
	}
	st := follow.Status{Path: "/logs/Player.log", Present: true}
	if f.folder.Load() {
		st.LastError = errors.New("is a folder")
	}
	return st
}

// start makes a session and lets it run for the test.
func start(t testing.TB, c session.Config) *session.Session {
	t.Helper()
	if c.Engine.Rules == nil && len(c.RuleFiles) == 0 {
		c.Engine.Rules = compile(t, testRules)
	}
	s, err := session.New(c)
	require.NoError(t, err)
	run(t, s)
	return s
}

// following returns a session that follows a log, and the log.
func following(t testing.TB, c session.Config) (*session.Session, *feed) {
	t.Helper()
	f := newFeed()
	c.Log = f
	s := start(t, c)
	synctest.Wait()
	return s, f
}

// gateOf returns a gate for the calls of a session.
func gateOf(t testing.TB, s *session.Session) *gate.Gate {
	t.Helper()
	g, err := s.Gate(gate.Config{})
	require.NoError(t, err)
	return g
}

// end ends a call whose evidence can be read.
func end(t testing.TB, r *session.Running, status event.Status) (heed.Verdict, *heed.Item) {
	t.Helper()
	v, related, err := r.End(t.Context(), status, "")
	require.NoError(t, err)
	return v, related
}

// run runs a session until the test ends, or stop is called, and waits for its
// end.
func run(t testing.TB, s *session.Session) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-done)
	})
	t.Cleanup(stop)
	return stop
}

func broken(n string) event.Log { return event.Log{Message: "Broken thing " + n} }

var _ session.Feed = (*follow.Follower)(nil)

var _ session.Recorder = (*follow.Recorder)(nil)

// sink collects updates.
type sink struct {
	mu  sync.Mutex
	all []heed.Update
}

func (k *sink) take(us []heed.Update) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, us...)
}

func (k *sink) said() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var said []string
	for _, u := range k.all {
		said = append(said, u.Kind+" "+u.Item.ID[strings.LastIndexByte(u.Item.ID, '-')+1:])
	}
	return said
}
