package standin

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// peer is the client's end of a pipe to a mod.
type peer struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
}

func connect(t *testing.T, m *Mod) *peer {
	ours, theirs := net.Pipe()
	go m.ServeConn(theirs)
	t.Cleanup(func() { _ = ours.Close() })
	return &peer{t, ours, bufio.NewReader(ours)}
}

// ask sends a request, whose length is counted in bytes.
func (p *peer) ask(method, params string) {
	text := fmt.Sprintf(`{"id":"7","method":%q,"params":%s}`, method, params)
	_, err := fmt.Fprintf(p.conn, "Content-Length: %d\r\n\r\n%s", len(text), text)
	require.NoError(p.t, err)
}

// part reads a header, or as many bytes.
func (p *peer) part(n int) string {
	p.t.Helper()
	if n > 0 {
		text := make([]byte, n)
		_, err := io.ReadFull(p.r, text)
		require.NoError(p.t, err)
		return string(text)
	}
	var head strings.Builder
	for !strings.HasSuffix(head.String(), "\r\n\r\n") {
		line, err := p.r.ReadString('\n')
		require.NoError(p.t, err)
		head.WriteString(line)
	}
	return head.String()
}

func length(head string) (n int) {
	_, _ = fmt.Sscanf(head, "Content-Length: %d", &n)
	return n
}

func (p *peer) frame() string { return p.part(length(p.part(0))) }

// silent reports that nothing comes.
func (p *peer) silent() {
	p.t.Helper()
	_ = p.conn.SetReadDeadline(time.Now().Add(time.Hour))
	_, err := p.r.ReadByte()
	require.ErrorIs(p.t, err, os.ErrDeadlineExceeded)
	_ = p.conn.SetReadDeadline(time.Time{})
}

const hello, subscribe = `{"token":"t"}`, `{"channels":["colony.log","nothing"]}`

func TestMod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMod(ModConfig{Channels: []string{"colony.log"}, Delay: time.Second})
		p := connect(t, m)
		p.ask("session/hello", hello)
		require.Contains(t, p.frame(), `"events":["colony.log"]`)
		p.ask("events/subscribe", subscribe)
		require.Contains(t, p.frame(), `"subscribed":["colony.log"]`)
		began := time.Now()
		p.ask("tools/call", `{"name":"colony/build"}`)
		require.Contains(t, p.frame(), `{"done":true}`)
		require.Equal(t, time.Second, time.Since(began))
		go m.Publish("colony.log", `{"n":1}`)
		require.Contains(t, p.frame(), `"seq":1,"payload":{"n":1}`)
		p.ask("odd/method", `{}`)
		require.Contains(t, p.frame(), "-32601")
		require.Equal(t, []string{`tools/call {"name":"colony/build"}`, `odd/method {}`}, m.Asked())
		m.Freeze(true)
		p.ask("tools/list", `{}`)
		p.silent()
	})
}

// TestModCharacters: a request that is not ASCII hangs its connection.
func TestModCharacters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, NewMod(ModConfig{Characters: true}))
		p.ask("tools/call", `{"name":"colony/build"}`)
		require.Contains(t, p.frame(), "done")
		p.ask("tools/call", `{"name":"köln"}`)
		p.silent()
	})
}
