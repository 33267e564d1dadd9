package session_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/gabp/gate"
)

// announcements returns the events that the protocol has of a session since the latest call, as "kind id".
func announcements(s *session.Session) func() []string {
	var told []string
	a := &gabp.Attention{Source: s.Peers(), Publish: func(channel, id string, _ any, _ func(*gabp.ServerSession)) error {
		told = append(told, channel[len("attention/"):]+" "+id)
		return nil
	}}
	s.OnUpdates(a.Pump)
	return func() (since []string) {
		synctest.Wait()
		since, told = told, nil
		return since
	}
}

func ids(list []heed.Item) (ids []string) {
	for _, a := range list {
		ids = append(ids, a.ID)
	}
	return ids
}

func raise(s *session.Session, key string, d event.Disposition) string {
	return s.Raise(heed.Report{Key: key, Disposition: d, Summary: "Trouble with " + key, Message: key})
}

// TestBlind: evidence that cannot be ingested is the current item for all who ask, until it is acknowledged or over.
func TestBlind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, log := t.Context(), newFeed()
		s := start(t, session.Config{Log: log})
		told := announcements(s)
		current := func() string {
			a, _ := s.Current(ctx, "v")
			return a.ID
		}
		id := raise(s, "a", event.Blocking)
		require.Equal(t, []string{"opened " + id}, told())

		log.err = errors.New("disk\n gone")
		blind, open := s.Current(ctx, "v")
		require.True(t, open && blind.Blocking && blind.StateInvalidated)
		require.Contains(t, blind.Summary, `disk\n gone`)
		require.True(t, strings.HasSuffix(blind.ID, "-1"), blind.ID)
		require.True(t, blind.Title != "" && strings.HasPrefix(blind.Summary, "blind: "+blind.Title), blind.Title)
		require.Equal(t, []string{"opened " + blind.ID}, told())
		require.Equal(t, blind.ID, current(), "one id")
		asked, open, err := s.Source(false).Current(ctx, "v")
		require.NoError(t, err)
		require.True(t, open)
		require.Equal(t, blind, asked, "the gate has the same item")
		_, _, err = s.Source(true).Current(ctx, "v")
		require.ErrorContains(t, err, "gone")
		require.Equal(t, []string{blind.ID, id}, ids(s.Open(nil)))
		same, known := s.Item(blind.ID)
		require.True(t, known)
		require.Equal(t, blind, same)
		same, known = s.Item(id)
		require.True(t, known && same.ID == id)
		s.Advance()
		require.Empty(t, told(), "it stays, and precedes what is known")

		r := s.Ack(ctx, "v", blind.ID, 0)
		require.True(t, r.Acknowledged)
		require.Equal(t, id, r.Current.ID, "what is known remains")
		require.Equal(t, []string{blind.ID}, ids(r.Items))
		require.False(t, r.Items[0].Blocking)
		require.Equal(t, []string{id}, ids(r.Left))
		require.Equal(t, []string{"cleared " + blind.ID, "updated " + id}, told())
		require.Equal(t, id, current())

		log.err = nil
		require.Equal(t, id, current())
		require.Empty(t, told())
		log.err = errors.New("gone")
		again := current()
		require.True(t, strings.HasSuffix(again, "-2"), "blind again is new: %s", again)
		told()
		log.err = nil
		_, _, err = s.Source(false).Current(ctx, "v")
		require.NoError(t, err)
		require.Equal(t, []string{"cleared " + again, "updated " + id}, told(), "the gate has read the log again")
		for range 300 { // more than may be under way at once
			require.Equal(t, id, current())
		}
	})
}

// TestLate holds how long an answer waits for evidence, and for the rest after it; the answer when neither comes; and
// that answers that are still under way are bounded.
func TestLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, log := t.Context(), newFeed()
		s := start(t, session.Config{Log: log, SyncTimeout: time.Hour})
		told := announcements(s)
		current := func() string {
			a, _ := s.Current(ctx, "v")
			return a.ID
		}
		first := raise(s, "a", event.Blocking)
		raise(s, "b", event.Advisory)
		require.Equal(t, first, current())

		log.stuck = true
		begin := time.Now()
		blind, _ := s.Current(ctx, "v")
		require.Equal(t, 1125*time.Millisecond, time.Since(begin), "a part of the time is the engine's")
		require.Contains(t, blind.Summary, "its log could not be read: session: the log cannot be read: context deadline exceeded")
		log.stuck = false
		require.Equal(t, first, current())
		told()

		gone, cancel := context.WithCancel(ctx)
		cancel()
		log.stuck = true
		_, _ = s.Current(gone, "v")
		require.Empty(t, told(), "an agent that left is no reason to be blind")
		log.stuck = false

		hang := make(chan struct{})
		s.DrainFirst(func(context.Context) { <-hang })
		begin = time.Now()
		blind, _ = s.Current(ctx, "v")
		require.Equal(t, session.DefaultAnswerWithin, time.Since(begin))
		require.Contains(t, blind.Summary, "reading its log took too long")
		require.Equal(t, []string{"opened " + blind.ID}, told())
		r := s.Ack(ctx, "v", blind.ID, 0)
		require.True(t, r.Acknowledged)
		require.Equal(t, []string{blind.ID}, ids(r.Items))
		require.Equal(t, []string{first}, ids(r.Left), "as far as it is known")
		require.Equal(t, first, r.Current.ID)
		require.Equal(t, first, current())
		require.False(t, s.Ack(ctx, "v", first, 0).Acknowledged, "that is not known")

		for range 300 {
			go s.Current(ctx, "v")
		}
		synctest.Wait()
		begin = time.Now()
		require.Equal(t, first, current())
		require.Zero(t, time.Since(begin), "one more does not wait")
		close(hang)
		synctest.Wait()
		require.Empty(t, ids(s.Open(nil)), "both were shown, and acknowledged late")
	})
}

// TestAckNames: an answer names the items that it cleared, and the others that are open, as agents see them.
func TestAckNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, session.Config{Attention: session.OnlyShown})
		first, second := raise(s, "a", event.Blocking), raise(s, "b", event.Blocking)
		advisory := raise(s, "c", event.Advisory)
		shown, open := s.Current(t.Context(), "v")
		require.True(t, open)
		require.Equal(t, first, shown.ID)
		require.False(t, shown.Blocking)
		require.True(t, s.Open(nil)[0].Blocking, "as it is")
		late := raise(s, "d", event.Blocking)
		r := s.Ack(t.Context(), "v", first, 0)
		require.Equal(t, []string{first, second, advisory}, ids(r.Items), shown.Summary)
		require.Equal(t, []string{late}, ids(r.Left), "what was not shown")
		require.False(t, r.Left[0].Blocking)
		require.False(t, r.Current.Blocking)
		require.Empty(t, s.Ack(t.Context(), "v", first, 0).Items, "it was covered before")
		require.Equal(t, session.Acked{
			AckResult: heed.AckResult{ID: "x", Current: r.Current, Open: true}, Left: r.Left,
		}, s.Ack(t.Context(), "v", "x", 0))
	})
}

// TestEffectOfItems is the table of how the effect of items changes an answer: to a gate, to agents, and to both where
// the log cannot be read.
func TestEffectOfItems(t *testing.T) {
	for effect, c := range map[session.Attention]struct {
		blocks bool
		err    string // of the gate's question
		blind  string // of the same while the log cannot be read, "" for an item
	}{
		session.HoldsCalls: {true, "", ""},
		session.OnlyShown:  {false, "", "session: the log cannot be read: gone"},
		session.LeftToMod:  {false, gate.ErrNoAttention.Error(), gate.ErrNoAttention.Error()},
	} {
		synctest.Test(t, func(t *testing.T) {
			log := newFeed()
			s := start(t, session.Config{Log: log, Attention: effect})
			require.Equal(t, effect, s.Attention())
			id := raise(s, "a", event.Blocking)
			ask := func() (heed.Item, string) {
				a, open, err := s.Source(false).Current(t.Context(), "v")
				if err != nil {
					require.False(t, open)
					return a, err.Error()
				}
				require.True(t, open)
				return a, ""
			}
			a, err := ask()
			require.Equal(t, c.err, err)
			require.Equal(t, err == "", a.ID == id)
			require.Equal(t, c.blocks, a.Blocking)
			require.Equal(t, c.blocks, s.Peers().Open(nil)[0].Blocking)
			log.err = errors.New("gone")
			a, err = ask()
			require.Equal(t, c.blind, err)
			require.Equal(t, err == "", strings.HasPrefix(a.ID, "blind-"))
			log.err = nil
			shown, open := s.Peers().Current(t.Context(), "v")
			require.True(t, open)
			require.Equal(t, []any{id, c.blocks}, []any{shown.ID, shown.Blocking})
			require.True(t, s.Peers().Ack(t.Context(), "v", id).Acknowledged)
			require.Empty(t, s.Peers().Open(nil))
		})
	}
}

// TestAckOfPredecessor: an id that was cleared is not acknowledged while the item that continues it blocks, and the answer
// has that item.
func TestAckOfPredecessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, session.Config{})
		var known []string
		for range 3 {
			r := s.Begin(session.Call{Tool: "t", Consumer: "v"})
			s.Observe(event.Log{Level: event.LevelError, Message: "Broken"}.Entry())
			_, item := end(t, r, event.StatusCompleted)
			require.True(t, item.Blocking, item.Summary)
			time.Sleep(time.Minute)
			for _, id := range known {
				a := s.Ack(t.Context(), "v", id, 0)
				require.False(t, a.Acknowledged, "%s is continued by %s", id, item.ID)
				require.True(t, a.Already)
				require.Equal(t, item.ID, a.Current.ID)
			}
			require.True(t, s.Ack(t.Context(), "v", item.ID, 0).Acknowledged)
			require.True(t, s.Ack(t.Context(), "v", item.ID, 0).Acknowledged, "a retry")
			known = append(known, item.ID)
		}
		raise(s, "another", event.Blocking)
		require.True(t, s.Ack(t.Context(), "v", known[0], 0).Acknowledged, "what blocks is no successor")
	})
}

// TestAckedByOthersBounds: how many agents are known that have to be told is bounded, and what was dropped is counted.
func TestAckedByOthersBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, session.Config{})
		for i := range 100 {
			s.Begin(session.Call{Tool: "t", Consumer: fmt.Sprint("agent ", i)})
		}
		s.Observe(event.Log{Message: "Broken at last"}.Entry())
		a, _ := s.Current(t.Context(), "agent 99")
		require.True(t, s.Ack(t.Context(), "agent 99", a.ID, 0).Acknowledged)
		s.Begin(session.Call{Tool: "t", Consumer: "newcomer"})
		told := 0
		for i := range 100 {
			items, _ := s.TakeAckedByOthers(fmt.Sprint("agent ", i))
			told += len(items)
		}
		require.Equal(t, 30, told, "those that were there last, without who acknowledged")
		require.Equal(t, session.Limit{
			Name: "acks.untold", Count: 1, Means: "an agent was not told that others acknowledged an item; it is told how many",
		}, s.Status().Limits[0])
	})
}

// TestAckedByOthersModel compares the items that agents are given with a naive account: each agent that is there gets
// the items that others acknowledged, until it takes, reads or acknowledges them itself. Names count as far as they are
// kept.
func TestAckedByOthersModel(tt *testing.T) {
	const kept, limit = 128, 8
	long := strings.Repeat("n", kept)
	set := compile(tt, testRules)
	rapid.Check(tt, func(t *rapid.T) {
		s, err := session.New(session.Config{Engine: small(set)})
		require.NoError(t, err)
		type account struct {
			items []string // oldest first
			more  uint64
		}
		agents := map[string]*account{}
		var people, acks, dropped uint64
		var cleared []string
		consumer := rapid.SampledFrom([]string{"agent", "other", long + "1", long + "2", "heed-page", "heed-" + long})
		meet := func(name string) {
			if name = name[:min(kept, len(name))]; agents[name] == nil && !session.Person(name) {
				agents[name] = &account{}
			}
		}
		forget := func(name, id string) {
			if a := agents[name[:min(kept, len(name))]]; a != nil {
				a.items = slices.DeleteFunc(a.items, func(other string) bool { return other == id })
			}
		}
		for n := range rapid.IntRange(1, 40).Draw(t, "steps") {
			name := consumer.Draw(t, "consumer")
			id := s.Status().Epoch + "-999"
			if len(cleared) > 0 && rapid.Bool().Draw(t, "known") {
				id = rapid.SampledFrom(cleared).Draw(t, "id")
			}
			switch rapid.IntRange(0, 6).Draw(t, "step") {
			case 0, 1, 2: // an item opens, and is acknowledged
				id = s.Raise(heed.Report{Key: fmt.Sprint("key", n), Disposition: event.Blocking, Message: "m"})
				require.True(t, s.Ack(tt.Context(), name, id, 0).Acknowledged)
				cleared = append(cleared, id)
				for agent, a := range agents {
					if agent == name[:min(kept, len(name))] {
						continue
					}
					if a.items = append(a.items, id); len(a.items) > limit {
						a.items = a.items[1:]
						a.more++
						dropped++
					}
				}
				if meet(name); session.Person(name) {
					people++
				} else {
					acks++
				}
			case 3: // an item that is cleared, or not known, is acknowledged
				s.Ack(tt.Context(), name, id, 0)
				forget(name, id)
				meet(name)
			case 4:
				s.MarkRead(name, id)
				forget(name, id)
			case 5:
				s.Begin(session.Call{Tool: "t", Consumer: name})
				meet(name)
			case 6:
				items, more := s.TakeAckedByOthers(name)
				want := account{}
				if a := agents[name[:min(kept, len(name))]]; a != nil {
					want, *a = *a, account{}
				}
				got := account{more: more}
				for _, it := range slices.Backward(items) {
					got.items = append(got.items, it.Item.ID)
					require.LessOrEqual(t, len(it.By), kept)
				}
				require.Equal(t, append([]string(nil), want.items...), got.items)
				require.Equal(t, want.more, got.more)
			}
			st := s.Status()
			require.Equal(t, []uint64{people, acks}, []uint64{st.AcksOfPeople, st.AcksOfAgents})
			i := slices.IndexFunc(st.Limits, func(l session.Limit) bool { return l.Name == "acks.untold" })
			require.Equal(t, dropped > 0, i >= 0)
			require.True(t, i < 0 || st.Limits[i].Count == dropped)
		}
	})
}
