package session_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

// notices returns what was reported of the log, and the lines of it.
func notices(s *session.Session) []string {
	var said []string
	p := s.Engine().Read(heed.Cursor{}, 100, heed.Filter{Kinds: []event.Kind{event.KindNotice, event.KindLog}})
	for _, r := range p.Records {
		if r.Kind == event.KindNotice {
			said = append(said, r.Status.String())
		} else {
			said = append(said, r.Message)
		}
	}
	return said
}

// TestNoLog: without a log the first call is held back, once; calls are unknown until the log is there.
func TestNoLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed()
		f.gone.Store(true)
		s := start(t, session.Config{Log: f, LogFrom: "named by --log"})
		synctest.Wait()
		g := gateOf(t, s)
		call := gate.Call{ID: "r1", Tool: "colony/build", Consumer: "agent"}
		d := g.Check(t.Context(), call)
		require.False(t, d.Allowed, "from the first call on")
		path, err := filepath.Abs("logs/Player.log")
		require.NoError(t, err)
		require.Equal(t, "no_log there is no file "+path+" (named by --log)", d.Attention.Sample[0].Message)
		require.False(t, g.Check(t.Context(), call).Allowed)
		s.Ack(t.Context(), "agent", d.Attention.ID, 0)
		verdict := func() heed.Verdict {
			d := g.Check(t.Context(), call)
			require.True(t, d.Allowed)
			return g.Done(t.Context(), d, event.StatusCompleted, "").Verdict
		}
		v := verdict()
		require.Equal(t, coalesce.Unknown, v.Outcome)
		require.Equal(t, coalesce.ReasonBlind, v.Reason)
		require.Equal(t, d.Attention.ID, v.AttentionID)
		time.Sleep(time.Hour)
		require.Equal(t, []string{"no_log"}, notices(s), "once, and not once per look")

		f.gone.Store(false)
		f.write("Fine")
		f.look()
		require.Equal(t, []string{"no_log", "log_found", "Fine"}, notices(s))
		time.Sleep(time.Minute)
		require.Equal(t, coalesce.Clean, verdict().Outcome)
	})
}

// TestNoneFound: where no log was found and one is wanted, that is reported at once.
func TestNoneFound(t *testing.T) {
	for from, open := range map[string]bool{"": false, "no log was found": true} {
		synctest.Test(t, func(t *testing.T) {
			s := start(t, session.Config{LogFrom: from})
			a, blocks := s.Current(t.Context(), "agent")
			require.Equal(t, open, blocks)
			require.Equal(t, open, s.Status().Engine.Blind)
			if open {
				require.Equal(t, "no_log no log was found", a.Sample[0].Message)
			}
		})
	}
}

// TestUnreadableLog: a log that cannot be read for a while is one item with the reason, also if it is removed later.
func TestUnreadableLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed()
		f.gone.Store(true)
		f.failed = errors.New("permission denied")
		f.err = f.failed
		s := start(t, session.Config{Log: f})
		a, open := s.Current(t.Context(), "agent")
		require.True(t, open)
		require.Contains(t, a.Summary, "permission denied", "at once")
		time.Sleep(time.Minute)
		a, open = s.Current(t.Context(), "agent")
		require.True(t, open)
		require.Contains(t, a.Sample[0].Message, "permission denied")
		f.mu.Lock()
		f.failed, f.err = nil, nil
		f.mu.Unlock()
		time.Sleep(time.Minute)
		require.Equal(t, []string{"no_log"}, notices(s))
		f.folder.Store(true)
		f.gone.Store(false)
		time.Sleep(time.Minute)
		require.Equal(t, []string{"no_log"}, notices(s), "a folder is there, and the deleted log is still open")
	})
}

// TestLogMoved is the table of a log that is moved away at one second, and back after a while.
func TestLogMoved(t *testing.T) {
	for _, c := range []struct {
		name string
		away time.Duration // 0: for ever
		call bool          // while it is away
		want []string
	}{
		{"for a moment", 4 * time.Second, false, nil},
		{"for a while", 7 * time.Second, false, []string{"no_log", "log_found"}},
		{"for ever", 0, false, []string{"no_log"}},
		{"for a moment, in a call", 4 * time.Second, true, []string{"no_log", "log_found"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFeed()
				f.absent = "the file was moved away or removed: /logs/Player.log"
				s := start(t, session.Config{Log: f})
				time.Sleep(time.Second)
				r := s.Begin(session.Call{Tool: "t"})
				f.gone.Store(true)
				if c.call {
					v, related := end(t, r, event.StatusCompleted)
					require.Equal(t, coalesce.Unknown, v.Outcome)
					require.True(t, related.Blocking)
					require.Equal(t, "no_log the file was moved away or removed: /logs/Player.log", related.Sample[0].Message)
				}
				if c.away > 0 {
					time.Sleep(c.away)
					f.gone.Store(false)
				}
				time.Sleep(time.Minute)
				require.Equal(t, c.want, notices(s))
				_, open := s.Current(t.Context(), "agent")
				require.Equal(t, c.away == 0, open)
			})
		})
	}
}

// TestNoLogUngated: a call that no gate looked at is not clean either.
func TestNoLogUngated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed()
		f.gone.Store(true)
		s := start(t, session.Config{Log: f})
		synctest.Wait()
		look := s.Begin(session.Call{Tool: "look", Diagnostics: true})
		end(t, look, event.StatusCompleted)
		require.Empty(t, notices(s), "what only looks needs no log")
		r := s.Begin(session.Call{Tool: "t"})
		require.Equal(t, []string{"no_log"}, notices(s))
		require.EqualValues(t, 1, s.Status().InFlight)
		v, _ := end(t, r, event.StatusCompleted)
		require.Equal(t, coalesce.Unknown, v.Outcome)
		s.Begin(session.Call{Tool: "t"}).Abandon()
		require.Zero(t, s.Status().InFlight)
	})
}

// TestNoLogRestored: what was blind for want of a log when it was saved is not, once it is restored with one.
func TestNoLogRestored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed()
		f.gone.Store(true)
		cfg := session.Config{Log: f, Snapshot: filepath.Join(t.TempDir(), "s")}
		cfg.Engine.Rules = compile(t, testRules)
		s, err := session.New(cfg)
		require.NoError(t, err)
		stop := run(t, s)
		time.Sleep(time.Minute)
		_, open := s.Current(t.Context(), "agent")
		require.True(t, open)
		stop()

		f = newFeed()
		cfg.Log = f
		s = start(t, cfg)
		time.Sleep(time.Second)
		_, open = s.Current(t.Context(), "agent")
		require.False(t, open)
		require.False(t, s.Status().Engine.Blind)
		f.write("No more logging")
		require.NoError(t, s.Sync(t.Context()))
		require.True(t, s.Status().Engine.Blind)
		before := notices(s)
		time.Sleep(time.Minute)
		require.Equal(t, before, notices(s), "it has a log")
		s.Raise(heed.Report{Key: "k", Disposition: event.Blocking, Message: "m"})
		require.Equal(t, "No more logging", session.Position(cfg.Snapshot).File)
		require.True(t, time.Now().Equal(s.Status().Snapshot.Saved))
		damaged := bytes.Replace(testkit.Must(os.ReadFile(cfg.Snapshot)), []byte("No more"), []byte("No less"), 1)
		require.NoError(t, os.WriteFile(cfg.Snapshot, damaged, 0o600))
		require.Zero(t, session.Position(cfg.Snapshot))
	})
}

// followed returns a session that follows a file, and the file.
func followed(t testing.TB, c session.Config) (*session.Session, *os.File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "Player.log")
	log, err := os.Create(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = log.Close() })
	c.Log, err = follow.New(follow.Config{Path: path})
	require.NoError(t, err)
	return start(t, c), log
}

// TestLatePart: a line that comes in parts is one occurrence, of its own or as the rest of a record, whether or not a
// rule ignores the rests of records.
func TestLatePart(t *testing.T) {
	for own, rests := range map[string]uint64{
		"": 1, `  - {id: late, when: 'source == "continuation"', disposition: ignore}` + "\n": 0,
	} {
		s, log := followed(t, session.Config{SyncTimeout: time.Minute, Engine: heed.Config{
			Rules: compile(t, strings.Replace(testRules, "rules:\n", "rules:\n"+own, 1)),
		}})
		opened := func(text string) uint64 {
			_, err := log.WriteString(text)
			require.NoError(t, err)
			require.NoError(t, s.Sync(t.Context()))
			var n uint64
			for _, item := range s.Open(nil) {
				n += item.TotalUrgentEntries
			}
			return n
		}
		require.Zero(t, opened("Fine\n"))
		for _, part := range []string{"  Broken", " thing", " 7\n", "Fine\n"} {
			require.Equal(t, rests, opened(part))
		}
		require.Equal(t, 2*rests, opened("  Broken thing 8\nFine\n"))
		for _, part := range []string{"Broken", " thing", " 9", " 10\n", "Fine\n"} {
			require.Equal(t, 2*rests+1, opened(part), part)
		}
	}
}

const loadRules = testRules + `  - {id: loads, when: 'template startsWith "Loading"', disposition: ignore, sets_phase: load}
  - {id: leaves, when: 'template startsWith "UnloadTime"', disposition: ignore, sets_phase: menu}
`

// distinct returns a fault whose group no other one shares.
func distinct(n int) string {
	var b strings.Builder
	r := rand.New(rand.NewPCG(uint64(n), 1))
	b.WriteString("Broken")
	for range 3 + r.IntN(6) {
		b.WriteByte(' ')
		for range 5 + r.IntN(6) {
			b.WriteByte(byte('a' + r.IntN(26)))
		}
	}
	return b.String()
}

// TestLoadDeferred holds that no result is clean while an item waits for the end of a load, for any consumer, and
// which calls end a load.
func TestLoadDeferred(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := following(t, session.Config{Engine: heed.Config{Rules: compile(t, loadRules)}})
		across := s.Begin(session.Call{Tool: "colony/load", Consumer: "ann"})
		f.write("Loading game from file Riverbend", distinct(1))
		require.NoError(t, s.Sync(t.Context()))
		a, _ := s.Current(t.Context(), "ann")
		s.Ack(t.Context(), "ann", a.ID, 0)
		time.Sleep(3 * time.Second)
		f.write(distinct(2))
		require.NoError(t, s.Sync(t.Context()))

		call := func(consumer string, status event.Status, r *session.Running) (heed.Verdict, *heed.Item) {
			t.Helper()
			if r == nil {
				r = s.Begin(session.Call{Tool: "colony/build", Consumer: consumer})
			}
			v, related := end(t, r, status)
			return v, related
		}
		waits := func(v heed.Verdict, related *heed.Item) {
			t.Helper()
			require.NotEqual(t, coalesce.Clean, v.Outcome)
			require.NotNil(t, related)
			require.False(t, related.Blocking)
			require.Equal(t, coalesce.Open, related.State)
		}
		v, _ := call("", event.StatusCompleted, across)
		require.NotEqual(t, coalesce.Clean, v.Outcome)
		for range 3 {
			waits(call("bob", event.StatusFailed, nil))
			look := s.Begin(session.Call{Tool: "colony/look", Tags: []string{"read-only"}})
			end(t, look, event.StatusCompleted)
		}
		waits(call("ann", event.StatusCompleted, nil))
		v, related := call("bob", event.StatusCompleted, nil)
		require.Equal(t, coalesce.Unknown, v.Outcome)
		require.True(t, related.Blocking, "the load is over")

		// Of another load, one call and five seconds.
		s.Ack(t.Context(), "bob", related.ID, 0)
		time.Sleep(3 * time.Second)
		f.write("UnloadTime: 1 ms", "Loading game from file Riverbend", distinct(3))
		require.NoError(t, s.Sync(t.Context()))
		a, _ = s.Current(t.Context(), "ann")
		s.Ack(t.Context(), "ann", a.ID, 0)
		time.Sleep(2 * time.Second)
		f.write(distinct(4))
		require.NoError(t, s.Sync(t.Context()))
		waits(call("ann", event.StatusCompleted, nil))
		time.Sleep(4900 * ms)
		holds := func() bool {
			a, open, err := s.Source(false).Current(t.Context(), "ann")
			require.NoError(t, err)
			return open && a.Blocking
		}
		require.False(t, holds())
		time.Sleep(session.DefaultTick)
		require.True(t, holds(), "no entry came since")
	})
}

// TestFamily: the rules of a live log are those of its family, from its first line or from its banner on.
func TestFamily(t *testing.T) {
	set, err := rules.Compile(rules.Defaults()...)
	require.NoError(t, err)
	for _, c := range []struct {
		family, text string
		want         event.Disposition
	}{
		{"plain", "2031-02-03 12:00:01 INFO widgets 2.1 listens", event.Blocking},
		{"rimworld", "RimWorld 1.5.4104 rev435", event.Advisory},
	} {
		s, log := followed(t, session.Config{Engine: heed.Config{Rules: set}})
		_, err := log.WriteString(c.text + "\n2031-02-03 12:00:02 FATAL Could not resolve cross-reference to the license\n")
		require.NoError(t, err)
		require.NoError(t, s.Sync(t.Context()))
		page := s.Engine().Open(nil)
		require.Len(t, page, 1, c.family)
		require.Equal(t, c.want == event.Blocking, page[0].Blocking, c.family)
	}
}
