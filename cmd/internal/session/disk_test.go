package session_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
)

// TestKilled kills a process at any moment: the next one knows every id that the
// first has told, holds what was acknowledged, and gives no id twice.
func TestKilled(tt *testing.T) {
	set := compile(tt, testRules)
	rapid.Check(tt, func(t *rapid.T) {
		dir, err := os.MkdirTemp(tt.TempDir(), "")
		require.NoError(t, err)
		defer func() { _ = os.RemoveAll(dir) }()
		path := filepath.Join(dir, "state")
		told := map[string]bool{} // and whether it was acknowledged
		operations := map[string]bool{}
		tell := func(id string) {
			if _, known := told[id]; id != "" && !known {
				told[id] = false
			}
		}
		for range rapid.IntRange(1, 3).Draw(t, "lives") {
			s, err := session.New(session.Config{Engine: small(set), Snapshot: path})
			require.NoError(t, err)
			for id, acked := range told {
				a, ok := s.Item(id)
				require.True(t, ok, "%s was told", id)
				if acked {
					require.NotEmpty(t, a.ClearedBy, "%s was acknowledged", id)
				}
			}
			for range rapid.IntRange(0, 12).Draw(t, "calls") { // fewer items than are remembered
				switch rapid.IntRange(0, 7).Draw(t, "call") {
				case 0:
					s.Observe(event.Log{Message: rapid.SampledFrom([]string{
						"Broken thing", "Odd thing", "Broken other thing",
						"Fine",
					}).Draw(t, "text")}.Entry())
				case 1:
					tell(s.Raise(heed.Report{
						Key: rapid.StringMatching("[a-d]").Draw(t, "key"), Disposition: event.Blocking,
						Message: "m",
					}))
				case 2:
					a, _ := s.Current(t.Context(), "agent")
					tell(a.ID)
				case 3:
					for _, a := range s.Open(nil) {
						tell(a.ID)
					}
				case 4:
					for id := range told {
						res := s.Ack(t.Context(), "agent", id, 0)
						require.True(t, res.Acknowledged || res.Already)
						told[id] = true
						for _, c := range res.Covered {
							told[c] = true
						}
						tell(res.Current.ID)
						break
					}
				case 5:
					tell(s.Attach("late"))
				case 6:
					r := s.Begin(session.Call{Tool: "t"})
					require.False(t, operations[r.ID()])
					operations[r.ID()] = true
					s.Observe(event.Log{Message: "Broken by it", OperationID: r.ID()}.Entry())
					_, related := end(tt, r, event.StatusCompleted)
					if related != nil {
						tell(related.ID)
					}
				}
			}
		}
	})
}

// TestToldWhileSaving: an item is not reported to a second caller while the snapshot that holds it is being written.
func TestToldWhileSaving(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	s, err := session.New(session.Config{Engine: heed.Config{Rules: compile(t, testRules)}, Snapshot: path})
	require.NoError(t, err)
	for i := range 20 {
		before, _ := os.ReadFile(path)
		key := strconv.Itoa(i)
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.Raise(heed.Report{Key: key, Disposition: event.Blocking, Message: "m"})
		}()
		saving := func() bool {
			files, err := os.ReadDir(filepath.Dir(path))
			require.NoError(t, err)
			return slices.ContainsFunc(files, func(f os.DirEntry) bool { return f.Name() != filepath.Base(path) })
		}
		for !saving() && !ended(done) {
			runtime.Gosched()
		}
		open := s.Open(nil)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NotEqual(t, before, after)
		<-done
		s.Clear(open[0].ID)
	}
}

// ended reports whether done is closed.
func ended(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

func TestSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state")
		open := func() *session.Session {
			s, err := session.New(session.Config{Engine: heed.Config{Rules: compile(t, testRules)}, Snapshot: path})
			require.NoError(t, err)
			return s
		}
		s := open()
		require.False(t, s.Status().Restored)
		k := &sink{}
		s.OnUpdates(k.take)
		stop := run(t, s)
		s.Observe(event.Log{Message: "Fine"}.Entry())
		require.Zero(t, s.Status().Snapshot.Saves, "what nobody was told of can wait")
		s.Observe(broken("1").Entry())
		synctest.Wait()
		require.EqualValues(t, 1, s.Status().Snapshot.Saves, "an id was told")
		s.Observe(broken("2").Entry())
		synctest.Wait()
		s.Current(t.Context(), "agent")
		require.EqualValues(t, 1, s.Status().Snapshot.Saves, "and is known")
		time.Sleep(session.SnapshotEvery)
		synctest.Wait()
		require.EqualValues(t, 2, s.Status().Snapshot.Saves)
		time.Sleep(time.Hour)
		require.EqualValues(t, 2, s.Status().Snapshot.Saves, "nothing happened")
		a, _ := s.Current(t.Context(), "agent")
		s.Ack(t.Context(), "agent", a.ID, 0)
		require.EqualValues(t, 3, s.Status().Snapshot.Saves)
		epoch := s.Status().Epoch
		s.Observe(event.Log{Message: "Fine"}.Entry())
		stop()

		s = open()
		require.True(t, s.Status().Restored)
		require.Equal(t, epoch, s.Status().Epoch)
		require.EqualValues(t, 5, s.Engine().Latest().Seq, "saved at the end")
		res := s.Ack(t.Context(), "agent", a.ID, 0)
		require.True(t, res.Already)
	})
}

// TestDiskFails: what cannot be written is said, and holds nobody back.
func TestDiskFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "absent")
		s := start(t, session.Config{Snapshot: filepath.Join(dir, "state")})
		s.Observe(broken("1").Entry())
		a, open := s.Current(t.Context(), "agent")
		require.True(t, open)
		require.True(t, s.Ack(t.Context(), "agent", a.ID, 0).Acknowledged)
		st := s.Status().Snapshot
		require.NotZero(t, st.Failed)
		require.NotEmpty(t, st.Error)
		require.NoError(t, os.Mkdir(dir, 0o700))
		s.Observe(broken("2").Entry())
		time.Sleep(session.SnapshotEvery)
		synctest.Wait()
		require.Empty(t, s.Status().Snapshot.Error)
	})
}
