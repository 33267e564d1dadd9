package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/standin"
	"github.com/heedlog/heed/internal/testkit"
)

// firstLine is a log that ends what it is of with its first line.
type firstLine struct {
	bytes.Buffer
	end context.CancelFunc
}

func (l *firstLine) Write(p []byte) (int, error) {
	defer l.end()
	return l.Buffer.Write(p)
}

// TestModRefuses: a mod that does not take the token is no mod that is still to come.
func TestModRefuses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server, err := gabp.NewServer(gabp.ServerConfig{
		Token: gabp.NewToken(), AgentID: "mod", App: gabp.App{Name: "Colony", Version: "1"}, Mux: new(gabp.Mux),
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, l) }()
	log := &firstLine{end: cancel}
	ours := gabp.NewToken()
	m := newMod(&Config{
		Handed: Handed{Inner: gabp.Bridge{Address: l.Addr().String(), Token: ours}},
		Logger: slog.New(slog.NewTextHandler(log, nil)), Session: testkit.Must(session.New(session.Config{})),
	})
	_, err = m.dial(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, <-served)
	require.Contains(t, log.String(), "the mod refused the connection of heed")
	require.Equal(t, 1, strings.Count(log.String(), "\n"))
	require.NotContains(t, log.String(), ours)
}

// TestMissed: a hole in a mod's numbers is told, a mod that counts in its own way is left to it.
func TestMissed(t *testing.T) {
	m := newMod(nil)
	m.seqs = map[string]uint64{}
	for _, c := range []struct {
		channel     string
		seq, missed uint64
	}{{"a", 7, 0}, {"a", 8, 0}, {"b", 1, 0}, {"a", 12, 3}, {"a", 12, 0}, {"a", 0, 0}, {"a", 1, 0}, {"b", 2, 0}} {
		require.Equal(t, c.missed, m.missed(&gabp.Event{Channel: c.channel, Seq: c.seq}))
	}
}

// TestTagsAreOfTheLatestList: a list that cannot be read exempts no tool, whatever one before did.
func TestTagsAreOfTheLatestList(t *testing.T) {
	m := newMod(nil)
	const list = `{"tools":[{"name":"look","tags":["read-only"],"description":7}]}`
	for _, unreadable := range []string{``, `{"tools":7}`, `{"tools":[{"name":"look","tags":"none"}]}`} {
		m.learnTags(json.RawMessage(list))
		require.Equal(t, []string{"read-only"}, m.tagsOf("look"))
		m.learnTags(json.RawMessage(unreadable))
		require.Empty(t, m.tagsOf("look"), unreadable)
	}
}

// TestToolsBound: the tags of the first tools of a list are kept.
func TestToolsBound(t *testing.T) {
	m := newMod(nil)
	var list []string
	for i := range maxTools + 2 {
		list = append(list, fmt.Sprintf(`{"name":"tool%06d","tags":["t"]}`, i))
	}
	m.learnTags(json.RawMessage(`{"tools":[` + strings.Join(list, ",") + `]}`))
	require.Len(t, m.tags, maxTools)
	require.Equal(t, []string{"t"}, m.tagsOf(fmt.Sprintf("tool%06d", maxTools-1)))
}

// TestModRuns holds how the connection to the mod is kept up: when it is tried again, what is recorded of it, and that
// nothing is left of it at the end.
func TestModRuns(t *testing.T) {
	var tries []time.Duration
	var latest *standin.Mod
	var began time.Time
	refuses := standin.ModConfig{Lists: func() []string { return standin.Failure(`{"code":-7,"message":"later"}`) }}
	// Of the connections, after six that were refused.
	mods := []*standin.Mod{modOf(nil), standin.NewMod(refuses), modOf(nil)}
	dial := func(context.Context) (io.ReadWriteCloser, error) {
		tries = append(tries, time.Since(began))
		if len(tries) <= 6 || len(tries)-7 >= len(mods) {
			return nil, errors.New("refused")
		}
		ours, theirs := net.Pipe()
		latest = mods[len(tries)-7]
		go latest.ServeConn(theirs)
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
		require.Equal(t, gabp.App{Name: "Colony", Version: "1"}, m.client.Load().Welcome().App)
		w, ok := m.welcome()
		require.True(t, ok)
		require.Equal(t, "mod", w.AgentID)
		time.Sleep(time.Second)
		latest.Disconnect()
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
		require.Nil(t, m.client.Load())
		_, ok = m.welcome()
		require.False(t, ok)
		latest.Disconnect()

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
