package gabp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// oddAnswers are answers that are not as the protocol has them; ID is where the id goes.
var oddAnswers = []struct {
	name, text string
	failed     bool
}{
	{"both", `{"v":"gabp/1","id":"ID","type":"response","result":{"a":1.50},"error":{"code":1,"message":"m"}}`, true},
	{"no message", `{ "v":"gabp/1", "error":{"code":-7}, "type":"response", "id" : "ID" }`, true},
	{"code is text", `{"v":"gabp/1","id":"ID","type":"response","error":{"code":"E7","message":"m"}}`, true},
	{"neither", `{"v":"gabp/1","id":"ID","type":"response"}`, false},
	{"another version", `{"v":"gabp/2","id":"ID","type":"response","result":{"id":"another"}}`, false},
	{"no type", `{"v":"gabp/1","id":"ID","result":1}`, false},
	{"not UTF-8", "{\"v\":\"gabp/1\",\"id\":\"ID\",\"type\":\"response\",\"result\":\"\xff\"}", false},
	{"an id before its own", `{"result":{"id":"0","x":"id","id" :7},"bad":"` + "\n" + `","id":"ID"}`, false},
	{"nested", `{"v":"gabp/1","id":"ID","type":"response","result":` + strings.Repeat("[", 100) +
		strings.Repeat("]", 100) + `}`, false},
	{"not JSON", `{"v":"gabp/1","id":"ID","type":"response","result":NaN}`, false},
}

// TestVerbatim: an answer that is not taken comes to the peer of a proxy as it was.
func TestVerbatim(t *testing.T) {
	for _, odd := range oddAnswers {
		t.Run(odd.name, func(t *testing.T) {
			addr := mod(t, func(conn net.Conn, r *bufio.Reader) {
				id, _ := request(r)
				respond(conn, `{"v":"gabp/1","id":"`+id+`","type":"response","result":{"agentId":"mod"}}`)
				id, _ = request(r)
				respond(conn, strings.Replace(odd.text, "ID", id, 1))
				id, _ = request(r)
				respond(conn, `{"v":"gabp/1","id":"`+id+`","type":"response","result":1}`)
				_, _ = request(r)
			})
			var c *Client
			got := make(chan error, 2)
			s := start(t, func(cfg *ServerConfig) {
				cfg.Mux = serving(func(ctx context.Context, r *Request) (any, error) {
					raw, err := c.CallRaw(ctx, r.Method, r.Params)
					got <- err
					return raw, err
				})
			})
			c = connect(t, addr, nil)
			p := dial(t, s.addr)
			p.hello()
			id := p.request("a/b", `{}`)
			line, err := p.r.ReadString('\n')
			require.NoError(t, err)
			n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "Content-Length: ")))
			require.NoError(t, err)
			rest := strings.TrimPrefix(frameTail, "\r\n")
			text := make([]byte, len(rest)+n)
			_, err = io.ReadFull(p.r, text)
			require.NoError(t, err)
			require.Equal(t, rest+strings.Replace(odd.text, "ID", id, 1), string(text))
			v, ok := errors.AsType[*Verbatim](<-got)
			require.True(t, ok)
			require.Equal(t, odd.failed, v.Failed)
			require.NotEmpty(t, v.Error())
			p.request("a/b", `{}`)
			require.Equal(t, `1`, string(p.recv("").Result), "calls go on")
		})
	}
}

// FuzzVerbatim: whatever a mod answers, the client finds its call or does not, and goes on.
func FuzzVerbatim(f *testing.F) {
	for _, odd := range oddAnswers {
		f.Add([]byte(odd.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		ours, theirs := net.Pipe()
		go func() {
			r := bufio.NewReader(theirs)
			id, _ := request(r)
			respond(theirs, `{"v":"gabp/1","id":"`+id+`","type":"response","result":{"agentId":"mod"}}`)
			id, _ = request(r)
			respond(theirs, strings.Replace(string(text), "ID", id, 1))
			respond(theirs, `{"v":"gabp/1","id":"`+id+`","type":"response","result":1}`) // where it was not found
			_, _ = request(r)
		}()
		c, err := NewClient(context.Background(), ours, ClientConfig{Token: token})
		require.NoError(t, err)
		_, err = c.CallRaw(context.Background(), "a/b", nil)
		if v, ok := errors.AsType[*Verbatim](err); ok {
			require.NotNil(t, v.Err)
		}
		require.NoError(t, theirs.Close())
		<-c.Done()
	})
}
