package session_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
	"github.com/heedlog/heed/internal/testkit"
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
