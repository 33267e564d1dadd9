package sidecar

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// client is the other side of a server, for tests in virtual time.
type client struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *io.PipeReader
	done chan error
	got  chan received
	last uint64 // number of the last line
	seen []json.RawMessage
}

// received is a frame.
type received struct {
	t       frameType
	payload []byte
}

// dial starts a server and greets it.
func dial(t *testing.T, h hello) (*client, welcome) {
	c := start(t)
	c.send(typeHello, &h)
	var w welcome
	c.want(typeWelcome, &w)
	return c, w
}

func start(t *testing.T) *client {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	c := &client{t: t, in: toServer, out: fromServer, done: make(chan error, 1), got: make(chan received, 10_000)}
	go func() {
		err := Serve(in, out, Config{Program: "test 1", Epoch: "e"})
		_ = out.Close()
		c.done <- err
	}()
	go func() {
		defer close(c.got)
		f := &frames{in: bufio.NewReader(fromServer)}
		for {
			ft, payload, err := f.next()
			if err != nil {
				return
			}
			c.got <- received{ft, bytes.Clone(payload)}
		}
	}()
	return c
}

func (c *client) send(t frameType, v any) {
	_, err := c.in.Write(sent(nil, t, v))
	require.NoError(c.t, err)
}

// want reads frames up to the next one of a type, and decodes that.
func (c *client) want(t frameType, v any) {
	c.t.Helper()
	for {
		select {
		case r, ok := <-c.got:
			require.True(c.t, ok, "the output ended before a frame of type %d", t)
			if r.t == typeUpdate {
				c.seen = append(c.seen, r.payload)
			}
			if r.t == typeSnapshot {
				c.seen = nil
			}
			if r.t == t {
				object, rest, _ := bytes.Cut(r.payload, []byte("\n"))
				require.NoError(c.t, json.Unmarshal(object, v))
				if s, ok := v.(*snapshot); ok {
					s.state = rest
				}
				return
			}
		case <-time.After(time.Minute):
			require.FailNow(c.t, "no such frame", "type %d", t)
		}
	}
}

// log sends a line.
func (c *client) log(level event.Level, message, operation string) {
	c.last++
	l := line{
		number: c.last, time: time.Now(), level: level, thread: 7, message: []byte(message), operation: []byte(operation),
	}
	c.send(typeLog, &l)
}

func (c *client) operation(id string, status event.Status) {
	c.send(typeOperation, &event.Operation{Time: time.Now(), ID: id, Method: "farm/" + id, Status: status})
}

// ask sends a query and decodes the result in its answer.
func (c *client) ask(q query, result any) {
	c.t.Helper()
	q.Number = c.last + 1000
	c.send(typeQuery, &q)
	a := answer{Result: result}
	c.want(typeAnswer, &a)
	require.Equal(c.t, answer{Number: q.Number, Kind: q.Kind, Result: a.Result}, a)
}

// end ends the input, and returns what Serve does.
func (c *client) end() error {
	require.NoError(c.t, c.in.Close())
	return <-c.done
}

const fault = "NullReferenceException: Object reference not set to an instance of an object\n" +
	"  at Farm.Barn.Tick () [0x00001] in <0123456789abcdef0123456789abcdef>:0"

func TestServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c, w := dial(t, hello{Client: "test", Rules: "unity", Phase: "play"})
		require.Zero(t, time.Since(began), "the welcome waits for nothing")
		require.Equal(t, welcome{Program: "test 1", Epoch: "e"}, w)

		c.operation("a", event.StatusStarted)
		c.log(event.LevelError, fault, "a")
		var u update
		c.want(typeUpdate, &u)
		require.Equal(t, coalesce.Opened, u.Kind)
		require.Equal(t, "a", u.Item.CausalOperationID)
		require.Equal(t, "farm/a", u.Item.CausalMethod)
		require.True(t, u.Item.Blocking)
		require.Equal(t, u.Item.ID, u.Current)
		require.Equal(t, position(1, 7), u.Item.OpenedPos)

		c.operation("a", event.StatusCompleted)
		var v heed.Verdict
		c.want(typeVerdict, &v)
		require.Equal(t, coalesce.Affected, v.Outcome)
		require.False(t, v.Final)
		c.want(typeVerdict, &v)
		require.True(t, v.Final)

		var acked heed.AckResult
		c.ask(query{Kind: "ack", Consumer: "me", ID: u.Item.ID}, &acked)
		require.True(t, acked.Acknowledged)
		require.False(t, acked.Already)
		// Only what names the operation changes a final verdict.
		c.operation("b", event.StatusStarted)
		c.operation("b", event.StatusCompleted)
		for v.Operation != "b" || !v.Final {
			c.want(typeVerdict, &v)
		}
		require.Equal(t, coalesce.Clean, v.Outcome)
		time.Sleep(time.Minute)
		c.log(event.LevelError, "InvalidOperationException: no barn\n  at Farm.Barn.Load ()", "b")
		for v.Outcome == coalesce.Clean {
			c.want(typeVerdict, &v)
		}
		require.Equal(t, "b", v.Operation)

		c.ask(query{Kind: "flush"}, nil)
		require.NoError(t, c.end())
	})
}

// TestVerdicts: a verdict is written once an operation has ended, and again when it changes.
func TestVerdicts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := dial(t, hello{Phase: "play"})
		for _, status := range []event.Status{
			event.StatusCompleted, event.StatusFailed, event.StatusCancelled, event.StatusTimedOut,
		} {
			id := status.String()
			c.operation(id, event.StatusStarted)
			time.Sleep(10 * time.Second)
			for len(c.got) > 0 {
				require.NotEqual(t, typeVerdict, (<-c.got).t, "%s is running", id)
			}
			c.operation(id, status)
			var v heed.Verdict
			for !v.Final {
				c.want(typeVerdict, &v)
				require.Equal(t, []any{id, status}, []any{v.Operation, v.Status})
			}
			time.Sleep(10 * time.Second)
			for len(c.got) > 0 {
				require.NotEqual(t, typeVerdict, (<-c.got).t, "%s does not change", id)
			}
		}
		require.NoError(t, c.end())
	})
}

// TestRestart holds that what was reported is known to the next server, whenever the first one was killed.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := dial(t, hello{Phase: "play"})
		c.log(event.LevelError, fault, "")
		var first update
		c.want(typeUpdate, &first)
		c.send(typeQuery, &query{Kind: "snapshot"}) // once the line is ingested and counted
		var s snapshot
		for s.Latest == 0 {
			c.want(typeSnapshot, &s)
		}
		require.Equal(t, progress{1, 1}, s.progress)
		c.want(typeAnswer, &answer{})

		// All within a second, so that no snapshot comes.
		var u update
		var ids []string
		for i := range 3 {
			c.log(event.LevelError, fmt.Sprintf("%cException: the %[1]c gate is gone\n  at %[1]c.B ()", 'a'+i), fmt.Sprint(i))
			c.ask(query{Kind: "flush"}, nil)
		}
		for _, b := range c.seen {
			require.NoError(t, json.Unmarshal(b, &u))
			ids = append(ids, u.Item.ID)
		}
		c.ask(query{Kind: "ack", ID: ids[0]}, nil)
		c.ask(query{Kind: "flush"}, nil)
		require.NoError(t, c.end())

		c2, w := dial(t, hello{Phase: "menu", snapshot: s.state, Seen: c.seen, Lines: 4})
		require.Equal(t, welcome{Program: "test 1", Epoch: "e", Restored: true}, w)
		items, err := latest(c.seen)
		require.NoError(t, err)
		want := map[string]string{first.Item.ID: first.Item.Title}
		for _, a := range items {
			if a.State == coalesce.Open {
				want[a.ID] = a.Title
			}
		}
		require.Len(t, want, 3)
		is := map[string]string{}
		var open []heed.Item
		c2.ask(query{Kind: "open"}, &open)
		for _, a := range open {
			is[a.ID] = a.Title
		}
		require.Equal(t, want, is)
		// No id is given twice.
		c2.log(event.LevelError, "XException: the x gate is gone\n  at X.B ()", "z")
		c2.want(typeUpdate, &u)
		require.Equal(t, "e-5", u.Item.ID)
		require.NoError(t, c2.end())
	})
}

// TestRestartNumbers holds that no number of an entry that the client has seen is given to a later one: an acknowledgement
// covers what was delivered.
func TestRestartNumbers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := dial(t, hello{Phase: "play"})
		c.log(event.LevelError, fault, "op")
		state := c.snapshot()
		for range 10 {
			c.log(event.LevelError, fault, "op")
		}
		var seen, item heed.Item
		c.ask(query{Kind: "current", Consumer: "me"}, &seen)
		require.EqualValues(t, 11, seen.LatestSequence)
		u, err := json.Marshal(update{Update: heed.Update{Kind: coalesce.Updated, Item: seen}})
		require.NoError(t, err)
		require.NoError(t, c.end())

		c, _ = dial(t, hello{Phase: "play", snapshot: state, Seen: []json.RawMessage{u}})
		for range 6 {
			c.log(event.LevelError, strings.ReplaceAll(fault, "Farm", "Mill"), "op")
		}
		var acked heed.AckResult
		c.ask(query{Kind: "ack", Consumer: "me", ID: seen.ID, Through: seen.LatestSequence}, &acked)
		require.True(t, acked.Acknowledged)
		c.ask(query{Kind: "current", Consumer: "me"}, &item)
		require.EqualValues(t, 6, item.TotalUrgentEntries)
		require.NoError(t, c.end())

		seen.LatestSequence = 1 << 50
		u, err = json.Marshal(update{Update: heed.Update{Kind: coalesce.Updated, Item: seen}})
		require.NoError(t, err)
		c, w := dial(t, hello{snapshot: state, Seen: []json.RawMessage{u}})
		require.True(t, w.Restored, w.Reason)
		c.log(event.LevelError, fault, "")
		c.ask(query{Kind: "current"}, &item)
		require.Greater(t, item.LatestSequence, seen.LatestSequence)
		require.NoError(t, c.end())
	})
}

// TestRestartUpdated restarts with a snapshot whose state is damaged, as one of another version is, and with one of which nothing can be read: in both the
// gate stays closed.
func TestRestartUpdated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := dial(t, hello{})
		c.log(event.LevelError, fault, "")
		var u update
		c.want(typeUpdate, &u)
		c.send(typeQuery, &query{Kind: "snapshot"})
		var s snapshot
		for s.Latest == 0 {
			c.want(typeSnapshot, &s)
		}
		require.NoError(t, c.end())

		for name, state := range map[string][]byte{"updated": append(s.state, 0), "unreadable": []byte("heed")} {
			c, w := dial(t, hello{snapshot: state})
			var open []heed.Item
			c.ask(query{Kind: "open"}, &open)
			require.NoError(t, c.end())
			require.Len(t, open, 1, name)
			require.True(t, open[0].Blocking, name)
			if w.Restored {
				require.Contains(t, w.Reason, "numbers, phase, blindness and blocking items were kept")
				require.Equal(t, u.Item.ID, open[0].ID)
				require.Contains(t, open[0].Summary, u.Item.Title)
			} else {
				require.Contains(t, w.Reason, "carry-over: it is missing")
				require.Contains(t, open[0].Summary, "the saved state cannot be read")
			}
			require.Equal(t, name == "updated", w.Restored)
		}
	})
}

// TestRestartWithoutSnapshot holds that items outlive a server that was killed before its first snapshot.
func TestRestartWithoutSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hello{Phase: "play"}
		for i := range 3 {
			u := update{Update: heed.Update{Kind: coalesce.Opened, Item: exampleItem()}}
			u.Item.ID = fmt.Sprintf("old-%d", i+1)
			if i == 1 {
				u.Item.State, u.Item.ClearedBy = coalesce.Cleared, coalesce.ReasonAcknowledged
			}
			b, err := json.Marshal(&u)
			require.NoError(t, err)
			h.Seen = append(h.Seen, b)
		}
		c, w := dial(t, h)
		require.Equal(t, welcome{Program: "test 1", Epoch: "old", Restored: true}, w)
		var ids []string
		var open []heed.Item
		c.ask(query{Kind: "open"}, &open)
		for _, a := range open {
			ids = append(ids, a.ID)
		}
		require.ElementsMatch(t, []string{"old-1", "old-3"}, ids)
		c.ask(query{Kind: "flush"}, nil)
		require.Empty(t, c.seen, "the client has these updates")
		require.NoError(t, c.end())
	})
}

// TestRestartFar: after items with the highest numbers, the next snapshot can be restored.
func TestRestartFar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := update{Update: heed.Update{Kind: coalesce.Opened, Item: exampleItem()}}
		u.Item.ID, u.Item.LatestSequence = fmt.Sprint("old-", uint64(maxSequence)), math.MaxUint64
		seen := []json.RawMessage{testkit.Must(json.Marshal(&u))}
		c, w := dial(t, hello{Seen: seen})
		require.True(t, w.Restored, w.Reason)
		state := c.snapshot()
		require.NoError(t, c.end())
		c, w = dial(t, hello{snapshot: state, Seen: seen})
		require.True(t, w.Restored, w.Reason)
		require.NoError(t, c.end())
	})
}

// TestCatchUp: an item that was reported after the snapshot is restored with its state, message and number. An item with a
// number above all entries is refused.
func TestCatchUp(t *testing.T) {
	item := func(number int, change func(*heed.Item)) *heed.Item {
		a := exampleItem()
		a.ID = fmt.Sprint("e-", number)
		a.Title, a.Summary, a.Sample, a.OpenedPos = "the farm is gone", "the farm is gone (3 entries)", nil, position(7, 3)
		if change(&a); a.State == "" {
			a.State = coalesce.Open
		}
		return &a
	}
	for _, c := range []struct {
		name    string
		a       *heed.Item
		state   string
		cleared string
		says    string
	}{
		{"open", item(3, func(a *heed.Item) { a.State = coalesce.Open }), coalesce.Open, "", ""},
		{"acknowledged", item(3, func(a *heed.Item) {
			a.State, a.ClearedBy = coalesce.Cleared, coalesce.ReasonAcknowledged
		}), coalesce.Cleared, string(coalesce.ReasonAcknowledged), ""},
		{
			"cleared by itself", item(3, func(a *heed.Item) { a.State, a.ClearedBy = coalesce.Cleared, "idle" }),
			coalesce.Cleared, "", "",
		},
		{"as far as may be", item(5000, func(*heed.Item) {}), coalesce.Open, "", ""},
		{"too far", item(5001, func(*heed.Item) {}), "", "", "cannot be raised again: e-5001"},
		{"of another epoch", item(3, func(a *heed.Item) { a.ID = "f-3" }), "", "", "cannot be raised again: f-3"},
	} {
		set, err := compile(&hello{Rules: "none"})
		require.NoError(t, err)
		cfg := bounded(set)
		cfg.Epoch, cfg.Journal.After = "e", 5000
		engine, err := heed.New(cfg)
		require.NoError(t, err)
		err = catchUp(engine, c.a)
		if c.says != "" {
			require.ErrorContains(t, err, c.says, c.name)
			continue
		}
		require.NoError(t, err, c.name)
		got, known := engine.Item(c.a.ID)
		require.True(t, known, c.name)
		require.EqualValues(t, c.state, got.State, c.name)
		require.Equal(t, c.cleared == string(coalesce.ReasonAcknowledged),
			got.ClearedBy == coalesce.ReasonAcknowledged, "%s: %s", c.name, got.ClearedBy)
		require.Equal(t, []any{c.a.Severity, c.a.StateInvalidated, c.a.CausalOperationID, c.a.OpenedPos, "the farm is gone"},
			[]any{got.Severity, got.StateInvalidated, got.CausalOperationID, got.OpenedPos, got.Title}, c.name)
		require.NoError(t, catchUp(engine, c.a), "again is nothing new")
		require.LessOrEqual(t, len(engine.Open(nil)), 1, c.name)
	}
	require.Equal(t, "s (1)", message(&heed.Item{Summary: "s (1)"}))
	require.Equal(t, "m", message(&heed.Item{Summary: "s (1)", Sample: []coalesce.Sample{{Message: "m"}}}))
}

// TestRestartRefused: a server that cannot restore the items of its client says so, and has one item that blocks.
func TestRestartRefused(t *testing.T) {
	far := update{Update: heed.Update{Kind: coalesce.Opened, Item: exampleItem()}}
	far.Item.ID = fmt.Sprint("e-", far.Item.LatestSequence+1)
	beyond, err := json.Marshal(&far)
	require.NoError(t, err)
	for says, seen := range map[string]json.RawMessage{
		"an update in the hello cannot be read": json.RawMessage("7"), "cannot be raised again: " + far.Item.ID: beyond,
	} {
		synctest.Test(t, func(t *testing.T) {
			c, w := dial(t, hello{Rules: "none", Seen: []json.RawMessage{seen}})
			require.False(t, w.Restored)
			require.Contains(t, w.Reason, says)
			var open []heed.Item
			c.ask(query{Kind: "open"}, &open)
			require.Len(t, open, 1)
			require.True(t, open[0].Blocking && open[0].StateInvalidated)
			require.Contains(t, open[0].Summary, "the saved state cannot be read")
			require.NoError(t, c.end())
		})
	}
}

// TestRulesOfClient: a client has the rules that it names, its own before them.
func TestRulesOfClient(t *testing.T) {
	own := []ruleFile{{Name: "own.yaml", Text: "version: 1\nrules:\n  - {id: mine, when: 'true', disposition: ignore}\n"}}
	sizes := map[string]int{}
	for _, name := range []string{"", "unity", "generic", "none"} {
		set, err := compile(&hello{Rules: name, Files: own})
		require.NoError(t, err)
		require.Equal(t, "mine", set.Rules()[0].ID)
		sizes[name] = len(set.Rules())
	}
	require.Equal(t, sizes[""], sizes["unity"])
	require.Equal(t, 1, sizes["none"])
	require.Greater(t, sizes["generic"], 1)
	require.Equal(t, sizes["unity"], sizes["generic"], "the family of the engine decides")
	_, err := compile(&hello{Rules: "all"})
	require.ErrorContains(t, err, `the hello wants the rules "all"`)
	synctest.Test(t, func(t *testing.T) { // which begins in the year 2000
		own[0].Text = "version: 1\nrules:\n  - {id: mine, when: 'true', disposition: ignore, until: 1999-12-31}\n"
		c, w := dial(t, hello{Rules: "none", Files: own})
		require.Contains(t, w.Reason, "own.yaml:3: rule mine")
		require.NoError(t, c.end())
	})
	var process uint64
	greeting := bytes.NewReader(sent(nil, typeHello, &hello{Rules: "none", Process: 77}))
	_ = Serve(greeting, io.Discard, Config{Greeted: func(p uint64) { process = p }})
	require.EqualValues(t, 77, process)
}

func newReader(b []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(b)) }

// The welcome comes before what is known of frames that came with the hello.
func TestWelcomeFirst(t *testing.T) {
	w := &writer{wake: make(chan struct{}, 1)}
	in := bytes.NewReader(sent(nil, typeHello, &hello{Rules: "none"}))
	s, err := greet(&frames{in: bufio.NewReader(in)}, w, Config{})
	require.NoError(t, err)
	s.engine.Raise(heed.Report{Key: "k", Disposition: event.Blocking, Summary: "raised"})
	w.s = s
	w.gather(time.Now(), false)
	require.Equal(t, byte(typeWelcome), w.buf[5])
	require.Contains(t, string(w.buf), "raised")
}
