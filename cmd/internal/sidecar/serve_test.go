package sidecar

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/wire"
)

// client is the other side of a server, for tests in virtual time.
type client struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *io.PipeReader
	done chan error
	got  chan received
	last uint64 // number of the last line
	seen [][]byte
}

// received is a frame.
type received struct {
	t       frameType
	payload []byte
}

// dial starts a server and greets it.
func dial(t *testing.T, h hello) (*client, welcome) {
	c := start(t)
	c.send(typeHello, h.code)
	var w welcome
	c.want(typeWelcome, w.code)
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

func (c *client) send(t frameType, code func(*coder)) {
	_, err := c.in.Write(appendFrame(nil, t, code))
	require.NoError(c.t, err)
}

// want reads frames up to the next one of a type, and decodes that.
func (c *client) want(t frameType, code func(*coder)) {
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
				d := coder{wire.Reader(r.payload)}
				code(&d)
				require.NoError(c.t, d.Close())
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
	c.send(typeLog, l.code)
}

func (c *client) operation(id string, status event.Status) {
	e := event.Operation{Time: time.Now(), ID: id, Method: "farm/" + id, Status: status}.Entry()
	c.send(typeOperation, func(d *coder) { d.operation(&e) })
}

// ask sends a query and decodes the body of its answer.
func (c *client) ask(q query, body func(*coder)) {
	c.t.Helper()
	q.number = c.last + 1000
	c.send(typeQuery, q.code)
	c.want(typeAnswer, func(d *coder) {
		var a answer
		a.code(d)
		require.Equal(c.t, answer{number: q.number, kind: q.kind}, a)
		body(d)
	})
}

func nothing(*coder) {}

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
		c, w := dial(t, hello{client: "test", rules: "unity", phase: "play"})
		require.Zero(t, time.Since(began), "the welcome waits for nothing")
		require.Equal(t, welcome{program: "test 1", epoch: "e"}, w)

		c.operation("a", event.StatusStarted)
		c.log(event.LevelError, fault, "a")
		var u update
		c.want(typeUpdate, u.code)
		require.Equal(t, coalesce.Opened, u.kind)
		require.Equal(t, "a", u.item.CausalOperationID)
		require.Equal(t, "farm/a", u.item.CausalMethod)
		require.True(t, u.item.Blocking)
		require.Equal(t, u.item.ID, u.current)
		require.Equal(t, position(1, 7), u.item.OpenedPos)

		c.operation("a", event.StatusCompleted)
		var v heed.Verdict
		c.want(typeVerdict, func(d *coder) { d.verdict(&v) })
		require.Equal(t, coalesce.Affected, v.Outcome)
		require.False(t, v.Final)
		c.want(typeVerdict, func(d *coder) { d.verdict(&v) })
		require.True(t, v.Final)

		var acknowledged, already bool
		c.ask(query{kind: queryAck, consumer: "me", id: u.item.ID}, func(d *coder) {
			d.Bool("", &acknowledged)
			d.Bool("", &already)
			var successor string
			var covered []string
			d.name("", &successor)
			d.names("", &covered, 10)
			d.perhaps(false, nil)
		})
		require.True(t, acknowledged)
		require.False(t, already)
		// Only what names the operation changes a final verdict.
		c.operation("b", event.StatusStarted)
		c.operation("b", event.StatusCompleted)
		for v.Operation != "b" || !v.Final {
			c.want(typeVerdict, func(d *coder) { d.verdict(&v) })
		}
		require.Equal(t, coalesce.Clean, v.Outcome)
		time.Sleep(time.Minute)
		c.log(event.LevelError, "InvalidOperationException: no barn\n  at Farm.Barn.Load ()", "b")
		for v.Outcome == coalesce.Clean {
			c.want(typeVerdict, func(d *coder) { d.verdict(&v) })
		}
		require.Equal(t, "b", v.Operation)

		c.ask(query{kind: queryFlush}, nothing)
		require.NoError(t, c.end())
	})
}

// TestRestart holds that what was reported is known to the next server, whenever the first one was killed.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := dial(t, hello{phase: "play"})
		c.log(event.LevelError, fault, "")
		var first update
		c.want(typeUpdate, first.code)
		c.send(typeQuery, (&query{kind: querySnapshot}).code) // once the line is ingested and counted
		var s snapshot
		for s.latest == 0 {
			c.want(typeSnapshot, s.code)
		}
		require.Equal(t, progress{1, 1}, s.progress)
		c.want(typeAnswer, func(d *coder) { *d = coder{} })

		// All within a second, so that no snapshot comes.
		var u update
		var ids []string
		for i := range 3 {
			c.log(event.LevelError, fmt.Sprintf("%cException: the %[1]c gate is gone\n  at %[1]c.B ()", 'a'+i), fmt.Sprint(i))
			c.ask(query{kind: queryFlush}, nothing)
		}
		for _, b := range c.seen {
			d := coder{wire.Reader(b)}
			u.code(&d)
			ids = append(ids, u.item.ID)
		}
		c.ask(query{kind: queryAck, id: ids[0]}, func(d *coder) { *d = coder{} })
		c.ask(query{kind: queryFlush}, nothing)
		require.NoError(t, c.end())

		c2, w := dial(t, hello{phase: "menu", snapshot: s.state, seen: c.seen, lines: 4})
		require.Equal(t, welcome{program: "test 1", epoch: "e", restored: true}, w)
		items, err := latest(c.seen)
		require.NoError(t, err)
		want := map[string]string{first.item.ID: what(&first.item)}
		for _, a := range items {
			if a.State == coalesce.Open {
				want[a.ID] = what(&a)
			}
		}
		require.Len(t, want, 3)
		is := map[string]string{}
		c2.ask(query{kind: queryOpen}, func(d *coder) {
			var open []heed.Item
			list(d, "items", &open, 100, d.item)
			for _, a := range open {
				is[a.ID] = what(&a)
			}
		})
		require.Equal(t, want, is)
		// No id is given twice.
		c2.log(event.LevelError, "XException: the x gate is gone\n  at X.B ()", "z")
		c2.want(typeUpdate, u.code)
		require.Equal(t, "e-5", u.item.ID)
		require.NoError(t, c2.end())
	})
}

// TestRestartUpdated restarts with a snapshot whose state is damaged, as one of another version is, and with one of which nothing can be read: in both the
// gate stays closed.
func TestRestartUpdated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := dial(t, hello{})
		c.log(event.LevelError, fault, "")
		var u update
		c.want(typeUpdate, u.code)
		c.send(typeQuery, (&query{kind: querySnapshot}).code)
		var s snapshot
		for s.latest == 0 {
			c.want(typeSnapshot, s.code)
		}
		require.NoError(t, c.end())

		for name, state := range map[string][]byte{"updated": append(s.state, 0), "unreadable": []byte("heed")} {
			c, w := dial(t, hello{snapshot: state})
			var open []heed.Item
			c.ask(query{kind: queryOpen}, func(d *coder) { list(d, "items", &open, 100, d.item) })
			require.NoError(t, c.end())
			require.Len(t, open, 1, name)
			require.True(t, open[0].Blocking, name)
			if w.restored {
				require.Contains(t, w.reason, "numbers, phase, blindness and blocking items were kept")
				require.Equal(t, u.item.ID, open[0].ID)
				require.Contains(t, open[0].Summary, what(&u.item))
			} else {
				require.Contains(t, w.reason, "carry-over: it is missing")
				require.Contains(t, open[0].Summary, "the saved state cannot be read")
			}
			require.Equal(t, name == "updated", w.restored)
		}
	})
}

// TestRestartWithoutSnapshot holds that items outlive a server that was killed before its first snapshot.
func TestRestartWithoutSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hello{phase: "play"}
		for i := range 3 {
			u := update{kind: coalesce.Opened, item: exampleItem()}
			u.item.ID = fmt.Sprintf("old-%d", i+1)
			if i == 1 {
				u.item.State, u.item.ClearedBy = coalesce.Cleared, coalesce.ReasonAcknowledged
			}
			var c coder
			u.code(&c)
			h.seen = append(h.seen, c.Bytes())
		}
		c, w := dial(t, h)
		require.Equal(t, welcome{program: "test 1", epoch: "old", restored: true}, w)
		var ids []string
		c.ask(query{kind: queryOpen}, func(d *coder) {
			var open []heed.Item
			list(d, "items", &open, 100, d.item)
			for _, a := range open {
				ids = append(ids, a.ID)
			}
		})
		require.ElementsMatch(t, []string{"old-1", "old-3"}, ids)
		require.NoError(t, c.end())
	})
}

func newReader(b []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(b)) }

// The welcome comes before what is known of frames that came with the hello.
func TestWelcomeFirst(t *testing.T) {
	w := &writer{wake: make(chan struct{}, 1)}
	in := bytes.NewReader(appendFrame(nil, typeHello, (&hello{}).code))
	s, err := greet(&frames{in: bufio.NewReader(in)}, w, Config{})
	require.NoError(t, err)
	s.engine.Raise(heed.Report{Key: "k", Disposition: event.Blocking, Summary: "raised"})
	w.s = s
	w.gather(time.Now(), false)
	require.Equal(t, byte(typeWelcome), w.buf[5])
	require.Contains(t, string(w.buf), "raised")
}
