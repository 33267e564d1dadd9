package heed

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// version1 is a snapshot that an engine of version 1 of signatures wrote: that of TestSnapshotFormat as it was.
const version1 = "testdata/snapshot-v1.hex"

// TestRenew goes on after a snapshot whose ids are of version 1 of signatures, which Restore refuses.
func TestRenew(t *testing.T) {
	old := storedSnapshot(t, version1)
	cfg := snapshotConfig(mustRules(t, testRules))
	_, err := Restore(cfg, old)
	require.ErrorContains(t, err, fmt.Sprintf(
		"its ids are of version 1 of signatures, those of this program of version %d", signature.Version))

	cfg.Epoch = "" // that of the snapshot goes on
	e, held, err := Renew(cfg, old)
	require.NoError(t, err)
	var lines []string
	for i := range held {
		a := &held[i]
		require.True(t, a.Blocking)
		lines = append(lines, fmt.Sprintf("%s %s %d from %d to %d %s: %s: %s", a.ID, a.Severity, a.TotalUrgentEntries,
			a.OpenedAtSequence, a.LatestSequence, a.Sample[0].Rule, a.Summary, a.Sample[0].Message))
	}
	require.Equal(t, []string{
		"e1-7 error 5 from 92 to 155 default.state.stall: a fault of the rule default.state.stall: stall no sign of life " +
			"by the time that the host expected one",
		"e1-9 fatal 33 from 14 to 162 default.state.exited: a fault of the rule default.state.exited: exited",
		"e1-10 fatal 11 from 109 to 158 host.report: it is full: raised disk",
	}, lines)

	st := e.Stats()
	require.NoError(t, st.Check())
	require.EqualValues(t, 162, st.Received)
	require.EqualValues(t, 68, st.Logs)
	require.EqualValues(t, 10, st.Coalesce.Opened)
	require.EqualValues(t, 10, st.Coalesce.Cleared)
	require.Zero(t, st.Coalesce.Open)
	require.True(t, st.Coalesce.Blind)
	require.Equal(t, "play", st.Phase)
	require.Equal(t, "t.limit", st.BlindRule)
	require.False(t, e.Ack("", "e1-9", 0).Acknowledged, "it is not open any more")
	page := e.Read(Cursor{Epoch: "e1", Seq: 160}, 10, Filter{})
	require.NoError(t, page.Err, "a cursor of before is one")
	require.EqualValues(t, 2, page.Lost)

	id := e.Raise(Report{Key: "before", Disposition: event.Blocking, Message: "before"})
	require.Equal(t, "e1-11", id, "numbers go on")
	a, _ := e.Item(id)
	require.EqualValues(t, 163, a.OpenedAtSequence)
	snapshot := e.Snapshot(nil)
	again, err := Restore(cfg, snapshot)
	require.NoError(t, err)
	require.Equal(t, snapshot, again.Snapshot(nil))
}

func TestRenewRefused(t *testing.T) {
	old := storedSnapshot(t, version1)
	cfg := snapshotConfig(mustRules(t, testRules))
	for name, c := range map[string]struct {
		cfg      Config
		snapshot []byte
		want     string
	}{
		"epoch":    {Config{Epoch: "e2"}, old, `it is of the epoch "e1", and Config.Epoch is "e2"`},
		"config":   {Config{Signatures: -1}, old, "Config.Signatures is negative"},
		"extra":    {cfg, seal(append(bytes.Clone(old), 0)), "follow after its end"},
		"counts":   {cfg, seal(bytes.Replace(old, []byte{162, 1, 68}, []byte{162, 1, 67}, 1)), "it does not add up"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Renew(c.cfg, c.snapshot)
			require.ErrorContains(t, err, c.want)
		})
	}
	for n := range old { // sealed again: what is wrong with it, the reader has to find
		_, _, err := Renew(cfg, old[:n])
		require.ErrorContains(t, err, "torn")
		if n > snapshotHead+snapshotChecksum && n%3 == 0 {
			_, _, err = Renew(cfg, seal(bytes.Clone(old[:n])))
			require.Error(t, err, "cut at %d", n)
		}
	}
}
