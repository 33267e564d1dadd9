package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
)

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
