package session_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
)

const ms = time.Millisecond

// TestGate: a line that is in the file, and that nobody has looked at, holds the
// next call back.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := following(t, session.Config{})
		g := gateOf(t, s)
		call := gate.Call{ID: "r1", Tool: "colony/build", Consumer: "agent"}
		require.True(t, g.Check(t.Context(), call).Allowed)
		f.write("Broken thing 1")
		d := g.Check(t.Context(), call)
		require.False(t, d.Allowed)
		acked, err := g.Ack(t.Context(), "agent", d.Attention.ID, 0)
		require.NoError(t, err)
		require.True(t, acked.Acknowledged)
		require.False(t, acked.Open)
		require.True(t, g.Check(t.Context(), call).Allowed)

		f.err = errors.New("permission denied")
		d = g.Check(t.Context(), call)
		require.False(t, d.Allowed, "what cannot be seen keeps the gate closed")
		require.Contains(t, d.Refusal, "permission denied")
		f.err, f.stuck = nil, true
		began := time.Now()
		d = g.Check(t.Context(), call)
		require.False(t, d.Allowed)
		require.Contains(t, d.Refusal, "no answer in time")
		require.Equal(t, session.DefaultAnswerWithin, time.Since(began), "the bound of the gate")
	})
}

// TestSettle is the table of what the log says right after a reply, by how long its result waits for that.
func TestSettle(t *testing.T) {
	type line struct {
		at   time.Duration // after the reply; negative: while the call runs
		text string
	}
	for _, c := range []struct {
		name    string
		settle  time.Duration
		lines   []line
		related bool
		took    time.Duration
	}{
		{"the log is still", 0, nil, false, 0},
		{"trouble during the call", 0, []line{{-1, "Broken thing"}}, true, 0},
		{"chatter during the call", 0, []line{{-1, "Fine"}}, false, 0},
		{"trouble after it", 0, []line{{1, "Broken thing"}}, false, 0},
		{"trouble during a call that waits", 30 * ms, []line{{-1, "Broken thing"}}, true, 0},
		{"a wait without result", 30 * ms, []line{{-1, "Fine"}, {9 * ms, "Fine"}}, false, 30 * ms},
		{"trouble after it, seen by itself", 30 * ms, []line{{8 * ms, "Broken thing"}, {9 * ms, "look"}}, true, 9 * ms},
		{"trouble after it, seen at the end of the wait", 30 * ms, []line{{29 * ms, "Broken thing"}}, true, 30 * ms},
		{"advice does not end the wait", 30 * ms, []line{{8 * ms, "Odd thing"}, {9 * ms, "look"}}, true, 30 * ms},
		{"trouble after the wait", 30 * ms, []line{{100 * ms, "Broken thing"}}, false, 30 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, f := following(t, session.Config{Settle: c.settle})
				r := s.Begin(session.Call{ID: "r1", Tool: "colony/build", Consumer: "agent"})
				for _, l := range c.lines {
					switch {
					case l.at < 0:
						f.write(l.text)
					case l.text == "look":
						time.AfterFunc(l.at, f.look)
					default:
						time.AfterFunc(l.at, func() { f.write(l.text) })
					}
				}
				replied := time.Now()
				v, related := end(t, r, event.StatusCompleted)
				require.True(t, v.Known)
				require.Equal(t, "colony/build", v.Method)
				require.Equal(t, c.took, time.Since(replied))
				require.Equal(t, c.related, related != nil)
				if related != nil {
					require.Equal(t, v.AttentionID, related.ID)
				}
				again, same := end(t, r, event.StatusFailed)
				require.Equal(t, v, again, "once is enough")
				require.Equal(t, related, same)
				time.Sleep(time.Second)
				require.NoError(t, s.Sync(t.Context()))
				if broke := slices.ContainsFunc(c.lines, func(l line) bool { return l.text == "Broken thing" }); broke {
					require.Equal(t, coalesce.Affected, s.Verdict(r.ID()).Outcome, "late lines are charged, too")
					a, open := s.Current(t.Context(), "")
					require.True(t, open && a.Blocking, "and hold the next call")
				}
			})
		})
	}
}

// TestLoggedBeforeTheAnswer: what is in the log when the answer comes belongs to the call that ran, although others have
// just ended.
func TestLoggedBeforeTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := following(t, session.Config{})
		for range 2 {
			end(t, s.Begin(session.Call{Tool: "before"}), event.StatusCompleted)
		}
		r := s.Begin(session.Call{Tool: "t"})
		f.write("Broken thing")
		v, related := end(t, r, event.StatusCompleted)
		require.Equal(t, coalesce.Affected, v.Outcome)
		require.Equal(t, coalesce.ReasonCharged, v.Reason)
		require.Equal(t, v.AttentionID, related.ID)
	})
}

func TestSettleGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := following(t, session.Config{Settle: time.Minute})
		r := s.Begin(session.Call{Tool: "t"})
		f.write("Fine")
		ctx, cancel := context.WithTimeout(t.Context(), 5*ms)
		defer cancel()
		v, _, err := r.End(ctx, event.StatusCompleted, "")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, event.StatusCompleted, v.Status, "the end was noted all the same")

		f.err = errors.New("gone")
		r = s.Begin(session.Call{Tool: "t"})
		v, _, err = r.End(t.Context(), event.StatusCompleted, "")
		require.ErrorContains(t, err, "gone")
		require.Equal(t, "unknown", v.Outcome, "what was not read cannot be clean")
		require.Equal(t, coalesce.ReasonBlind, v.Reason)
		require.Contains(t, v.Text, "could not be read")

		f.err = nil
		r = s.Begin(session.Call{Tool: "t"})
		v, _ = end(t, r, event.StatusCancelled)
		require.Equal(t, event.StatusCancelled, v.Status)
		require.Zero(t, s.Status().InFlight)
	})
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, session.Config{})
		from := s.Engine().Latest()
		urgent := heed.Filter{MinDisposition: event.Advisory}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		p, err := s.Wait(ctx, from, 0, urgent)
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Empty(t, p.Records)
		require.Equal(t, from, p.Next)

		time.AfterFunc(time.Minute, func() {
			for range 1000 {
				s.Observe(event.Log{Message: "Fine"}.Entry())
			}
			s.Observe(broken("1").Entry())
		})
		began := time.Now()
		p, err = s.Wait(t.Context(), from, 0, urgent)
		require.NoError(t, err)
		require.Len(t, p.Records, 1)
		require.LessOrEqual(t, time.Since(began), time.Minute+5*ms)

		p, err = s.Wait(ctx, heed.Cursor{Epoch: "other", Seq: 1}, 0, urgent)
		require.NoError(t, err)
		require.Error(t, p.Err, "the cursor is refused")
		p, err = s.Wait(t.Context(), from, 7, heed.Filter{})
		require.NoError(t, err)
		require.Len(t, p.Records, 7)
		require.Zero(t, s.Status().Waiting)
	})
}

// TestWaitReportsLoss: a loss ends a wait, even where nothing is left of what the waiter wants: at the first look, and at
// one that a change prompted.
func TestWaitReportsLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := heed.Config{Rules: compile(t, testRules)}
		c.Journal.Entries, c.Journal.Firsts = 16, 1
		s := start(t, session.Config{Engine: c})
		flood := func() {
			for range 100 {
				s.Observe(event.Log{Message: "Fine"}.Entry())
			}
		}
		urgent := heed.Filter{MinDisposition: event.Advisory}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		from := s.Engine().Latest()
		flood()
		p, err := s.Wait(over, from, 0, urgent)
		require.NoError(t, err)
		require.NotZero(t, p.Lost)

		time.AfterFunc(time.Minute, func() { s.Observe(event.Log{Message: "Fine"}.Entry()) })
		time.AfterFunc(time.Minute+ms, flood)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		p, err = s.Wait(ctx, s.Engine().Latest(), 0, urgent)
		require.NoError(t, err)
		require.NotZero(t, p.Lost)
	})
}

func TestTimeline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, session.Config{Timeline: 8})
		g := gateOf(t, s)
		call := gate.Call{ID: "r1", Tool: "colony/build", Consumer: "agent"}
		d := g.Check(t.Context(), call)
		time.Sleep(time.Second)
		s.Observe(broken("1").Entry())
		synctest.Wait()
		res := g.Done(t.Context(), d, event.StatusCompleted, "")
		require.NotNil(t, res.Related)
		d = g.Check(t.Context(), call)
		require.False(t, d.Allowed)
		s.Ack(t.Context(), "agent", "no-such", 0)
		s.MarkRead("agent", d.Attention.ID)
		time.Sleep(time.Minute)
		s.Ack(t.Context(), "agent", d.Attention.ID, 0)
		synctest.Wait()

		events, lost, _ := s.Timeline(0)
		require.Zero(t, lost)
		var said []string
		for _, e := range events {
			said = append(said, fmt.Sprintf("%d %s %s %s %s %s %v %v %v", e.Number, e.Kind, e.Consumer, e.Tool, e.Request,
				e.Status, time.Duration(e.AfterMs)*time.Millisecond, e.Blocking, e.Read != nil && *e.Read))
		}
		require.Equal(t, []string{
			"1 call_began agent colony/build r1  0s false false",
			"2 item_opened     0s true false",
			"3 call_ended agent colony/build r1 completed 1s true false",
			"4 call_refused agent colony/build r1  0s true false",
			"5 ack_unknown agent    0s false false",
			"6 acknowledged agent    1m0s false true",
			"7 item_cleared     1m0s false false",
		}, said)
		require.Equal(t, string(coalesce.ReasonAcknowledged), events[6].Reason)
		require.Equal(t, d.Attention.ID, events[3].Attention)
		require.Equal(t, events[0].Operation, events[2].Operation)
		require.Equal(t, "blocking", events[2].Outcome)
	})
}

func TestModsAndStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := following(t, session.Config{})
		f.write("Loaded mods:\nSome Mod(author.somemod): SomeMod(1.0)\n", "No more", "Broken thing", "Odd thing")
		require.NoError(t, s.Sync(t.Context()))
		time.Sleep(time.Minute)
		st := s.Status()
		require.EqualValues(t, 4, st.Engine.Received)
		require.Len(t, s.Mods(), 1)
		require.Equal(t, "author.somemod", s.Mods()[0].PackageID)
		require.True(t, st.Engine.Blind)
		require.Equal(t, "limit", st.Engine.BlindRule)
		require.EqualValues(t, time.Minute.Milliseconds(), st.UptimeMs)
		f.write("another run")
		require.NoError(t, s.Sync(t.Context()))
		require.Empty(t, s.Mods(), "they were those of the run before")
		require.NotNil(t, st.Log)
		require.Equal(t, 6, st.Rules.Rules)
		require.Contains(t, st.Epoch, "20000101T000000.")
	})
}

func TestLogTellsTheGame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := following(t, session.Config{})
		record := event.Entry{Message: `Broken: mod "Some Game" failed`}
		require.NotEmpty(t, s.Engine().Blame(&record))
		f.write("Mono path[0] = '/opt/game/Some Game_Data/Managed'", "Initialize engine version: 2022.3.35f1 (011206c7a712)")
		require.NoError(t, s.Sync(t.Context()))
		require.Equal(t, "Unity 2022.3.35f1", s.Environment().Engine)
		require.Empty(t, s.Engine().Blame(&record), "the game, by its own name")
	})
}

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed()
		s, err := session.New(session.Config{Log: f, Engine: heed.Config{Rules: compile(t, testRules)}})
		require.NoError(t, err)
		done := make(chan error)
		go func() { done <- s.Run(t.Context()) }()
		synctest.Wait()
		require.ErrorContains(t, s.Run(t.Context()), "before")
		f.end <- errors.New("is a directory")
		require.ErrorContains(t, <-done, "is a directory")
		s.Observe(broken("1").Entry()) // after the end, too
		_, open := s.Current(t.Context(), "")
		require.True(t, open)
	})
}

// lateFeed has one more record when it is to end.
type lateFeed struct{ *feed }

func (f lateFeed) Run(ctx context.Context, h func(*follow.Record)) error {
	err := f.feed.Run(ctx, h)
	time.Sleep(time.Second)
	f.write("Broken at the end")
	f.look()
	return err
}

// TestLastUpdates: what comes in while a session ends is reported before it has ended.
func TestLastUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := session.New(session.Config{Log: lateFeed{newFeed()}, Engine: heed.Config{Rules: compile(t, testRules)}})
		require.NoError(t, err)
		k := &sink{}
		s.OnUpdates(k.take)
		stop := run(t, s)
		synctest.Wait()
		stop()
		require.Equal(t, []string{"opened 1"}, k.said())
	})
}

// twin is a recorder that gives what it is told to an engine of its own.
type twin struct{ e *heed.Engine }

func (w twin) Record(r *capture.Record) {
	switch {
	case r.Kind != event.KindHost:
		w.e.Observe(r.Entry)
	case r.Status == event.StatusAcknowledged:
		w.e.Ack(r.Source, r.Message, r.Count)
	case r.Status == event.StatusDelivered && r.Message == "":
		w.e.Current(r.Source)
	case r.Status == event.StatusDelivered:
		w.e.Delivered(r.Source, r.Message, r.Count)
	case r.Status == event.StatusStateRead:
		w.e.StateRead()
	default:
		w.e.Advance(r.Time)
	}
}

// TestRecorder gives entries from many goroutines: the recorder is told of them in
// the order in which the engine got them.
func TestRecorder(t *testing.T) {
	set := compile(t, testRules)
	e, err := heed.New(heed.Config{Rules: set, Epoch: "e"})
	require.NoError(t, err)
	f := newFeed()
	s := start(t, session.Config{Engine: heed.Config{Rules: set, Epoch: "e"}, Log: f, Recorder: twin{e}, Tick: ms})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for k := range 50 {
				s.Observe(broken(fmt.Sprint(k)).Entry())
				f.write("Odd thing")
				_ = s.Sync(t.Context())
				r := s.Begin(session.Call{Tool: fmt.Sprint(i)})
				s.Observe(event.Notice{Status: event.StatusHole}.Entry())
				_, _, _ = r.End(t.Context(), event.StatusCompleted, "")
				s.Ack(t.Context(), "", fmt.Sprintf("e-%d", k), uint64(k))
			}
		})
	}
	wg.Wait()
	got := s.Engine().Read(heed.Cursor{}, 1000, heed.Filter{Kinds: []event.Kind{
		event.KindLog, event.KindOperation,
		event.KindNotice,
	}})
	want := e.Read(heed.Cursor{}, 1000, heed.Filter{Kinds: []event.Kind{
		event.KindLog, event.KindOperation,
		event.KindNotice,
	}})
	require.Equal(t, want.Records, got.Records)
}

// reads is a recorder that counts reads of the game's state.
type reads struct {
	session.Recorder
	n atomic.Int64
}

func (r *reads) Record(rec *capture.Record) {
	if rec.Status == event.StatusStateRead {
		r.n.Add(1)
	}
}

// TestStateRead: a call that reads the game's state, and did, is recorded as that; one that reads what heed reports is
// not, and an operation neither.
func TestStateRead(t *testing.T) {
	k := &reads{Recorder: follow.NewRecorder(io.Discard)}
	s := start(t, session.Config{Recorder: k})
	for _, c := range []struct {
		call   session.Call
		status event.Status
		want   int64
	}{
		{session.Call{Tags: []string{"observation"}}, event.StatusCompleted, 1},
		{session.Call{Tags: []string{"Read-Only"}}, event.StatusCompleted, 1},
		{session.Call{Tags: []string{"observation"}}, event.StatusFailed, 0},
		{session.Call{Tags: []string{"observation"}}, event.StatusTimedOut, 0},
		{session.Call{Diagnostics: true}, event.StatusCompleted, 0},
		{session.Call{Diagnostics: true, Tags: []string{"read-only"}}, event.StatusCompleted, 0},
		{session.Call{Tags: []string{"lifecycle"}}, event.StatusCompleted, 0},
		{session.Call{}, event.StatusCompleted, 0},
	} {
		before := k.n.Load()
		r := s.Begin(c.call)
		require.Equal(t, before, k.n.Load(), "when it has ended")
		end(t, r, c.status)
		require.Equal(t, c.want, k.n.Load()-before, c)
	}
	s.StateRead()
	require.EqualValues(t, 3, k.n.Load())
}

// TestOtherClock follows a log whose times are another clock's: a call meets its fault all the same.
func TestOtherClock(t *testing.T) {
	for _, ahead := range []time.Duration{0, 2 * time.Hour, -2 * time.Hour, 11 * time.Minute} {
		t.Run(ahead.String(), func(t *testing.T) {
			f := newFeed()
			f.ahead = ahead
			s := start(t, session.Config{Log: f})
			require.Eventually(t, f.followed, time.Minute, time.Millisecond)
			for n := range 2 {
				r := s.Begin(session.Call{ID: "1", Tool: "build"})
				f.write(fmt.Sprintf("Broken thing of form %c", 'a'+n))
				v, related := end(t, r, event.StatusCompleted)
				require.Equal(t, coalesce.Affected, v.Outcome, n)
				require.True(t, related.Blocking)
				for _, r := range s.Engine().Read(heed.Cursor{}, 100, heed.Filter{}).Records {
					if r.Kind == event.KindLog {
						require.Less(t, time.Since(r.Time).Abs(), time.Hour, "it is as new as it was read")
					}
				}
				require.True(t, s.Ack(t.Context(), "", related.ID, 0).Acknowledged)
			}
		})
	}
}

// TestItemsByNumber: an item has the number that ends its id for a name, in its own epoch only.
func TestItemsByNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, session.Config{Engine: heed.Config{Epoch: "7"}})
		s.Observe(event.Entry{Kind: event.KindLog, Message: "Broken thing"})
		for name, known := range map[string]bool{
			"1": true, "01": true, "7-1": true, "2": false, "8-1": false, "-1": false, "": false,
		} {
			a, ok := s.Item(name)
			require.Equal(t, known, ok, name)
			require.Equal(t, known, a.ID == "7-1", name)
			require.Equal(t, known, s.Delivered("agent", name, 1), name)
		}
		require.Equal(t, "1", session.ShortID("7-1", "7"))
		require.Equal(t, "8-1", session.ShortID("8-1", "7"))
		require.Equal(t, "-1", session.ShortID("-1", ""))

		res := s.Ack(t.Context(), "person", "2", 0)
		require.False(t, res.Acknowledged)
		require.Equal(t, "7-2", res.ID)
		res = s.Ack(t.Context(), "person", "1", 0)
		require.True(t, res.Acknowledged)
		require.Equal(t, "7-1", res.ID)
		events, _, _ := s.Timeline(0)
		require.Equal(t, "7-1", events[len(events)-1].Attention, "who reads later does not know what a number meant")
	})
}

// TestRuleFiles changes rule files under a running session.
func TestRuleFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "own.yaml")
		write := func(text string) {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			time.Sleep(2 * session.RulePoll)
			synctest.Wait()
		}
		require.NoError(t, os.WriteFile(path, []byte(testRules), 0o600))
		s := start(t, session.Config{RuleFiles: []string{path}, NoDefaults: true})
		st := s.Status().Rules
		require.Equal(t, 6, st.Rules)
		require.Equal(t, path, st.Files[0].Name)
		require.Len(t, st.Files[0].Hash, 16)
		require.Equal(t, event.Blocking, s.Observe(broken("1").Entry()).Decision.Disposition)
		a, _ := s.Current(t.Context(), "agent")

		write(strings.Replace(testRules, "Broken", "Cracked", 1))
		require.Equal(t, event.Ignore, s.Observe(broken("1").Entry()).Decision.Disposition)
		require.Equal(t, event.Blocking, s.Observe(event.Log{Message: "Cracked"}.Entry()).Decision.Disposition)
		require.True(t, s.Ack(t.Context(), "agent", a.ID, 0).Acknowledged, "what is open stays")
		second := s.Status().Rules
		require.EqualValues(t, 1, second.Swaps)
		require.NotEqual(t, st.Hash, second.Hash)

		write("version: 1\nrules:\n  - {id: x, when: 'no_such_name'}\n")
		bad := s.Status().Rules
		require.Contains(t, bad.Error, "own.yaml:3")
		require.EqualValues(t, 1, bad.Refused)
		require.Equal(t, second.Hash, bad.Hash, "the last good ones decide")
		require.Equal(t, second.Files, bad.Files)
		time.Sleep(time.Minute)
		synctest.Wait() // a look at this moment is over before the file goes
		require.EqualValues(t, 1, s.Status().Rules.Refused, "it is read again when it changes")

		require.NoError(t, os.Remove(path))
		time.Sleep(2 * session.RulePoll)
		synctest.Wait()
		require.Contains(t, s.Status().Rules.Error, "own.yaml")
		require.EqualValues(t, 2, s.Status().Rules.Refused, "once for each reason")
		require.Equal(t, event.Blocking, s.Observe(event.Log{Message: "Cracked"}.Entry()).Decision.Disposition)

		write(testRules)
		good := s.Status().Rules
		require.Empty(t, good.Error)
		require.Equal(t, st.Hash, good.Hash)
		require.Equal(t, event.Blocking, s.Observe(broken("1").Entry()).Decision.Disposition)
	})
}
