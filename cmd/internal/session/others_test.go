package session_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

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
		told := 0
		for i := range 100 {
			items, _ = s.TakeAckedByOthers(fmt.Sprint("agent ", i))
			told += len(items)
		}
		require.Equal(t, 31, told, "those that were there last, without who acknowledged")
		require.Equal(t, uint64(1), s.Status().AcksOfAgents)
	})
}
