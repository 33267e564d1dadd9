package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report/replay"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

// TestRecordingReplays gives an engine what a session has, records it, and
// replays the recording: the updates are the same, with their ids, numbers and times.
func TestRecordingReplays(t *testing.T) {
	set := testkit.Must(rules.Compile(rules.Defaults()...))
	captures := testkit.Must(filepath.Glob("../../../testdata/captures/*.*"))
	require.NotEmpty(t, captures)
	for _, name := range captures {
		in := testkit.Must(os.Open(name))
		reader := testkit.Must(capture.NewReader(in, capture.Options{}))
		engine := testkit.Must(heed.New(replay.Config(set)))
		record := &capture.Record{}

		var recording bytes.Buffer
		recorder := follow.NewRecorder(&recording)
		now := time.Date(2026, 5, 4, 3, 2, 1, 7, time.UTC)
		var want []heed.Update
		family := ""
		line := uint64(1) // of the recording: the positions are its own
		give := func() {
			now = now.Add(1234567 * time.Nanosecond)
			line++
			if record.Family != "" && record.Family != family {
				family = record.Family
				line++ // of its own
				require.NoError(t, engine.SetFamily(family))
			}
			record.Time, record.Pos = now, line
			recorder.Record(record)
			if record.Mods != nil {
				engine.LearnMods(record.Mods.Plain())
			}
			engine.Observe(record.Entry)
			want = engine.Updates(want)
			if open := engine.Open(nil); len(open) > 0 && open[0].Blocking && open[0].LatestSequence%3 == 0 {
				a, _ := engine.Current("agent")
				recorder.Record(&capture.Record{Entry: event.Entry{
					Kind: event.KindHost, Status: event.StatusDelivered, Source: "agent",
				}})
				recorder.Ack("agent", a.ID, a.LatestSequence)
				engine.Ack("agent", a.ID, a.LatestSequence)
				want = engine.Updates(want)
				now = now.Add(time.Minute)
				recorder.StateRead()
				engine.StateRead()
				recorder.Advance(now)
				engine.Advance(now)
				line += 4
				want = engine.Updates(want)
			}
		}
		for i := 0; ; i++ {
			if errors.Is(reader.Next(record), io.EOF) {
				break
			}
			give()
			switch i % 10 {
			case 3:
				*record = capture.Record{Entry: event.Operation{
					ID: fmt.Sprintf("op \"%d\"", i), Method: "game/do", Status: event.StatusStarted, Parent: "\"all\"\u2028",
				}.Entry()}
				give()
			case 6:
				*record = capture.Record{Entry: event.Operation{
					ID: fmt.Sprintf("op \"%d\"", i-3), Status: event.StatusCancelled, Error: "no\n\x01 \xff panel",
				}.Entry()}
				give()
			case 8:
				*record = capture.Record{Entry: event.State{Status: event.StatusPhase, Phase: "play"}.Entry()}
				give()
				*record = capture.Record{Entry: event.Entry{
					Part: event.Rest, Source: "continuation", Stack: strings.Repeat("  at A.B () [0x0] in <1>:0 \xff\n", 900),
				}}
				give()
			}
		}
		require.NoError(t, in.Close())
		require.NoError(t, recorder.Err())

		path := filepath.Join(t.TempDir(), "recording.jsonl")
		require.NoError(t, os.WriteFile(path, recording.Bytes(), 0o600))
		replayed, err := newProgram(nil, io.Discard, io.Discard).open(context.Background(), replay.Config(set), path, nil)
		require.NoError(t, err)
		var got []heed.Update
		for {
			if err := replayed.Next(); err != nil {
				require.ErrorIs(t, err, io.EOF)
				break
			}
			got = replayed.Engine.Updates(got)
		}
		replayed.close()
		stats := replayed.Engine.Stats()
		require.NoError(t, stats.Check())
		require.Equal(t, engine.Stats(), replayed.Engine.Stats(), name)
		require.Len(t, got, len(want), name)
		for i := range want {
			require.Equal(t, want[i], got[i], name)
		}
		require.NotEmpty(t, got, name)
	}
}

// TestRecordingTimes: an update that only the passing of time prompted has the time at
// which it did.
func TestRecordingTimes(t *testing.T) {
	var recording bytes.Buffer
	recorder := follow.NewRecorder(&recording)
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	recorder.Record(&capture.Record{Entry: event.Entry{
		Time: at, Level: event.LevelError,
		Message: "Could not resolve cross-reference to Verse.ThingDef named Mill",
	}})
	recorder.Advance(at.Add(time.Hour))
	require.NoError(t, recorder.Err())
	require.Contains(t, ok(t, "--format", "jsonl", write(t, "recording.jsonl", recording.String())), `"cleared"`)
}
