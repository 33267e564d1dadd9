package sidecar

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
)

// TestUnreadAnswers: answers that no client reads are kept up to a bound, and the others counted.
func TestUnreadAnswers(t *testing.T) {
	w := &writer{wake: make(chan struct{}, 1)}
	large := strings.Repeat("x", 1<<20)
	const answers = 9
	for range answers {
		w.put(typeAnswer, large)
	}
	w.gather(time.Now(), false)
	f := &frames{in: newReader(w.buf)}
	kept := 0
	for {
		ft, payload, err := f.next()
		require.NoError(t, err)
		if ft == typeError {
			require.Contains(t, string(payload), fmt.Sprintf(`"text":"%d answers were dropped, since nobody reads them"`, answers-kept))
			break
		}
		kept++
	}
	require.Equal(t, 4, kept)
	_, _, err := f.next()
	require.ErrorIs(t, err, io.EOF)
	w.gather(time.Now(), false)
	require.Empty(t, w.buf, "it is said once")
}

// TestStuckOutput holds that a server ends with its input, even while a write is stuck, and returns why one failed.
func TestStuckOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck, out := io.Pipe()
		greeting := sent(nil, typeHello, &hello{Rules: "none"})
		require.NoError(t, Serve(bytes.NewReader(greeting), out, Config{Epoch: "e"}))
		_ = stuck.Close()
		require.ErrorIs(t, Serve(bytes.NewReader(greeting), out, Config{Epoch: "e"}), io.ErrClosedPipe)
	})
}

// panics panics when it is read.
type panics struct{ io.Reader }

func (p panics) Read(b []byte) (int, error) {
	if n, err := p.Reader.Read(b); err == nil {
		return n, nil
	}
	panic("a planted fault")
}

// TestPanic holds that a panic ends Serve alone.
func TestPanic(t *testing.T) {
	greeting := sent(nil, typeHello, &hello{Rules: "none"})
	err := Serve(panics{bytes.NewReader(greeting)}, io.Discard, Config{Epoch: "e"})
	require.ErrorContains(t, err, "panic: a planted fault")
}

// TestStall holds that a game which shows no more signs of life has stalled, but not one whose sidecar did not run.
func TestStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := dial(t, hello{Phase: "play"})
		alive := func() {
			c.send(typeState, &state{Time: time.Now(), What: "alive", Due: 5000})
		}
		for range 20 {
			alive()
			time.Sleep(time.Second)
		}
		require.Empty(t, c.got)
		began := time.Now()
		var u update
		c.want(typeUpdate, &u)
		require.Equal(t, coalesce.Opened, u.Kind)
		require.InDelta(t, 4, time.Since(began).Seconds(), 1)
		require.NoError(t, c.end())
	})
	w := greetedWriter(t)
	w.waiting.Store(true)
	w.s.engine.Expect(w.ticked, w.ticked.Add(time.Second))
	w.tick(w.ticked.Add(time.Hour))
	require.Empty(t, w.s.engine.Open(nil))
	w.tick(w.ticked.Add(activeTick))
	require.NotEmpty(t, w.s.engine.Open(nil), "the next tick comes in time")
	for _, c := range []struct {
		passed             time.Duration
		waits, ticks, ages bool
	}{
		{activeTick - 1, true, false, false},
		{activeTick, true, true, true},
		{activeTick, false, true, false},
		{4*idleTick - 1, true, true, true},
		{4 * idleTick, true, true, false},
	} {
		w := greetedWriter(t)
		w.waiting.Store(c.waits)
		w.s.engine.Expect(w.ticked, w.ticked.Add(time.Millisecond))
		require.Equal(t, c.ticks, w.tick(w.ticked.Add(c.passed)), c)
		require.Equal(t, c.ages, len(w.s.engine.Open(nil)) > 0, c)
	}
}

// greetedWriter returns the writer of a server, without its goroutine.
func greetedWriter(t *testing.T) *writer {
	w := &writer{wake: make(chan struct{}, 1), ticked: time.Unix(1000, 0)}
	s, err := greet(&frames{in: newReader(sent(nil, typeHello, &hello{Rules: "none", Phase: "play"}))}, w, Config{})
	require.NoError(t, err)
	w.s = s
	return w
}

// TestGathered is the table of the frames that are written at a time, by what has changed.
func TestGathered(t *testing.T) {
	w := greetedWriter(t)
	now := w.ticked
	for i, c := range []struct {
		after  time.Duration
		change func()
		last   bool
		want   []frameType
		pause  time.Duration
	}{
		{0, func() {}, false, []frameType{typeWelcome}, idleTick},
		{0, func() { w.s.lines.Add(1) }, false, []frameType{typeProgress}, idleTick},
		{progressEvery - 1, func() { w.s.lines.Add(1) }, false, nil, activeTick},
		{1, func() {}, false, []frameType{typeProgress}, idleTick},
		{1, func() { w.s.lines.Add(1) }, true, []frameType{typeProgress}, idleTick},
		{1, func() { w.s.lines.Add(1); w.put(typeAnswer, 7) }, false, []frameType{typeProgress, typeAnswer}, idleTick},
		{1, w.saveSoon, false, []frameType{typeSnapshot}, idleTick},
		{snapshotEvery - 1, func() { w.changed = true }, false, nil, activeTick},
		{1, func() {}, false, []frameType{typeSnapshot}, idleTick},
		{snapshotEvery, func() {}, false, nil, idleTick},
		{1, func() { w.queue.lost = 2 }, false, []frameType{typeError}, idleTick},
		{1, func() { w.watch("op") }, false, []frameType{typeVerdict}, idleTick},
		{1, func() {
			e := event.Operation{Time: now, ID: "op", Status: event.StatusStarted}.Entry()
			w.s.observe(&e)
			w.watch("op")
		}, false, []frameType{typeVerdict}, activeTick},
		{activeTick, func() {}, false, nil, activeTick},
	} {
		now = now.Add(c.after)
		c.change()
		w.gather(now, c.last)
		var got []frameType
		for f := (&frames{in: newReader(w.buf)}); ; {
			ft, _, err := f.next()
			if err != nil {
				require.Equal(t, io.EOF, err)
				break
			}
			got = append(got, ft)
		}
		require.Equal(t, c.want, got, i)
		require.Equal(t, c.pause, w.pause(), i)
	}
	require.Equal(t, idleTick, (&writer{}).pause())
}

// FuzzServe feeds frames that are not ours: nothing panics, and Serve ends with its input.
func FuzzServe(f *testing.F) {
	greeting := sent(nil, typeHello, &hello{Rules: "none"})
	for _, e := range examples() {
		f.Add(sent(nil, e.t, &e))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		synctest.Test(t, func(t *testing.T) { // in its time no load keeps the writer from its last words
			var out bytes.Buffer
			err := Serve(io.MultiReader(bytes.NewReader(greeting), bytes.NewReader(input)), &out, Config{Epoch: "e"})
			if err != nil {
				require.NotContains(t, err.Error(), "panic")
			}
			fr := &frames{in: newReader(out.Bytes())}
			for {
				if _, _, err := fr.next(); err != nil {
					require.ErrorIs(t, err, io.EOF)
					require.NotErrorIs(t, err, io.ErrUnexpectedEOF)
					break
				}
			}
		})
	})
}
