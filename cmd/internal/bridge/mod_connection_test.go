package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/gabp"
)

// observed notes what happens to the connection to a mod.
type observed struct {
	m     *mod
	start time.Time
	all   []string
}

func (o *observed) note(what string) {
	o.all = append(o.all, fmt.Sprintf("%v %s", time.Since(o.start), what))
}

func (o *observed) up(again bool)      { o.note(fmt.Sprintf("up %v %v", again, o.m.current() != nil)) }
func (o *observed) event(e gabp.Event) { o.note(e.Channel) }
func (o *observed) down(error)         { o.note(fmt.Sprintf("down %v", o.m.current() != nil)) }

// TestModRuns holds how the connection to the mod is kept up: when it is tried again, what is told of it, and that
// nothing is left of it at the end.
func TestModRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMod(gabp.Bridge{Address: "mod", Token: gabp.NewToken()}, slog.New(slog.DiscardHandler))
		o := &observed{m: m, start: time.Now()}
		var tries []time.Duration
		var latest *fakeMod
		mods := []*fakeMod{ // of the connections, after six that were refused
			{tools: buildTool, events: []string{"colony.log"}},
			{tools: "7", refuse: `{"code":-7,"message":"later"}`}, // it cannot be used
			{tools: buildTool},
		}
		m.open = func(context.Context) (io.ReadWriteCloser, error) {
			tries = append(tries, time.Since(o.start))
			if len(tries) <= 6 || len(tries)-7 >= len(mods) {
				return nil, errors.New("refused")
			}
			ours, theirs := net.Pipe()
			latest = mods[len(tries)-7]
			latest.conn = theirs
			go latest.serve()
			return ours, nil
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			m.run(ctx, o)
		}()
		start := time.Now()
		m.await(ctx, time.Minute)
		require.Equal(t, 1100*time.Millisecond, time.Since(start))
		synctest.Wait()
		require.Equal(t, gabp.App{Name: "Colony", Version: "1"}, m.current().Welcome().App)
		w, ok := m.welcome()
		require.True(t, ok)
		require.Equal(t, "mod", w.AgentID)
		latest.send([]string{sends("colony.log", 1, `1`)}, "")
		time.Sleep(time.Second)
		synctest.Wait()
		require.NoError(t, latest.conn.Close())
		time.Sleep(2 * time.Second)
		synctest.Wait()
		const ms = time.Millisecond
		require.Equal(t, []time.Duration{
			0, 50 * ms, 150 * ms, 350 * ms, 600 * ms, 850 * ms, 1100 * ms,
			2100 * ms, 3100 * ms,
		}, tries)
		require.Equal(t, []string{"1.1s up false true", "1.1s colony.log", "2.1s down false", "3.1s up true true"}, o.all)
		start = time.Now()
		m.await(ctx, time.Minute)
		require.Zero(t, time.Since(start), "it has answered")
		stop()
		<-ended
		require.Nil(t, m.current())
		_, ok = m.welcome()
		require.False(t, ok)
		require.Len(t, o.all, 4, "heed has left it, not the other way round")
		_ = latest.conn.Close()

		ctx, stop = context.WithCancel(t.Context()) // ends while there is no connection
		ended = make(chan struct{})
		go func() {
			defer close(ended)
			m.run(ctx, o)
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		stop()
		<-ended
		require.Len(t, o.all, 4)
	})
}

// TestAbsence: a game has no mod once nothing has listened for a while after its start, while the log was quiet; a log
// that grows for long is quiet, too.
func TestAbsence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phase, lines := "menu", uint64(1)
		a := absence{game: func() (string, uint64) { return phase, lines }}
		refused := error(&net.OpError{Op: "dial", Err: errors.New("refused")})
		after := func(d time.Duration) bool {
			time.Sleep(d)
			return a.shown(refused)
		}
		require.False(t, after(time.Hour), "the first time")
		require.False(t, after(quietFor-1))
		require.True(t, after(1))
		require.True(t, after(time.Hour))
		for name, other := range map[string]func(){
			"it loads":       func() { phase = "load" },
			"another error":  func() { refused = &net.OpError{Op: "read", Err: errors.New("reset")} },
			"no such error":  func() { refused = errors.New("refused") },
			"it saves":       func() { phase = "save" },
			"nothing so far": func() { phase = "" },
		} {
			was := refused
			other()
			require.False(t, after(time.Hour), name)
			phase, refused = "play", was
			require.False(t, after(0), name)
			require.False(t, after(quietFor-1), name)
			require.True(t, after(1), name)
		}
		phase = ""
		require.False(t, after(0))
		phase = "play"
		began := time.Now()
		require.False(t, after(0))
		for time.Since(began)+quietFor/2 < quietWithin {
			lines++
			require.False(t, after(quietFor/2), "the log grows")
		}
		grown := time.Now()
		for {
			lines++
			if after(quietFor / 4) {
				break
			}
		}
		require.LessOrEqual(t, time.Since(began), quietWithin+quietFor+quietFor/4)
		require.GreaterOrEqual(t, time.Since(grown), quietFor)
	})
}
