package session_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
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
)

// notes is a recorder that notes what it is told.
type notes struct {
	mu  sync.Mutex
	all []string
}

func (n *notes) add(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, what)
}

func (n *notes) Record(r *capture.Record) {
	switch {
	case r.Kind != event.KindHost:
		n.add("record " + r.Message)
	case r.Status == event.StatusAcknowledged:
		n.add(fmt.Sprint("ack ", r.Source, " ", r.Message, " ", r.Count))
	case r.Status == event.StatusStateRead:
		n.add("read")
	case r.Status == event.StatusNone:
		n.add("advance " + r.Time.Format("05.00"))
	}
}

// take returns what was told since.
func (n *notes) take() (all []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	all, n.all = n.all, nil
	return all
}

// TestRecorded holds what a recorder is told: records of the log too, how far an acknowledgement went, and time only
// where the engine waits for it.
func TestRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, k := newFeed(), &notes{}
		s := start(t, session.Config{
			Log: f, Recorder: k, Tick: 20 * time.Second,
			Engine: heed.Config{Rules: compile(t, testRules), Epoch: "e"},
		})
		synctest.Wait()
		f.write("Fine")
		require.NoError(t, s.Sync(t.Context()))
		require.Equal(t, []string{"record Fine"}, k.take())
		time.Sleep(90 * time.Second)
		require.Equal(t, []string{"advance 20.00", "advance 40.00", "advance 00.00"}, k.take(), "for a minute")
		s.Observe(broken("1").Entry())
		s.Observe(broken("2").Entry())
		require.Equal(t, []string{"record Broken thing 1", "record Broken thing 2"}, k.take())
		time.Sleep(2 * time.Minute)
		require.Len(t, k.take(), 6, "while an item is open")
		s.Ack(t.Context(), "agent", "e-1", 0)
		require.Equal(t, []string{"ack agent e-1 2"}, k.take())
		s.Ack(t.Context(), "agent", "e-7", 9)
		require.Equal(t, []string{"ack agent e-7 9"}, k.take())
		time.Sleep(time.Hour)
		k.take()
		time.Sleep(time.Hour)
		require.Empty(t, k.take(), "nothing can happen")
		s.Observe(event.Log{Message: "Fine"}.Entry())
		time.Sleep(2 * time.Minute)
		require.Len(t, k.take(), 4, "for a minute once more")
		r := s.Begin(session.Call{Tool: "t"})
		require.Len(t, k.take(), 1)
		time.Sleep(3 * time.Minute)
		require.Len(t, k.take(), 9, "while a call runs")
		end(t, r, event.StatusCompleted)
		require.Len(t, k.take(), 1)
	})
	synctest.Test(t, func(t *testing.T) {
		k := &notes{}
		s := start(t, session.Config{Recorder: k, Tick: 20 * time.Second})
		time.Sleep(time.Hour + time.Second) // between ticks
		k.take()
		s.Observe(event.State{Status: event.StatusLongEvent}.Entry())
		time.Sleep(10 * time.Minute)
		require.Len(t, k.take(), 31, "while a long event goes on")
		s.Clear(s.Raise(heed.Report{Key: "k", Disposition: event.Blocking, Message: "m"}))
		require.Empty(t, k.take(), "they are not recorded")
	})
}

// TestRecordedOnce: a recorder gets each entry of the journal once and in its order, from every source. A function of
// OnObserved gets each but the entry of a new run. A record that grew comes as the rest of it, or not at all where the
// engine has nothing of it.
func TestRecordedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := "rules:\n" + `  - {id: late, when: 'source == "continuation" and template contains "kept"', disposition: ignore}` + "\n"
		c := session.Config{Snapshot: filepath.Join(t.TempDir(), "state"), Engine: heed.Config{
			Rules: compile(t, strings.Replace(testRules, "rules:\n", own, 1)),
		}}
		s, err := session.New(c)
		require.NoError(t, err)
		s.Observe(event.Log{Message: "Fine"}.Entry())
		s.BeginRun()
		require.EqualValues(t, 1, s.Engine().Latest().Seq, "nothing ran before")
		require.False(t, s.Continues())
		require.NoError(t, s.Run(canceled(t)))

		f, k := newFeed(), &notes{}
		c.Log, c.Recorder = f, k
		s, err = session.New(c)
		require.NoError(t, err)
		var observed []string
		s.OnObserved(func(rec *capture.Record, o *heed.Outcome) {
			observed = append(observed, fmt.Sprint(o.Seq, " ", rec.KindName(), " ", rec.LevelBy == 0, " ", rec.Message))
		})
		require.True(t, s.Continues())
		from := s.Engine().Latest()
		s.BeginRun()
		require.False(t, s.Continues())
		require.Empty(t, observed)
		run(t, s)
		synctest.Wait()
		s.Observe(broken("1").Entry())
		f.write("Fine", "Broken thing")
		require.NoError(t, s.Sync(t.Context()))
		r := s.Begin(session.Call{Tool: "t"})
		_, _, err = r.End(t.Context(), event.StatusFailed, "no wood")
		require.NoError(t, err)
		observed = nil
		grows := func(part event.Part, text string) {
			f.record(capture.Record{
				Entry: event.Entry{Kind: event.KindLog, Message: text, Part: part, Pos: 7, Time: time.Now()}, LevelBy: 1,
			})
		}
		grows(event.Whole, "Broken, begins")
		grows(event.Again, "Broken, goes on")
		grows(event.Again, "Broken, goes on, kept")

		var recorded []string
		records := s.Engine().Read(from, 100, heed.Filter{Kinds: []event.Kind{
			event.KindLog, event.KindOperation, event.KindState, event.KindNotice,
		}}).Records
		for _, rec := range records {
			recorded = append(recorded, "record "+rec.Message)
		}
		require.Len(t, records, 8)
		require.Equal(t, recorded, k.take())
		require.Equal(t, []string{
			fmt.Sprint(records[6].Seq, " log false Broken, begins"),
			fmt.Sprint(records[7].Seq, " continuation true Broken, goes on, kept"),
		}, observed)
	})
}

// TestSource holds what a gate asks of a session.
func TestSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, session.Config{})
		source := s.Source(false)
		_, open, err := source.Current(t.Context(), "agent")
		require.NoError(t, err)
		require.False(t, open)
		s.Observe(event.Log{Message: "Odd thing"}.Entry())
		a, open, err := source.Current(t.Context(), "agent")
		require.NoError(t, err)
		require.True(t, open)
		require.False(t, a.Blocking)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err = source.Current(ended, "agent")
		require.ErrorIs(t, err, context.Canceled)
		_, err = source.Ack(ended, "agent", a.ID, 0)
		require.ErrorIs(t, err, context.Canceled)
		require.NotEmpty(t, s.Open(nil), "not acknowledged")
		res, err := source.Ack(t.Context(), "agent", a.ID, a.LatestSequence)
		require.NoError(t, err)
		require.Equal(t, a.LatestSequence, res.Watermark)
		require.Empty(t, s.Open(nil))

		s.Observe(broken("1").Entry())
		first, _ := s.Current(t.Context(), "other")
		s.Observe(broken("2").Entry())
		require.True(t, s.Delivered("other", first.ID, first.LatestSequence+1))
		require.False(t, s.Delivered("other", "no-such", 1))
		require.Equal(t, first.LatestSequence+1, s.Ack(t.Context(), "other", first.ID, 0).Watermark)
	})
}

// TestEndDelivers holds that the item of a call's end counts as delivered, and what comes after is not.
func TestEndDelivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, session.Config{})
		g := gateOf(t, s)
		d := g.Check(t.Context(), gate.Call{ID: "r", Tool: "t", Consumer: "agent"})
		s.Observe(broken("1").Entry())
		s.Observe(broken("2").Entry())
		res := g.Done(t.Context(), d, event.StatusFailed, "no wood")
		require.NotNil(t, res.Related)
		require.Zero(t, s.Status().Held)
		require.False(t, g.Check(t.Context(), gate.Call{ID: "s", Tool: "t", Consumer: "other"}).Allowed)
		require.EqualValues(t, 1, s.Status().Held)
		s.Observe(broken("3").Entry())
		require.Equal(t, res.Related.LatestSequence, s.Ack(t.Context(), "agent", res.Related.ID, 0).Watermark)
		_, _, err := s.Begin(session.Call{Tool: "t"}).End(t.Context(), event.StatusCancelled, "no reason")
		require.NoError(t, err)
		p := s.Engine().Read(heed.Cursor{}, 100, heed.Filter{Kinds: []event.Kind{event.KindOperation}})
		require.Equal(t, "no wood", p.Records[1].Message)
		require.Equal(t, "the caller left before the call was answered", p.Records[3].Message)
		require.Equal(t, "t", p.Records[1].Source)
		require.Equal(t, time.Now().UTC(), p.Records[1].Time.UTC(), "a time of its own")
	})
}

// TestWaitPages holds that a wait that finds nothing in many pages goes on after them, and that it ends with its
// context.
func TestWaitPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, session.Config{Engine: heed.Config{Journal: journal.Config{ReadEntries: 1000}}})
		for range 20_000 {
			s.Observe(event.Log{Message: "Fine"}.Entry())
		}
		urgent := heed.Filter{MinDisposition: event.Advisory}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		from := heed.Cursor{Epoch: s.Status().Epoch, Seq: s.Engine().Latest().Seq - 3000}
		p, err := s.Wait(ended, from, 1, urgent)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, from.Seq+1000, p.Next.Seq, "as far as it looked")
		time.AfterFunc(time.Millisecond, func() { s.Observe(broken("1").Entry()) })
		start := time.Now()
		p, err = s.Wait(t.Context(), from, 1, urgent)
		require.NoError(t, err)
		require.Len(t, p.Records, 1)
		require.Equal(t, time.Millisecond, time.Since(start), "at once")
		p, err = s.Wait(t.Context(), from, 0, heed.Filter{})
		require.NoError(t, err)
		require.Len(t, p.Records, 100)

		from = s.Engine().Latest()
		time.AfterFunc(100*time.Millisecond, func() {
			s.Observe(event.Log{Message: "Fine"}.Entry())
			time.AfterFunc(time.Millisecond, func() { s.Observe(broken("2").Entry()) })
		})
		start = time.Now()
		require.Zero(t, s.Status().Waiting)
		go func() {
			time.Sleep(time.Millisecond)
			require.EqualValues(t, 1, s.Status().Waiting)
		}()
		_, err = s.Wait(t.Context(), from, 1, urgent)
		require.NoError(t, err)
		require.Equal(t, 101*time.Millisecond, time.Since(start), "at once")

		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		time.AfterFunc(0, func() { s.Observe(event.Log{Message: "Fine"}.Entry()) })
		_, err = s.Wait(ctx, s.Engine().Latest(), 1, urgent)
		require.ErrorIs(t, err, context.DeadlineExceeded, "in the pause")
	})
}

// TestAttach holds that an arrival is on disk and told.
func TestAttach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, session.Config{Engine: heed.Config{Rules: compile(t, "version: 1\nrules:\n"+
			"  - {id: fault, when: 'template startsWith \"Fault\"', disposition: blocking}\n")}})
		require.Empty(t, s.Attach("agent"))
		s.Observe(event.Log{Message: "Fault"}.Entry())
		synctest.Wait()
		k := &sink{}
		s.OnUpdates(k.take)
		require.NotEmpty(t, s.Attach("agent"))
		synctest.Wait()
		require.Equal(t, []string{"cleared 1", "opened 2"}, k.said())
		a, _ := s.Item(s.Open(nil)[0].ID)
		require.Equal(t, time.Now().UTC(),
			s.Engine().Read(heed.Cursor{}, 100, heed.Filter{Kinds: []event.Kind{event.KindHost}}).Records[0].Time.UTC())
		require.False(t, a.Blocking)
	})
}

// TestRunEnds holds what ends Run without an error, and that what was waiting is delivered and saved.
func TestRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			end  func(context.Context) (context.Context, context.CancelFunc)
			fail bool
		}{
			{func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, time.Second)
			}, false},
			{func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancelCause(ctx)
				time.AfterFunc(time.Second, func() { cancel(errors.New("enough")) })
				return ctx, func() { cancel(nil) }
			}, true},
		} {
			s, err := session.New(session.Config{Engine: heed.Config{Rules: compile(t, testRules)}})
			require.NoError(t, err)
			ctx, cancel := c.end(t.Context())
			err = s.Run(ctx)
			cancel()
			if c.fail {
				require.ErrorContains(t, err, "enough")
			} else {
				require.NoError(t, err)
			}
		}
	})
}

// appears is a log that is there once it is looked at.
type appears struct{ *feed }

func (f appears) Sync(ctx context.Context) error {
	f.gone.Store(false)
	return f.feed.Sync(ctx)
}

// TestLogIsLookedFor holds that a call reports no log only after a look at it, and that a call without a log looks for
// none.
func TestLogIsLookedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := appears{newFeed()}
		f.gone.Store(true)
		s := start(t, session.Config{Log: f})
		synctest.Wait()
		end(t, s.Begin(session.Call{Tool: "t"}), event.StatusCompleted)
		require.Empty(t, notices(s))
	})
}

// TestLogTellsTheMods holds that mods that the log lists are known to the engine, and that the game is the first program
// that the log names.
func TestLogTellsTheMods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := following(t, session.Config{})
		blamed := func(message, stack string) (names []string) {
			for _, suspect := range s.Engine().Blame(&event.Entry{Message: message, Stack: stack}) {
				names = append(names, suspect.Mod)
			}
			return names
		}
		f.write("Loaded mods:\nSome Mod(author.somemod): SomeMod(1.0)\n")
		require.NoError(t, s.Sync(t.Context()))
		require.Equal(t, []string{"Some Mod"}, blamed("Broken thing", "at SomeMod.Thing.Do ()"))

		f.write("Mono path[0] = '/opt/game/Some Game_Data/Managed'", "Mono path[0] = '/opt/game/Other Game_Data/Managed'")
		require.NoError(t, s.Sync(t.Context()))
		require.Empty(t, blamed(`Broken: mod "Some Game" failed`, ""))
		require.NotEmpty(t, blamed(`Broken: mod "Other Game" failed`, ""))
	})
}

// TestModsBound: the mods of all lists since the latest run are kept in their order, up to a bound.
func TestModsBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := following(t, session.Config{})
		var want []string
		for n, size := range []int{2, 3000, 1500, 5} {
			list := &capture.ModList{}
			for i := range size {
				want = append(want, fmt.Sprint("Mod ", n, " ", i))
				list.Mods = append(list.Mods, capture.ListedMod{Mod: capture.Mod{Name: want[len(want)-1]}})
			}
			f.record(capture.Record{Entry: event.Entry{Kind: event.KindLog, Message: "Loaded mods:"}, Mods: list})
			var got []string
			for _, m := range s.Mods() {
				got = append(got, m.Name)
			}
			require.Equal(t, want[:min(len(want), 4096)], got)
		}
	})
}

// TestInstalled: a session has the names of installed mods.
func TestInstalled(t *testing.T) {
	s, err := session.New(session.Config{Installed: []heed.Mod{{Name: "Some Mod", Assemblies: []string{"SomeMod"}}}})
	require.NoError(t, err)
	require.Equal(t, "Some Mod", s.Engine().Blame(&event.Entry{Message: "Broken", Stack: "at SomeMod.Thing.Do ()"})[0].Mod)
}

// ends is a log that ends without an error.
type ends struct{ *feed }

func (ends) Run(context.Context, func(*follow.Record)) error { return nil }

// TestLogEnds holds that the end of a log without an error is not the end of the session.
func TestLogEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := session.New(session.Config{Log: ends{newFeed()}})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		start := time.Now()
		require.NoError(t, s.Run(ctx))
		require.Equal(t, time.Hour, time.Since(start))
	})
}

// TestHost holds that what a host does reaches the engine, with a time.
func TestHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := session.New(session.Config{})
		require.NoError(t, err)
		at := time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC)
		time.Sleep(time.Second)
		s.Raise(heed.Report{Key: "a", Disposition: event.Blocking, Message: "m"})
		s.Raise(heed.Report{Key: "b", Disposition: event.Blocking, Message: "m", Time: at})
		records := s.Engine().Read(heed.Cursor{}, 100, heed.Filter{}).Records
		require.Equal(t, time.Now().UTC(), records[0].Time.UTC())
		require.Equal(t, at, records[1].Time.UTC())
		before := s.Engine().Snapshot(nil)
		s.StateRead()
		require.NotEqual(t, before, s.Engine().Snapshot(nil), "it is known")
	})
}

// TestNoLogAfter holds when it is reported that a log is gone: five seconds after that was seen.
func TestNoLogAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed()
		s := start(t, session.Config{Log: f})
		began := time.Now()
		time.Sleep(1001 * time.Millisecond)
		f.gone.Store(true) // a tick sees it at 1.25 s
		time.Sleep(time.Minute)
		records := s.Engine().Read(heed.Cursor{}, 100, heed.Filter{Kinds: []event.Kind{event.KindNotice}}).Records
		require.Len(t, records, 1)
		require.Equal(t, 6250*time.Millisecond, records[0].Time.Sub(began))
	})
}

// later is a log that cannot be read from its second look of a call on.
type later struct {
	*feed
	looks int
}

func (l *later) Sync(ctx context.Context) error {
	if l.looks++; l.looks > 1 {
		return errors.New("gone")
	}
	return l.feed.Sync(ctx)
}

// TestSettleFails holds that a log that cannot be read while a call settles leaves its verdict unknown.
func TestSettleFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &later{feed: newFeed()}
		s := start(t, session.Config{Log: f, Settle: ms})
		synctest.Wait()
		r := s.Begin(session.Call{Tool: "t"})
		f.looks = 0
		f.write("Fine")
		v, _, err := r.End(t.Context(), event.StatusCompleted, "")
		require.ErrorContains(t, err, "gone")
		require.Equal(t, "unknown", v.Outcome)
	})
}

// TestClear holds what is cleared, and how often a save is said to have failed.
func TestClear(t *testing.T) {
	s, err := session.New(session.Config{Snapshot: filepath.Join(t.TempDir(), "absent", "state")})
	require.NoError(t, err)
	id := s.Raise(heed.Report{Key: "k", Disposition: event.Blocking, Message: "m"})
	require.EqualValues(t, 1, s.Status().Snapshot.Failed)
	require.ErrorContains(t, s.Unsaved(), "the state is not saved")
	require.Zero(t, s.Status().Snapshot.Saves)
	require.False(t, s.Clear("no-such"))
	require.True(t, s.Clear(id))
	require.False(t, s.Clear(id))
	s.Raise(heed.Report{Key: "l", Disposition: event.Blocking, Message: "m"})
	require.EqualValues(t, 2, s.Status().Snapshot.Failed)
}
