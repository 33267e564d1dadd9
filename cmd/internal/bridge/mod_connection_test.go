package bridge

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/gabp"
)

// TestModRuns holds how the connection to the mod is kept up: when it is tried again, what is recorded of it, and that
// nothing is left of it at the end.
func TestModRuns(t *testing.T) {
	var tries []time.Duration
	var latest *fakeMod
	var began time.Time
	mods := []*fakeMod{ // of the connections, after six that were refused
		{tools: buildTool},
		{tools: "7", refuse: `{"code":-7,"message":"later"}`}, // it cannot be used
		{tools: buildTool},
	}
	dial := func(context.Context) (io.ReadWriteCloser, error) {
		tries = append(tries, time.Since(began))
		if len(tries) <= 6 || len(tries)-7 >= len(mods) {
			return nil, errors.New("refused")
		}
		ours, theirs := net.Pipe()
		latest = mods[len(tries)-7]
		latest.conn = theirs
		go latest.serve()
		return ours, nil
	}
	cfg := Config{Handed: Handed{Inner: gabp.Bridge{Address: "mod", Token: gabp.NewToken()}}, DialMod: dial}
	open(t, cfg, session.Config{}, nil, func(t *testing.T, p *play) {
		m := p.proxy.mod
		run := func() (end func()) {
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				m.run(ctx, p.proxy)
			}()
			return func() { stop(); <-ended }
		}
		began = time.Now()
		end := run()
		m.await(t.Context(), time.Minute)
		require.Equal(t, 1100*time.Millisecond, time.Since(began))
		synctest.Wait()
		require.Equal(t, gabp.App{Name: "Colony", Version: "1"}, m.current().Welcome().App)
		w, ok := m.welcome()
		require.True(t, ok)
		require.Equal(t, "mod", w.AgentID)
		time.Sleep(time.Second)
		require.NoError(t, latest.conn.Close())
		time.Sleep(3 * time.Second)
		synctest.Wait()
		const ms = time.Millisecond
		require.Equal(t, []time.Duration{
			0, 50 * ms, 150 * ms, 350 * ms, 600 * ms, 850 * ms, 1100 * ms,
			3100 * ms, 4100 * ms,
		}, tries)
		require.Equal(t, []string{"disconnected after 3 s", "connected after 4 s"}, p.states(began))
		m.await(t.Context(), time.Minute)
		require.Equal(t, 5100*ms, time.Since(began), "it has answered")
		end()
		require.Nil(t, m.current())
		_, ok = m.welcome()
		require.False(t, ok)
		_ = latest.conn.Close()

		end = run() // ends while there is no connection
		time.Sleep(time.Minute)
		synctest.Wait()
		end()
		require.Len(t, p.states(began), 2, "heed has left it, not the other way round")
	})
}

// TestAbsence: a game has no mod once nothing has listened for a while after its start, while the log was quiet; a log
// that grows for long is quiet, too.
func TestAbsence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phase, lines := "menu", uint64(1)
		var a absence
		refused := error(&net.OpError{Op: "dial", Err: errors.New("refused")})
		after := func(d time.Duration) bool {
			time.Sleep(d)
			return a.shown(refused, phase, lines)
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
