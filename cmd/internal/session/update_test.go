package session_test

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
)

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
