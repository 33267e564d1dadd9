package gabp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func defaultLimits(tb testing.TB) Limits {
	tb.Helper()
	lim, err := Limits{}.withDefaults()
	require.NoError(tb, err)
	return lim
}

// decodeWithin is decode with the defaults of lim in place of zeros.
func decodeWithin(data []byte, lim Limits) (message, error) {
	lim, err := lim.withDefaults()
	if err != nil {
		return message{}, err
	}
	m, e := decode(data, &lim)
	return m, orNil(e)
}

func orNil(e *Error) error {
	if e == nil {
		return nil
	}
	return e
}

func TestAppend(t *testing.T) {
	const id = `"v":"gabp/1","id":"7"`
	for _, c := range []struct {
		m    message
		want string
	}{
		{message{ID: "7", Type: typeRequest, Method: "tools/list"}, `{` + id + `,"type":"request","method":"tools/list"}`},
		{
			message{ID: "7", Type: typeRequest, Method: "tools/call", Params: json.RawMessage(`{ "name":"a/b" }`)},
			`{` + id + `,"type":"request","method":"tools/call","params":{ "name":"a/b" }}`,
		},
		{message{ID: "7", Type: typeResponse, Result: json.RawMessage(`[1]`)}, `{` + id + `,"type":"response","result":[1]}`},
		{message{ID: "7", Type: typeResponse}, `{` + id + `,"type":"response","result":null}`},
		{
			message{ID: "7", Type: typeResponse, Error: &Error{Code: -32601, Message: "no <such> method"}},
			`{` + id + `,"type":"response","error":{"code":-32601,"message":"no <such> method"}}`,
		},
		{
			message{ID: "7", Type: typeEvent, Channel: "a/b", Seq: 0, Payload: json.RawMessage(`1`)},
			`{` + id + `,"type":"event","channel":"a/b","seq":0,"payload":1}`,
		},
		{
			message{ID: "a\"\n\u2028é", Type: typeEvent, Channel: "x"},
			`{"v":"gabp/1","id":"a\"\n` + "\u2028" + `é","type":"event","channel":"x","seq":0,"payload":null}`,
		},
	} {
		require.Equal(t, c.want, string(c.m.Append(nil)))
		m, err := decodeWithin(c.m.Append(nil), Limits{})
		require.NoError(t, err)
		require.Equal(t, c.want, string(m.Append(nil)), "read and written again")
	}
}

func TestDecodeTolerates(t *testing.T) {
	for name, text := range map[string]string{
		"nulls of others":       `{"v":"gabp/1","id":"x","type":"request","method":"a/b","params":null,"result":null,"error":null,"channel":null,"seq":null,"payload":null}`,
		"unknown members":       `{"v":"gabp/1","id":"x","type":"request","method":"a/b","trace":{"a":[1]},"ID":"y","Method":"c/d"}`,
		"error null":            `{"v":"gabp/1","id":"x","type":"response","result":{},"error":null}`,
		"result null and error": `{"v":"gabp/1","id":"x","type":"response","result":null,"error":{"code":-1,"message":"m"}}`,
		"code with fraction":    `{"v":"gabp/1","id":"x","type":"response","error":{"code":-1.0,"message":"m"}}`,
		"seq with fraction":     `{"v":"gabp/1","id":"x","type":"event","channel":"a","seq":3.0,"payload":{}}`,
		"space":                 " \r\n{ \"v\" : \"gabp/1\" ,\t\"id\":\"x\", \"type\":\"request\",\"method\":\"a/b\" } \n",
		"escaped names":         `{"\u0076":"gabp/1","i\u0064":"x","type":"request","method":"a\/b"}`,
	} {
		m, err := decodeWithin([]byte(text), Limits{})
		require.NoError(t, err, name)
		require.Equal(t, "x", m.ID, name)
		require.True(t, m.Type != typeRequest || m.validate(false) == nil, name)
	}
}

func TestDecodeRefuses(t *testing.T) {
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		name, text string
		code       int
	}{
		{"empty", ``, codeParse},
		{"half", `{"v":"gabp/1"`, codeParse},
		{"two values", `{} {}`, codeParse},
		{"comma", `{"v":"gabp/1",}`, codeParse},
		{"single quotes", `{'v':'gabp/1'}`, codeParse},
		{"not UTF-8", "{\"v\":\"gabp/1\",\"id\":\"\xff\"}", codeParse},
		{"control character", "{\"v\":\"gabp/1\",\"id\":\"\x01\"}", codeParse},
		{"bad escape", `{"v":"\x"}`, codeParse},
		{"bad hex", "{\"v\":\"\\u00\x10a\"}", codeParse},
		{"leading zero", `{"seq":01}`, codeParse},
		{"bare minus", `{"seq":-}`, codeParse},
		{"no exponent", `{"seq":1e}`, codeParse},
		{"NaN", `{"seq":NaN}`, codeParse},
		{"huge number", `{"seq":1` + strings.Repeat("0", 2000) + `}`, codeParse},
		{"deep", `{"v":"gabp/1","id":"x","type":"request","method":"a/b","params":{"a":` + deep + `}}`, codeParse},
		{"very deep", strings.Repeat(`{"a":`, 1_000_000), codeParse},
		{"many members", `{` + strings.Repeat(`"a":1,`, 100) + `"b":1}`, codeParse},
		{"id twice", `{"v":"gabp/1","id":"x","id":"y","type":"request","method":"a/b"}`, codeInvalidRequest},
		{"method twice", `{"v":"gabp/1","id":"x","type":"request","method":"a/b","method":"a/c"}`, codeInvalidRequest},
		{"long id", `{"v":"gabp/1","id":"` + long + `","type":"request","method":"a/b"}`, codeInvalidField},
		{"long method", `{"v":"gabp/1","id":"x","type":"request","method":"a/` + long + `"}`, codeInvalidField},
		{
			"long channel", `{"v":"gabp/1","id":"x","type":"event","channel":"` + long + `","seq":1,"payload":1}`,
			codeInvalidField,
		},
		{
			"tool twice", `{"v":"gabp/1","id":"x","type":"request","method":"tools/call","params":{"name":"a/b","name":"a/c"}}`,
			CodeInvalidParams,
		},
		{"two arguments", `{"v":"gabp/1","id":"x","type":"request","method":"tools/call","params":{"name":"a/b","arguments":{"a":1},"parameters":{"a":2}}}`, CodeInvalidParams},
	} {
		m, err := decodeWithin([]byte(c.text), Limits{})
		if err == nil {
			err = m.validate(false)
		}
		var e *Error
		require.ErrorAs(t, err, &e, c.name)
		require.Equal(t, c.code, e.Code, "%s: %s", c.name, e.Message)
		require.Less(t, len(e.Message), 1500, c.name)
	}
	_, err := decodeWithin([]byte(`{"v":"gabp/1","id":"x","id":"y","type":"request","method":"a/b","method":"a/c"}`), Limits{})
	require.ErrorContains(t, err, `"id" occurs twice`, "the first")
	_, err = decodeWithin([]byte(`{"v":"gabp/1","id":"x","type":"request","method":""}`), Limits{})
	require.ErrorContains(t, err, "method is empty")
	for _, n := range []int{256, 257} {
		for _, text := range []string{
			`{"v":"gabp/1","id":"` + long[:n] + `","type":"request","method":"a/b"}`,
			`{"v":"gabp/1","id":"x","type":"request","method":"a/` + long[:n-2] + `"}`,
			`{"v":"gabp/1","id":"x","type":"event","channel":"` + long[:n] + `","seq":1,"payload":1}`,
		} {
			_, err := decodeWithin([]byte(text), Limits{})
			require.Equal(t, n == 256, err == nil, text)
		}
	}
	m, err := decodeWithin([]byte(`{"v":"gabp/9","id":"x","type":"request","method":"a/b"}`), Limits{})
	require.Error(t, err)
	require.Equal(t, "x", m.ID, "a refusal can be answered")

	_, err = decodeWithin([]byte(`{"v":"gabp/1","id":"x","type":"request","method":"a/b","params":{"a":"`+strings.Repeat("y", 300)+`"}}`), Limits{StringBytes: 256})
	require.ErrorContains(t, err, "300 bytes")
}

func TestParseToolCall(t *testing.T) {
	for params, want := range map[string]string{
		`{"name":"a/b"}`:                                            ``,
		`{"name":"a/b","arguments":{"x": 1}}`:                       `{"x": 1}`,
		`{"name":"a/b","parameters":{"x":1}}`:                       `{"x":1}`,
		`{"name":"a/b","arguments":{"x":1},"parameters":{"x": 1 }}`: `{"x": 1 }`,
		`{"name":"a/b","arguments":null}`:                           ``,
		`{"name":"a/b","extra":[1]}`:                                ``,
	} {
		call, err := ParseToolCall(json.RawMessage(params))
		require.NoError(t, err, params)
		require.Equal(t, "a/b", call.Name)
		require.Equal(t, want, string(call.Arguments))
	}
}

func TestIDs(t *testing.T) {
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, newID())
	require.NotEqual(t, newID(), newID())
	require.Len(t, NewToken(), 64)
}

func TestErrorText(t *testing.T) {
	e := Errorf(CodeToolFailed, "mod said %s", "a\n\x1b[31mred")
	require.Equal(t, `mod said a\n\x1b[31mred`, e.Message)
	require.Equal(t, `mod said a\n\x1b[31mred (gabp error -32402)`, e.Error())
	require.JSONEq(t, `{"a":1}`, string(e.WithData(map[string]int{"a": 1}).Data))
	require.Nil(t, e.WithData(func() {}).Data)
	require.Equal(t, "internal error: x", asError(fmt.Errorf("x")).Message)
	require.Same(t, e, asError(fmt.Errorf("wrapped: %w", e)))
}

// FuzzDecode holds the scanner to encoding/json, and messages to being the same
// once they were written and read again.
func FuzzDecode(f *testing.F) {
	paths, err := filepath.Glob("conformance/*/*.json")
	require.NoError(f, err)
	for _, p := range paths {
		data, err := os.ReadFile(p)
		require.NoError(f, err)
		f.Add(data)
	}
	for _, s := range []string{
		`{"a":[1,-2.5e+3,true,false,null,"\u00e9\n"]}`, "\"\xff\"", `[[[[]]]]`,
		`{"v":"gabp/1","id":"x","type":"response","error":{"code":1,"message":"m"}}`,
	} {
		f.Add([]byte(s))
	}
	lim := defaultLimits(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		err := visit(data, 1000, len(data), func(string, []byte) {})
		if err == nil {
			require.True(t, json.Valid(data), "taken and no JSON: %q", data)
		} else if json.Valid(data) && utf8.Valid(data) && !strings.Contains(err.Error(), "want at most") &&
			!strings.Contains(err.Error(), "deeper") && !strings.Contains(err.Error(), "members") {
			t.Fatalf("JSON refused: %q: %v", data, err)
		}
		m, e := decode(data, &lim)
		if e != nil {
			require.NotZero(t, e.Code)
			require.NotEmpty(t, e.Message)
			return
		}
		_ = m.validate(false)
		text := m.Append(nil)
		require.True(t, json.Valid(text), "%q", text)
		again, e := decode(text, &lim)
		require.Nil(t, e, "%q", text)
		require.Equal(t, text, again.Append(nil))
		if m.Type == typeRequest {
			require.True(t, bytes.Contains(data, m.Params), "params as they came")
		}
	})
}

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
			require.Equal(t, strings.Replace(odd.text, "ID", id, 1), string(p.text()))
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

// TestVisit holds which members of an object are found, byte for byte, and where a text leaves its bounds.
func TestVisit(t *testing.T) {
	members := func(n int) string { return `{` + strings.TrimSuffix(strings.Repeat(`"a":1,`, n), ",") + `}` }
	for _, c := range []struct {
		text string
		want []string
		err  string
	}{
		{`{"a": {"b" : [1, 2], "c":{} } , "d":[ {"e":1}],"f":"g"}`, []string{`a={"b" : [1, 2], "c":{} }`, `d=[ {"e":1}]`, `f="g"`}, ""},
		{`{"a":1,"a":null,"A":true}`, []string{`a=1`, `a=null`, `A=true`}, ""},
		{`{"\u0061\n":"\u0062"}`, []string{"a\n=\"\\u0062\""}, ""},
		{`[{"a":1}]`, nil, ""},
		{` 7 `, nil, ""},
		{`{}`, nil, ""},
		{`{"a":[[[]]]}`, []string{`a=[[[]]]`}, ""},
		{`{"a":[[[[]]]]}`, nil, "at byte 9: nested deeper than 4"},
		{`{"a":"12345678"}`, []string{`a="12345678"`}, ""},
		{`{"a":"123456789"}`, nil, "at byte 16: a string of 9 bytes, want at most 8"},
		{`{"123456789":1}`, nil, "a string of 9 bytes, want at most 8"},
		{`{"a":1` + strings.Repeat("0", maxNumber-1) + `}`, []string{`a=1` + strings.Repeat("0", maxNumber-1)}, ""},
		{`{"a":1` + strings.Repeat("0", maxNumber) + `}`, nil, "a number of 1025 bytes, want at most 1024"},
		{members(maxEnvelopeMembers), nil, ""},
		{members(maxEnvelopeMembers + 1), nil, "more than 64 members"},
		{`{"a":` + members(maxEnvelopeMembers+1) + `}`, []string{`a=` + members(maxEnvelopeMembers+1)}, ""},
		{`{} {}`, nil, "more text after the value"},
		{`{"a":1`, nil, "the text ends inside a value"},
		{`{"a" 1}`, nil, "at byte 5: "},
		{"{\"\u00e9\":\"\xff\"}", nil, "at or after byte 7: the text is not UTF-8"},
	} {
		var got []string
		err := visit([]byte(c.text), 4, 8, func(name string, value []byte) {
			got = append(got, fmt.Sprintf("%s=%s", name, value))
		})
		if c.err != "" {
			require.ErrorContains(t, err, c.err, c.text)
			continue
		}
		require.NoError(t, err, c.text)
		if c.want != nil {
			require.Equal(t, c.want, got)
		}
		require.Equal(t, c.text[0] == '{' && c.text != "{}", len(got) > 0)
	}
}

// TestParams holds which parameters of the protocol's own methods are refused, and where names do not matter.
func TestParams(t *testing.T) {
	name := func(n int) string { return "a/" + strings.Repeat("b", n-2) }
	for _, c := range []struct {
		method, params string
		code, lax      int // 0: accepted
		text           string
	}{
		{"a/b", `{}`, 0, 0, ""},
		{"A b", `{}`, codeInvalidField, 0, "form namespace/name"},
		{MethodToolsCall, `{"name":"a/b"}`, 0, 0, ""},
		{MethodToolsCall, `{"name":"A b"}`, CodeInvalidParams, 0, "form namespace/name"},
		{MethodToolsCall, `{"name":"` + name(256) + `"}`, 0, 0, ""},
		{MethodToolsCall, `{"name":"` + name(257) + `"}`, CodeInvalidParams, CodeInvalidParams, "257 bytes, want at most 256"},
		{MethodToolsCall, `{"name":""}`, CodeInvalidParams, CodeInvalidParams, "empty"},
		{MethodToolsCall, `{"name":"a/b","Arguments":{}}`, CodeInvalidParams, CodeInvalidParams, `"Arguments" must be written "arguments"`},
		{MethodToolsCall, `{"name":"a/b","arguments":[]}`, CodeInvalidParams, CodeInvalidParams, "must be an object"},
		{MethodToolsCall, `{"name":"a/b","parameters":7}`, CodeInvalidParams, CodeInvalidParams, "must be an object"},
		{MethodToolsList, `{}`, 0, 0, ""},
		{MethodToolsList, `{"filter":null}`, 0, 0, ""},
		{MethodToolsList, `{"filter":{"tags":["a"],"namePattern":"b/*"}}`, 0, 0, ""},
		{MethodToolsList, `{"filter":7}`, CodeInvalidParams, CodeInvalidParams, "filter must be an object"},
		{MethodToolsList, `{"filter":{"tags":"a"}}`, CodeInvalidParams, CodeInvalidParams, `"tags" must be an array`},
		{MethodToolsList, `{"filter":{"tags":[""]}}`, CodeInvalidParams, CodeInvalidParams, "strings of 1 to 256 bytes"},
		{MethodToolsList, `{"filter":{"tags":[7]}}`, CodeInvalidParams, CodeInvalidParams, "strings of 1 to 256 bytes"},
		{MethodToolsList, `{"filter":{"tags":["` + name(256) + `"]}}`, 0, 0, ""},
		{MethodToolsList, `{"filter":{"tags":["` + name(257) + `"]}}`, CodeInvalidParams, CodeInvalidParams, "strings of 1 to 256 bytes"},
		{MethodToolsList, `{"filter":{"namePattern":7}}`, CodeInvalidParams, CodeInvalidParams, `"namePattern" must be a string`},
		{MethodToolsList, `{"filter":{"namePattern":"` + name(257) + `"}}`, CodeInvalidParams, CodeInvalidParams, "257 bytes"},
		{methodEventsSubscribe, `{"channels":["a"]}`, 0, 0, ""},
		{methodEventsSubscribe, `{"channels":7}`, CodeInvalidParams, CodeInvalidParams, `"channels" must be an array`},
		{methodEventsUnsub, `{"channels":[]}`, CodeInvalidParams, CodeInvalidParams, "at least one channel"},
		{MethodAttentionAck, `{"attentionId":"x"}`, 0, 0, ""},
		{MethodAttentionAck, `{}`, CodeInvalidParams, CodeInvalidParams, `"attentionId" is missing`},
		{MethodResourcesRead, `{"uri":"` + strings.Repeat("u", 4096) + `"}`, 0, 0, ""},
		{MethodResourcesRead, `{"uri":"` + strings.Repeat("u", 4097) + `"}`, CodeInvalidParams, CodeInvalidParams, "4097 bytes"},
		{MethodResourcesRead, `{}`, CodeInvalidParams, CodeInvalidParams, `"uri" is missing`},
		{methodHello, `{}`, codeAuthRequired, codeAuthRequired, "a token is required"},
		{methodHello, helloText(token), 0, 0, ""},
		{methodHello, strings.Replace(helloText(token), `"scripted bridge"`, `7`, 1), CodeInvalidParams, CodeInvalidParams, `clientInfo: "name" must be a string`},
		{methodHello, strings.Replace(helloText(token), `"darwin"`, `""`, 1), CodeInvalidParams, CodeInvalidParams, `"platform" is empty`},
	} {
		m := message{Type: typeRequest, Method: c.method, Params: json.RawMessage(c.params)}
		for _, check := range []struct {
			code int
			got  error
		}{{c.code, m.validate(false)}, {c.lax, m.validate(true)}} {
			if check.code == 0 {
				require.Nil(t, check.got, "%s %.80s", c.method, c.params)
				continue
			}
			var got *Error
			require.ErrorAs(t, check.got, &got, "%s %.80s", c.method, c.params)
			require.Equal(t, check.code, got.Code)
			require.Contains(t, got.Message, c.text)
		}
	}
}

// TestReadAttention holds the bounds of an item of a peer.
func TestReadAttention(t *testing.T) {
	text := func(n int) string { return strings.Repeat("t", n) }
	sample := func(level, message, count string) string {
		return `{"level":"` + level + `","message":"` + message + `","repeatCount":` + count + `,"latestSequence":1}`
	}
	item := func(change ...string) string {
		a := `{"attentionId":"a-1","state":"open","severity":"error","blocking":true,"stateInvalidated":false,"summary":"s",` +
			`"causalOperationId":"o","causalMethod":"m","openedAtSequence":1,"latestSequence":2,"diagnosticsCursor":3,` +
			`"totalUrgentEntries":4,"sample":[` + sample("error", "m", "1") + `]}`
		for i := 0; i < len(change); i += 2 {
			a = strings.Replace(a, change[i], change[i+1], 1)
		}
		return a
	}
	for _, c := range []struct{ text, refused string }{
		{item(), ""},
		{item(`"s"`, `"`+text(maxReadText)+`"`), ""},
		{item(`"s"`, `"`+text(maxReadText+1)+`"`), `"summary" has 65537 bytes, want at most 65536`},
		{item(`"o"`, `"`+text(maxReadText+1)+`"`), `"causalOperationId" has 65537 bytes`},
		{item(`"m"`, `"`+text(maxReadText+1)+`"`), `"causalMethod" has 65537 bytes`},
		{item(`"a-1"`, `"`+text(257)+`"`), `"attentionId" has 257 bytes`},
		{item(`"open"`, `"shut"`), `"state" must be one of open, cleared`},
		{item(`"diagnosticsCursor":3`, `"diagnosticsCursor":-3`), `"diagnosticsCursor" must be an integer`},
		{item(`"diagnosticsCursor":3,`, ``), ""},
		{item(`[{`, `{"x":[{`, `}]}`, `}]}}`), `"sample" must be an array`},
		{item(`[{"level":"error"`, `[{"level":"loud"`), `sample: "level" is not a severity`},
		{item(`"message":"m",`, ``), `sample: "message" is missing`},
		{item(`"message":"m"`, `"message":"`+text(maxReadText+1)+`"`), `"message" has 65537 bytes`},
		{item(`"repeatCount":1`, `"repeatCount":0`), `"repeatCount" must be at least 1`},
		{item(`"repeatCount":1,"latestSequence":1`, `"repeatCount":1`), `sample: "latestSequence" is missing`},
		{item(sample("error", "m", "1"),
			strings.TrimSuffix(strings.Repeat(sample("info", "m", "1")+",", maxReadSamples), ",")), ""},
		{item(sample("error", "m", "1"), strings.TrimSuffix(strings.Repeat(sample("info", "m", "1")+",", maxReadSamples+1), ",")), `"sample" has 65 elements, want at most 64`},
		{`7`, "attention must be an object"},
		{strings.TrimSuffix(item(), "}"), "attention: the text ends inside a value"},
		{strings.Replace(item(), `{`, `{"state":"open",`, 1), `"state" occurs twice`},
	} {
		a, err := ParseAttention(json.RawMessage(c.text))
		if c.refused != "" {
			requireCode(t, codeInvalidField, err)
			require.ErrorContains(t, err, c.refused)
			require.Empty(t, a.ID)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, "a-1 o m 1 2 4",
			fmt.Sprint(a.ID, " ", a.CausalOperationID, " ", a.CausalMethod, " ", a.OpenedAtSequence,
				" ", a.LatestSequence, " ", a.TotalUrgentEntries))
	}
	var current CurrentResult
	require.ErrorContains(t, json.Unmarshal([]byte(`{}`), &current), `"attention" is missing`)
	require.NoError(t, json.Unmarshal([]byte(`{"attention":null}`), &current))
	require.Nil(t, current.Attention)
	require.NoError(t, json.Unmarshal([]byte(`{"attention":`+item()+`}`), &current))
	require.EqualValues(t, 3, current.Attention.DiagnosticsCursor)
	require.EqualValues(t, 1, current.Attention.Sample[0].RepeatCount)
	require.ErrorContains(t, json.Unmarshal([]byte(`{"attention":`+item(`"open"`, `"cleared"`)+`}`), &current), "is not open")
	var acked AckResult
	for text, refused := range map[string]string{
		`{"acknowledged":true,"attentionId":"a","currentAttention":null}`: "",
		`{"acknowledged":true,"currentAttention":null}`:                   "",
		`{"acknowledged":7,"currentAttention":null}`:                      `"acknowledged" must be true or false`,
		`{"currentAttention":null}`:                                       `"acknowledged" is missing`,
		`{"acknowledged":true}`:                                           `"currentAttention" is missing`,
		`{"acknowledged":true,"currentAttention":7}`:                      "attention must be an object",
	} {
		err := json.Unmarshal([]byte(text), &acked)
		if refused == "" {
			require.NoError(t, err, text)
		} else {
			require.ErrorContains(t, err, refused, text)
		}
	}
}

// TestErrors holds the wire form of errors of handlers.
func TestErrors(t *testing.T) {
	require.Equal(t, &Error{Code: -7, Message: "error without a message", Data: json.RawMessage("1")},
		asError(&Error{Code: -7, Data: json.RawMessage("1")}))
	require.Equal(t, &Error{Code: codeInternal, Message: `internal error: a\nb`}, asError(fmt.Errorf("a\nb")))
}

// validate checks the content of a request.
func (m *message) validate(lax bool) error {
	_, err := readParams(m.Method, m.Params, lax)
	return err
}
