package bridge

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/session"
)

// patience bounds what tests wait for; nothing takes that long.
const patience = 2 * time.Minute

// oddMod answers each call of a tool in its own way, as arguments.answer says, in which %s is
// where the id goes.
func oddMod(t *testing.T, l net.Listener) {
	conn, err := l.Accept()
	if err != nil {
		return
	}
	defer conn.Close() //nolint:errcheck // it is over
	r := bufio.NewReader(conn)
	for {
		var n int
		if _, err := fmt.Fscanf(r, "Content-Length: %d\r\n\r\n", &n); err != nil {
			return
		}
		text := make([]byte, n)
		if _, err := io.ReadFull(r, text); err != nil {
			return
		}
		var m struct {
			ID, Method string
			Params     struct{ Arguments struct{ Answer string } }
		}
		if err := json.Unmarshal(text, &m); err != nil {
			t.Error(err)
			return
		}
		answer := `{"v":"gabp/1","id":"%s","type":"response","result":{"tools":[]}}`
		switch m.Method {
		case "session/hello":
			answer = `{"v":"gabp/1","id":"%s","type":"response","result":{"agentId":"mod","app":{"name":"Colony","version":"1"},"capabilities":{},"schemaVersion":"1.0"}}`
		case gabp.MethodToolsCall:
			answer = m.Params.Arguments.Answer
		}
		answer = fmt.Sprintf(answer, m.ID)
		_, _ = fmt.Fprintf(conn, "Content-Length: %d\r\n\r\n%s", len(answer), answer)
	}
}

// TestUntaken: an answer of the mod that is not as the protocol has it comes to the bridge as it
// was, the operation has ended, and it is noted.
func TestUntaken(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer inner.Close() //nolint:errcheck // a test's
	go oddMod(t, inner)
	s, err := session.New(session.Config{})
	require.NoError(t, err)
	token := gabp.NewToken()
	p, err := New(Config{
		Session: s, Logger: slog.New(slog.DiscardHandler), ModWait: patience, AnswerWithin: patience,
		Handed: Handed{Outer: gabp.Bridge{Token: token}, Inner: gabp.Bridge{
			Address: inner.Addr().String(),
			Token:   gabp.NewToken(),
		}},
	})
	require.NoError(t, err)
	outer, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 2)
	go func() { served <- s.Run(ctx) }()
	go func() { served <- p.Serve(ctx, outer) }()
	defer func() {
		stop()
		require.NoError(t, <-served)
		require.NoError(t, <-served)
	}()
	c, err := gabp.Dial(ctx, outer.Addr().String(), gabp.ClientConfig{
		Token:  token,
		Limits: gabp.Limits{HelloTimeout: patience},
	})
	require.NoError(t, err)
	defer c.Close() //nolint:errcheck // a test's

	for i, answer := range []struct {
		text   string
		failed bool
	}{
		{`{"v":"gabp/1","id":"%s","type":"response","error":{"code":-7}}`, true},
		{`{"v":"gabp/1","id":"%s","type":"response","result":NaN}`, false},
	} {
		_, err = c.CallTool(ctx, "colony/build", map[string]string{"answer": answer.text})
		v, ok := errors.AsType[*gabp.Verbatim](err)
		require.True(t, ok, "%v", err) // the bridge of this test does not take it either
		require.Equal(t, answer.failed, v.Failed)
		require.EqualValues(t, i+1, p.Untaken())
		if a := p.attention.Current(ctx, "agent").Attention; a != nil {
			s.Ack("agent", a.ID, 0)
		}
	}
	require.Zero(t, s.Status().InFlight)
	require.Equal(t, "mod.answers", p.limits()[0].Name)
	raw, err := c.CallTool(ctx, "colony/build", map[string]string{"answer": `{"v":"gabp/1","id":"%s","type":"response","result":7}`})
	require.NoError(t, err)
	require.Equal(t, `7`, string(raw))
}
