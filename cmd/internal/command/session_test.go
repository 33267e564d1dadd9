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
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
	"github.com/heedlog/heed/internal/report/replay"
	"github.com/heedlog/heed/internal/testkit"
)

// TestSessionReplays: a session that follows a real file, with calls, refusals and
// acknowledgements, is recorded, and its recording leads to the same entries,
// decisions, items and verdicts, and to the same last kind of update about each item.
// Updates are not compared: how many of them a session joins, and how much of what came
// later is in them, depends on how soon it gets to them.
func TestSessionReplays(t *testing.T) {
	set := defaultRules(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "Player.log")
	log := testkit.Must(os.Create(path))
	t.Cleanup(func() { _ = log.Close() })
	follower := testkit.Must(follow.New(follow.Config{Path: path}))
	var recording bytes.Buffer
	recorder := follow.NewRecorder(&recording)
	config := replay.Config(set)
	// A session would have an epoch of its own.
	config.Epoch = testkit.Must(heed.New(config)).Latest().Epoch
	const patience = time.Minute // a machine that stands still for a moment is no log that cannot be read
	session := testkit.Must(session.New(session.Config{
		Engine: config, Log: follower, Recorder: recorder, SyncTimeout: patience,
	}))
	var mu sync.Mutex
	want := map[string]heed.Update{}
	session.OnUpdates(func(us []heed.Update) {
		mu.Lock()
		defer mu.Unlock()
		for _, u := range us {
			want[u.Item.ID] = u
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- session.Run(ctx) }()
	t.Cleanup(cancel)

	g := testkit.Must(gate.New(gate.Config{Source: session.Source(false), Timeout: patience}))
	refused := 0
	var operations []string
	for i := range 12 {
		call := gate.Call{ID: fmt.Sprint(i), Tool: "colony/build", Consumer: "agent"}
		d := g.Check(t.Context(), call)
		if !d.Allowed {
			refused++
			require.NotNil(t, d.Attention, d.Refusal)
			require.True(t, session.Ack(t.Context(), "agent", d.Attention.ID, 0).Acknowledged)
			if d = g.Check(t.Context(), call); !d.Allowed {
				continue
			}
		}
		testkit.Must(fmt.Fprintf(log,
			"Colony day %d\nNullReferenceException: Object reference not set to an instance of an object\n  at "+
				"Colony.Part%c.Build () [0x00000] in <1>:0 \n\nColony day %d is over\n", i, 'A'+i%5, i))
		res := g.Done(t.Context(), d, event.StatusCompleted, "")
		operations = append(operations, res.Verdict.Operation)
	}
	require.Positive(t, refused)
	require.NoError(t, session.Sync(t.Context()))
	cancel()
	require.NoError(t, <-done)
	require.NoError(t, recorder.Err())

	file := filepath.Join(dir, "recording.jsonl")
	require.NoError(t, os.WriteFile(file, recording.Bytes(), 0o600))
	replayed, err := newProgram(nil, io.Discard, io.Discard).open(context.Background(), replay.Config(set), file, nil)
	require.NoError(t, err)
	defer replayed.close()
	got := map[string]heed.Update{}
	for {
		if err := replayed.Next(); err != nil {
			require.ErrorIs(t, err, io.EOF)
			break
		}
		for _, u := range replayed.Engine.Updates(nil) {
			got[u.Item.ID] = u
		}
	}
	a, b := session.Engine(), replayed.Engine
	require.Equal(t, held(a), held(b))
	require.NotEmpty(t, want)
	require.Len(t, got, len(want))
	for id, u := range want {
		item, _ := a.Item(id)
		again, _ := b.Item(id)
		require.Equal(t, placeless(item), placeless(again))
		require.Equal(t, u.Kind, got[id].Kind, id)
		require.Equal(t, u.Reason, got[id].Reason, id)
	}
	for _, id := range operations {
		require.Equal(t, a.Verdict(id), b.Verdict(id))
	}
}

// held returns what a journal holds, but for the positions, which are those of
// the log in one and of the recording in the other.
func held(e *heed.Engine) []heed.Page {
	var all []heed.Page
	for after := (heed.Cursor{}); ; {
		p := e.Read(after, 1000, heed.Filter{})
		for i := range p.Records {
			p.Records[i].Pos = 0
		}
		all = append(all, p)
		if !p.More {
			return all
		}
		after = p.Next
	}
}

// placeless returns an item without positions.
func placeless(a heed.Item) heed.Item {
	a.OpenedPos, a.LatestPos, a.Cause.Pos = 0, 0, 0
	for i := range a.Sample {
		a.Sample[i].FirstPos, a.Sample[i].LatestPos = 0, 0
	}
	for i := range a.Members {
		m := &a.Members[i]
		m.First, m.Last = 0, 0
		for k := range m.Accused {
			m.Accused[k].First = 0
		}
	}
	return a
}

// TestRecordingReplays gives an engine what a session has, records it, and
// replays the recording: the updates are the same, with their ids, numbers and times.
func TestRecordingReplays(t *testing.T) {
	set := defaultRules(t)
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
