package live

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/agent/steer"
	"github.com/heedlog/heed/internal/testkit"
)

var now = time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC)

func opened(t testing.TB, path string) *outbox {
	t.Helper()
	return testkit.Must(openStates(t.Context(), path, now))
}

func waiting(n int) steer.State {
	return steer.State{Phase: steer.Idle, Pending: make([]steer.Message, n)}
}

func TestStates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	o := opened(t, path)
	s := testkit.Must(loadState(t.Context(), o, "a"))
	require.Zero(t, s)
	require.NoError(t, saveState(t.Context(), o, "a", now, waiting(2)))
	require.ErrorContains(t, o.update(t.Context(), "a", now, func(s steer.State) (steer.State, error) {
		require.Len(t, s.Pending, 2)
		return waiting(5), errors.New("not now")
	}), "not now")
	require.NoError(t, o.update(t.Context(), "a", now, func(s steer.State) (steer.State, error) {
		require.Len(t, s.Pending, 2)
		return waiting(3), nil
	}))
	huge := steer.State{Pending: []steer.Message{{Text: strings.Repeat("x", 5<<20)}}}
	err := saveState(t.Context(), o, "a", now, huge)
	require.ErrorIs(t, err, errState)
	require.ErrorContains(t, err, `"a"`)
	require.NoError(t, o.Close())
	o = opened(t, path)
	s = testkit.Must(loadState(t.Context(), o, "a"))
	require.Equal(t, waiting(3), s)
	require.NoError(t, o.Close())
}

// TestDropped: what is old goes, and of too many what waits for nothing first.
func TestDropped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	o := opened(t, path)
	require.NoError(t, o.Tx(t.Context(), func(tx *sql.Tx) (err error) {
		for n := range 1003 {
			at := now.Add(time.Duration(n) * time.Second)
			err = errors.Join(err, saveState(t.Context(), tx, fmt.Sprint(n), at, waiting(1-min(n, 1)%2)))
		}
		return errors.Join(err, saveState(t.Context(), tx, "old", now.Add(-31*24*time.Hour), waiting(1)))
	}))
	require.NoError(t, o.Close())
	o = opened(t, path)
	for id, there := range map[string]bool{
		"0": true, "1": false, "2": false, "3": false, "4": true, "1002": true, "old": false,
	} {
		s := testkit.Must(loadState(t.Context(), o, id))
		require.Equal(t, there, s.Phase != "", id)
	}
	require.NoError(t, o.Close())
}

// TestUnreadableState is kept aside, and a new one begins.
func TestUnreadableState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	o := opened(t, path)
	require.NoError(t, saveState(t.Context(), o, "a", now, waiting(1)))
	raw := testkit.Must(sql.Open("sqlite", path))
	_ = testkit.Must(raw.Exec(`UPDATE conversation SET state = '{"phase": 7}'`))
	_, err := loadState(t.Context(), o, "a")
	require.ErrorIs(t, err, errState)
	require.NoError(t, o.update(t.Context(), "a", now, func(s steer.State) (steer.State, error) {
		require.Zero(t, s)
		return waiting(2), nil
	}))
	var bad string
	require.NoError(t, raw.QueryRow("SELECT bad FROM conversation").Scan(&bad))
	require.Equal(t, `{"phase": 7}`, bad)
	require.NoError(t, errors.Join(raw.Close(), o.Close()))
}

// everyone is the owner.
func everyone(string) steer.Class { return steer.Owner }

// TestKills drives conversations at random, saves each step, and begins again from what was saved, as after a kill: what
// was accepted is confirmed once or waits still.
func TestKills(t *testing.T) {
	sessions := 10
	if testkit.IsFull() {
		sessions = 100
	}
	path := filepath.Join(t.TempDir(), "x.db")
	o := opened(t, path)
	for seed := range sessions {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		id := fmt.Sprint(seed % 900)
		require.NoError(t, saveState(t.Context(), o, id, now, steer.State{Phase: steer.Idle}))
		restore := func() *steer.Machine {
			s := testkit.Must(loadState(t.Context(), o, id))
			return testkit.Must(steer.Restore(steer.Policy{}, steer.Ceiling{Cancel: true}, everyone, s))
		}
		m, at, accepted, confirmed := restore(), now, map[string]bool{}, map[string]int{}
		for step := range 40 {
			at = at.Add(time.Duration(r.IntN(5000)) * time.Millisecond)
			switch r.IntN(8) {
			case 0:
				if m.State().Phase == steer.Idle {
					m.Begin(steer.Message{Author: "user", Text: "Build."})
				}
			case 1, 2:
				topic := fmt.Sprint("topic ", step)
				if receipt, _ := m.Receive(at, steer.Message{Author: "user", Topic: topic, Text: "x"}); receipt == steer.Accepted {
					accepted[topic] = true
				}
			case 3:
				m.Ended(m.State().Phase == steer.Canceling)
			case 4:
				m.Ride()
			case 5:
				for _, b := range append([]steer.Batch(nil), m.State().Sent...) {
					if r.IntN(3) == 0 {
						m.Fail(at, b.Delivery)
						continue
					}
					for _, msg := range m.Confirm(b.Delivery) {
						confirmed[msg.Topic]++
					}
				}
			case 6:
				m.Ready(at)
			default: // killed after the step was saved
				m = restore()
			}
			require.NoError(t, saveState(t.Context(), o, id, at, m.State()))
		}
		s := restore().State()
		for _, msg := range s.Pending {
			confirmed[msg.Topic]++
		}
		for topic := range accepted {
			require.Equal(t, 1, confirmed[topic], "session %d: %s", seed, topic)
		}
	}
	require.NoError(t, o.Close())
}
