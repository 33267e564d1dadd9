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
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/gabp"
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
		if _, err := fmt.Fscanf(r, "Content-Length: %d\r\nContent-Type: application/json\r\n\r\n", &n); err != nil {
			return
		}
		text := make([]byte, n)
		if _, err := io.ReadFull(r, text); err != nil {
			return
		}
		var m struct {
			ID, Method string
			Params     struct {
				Answer    string
				Arguments struct{ Answer string }
			}
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
		case "state/get", gabp.MethodResourcesRead, "colony/anything":
			answer = m.Params.Answer
		}
		answer = fmt.Sprintf(answer, m.ID)
		_, _ = fmt.Fprintf(conn, "Content-Length: %d\r\n\r\n%s", len(answer), answer)
	}
}

// TestUntaken: an answer of the mod that is not as the protocol has it comes to the bridge as it
// was, the operation has ended, and it is noted.
func TestUntaken(t *testing.T) {
	p, s, c := beforeOddMod(t, session.Config{})
	ctx := t.Context()
	for i, answer := range []struct {
		text   string
		failed bool
	}{
		{`{"v":"gabp/1","id":"%s","type":"response","error":{"code":-7}}`, true},
		{`{"v":"gabp/1","id":"%s","type":"response","result":NaN}`, false},
	} {
		_, err := c.CallTool(ctx, "colony/build", map[string]string{"answer": answer.text})
		v, ok := errors.AsType[*gabp.Verbatim](err)
		require.True(t, ok, "%v", err) // the bridge of this test does not take it either
		require.Equal(t, answer.failed, v.Failed)
		require.EqualValues(t, i+1, p.Untaken())
		if a, open := s.Current(ctx, "agent"); open {
			require.NoError(t, c.Call(ctx, gabp.MethodAttentionAck, gabp.AckParams{AttentionID: a.ID}, nil))
		}
	}
	require.Zero(t, s.Status().InFlight)
	require.Equal(t, "mod.answers", p.limits()[0].Name)
	raw, err := c.CallTool(ctx, "colony/build", map[string]string{"answer": `{"v":"gabp/1","id":"%s","type":"response","result":7}`})
	require.NoError(t, err)
	require.Equal(t, `7`, string(raw))
}

// reads is a recorder that counts reads of the game's state.
type reads struct {
	session.Recorder
	n atomic.Int64
}

func (r *reads) StateRead() { r.n.Add(1) }

// TestStateIsRead: a request that reads the mod's state, and got an answer, is reported to the engine.
func TestStateIsRead(t *testing.T) {
	k := &reads{Recorder: follow.NewRecorder(io.Discard)}
	_, _, c := beforeOddMod(t, session.Config{Recorder: k})
	const fine, refused = `"result":{"a":1}`, `"error":{"code":-32000,"message":"no"}`
	for _, r := range []struct {
		method, params, answer string
		want                   int64
	}{
		{"state/get", "", fine, 1},
		{"state/get", "", refused, 0},
		{gabp.MethodResourcesRead, `"uri":"gabp://mod/colony",`, fine, 1},
		{gabp.MethodResourcesRead, `"uri":"gabp://mod/colony",`, refused, 0},
		{gabp.MethodResourcesRead, `"uri":"gabp://mod/heed/status",`, "", 0},
		{"colony/anything", "", fine, 0},
	} {
		before := k.n.Load()
		params := `{` + r.params + `"answer":` + strconv.Quote(`{"v":"gabp/1","id":"%s","type":"response",`+r.answer+`}`) + `}`
		_, err := c.CallRaw(t.Context(), r.method, json.RawMessage(params))
		require.Equal(t, r.answer == refused, err != nil, "%v", err)
		require.Equal(t, r.want, k.n.Load()-before, r)
	}
}

// beforeOddMod runs a proxy before an [oddMod], and connects a bridge.
func beforeOddMod(t *testing.T, cfg session.Config) (*Proxy, *session.Session, *gabp.Client) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = inner.Close() })
	go oddMod(t, inner)
	s, err := session.New(cfg)
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
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 2)
	go func() { served <- s.Run(ctx) }()
	go func() { served <- p.Serve(ctx, outer) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-served)
		require.NoError(t, <-served)
	})
	c, err := gabp.Dial(ctx, outer.Addr().String(), gabp.ClientConfig{
		Token:  token,
		Limits: gabp.Limits{HelloTimeout: patience},
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return p, s, c
}
