package gabp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/framing"
	"github.com/heedlog/heed/internal/standin"
)

// stream is a connection whose peer has said all it will say.
type stream struct {
	io.Reader
	bytes.Buffer
}

func (s *stream) Read(p []byte) (int, error) { return s.Reader.Read(p) }
func (s *stream) Close() error               { return nil }

func readerOf(text string, lim Limits) *conn {
	lim, err := lim.withDefaults()
	if err != nil {
		panic(err)
	}
	return newConn(&stream{Reader: strings.NewReader(text)}, lim)
}

// plain is a stream without deadlines, as a pair of standard streams.
type plain struct{ io.ReadWriteCloser }

func frame(text string) string {
	return "Content-Length: " + strconv.Itoa(len(text)) + "\r\n\r\n" + text
}

const pingText = `{"v":"gabp/1","id":"1","type":"request","method":"session/ping"}`

func TestReadTolerates(t *testing.T) {
	n := strconv.Itoa(len(pingText))
	for name, text := range map[string]string{
		"exact":            frame(pingText),
		"content type":     "Content-Length: " + n + "\r\nContent-Type: application/json; charset=utf-8\r\n\r\n" + pingText,
		"other type":       "Content-Type: text/plain\r\nContent-Length: " + n + "\r\n\r\n" + pingText,
		"lower case":       "content-length: " + n + "\r\n\r\n" + pingText,
		"upper case":       "CONTENT-LENGTH:" + n + "\r\n\r\n" + pingText,
		"line feeds":       "Content-Length: " + n + "\n\n" + pingText,
		"spaces":           "Content-Length  : \t" + n + " \r\n\r\n" + pingText,
		"same length, two": "Content-Length: " + n + "\r\nContent-Length: 0" + n + "\r\n\r\n" + pingText,
		"blank lines":      "\r\n\n\r\n" + frame(pingText),
		"byte order marks": "\xef\xbb\xbfContent-Length: " + strconv.Itoa(len(pingText)+3) + "\r\n\r\n\xef\xbb\xbf" +
			pingText,
	} {
		for cut, r := range map[string]func(io.Reader) io.Reader{
			"whole":    func(r io.Reader) io.Reader { return r },
			"by bytes": iotest.OneByteReader, "by halves": iotest.HalfReader,
		} {
			lim := defaultLimits(t)
			c := newConn(&stream{Reader: r(strings.NewReader(text + frame(pingText)))}, lim)
			for range 2 { // merged with the next one
				m, err := c.Read()
				require.NoError(t, err, "%s %s", name, cut)
				require.Equal(t, methodPing, m.Method)
			}
			_, err := c.Read()
			require.Equal(t, io.EOF, err, name)
		}
	}
}

func TestReadRefusesFrames(t *testing.T) {
	for _, c := range []struct {
		name, text string
		code       int
	}{
		{"no length", "Content-Type: application/json\r\n\r\n{}", codeParse},
		{"empty length", "Content-Length: \r\n\r\n{}", codeParse},
		{"negative", "Content-Length: -5\r\n\r\n{}", codeParse},
		{"plus", "Content-Length: +2\r\n\r\n{}", codeParse},
		{"hexadecimal", "Content-Length: 0x2\r\n\r\n{}", codeParse},
		{"list", "Content-Length: 2, 2\r\n\r\n{}", codeParse},
		{"fraction", "Content-Length: 2.0\r\n\r\n{}", codeParse},
		{"two lengths", "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ", codeParse},
		{"too large", "Content-Length: 99999999\r\n\r\n", codeInvalidRequest},
		{"beyond integers", "Content-Length: 99999999999999999999999\r\n\r\n", codeInvalidRequest},
		{"a log line", "Exception in thread main\r\n\r\n", codeParse},
		{"JSON without a header", pingText + "\n", codeParse},
		{"endless header", strings.Repeat("x", 10_000), codeParse},
		{"endless line ends", strings.Repeat("\n", 10_000), codeParse},
		{"many headers", strings.Repeat("A: b\r\n", 100) + "\r\n", codeParse},
	} {
		_, err := readerOf(c.text, Limits{}).Read()
		var broken *frameError
		require.ErrorAs(t, err, &broken, c.name)
		require.Equal(t, c.code, broken.Err.Code, c.name)
	}
	for name, text := range map[string]string{
		"half a header": "Content-Len",
		"half headers":  "Content-Length: 5\r\n",
		"no body":       "Content-Length: 5\r\n\r\n",
		"half a body":   "Content-Length: 5\r\n\r\n{}",
	} {
		_, err := readerOf(text, Limits{}).Read()
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, name)
	}
}

// TestBodyIsTakenAsItComes: a large length alone takes little memory.
func TestBodyIsTakenAsItComes(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const n = 50
	for range n {
		_, err := readerOf("Content-Length: 4000000\r\n\r\n"+strings.Repeat(" ", 1000), Limits{}).Read()
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(n*200_000))

	text := `{"v":"gabp/1","id":"1","type":"response","result":"` + strings.Repeat("x", 900_000) + `"}`
	m, err := readerOf(frame(text), Limits{}).Read()
	require.NoError(t, err)
	require.Equal(t, text, string(m.Append(nil)))
}

func TestWriteTimeout(t *testing.T) {
	for _, timed := range []bool{true, false} {
		near, far := net.Pipe()
		lim := defaultLimits(t)
		lim.WriteTimeout = 20 * time.Millisecond
		var c *conn
		if timed {
			c = newConn(near, lim)
		} else {
			c = newConn(plain{near}, lim)
		}
		require.Error(t, c.Write(message{ID: "1", Type: typeResponse}), "nobody reads")
		require.NoError(t, far.Close())
		require.NoError(t, c.Close())
	}
}

// FuzzConn reads whatever comes: it ends, and what it takes is a message.
func FuzzConn(f *testing.F) {
	for _, s := range []string{
		frame(pingText) + frame(pingText), "content-length: 2\n\n{}", "Content-Length: -1\r\n\r\n",
		"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
		"\xef\xbb\xbfContent-Length: 3\r\n\r\n\xef\xbb\xbf", "\r\n\r\n\r\n", "Content-Length: 999999999999\r\n\r\n",
		"a:b\r\n\r\n", frame("[") + frame(pingText),
	} {
		f.Add([]byte(s))
	}
	lim := defaultLimits(f)
	f.Add([]byte("Content-Length: 20\r\n\r\nContent-Length: 19\r\n\r\n" + `{"a":"234567890123"}{"a":"23456789012"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, open := range []func(io.ReadWriteCloser, Limits) *conn{newConn, newClientConn} {
			requireEnds(t, open(&stream{Reader: bytes.NewReader(data)}, lim), len(data)+2)
		}
	})
}

// requireEnds reads all messages, which are fewer than most.
func requireEnds(t *testing.T, c *conn, most int) {
	for range most {
		m, err := c.Read()
		if err != nil {
			return
		}
		if m.refused == nil {
			require.Contains(t, []string{typeRequest, typeResponse, typeEvent}, m.Type)
			require.NotEmpty(t, m.ID)
		}
	}
	t.Fatal("reads more messages than there are bytes")
}

// TestEachByte holds which bytes the name of a header, a length and the name of a bridge may have.
func TestEachByte(t *testing.T) {
	isToken := headerName().MatchString
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for c := range 256 {
		text := string([]byte{'1', byte(c)})
		isDigit := strings.IndexByte("0123456789", byte(c)) >= 0
		require.Equal(t, isDigit || strings.IndexByte(letters+"!#$%&'*+-.^_`|~", byte(c)) >= 0, isToken(text), text)
		n, err := parseLength(text, 19)
		if isDigit {
			require.NoError(t, err)
			require.Equal(t, 10+c-'0', n)
		} else {
			require.ErrorContains(t, err, fmt.Sprintf("Content-Length is %q", text))
		}
		kept := text
		if !isDigit && strings.IndexByte(letters+".-", byte(c)) < 0 {
			kept = "1_"
		}
		require.Equal(t, kept, safeName(text, 2))
		require.Equal(t, "1", safeName(text, 1))
	}
	require.False(t, isToken(""))
	_, err := parseLength("", 19)
	require.ErrorContains(t, err, `is "", want a number`)
	for text, fits := range map[string]bool{"19": true, "20": false, strings.Repeat("9", 100): false, "007": true} {
		_, err := parseLength(text, 19)
		require.Equal(t, fits, err == nil, text)
		require.True(t, fits || strings.Contains(err.Error(), "want at most 19"), text)
	}
}

// clientOf returns a client's connection whose server has sent a text.
func clientOf(r io.Reader, lim Limits) *conn {
	lim, err := lim.withDefaults()
	if err != nil {
		panic(err)
	}
	return newClientConn(&stream{Reader: r}, lim)
}

func header(text string) string { return strings.TrimSuffix(frame(text), text) }

func response(id, result string) string {
	return `{"result":` + result + `,"v":"gabp/1","id":"` + id + `","type":"response"}`
}

// TestInterleaved: bodies are told apart by their lengths, in any order.
func TestInterleaved(t *testing.T) {
	a, b, c := response("a", `1`), response("b", `"}\"{"`), response("c", `{"x":[{}]}`)
	same := response("d", `2`)
	for name, parts := range map[string][]string{
		"in order":            {header(a), header(b), a, b},
		"in reverse":          {header(a), header(b), b, a},
		"three":               {header(a), header(b), header(c), b, c, a},
		"one more meanwhile":  {header(a), header(b), b, header(c), a, c},
		"never none":          {header(a), header(b), a, header(c), b, header(same), same, c},
		"of one length":       {header(a), header(same), same, a},
		"lower case":          {header(a), strings.ToLower(header(b)), a, b},
		"a type before":       {header(a), "Content-Type: application/json\r\n" + header(b), b, a},
		"one after the other": {header(a), a, header(b), b},
	} {
		for cut, r := range map[string]func(io.Reader) io.Reader{
			"whole":    func(r io.Reader) io.Reader { return r },
			"by bytes": iotest.OneByteReader, "by halves": iotest.HalfReader,
		} {
			t.Run(name+" "+cut, func(t *testing.T) {
				conn := clientOf(r(strings.NewReader(strings.Join(parts, "")+frame(pingText))), Limits{})
				for _, part := range parts {
					if strings.HasPrefix(part, "{") {
						m, err := conn.Read()
						require.NoError(t, err)
						require.Contains(t, part, `"id":"`+m.ID+`"`)
						require.Contains(t, part, `"result":`+string(m.Result))
					}
				}
				m, err := conn.Read()
				require.NoError(t, err)
				require.Equal(t, methodPing, m.Method)
				_, err = conn.Read()
				require.Equal(t, io.EOF, err)
			})
		}
	}
}

// TestInterleavedRefused: what cannot be told apart is one error, and no limit is escaped.
func TestInterleavedRefused(t *testing.T) {
	a, b := response("a", `1`), response("bb", `2`)
	const apart = "the parts of 2 messages came interleaved, and cannot be told apart"
	for name, c := range map[string]struct{ text, err string }{
		"of no length":       {header(a) + header(b) + response("a", `111`), apart},
		"longer than all":    {header(a) + header(b) + response("a", strings.Repeat("1", 1000)), apart},
		"no object":          {header(a) + header(b) + strings.Repeat("1", 100), apart},
		"parts of one":       {header(a) + header(b) + a[:10] + b + a[10:], apart},
		"too large a header": {header(a) + "Content-Length: 9999999999\r\n\r\n", "a message of 9999999999 bytes"},
		"headers only":       {strings.Repeat(header(a), maxPending+1), "headers of more than 65536 messages"},
	} {
		_, err := clientOf(strings.NewReader(c.text), Limits{FrameTimeout: patience}).Read()
		require.ErrorAs(t, err, new(*frameError), name)
		require.ErrorContains(t, err, c.err, name)
	}
	for name, text := range map[string]string{
		"no body":       header(a) + header(b),
		"half a header": header(a) + header(b)[:20],
		"half a body":   header(a) + header(b) + a[:9],
	} {
		_, err := clientOf(strings.NewReader(text), Limits{}).Read()
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, name)
	}
	// A server has no such habits.
	m, err := readerOf(header(a)+header(b)+a+b, Limits{}).Read()
	require.NoError(t, err)
	require.NotNil(t, m.refused)
}

// TestInterleavedInTime: a message that was begun must come in time, whatever comes meanwhile.
func TestInterleavedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		lim := defaultLimits(t)
		c := newClientConn(near, lim)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = io.WriteString(far, header(pingText))
			for {
				if _, err := io.WriteString(far, frame(response("a", `1`))); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		}()
		began := time.Now()
		for {
			if _, err := c.Read(); err != nil {
				require.ErrorContains(t, err, "in time")
				require.Equal(t, lim.FrameTimeout, time.Since(began))
				break
			}
		}
		require.NoError(t, c.Close())
		<-ended
	})
}

// TestTooLarge: an answer over the limit is an error of its call, in bounded memory, and the connection stays.
func TestTooLarge(t *testing.T) {
	lim := Limits{MessageSize: 8 << 10}
	text := strings.Repeat("x", 20_000)
	first, last := `{"id":"a","result":"`+text+`"}`, `{"result":"`+text+`","id":"a"}`
	for name, parts := range map[string][]string{
		"id first":           {header(first), first},
		"id last":            {header(last), last},
		"interleaved":        {header(pingText), header(last), last, pingText},
		"as long as can be":  {header(pingText), header(last), pingText, last},
		"interleaved, first": {header(first), header(pingText), first, pingText},
	} {
		c := clientOf(strings.NewReader(strings.Join(parts, "")+frame(pingText)), lim)
		for _, part := range append(slices.DeleteFunc(parts, func(s string) bool { return s[0] != '{' }), pingText) {
			m, err := c.Read()
			require.NoError(t, err, name)
			if part == pingText {
				continue
			}
			requireCode(t, CodeTooLarge, m.refused)
			require.ErrorContains(t, m.refused, fmt.Sprintf("an answer of %d bytes, want at most 8192; the call was executed", len(part)))
			id, _, _ := findID(m.text, func(id string) bool { return id == "a" })
			require.Equal(t, "a", id, name)
			require.LessOrEqual(t, len(m.text), lim.MessageSize+framing.MaxEnd)
		}
	}

	// Of many ids those after the wanted one are not looked for.
	many := []byte(`"id":"b","id" : "a"` + strings.Repeat(`,"id":"c"`, 1000))
	require.Less(t, testing.AllocsPerRun(1, func() {
		id, start, end := findID(many, func(id string) bool { return id == "a" })
		require.Equal(t, `"a"`, string(many[start:end]), id)
	}), 100.0)

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const n = 30 << 20
	head := fmt.Sprintf("Content-Length: %d\r\n\r\n", n)
	all := io.MultiReader(strings.NewReader(head), io.LimitReader(endless{}, n), strings.NewReader(frame(pingText)))
	c := clientOf(all, lim)
	m, err := c.Read()
	require.NoError(t, err)
	requireCode(t, CodeTooLarge, m.refused)
	_, err = c.Read()
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

// endless is a text without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestCallTooLarge: the caller gets the error, and the next call is answered.
func TestCallTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := standin.NewMod(standin.ModConfig{Answers: func(method, _ string) []string {
			if method == "a/large" {
				return standin.Result(`"` + strings.Repeat("x", 100_000) + `"`)
			}
			return standin.Result(`1`)
		}})
		ours, theirs := net.Pipe()
		go m.ServeConn(theirs)
		c, err := NewClient(t.Context(), ours, ClientConfig{Token: token, Limits: Limits{MessageSize: 8 << 10}})
		require.NoError(t, err)
		requireCode(t, CodeTooLarge, c.Call(t.Context(), "a/large", nil, nil))
		require.NoError(t, c.Call(t.Context(), "a/small", nil, nil))
		require.NoError(t, c.Close())
		<-c.Done()
	})
}

// FuzzInterleaved has a writer who knows what it wrote: each message is read once, in the order of the bodies, whatever
// the order of headers and bodies.
func FuzzInterleaved(f *testing.F) {
	f.Add([]byte{0, 0, 1, 1}, "}{", uint8(0))
	f.Add([]byte{0, 0, 0, 9, 8, 1}, `\"}`, uint8(3))
	f.Add([]byte{0, 2, 0, 4, 0, 6, 1, 3, 5, 7}, "\\\\\"", uint8(1))
	f.Add([]byte{0, 0, 0, 0, 0, 255, 254, 253, 1}, "Content-Length: 5\r\n\r\n{}", uint8(7))
	f.Fuzz(func(t *testing.T, order []byte, text string, step uint8) {
		var sent bytes.Buffer
		var open, want []string
		body := func(i int) {
			sent.WriteString(open[i])
			want = append(want, open[i])
			open = slices.Delete(open, i, i+1)
		}
		for n, b := range order {
			if b%2 == 0 || len(open) == 0 {
				quoted, _ := marshal(strings.Repeat(text, int(b)%7))
				open = append(open, response(strconv.Itoa(n), `{"x":`+string(quoted)+`}`))
				sent.WriteString(header(open[len(open)-1]))
			} else {
				body(int(b) / 2 % len(open))
			}
		}
		for len(open) > 0 {
			body(0)
		}
		c := clientOf(&steps{sent.Bytes(), int(step) + 1}, Limits{})
		for _, text := range want {
			m, err := c.Read()
			require.NoError(t, err)
			require.Equal(t, text, response(m.ID, string(m.Result)))
		}
		_, err := c.Read()
		require.Equal(t, io.EOF, err)
		require.Empty(t, c.pending)
	})
}

// steps is read some bytes at a time.
type steps struct {
	text []byte
	n    int
}

func (s *steps) Read(p []byte) (int, error) {
	if len(s.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.n)], s.text)
	s.text = s.text[n:]
	return n, nil
}

// FuzzEscape: what a client sends is ASCII, means the same, and has the length that its header says.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "plain", "köln", "日本語", "😀", "\u2028\ufffd\U0010ffff", "a\xffb\xe2\x82", "é\x80\xf0\x9f\x98"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted, err := json.Marshal(s)
		require.NoError(t, err)
		raw := bytes.ReplaceAll(quoted, []byte(`\ufffd`), []byte("\ufffd"))
		var out stream
		c := newClientConn(&out, defaultLimits(t))
		require.NoError(t, c.Write(message{ID: "1", Type: typeRequest, Method: "a/b", Params: []byte(`{"s":` + string(raw) + `}`)}))
		sent := out.String()
		head, body, _ := strings.Cut(sent, "\r\n\r\n")
		require.Equal(t, "Content-Length: "+strconv.Itoa(len(body))+"\r\nContent-Type: application/json", head)
		require.Negative(t, strings.IndexFunc(sent, func(r rune) bool { return r >= utf8.RuneSelf }))
		var q struct{ Params struct{ S string } }
		require.NoError(t, json.Unmarshal([]byte(body), &q))
		require.Equal(t, string([]rune(s)), q.Params.S)
	})
}

// TestTalkingMod: a mod that talks while it answers answers every call, and no event is lost.
func TestTalkingMod(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	m := standin.NewMod(standin.ModConfig{
		Channels: []string{"colony.log"}, Unlocked: true, Characters: true,
	})
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan struct{})
	go func() {
		defer close(served)
		conn, err := l.Accept()
		require.NoError(t, err)
		require.NoError(t, conn.(*net.TCPConn).SetNoDelay(false))
		m.ServeConn(conn)
	}()
	go func() {
		for ; ctx.Err() == nil; time.Sleep(300 * time.Microsecond) {
			m.Publish("colony.log", `{"level":"info","message":"All is well"}`)
		}
	}()
	c := connect(t, l.Addr().String(), nil)
	seqs := map[uint64]bool{}
	_, err = c.Events(ctx, []string{"colony.log"}, func(e Event) { seqs[e.Seq] = true })
	require.NoError(t, err)
	for range 300 {
		require.NoError(t, c.Call(ctx, MethodToolsCall, ToolCall{Name: "colony/bäu😀"}, nil))
	}
	require.NoError(t, c.Call(ctx, methodEventsUnsub, channelsParams{Channels: []string{"colony.log"}}, nil))
	require.NoError(t, c.CaughtUp(ctx))
	require.NoError(t, c.Close())
	<-c.Done()
	got := slices.Sorted(maps.Keys(seqs))
	require.NotEmpty(t, got)
	require.EqualValues(t, len(got)-1, got[len(got)-1]-got[0], "none is missing")
	cancel()
	<-served
}
