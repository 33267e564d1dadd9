package session_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/gate"
	"github.com/heedlog/heed/internal/session"
	"github.com/heedlog/heed/internal/statefile"
	"github.com/heedlog/heed/signature"
)

// epochV1 is that of the snapshots in testdata, which version 1 wrote: v1-blocking with items 2, 3 and 4 that block and
// one that does not, v1-quiet with one that was acknowledged.
const epochV1 = "20260131T090000.123456789"

const laterVersion = signature.Version + 1

// fromV1 returns the path of a copy of a stored snapshot, changed, and what is in it.
func fromV1(t *testing.T, name string, change func(*testing.T, []byte) []byte) (path string, data []byte) {
	data, err := os.ReadFile(filepath.Join("testdata", name+".snapshot"))
	require.NoError(t, err)
	if change != nil {
		data = change(t, data)
	}
	path = filepath.Join(t.TempDir(), "heed.snapshot")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path, data
}

func requireFile(t *testing.T, path string, want []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, data)
}

// TestUpdate starts sessions on a snapshot that version 1 wrote.
func TestUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path, old := fromV1(t, "v1-blocking", nil)
		s, err := session.New(session.Config{Engine: heed.Config{Rules: compile(t, testRules)}, Snapshot: path})
		require.NoError(t, err)
		stop := run(t, s)
		requireFile(t, path+".v1", old)
		_, err = statefile.ReadFile(path, "snapshot", signature.Version)
		require.NoError(t, err, "an item that is open is on disk")

		a, open := s.Current("agent")
		require.True(t, open)
		require.Equal(t, epochV1+"-5", a.ID)
		require.True(t, a.Blocking)
		require.True(t, a.StateInvalidated)
		require.Contains(t, a.Summary, "from before an update: 3 blocking items were open: 2, 3, 4; see heed.snapshot.v1")
		require.EqualValues(t, 12, a.OpenedAtSequence)
		require.Contains(t, a.Sample[0].Message, "their state is in "+path+".v1")
		var samples []string
		for _, sample := range a.Sample[1:] {
			samples = append(samples, sample.Message)
		}
		slices.Sort(samples)
		require.Equal(t, []string{
			"raised " + epochV1 + "-2: an object or a part of the simulation throws exceptions; it no longer works correctly",
			"raised " + epochV1 + "-3: a link between saved objects could not be restored; it may be empty now",
			"raised " + epochV1 + "-4: the game crashed in native code; everything since the last save is lost",
		}, samples)
		require.Len(t, s.Engine().Open(nil), 1)

		g, err := s.Gate(gate.Config{})
		require.NoError(t, err)
		call := gate.Call{ID: "r1", Tool: "colony/build", Consumer: "agent"}
		require.False(t, g.Check(t.Context(), call).Allowed)
		require.False(t, s.Ack("agent", epochV1+"-4", 0).Acknowledged, "items of before are not open")
		require.True(t, s.Ack("agent", a.ID, 0).Acknowledged)
		require.True(t, g.Check(t.Context(), call).Allowed)
		st := s.Status()
		require.True(t, st.Restored)
		require.Equal(t, path+".v1", st.Snapshot.Before)
		require.Empty(t, st.Snapshot.Refused)
		stop()

		s = start(t, session.Config{Snapshot: path})
		require.Equal(t, epochV1, s.Status().Epoch)
		_, open = s.Current("agent")
		require.False(t, open, "it is reported once")
		requireFile(t, path+".v1", old)
	})
}

// TestUpdateOf starts sessions on other snapshots of version 1, whole or not, and on those of later ones.
func TestUpdateOf(t *testing.T) {
	for name, c := range map[string]struct {
		stored  string
		change  func(*testing.T, []byte) []byte
		aside   string // the suffix of its other name
		epoch   bool   // goes on
		refused string
	}{
		"nothing blocked": {stored: "v1-quiet", aside: ".v1", epoch: true},
		"cut": {
			stored: "v1-blocking", change: func(_ *testing.T, b []byte) []byte { return b[:len(b)-100] }, aside: ".v1",
			refused: "damaged: it has 2629 bytes",
		},
		"changed": {
			stored: "v1-blocking", change: func(_ *testing.T, b []byte) []byte { b[len(b)/2] ^= 1; return b }, aside: ".v1",
			refused: "the checksum of its payload is wrong",
		},
		"no header": {
			stored: "v1-quiet", change: func(_ *testing.T, b []byte) []byte { return b[:20] }, refused: "less than its header",
		},
		"empty": {
			stored: "v1-quiet", change: func(*testing.T, []byte) []byte { return []byte{} }, refused: "less than its header",
		},
		"wrong payload": {
			stored: "v1-quiet", change: rewritten(1, []byte("heed\x00sn\nodd")), aside: ".v1", refused: "torn",
		},
		"newer": {
			stored: "v1-quiet", change: rewritten(laterVersion, []byte("x")), aside: fmt.Sprintf(".v%d", laterVersion),
			refused: fmt.Sprintf("it is of version %d, this program reads version %d", laterVersion, signature.Version),
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path, old := fromV1(t, c.stored, c.change)
				for range 2 { // the second finds it as it was: the first did not save
					s, err := session.New(session.Config{Engine: heed.Config{Rules: compile(t, testRules)}, Snapshot: path})
					require.NoError(t, err)
					require.Empty(t, s.Engine().Open(nil))
					st := s.Status()
					require.Equal(t, c.epoch, st.Epoch == epochV1)
					require.Contains(t, st.Snapshot.Refused, c.refused)
					require.Equal(t, c.refused == "", st.Snapshot.Refused == "")
					requireFile(t, path, old)
					if c.aside != "" {
						require.Equal(t, path+c.aside, st.Snapshot.Before)
						requireFile(t, path+c.aside, old)
					}
				}
				s := start(t, session.Config{Snapshot: path})
				s.Observe(broken("1").Entry())
				a, open := s.Current("agent")
				require.True(t, open)
				if c.epoch {
					require.Equal(t, epochV1+"-2", a.ID)
				}
				files, err := filepath.Glob(path + "*")
				require.NoError(t, err)
				want := []string{path}
				if c.aside != "" {
					requireFile(t, path+c.aside, old)
					want = append(want, path+c.aside)
				}
				require.Equal(t, want, files)
			})
		})
	}
}

// rewritten returns a change to a whole file of a version.
func rewritten(version uint32, payload []byte) func(*testing.T, []byte) []byte {
	return func(t *testing.T, _ []byte) []byte {
		path := filepath.Join(t.TempDir(), "file")
		require.NoError(t, statefile.WriteFile(path, "snapshot", version, payload))
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		return b
	}
}

// TestUpdateTwice keeps the state of each update: an older program may have run in between.
func TestUpdateTwice(t *testing.T) {
	path, blocking := fromV1(t, "v1-blocking", nil)
	config := session.Config{Engine: heed.Config{Rules: compile(t, testRules)}, Snapshot: path}
	_, err := session.New(config)
	require.NoError(t, err)
	_, quiet := fromV1(t, "v1-quiet", nil)
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path, quiet, 0o600))
	s, err := session.New(config)
	require.NoError(t, err)
	require.Equal(t, path+".v1.2", s.Status().Snapshot.Before)
	requireFile(t, path+".v1", blocking)
	requireFile(t, path+".v1.2", quiet)
	require.NoError(t, s.Run(canceled(t)))
	requireFile(t, path+".v1.2", quiet)
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
