package session_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
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
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
	"github.com/heedlog/heed/internal/testkit"
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

// TestKilledInARecord kills a process after the first line of a record was delivered, and before its other line came:
// the next process counts the record once.
func TestKilledInARecord(t *testing.T) {
	dir := t.TempDir()
	log, state, left := filepath.Join(dir, "Player.log"), filepath.Join(dir, "state"), filepath.Join(dir, "left")
	synctest.Test(t, func(t *testing.T) {
		follows := func(lines, state string) *session.Session {
			file := testkit.Must(os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))
			testkit.Must(file.WriteString(lines))
			require.NoError(t, file.Close())
			s := start(t, session.Config{
				Snapshot: state,
				Log:      testkit.Must(follow.New(follow.Config{Path: log, Resume: session.Position(state), NoNotify: true})),
			})
			time.Sleep(time.Second)
			return s
		}
		follows("Fine\nBroken thing\n", state)
		require.NoError(t, os.Rename(state, left))
		st := follows("  at A.B () [0x0] in <1>:0 \nFine\n", left).Engine().Stats()
		require.EqualValues(t, 1, st.Folded)
		require.EqualValues(t, 1, st.Late)
		require.EqualValues(t, 3, st.Received-st.Late)
	})
}

// TestEndLeft: calls that ran when the process was killed, also since the latest snapshot, end without an answer, but for
// operations of the game, and in a game that is started again. Calls that ended since end as they did.
func TestEndLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	open := func() *session.Session {
		return testkit.Must(session.New(session.Config{Engine: heed.Config{Rules: compile(t, testRules)}, Snapshot: path}))
	}
	s := open()
	left := s.Begin(session.Call{Tool: "slow"}).ID()
	ended := s.Begin(session.Call{Tool: "quick"})
	end(t, ended, event.StatusCompleted)
	s.Observe(event.Operation{ID: "job", Status: event.StatusStarted}.Entry())
	across := s.Begin(session.Call{Tool: "quick"})
	s.Raise(heed.Report{Key: "k", Disposition: event.Blocking, Message: "it saves"})
	end(t, across, event.StatusCompleted)
	require.NoError(t, os.Rename(path, path+".kept"))
	require.NoError(t, os.MkdirAll(filepath.Join(path, "in the way"), 0o700))
	s.Raise(heed.Report{Key: "j", Disposition: event.Blocking, Message: "it cannot save"})
	require.NoError(t, errors.Join(os.RemoveAll(path), os.Rename(path+".kept", path)))
	notes := testkit.Must(os.OpenFile(path+".calls", os.O_APPEND|os.O_WRONLY, 0))
	testkit.Must(notes.WriteString(`{"torn`))
	require.NoError(t, notes.Close())
	unsaved := s.Begin(session.Call{Tool: "slow\n\" tool"}).ID()
	over := s.Begin(session.Call{Tool: "quick"})
	end(t, over, event.StatusCompleted)
	for began, want := range map[bool][]event.Status{
		true: {
			event.StatusStarted, event.StatusCompleted, event.StatusStarted, event.StatusStarted, event.StatusNone,
			event.StatusNone,
		},
		false: {
			event.StatusTimedOut, event.StatusCompleted, event.StatusStarted, event.StatusCompleted, event.StatusTimedOut,
			event.StatusCompleted,
		},
	} {
		s = open()
		if began {
			s.BeginRun()
		}
		s.EndLeft()
		s.EndLeft() // once
		var got []event.Status
		for _, id := range []string{left, ended.ID(), "job", across.ID(), unsaved, over.ID()} {
			got = append(got, s.Engine().Verdict(id).Status)
		}
		require.Equal(t, want, got)
		records := s.Engine().Read(heed.Cursor{}, 99, heed.Filter{Operation: left}).Records
		if !began {
			last := records[0]
			require.Len(t, records, 1)
			require.Equal(t, "heed ended before the call was answered", last.Message)
			require.Equal(t, "slow", last.Source)
			require.Equal(t, "slow\n\" tool", s.Engine().Verdict(unsaved).Method)
		}
	}
	s.Raise(heed.Report{Key: "l", Disposition: event.Blocking, Message: "it saves"})
	require.NoFileExists(t, path+".calls", "the snapshot has them")
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

// stored returns the path of a state in which two items block, what is in it, and its epoch.
func stored(t *testing.T) (path string, data []byte, epoch string) {
	path = filepath.Join(t.TempDir(), "heed.snapshot")
	s, err := session.New(session.Config{Engine: heed.Config{Rules: compile(t, testRules)}, Snapshot: path})
	require.NoError(t, err)
	s.Observe(broken("1").Entry())
	s.Observe(event.Log{Message: "No more"}.Entry())
	s.Raise(heed.Report{Key: "disk", Disposition: event.Blocking, Summary: "the disk is full"})
	require.NoError(t, s.Run(canceled(t)))
	data, err = os.ReadFile(path)
	require.NoError(t, err)
	return path, data, s.Status().Epoch
}

// otherVersion returns a snapshot with another format of the state.
func otherVersion(snapshot []byte) []byte {
	first, line, _ := bytes.Cut(snapshot, []byte("\n"))
	_, record, _ := bytes.Cut(bytes.TrimPrefix(line, []byte("heed ")), []byte(" "))
	record = bytes.Replace(bytes.TrimSpace(record), []byte(`{"Format":`), []byte(`{"Format":9`), 1)
	return fmt.Appendf(nil, "%s\nheed %08x %s\n", first, crc32.Checksum(record, crc32.MakeTable(crc32.Castagnoli)), record)
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// TestUpdate starts sessions on a state of another version, and on damaged ones: what blocked does.
func TestUpdate(t *testing.T) {
	for name, c := range map[string]struct {
		change func([]byte) []byte
		why    string
	}{
		"other version": {otherVersion, "its state has format"},
		"changed":       {func(b []byte) []byte { b[len(b)-200] ^= 1; return b }, "damaged"},
		"cut":           {func(b []byte) []byte { return b[:len(b)-100] }, "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path, old, epoch := stored(t)
				require.NoError(t, os.WriteFile(path, c.change(old), 0o600))
				s := start(t, session.Config{Snapshot: path})
				st := s.Status()
				require.True(t, st.Restored)
				require.True(t, s.Continues())
				require.Equal(t, epoch, st.Epoch)
				require.Contains(t, st.Snapshot.Refused, c.why)
				require.True(t, st.Engine.Blind)
				s.BeginRun()
				a, open := s.Current(t.Context(), "agent")
				require.True(t, open)
				require.Equal(t, epoch+"-1", a.ID)
				require.Contains(t, a.Summary, "something broke")
				require.True(t, a.StateInvalidated)
				require.Len(t, s.Engine().Open(nil), 2)

				g := gateOf(t, s)
				call := gate.Call{ID: "r1", Tool: "colony/build", Consumer: "agent"}
				require.False(t, g.Check(t.Context(), call).Allowed)
				acked := s.Ack(t.Context(), "agent", epoch+"-1", 0)
				require.Equal(t, []string{epoch + "-3"}, acked.Covered, "which the summary named")
				require.True(t, g.Check(t.Context(), call).Allowed)
				s.Observe(broken("1").Entry())
				a, _ = s.Current(t.Context(), "agent")
				require.Equal(t, epoch+"-4", a.ID)
				files, err := filepath.Glob(path + "*")
				require.NoError(t, err)
				require.Equal(t, []string{path}, files)
			})
		})
	}
}

// TestUpdateUnreadable starts sessions on files of which nothing can be read: one item says so, and the gate is closed.
func TestUpdateUnreadable(t *testing.T) {
	for name, data := range map[string]string{"empty": "", "foreign": "heedfile\x00\x01", "damaged": "heed 01234567 {}\nheed\x00"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path, _, epoch := stored(t)
				require.NoError(t, os.WriteFile(path, []byte(data), 0o600))
				s := start(t, session.Config{Snapshot: path})
				st := s.Status()
				require.False(t, st.Restored)
				require.NotEqual(t, epoch, st.Epoch)
				require.Contains(t, st.Snapshot.Refused, path)
				require.Contains(t, st.Snapshot.Refused, "carry-over: it is missing, torn or damaged")
				a, open := s.Current(t.Context(), "agent")
				require.True(t, open)
				require.True(t, a.Blocking)
				require.Contains(t, a.Summary, "the saved state cannot be read")
				require.True(t, s.Ack(t.Context(), "agent", a.ID, 0).Acknowledged)

				s = start(t, session.Config{Snapshot: path})
				require.Empty(t, s.Status().Snapshot.Refused)
				_, open = s.Current(t.Context(), "agent")
				require.False(t, open, "it is reported once")
			})
		})
	}
}
