package gabp

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
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
	isToken := headerName.MatchString
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
