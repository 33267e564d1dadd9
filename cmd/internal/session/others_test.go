package session_test

import (
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
)

// TestAckedByOthersBounds: what agents were not told is bounded, and what was dropped is counted.
func TestAckedByOthersBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, session.Config{})
		s.Current(t.Context(), "agent")
		s.Current(t.Context(), "heed-cli#1")
		const faults = 11
		ids := make([]string, faults)
		for i := range ids {
			time.Sleep(2 * time.Second) // of other incidents
			s.Observe(event.Log{Message: fmt.Sprintf("Broken %c part", 'a'+i)}.Entry())
			a, open := s.Current(t.Context(), "heed-cli#1")
			require.True(t, open)
			ids[i] = a.ID
			require.True(t, s.Ack(t.Context(), "heed-cli#1", a.ID, 0).Acknowledged)
			require.True(t, s.Ack(t.Context(), "heed-cli#1", a.ID, 0).Already, "again is nothing new")
		}
		s.MarkRead("agent", ids[9])
		require.Equal(t, uint64(faults), s.Status().AcksOfPeople)
		require.Zero(t, s.Status().AcksOfAgents)
		items, more := s.TakeAckedByOthers("agent")
		require.Equal(t, uint64(3), more)
		require.Len(t, items, 7)
		require.Equal(t, ids[10], items[0].Item.ID, "the newest first")
		require.Equal(t, ids[3], items[6].Item.ID)
		require.Equal(t, "heed-cli#1", items[0].By)
		require.Contains(t, s.Status().Limits, session.Limit{
			Name: "acks.untold", Count: 3, Means: "an agent was not told that others acknowledged an item; it is told how many",
		})
		items, more = s.TakeAckedByOthers("agent")
		require.Empty(t, items)
		require.Zero(t, more)
		items, _ = s.TakeAckedByOthers("heed-cli#1")
		require.Empty(t, items, "a person makes no calls")
		items, _ = s.TakeAckedByOthers("came later")
		require.Empty(t, items)

		for i := range 100 {
			s.Begin(session.Call{Tool: "t", Consumer: fmt.Sprint("agent ", i)})
		}
		s.Observe(event.Log{Message: "Broken at last"}.Entry())
		a, _ := s.Current(t.Context(), "agent 99")
		require.True(t, s.Ack(t.Context(), "agent 99", a.ID, 0).Acknowledged)
		s.Begin(session.Call{Tool: "t", Consumer: "newcomer"})
		told := 0
		for i := range 100 {
			items, _ = s.TakeAckedByOthers(fmt.Sprint("agent ", i))
			told += len(items)
		}
		require.Equal(t, 30, told, "those that were there last, without who acknowledged")
		require.EqualValues(t, 4, s.Status().Limits[0].Count, "and one more")
		require.Equal(t, uint64(1), s.Status().AcksOfAgents)
	})
}

// TestAckedByOthersModel compares the items that agents are given with a naive account: each agent that is there gets
// the items that others acknowledged, until it takes, reads or acknowledges them itself. Names count as far as they are
// kept.
func TestAckedByOthersModel(tt *testing.T) {
	const kept, limit = 128, 8
	long := strings.Repeat("n", kept)
	rapid.Check(tt, func(t *rapid.T) {
		s, err := session.New(session.Config{})
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
