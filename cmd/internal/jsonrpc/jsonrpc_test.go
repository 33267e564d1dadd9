package jsonrpc

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/framing"
)

func TestKey(t *testing.T) {
	for id, same := range map[string]string{
		`"é/1"`: `"\u00e9\/1"`, `"a"`: `"\u0061"`, `1`: `1.0`, `1000`: `1E3`, `[1,2]`: `[1, 2]`, `null`: ` null `,
	} {
		require.Equal(t, Key(jsontext.Value(id)), Key(jsontext.Value(same)), id)
	}
	require.NotEqual(t, Key(jsontext.Value(`1`)), Key(jsontext.Value(`"1"`)))
	require.NotEqual(t, Key(jsontext.Value(`9007199254740992`)), Key(jsontext.Value(`9007199254740993`)))
	require.Equal(t, "\"\xff", Key(jsontext.Value("\"\xff")), "no JSON")
}

func TestOpen(t *testing.T) {
	open := Open[int]{}
	require.True(t, open.Add(jsontext.Value(`"a"`), 1))
	require.False(t, open.Add(jsontext.Value(`"\u0061"`), 2), "the id is open")
	n, known := open.Take(jsontext.Value(`"a"`))
	require.Equal(t, 1, n)
	require.True(t, known)
	_, known = open.Take(jsontext.Value(`"a"`))
	require.False(t, known)
	for n := range maxOpen {
		require.True(t, open.Add(Write(n), n))
	}
	require.False(t, open.Add(Write(maxOpen), 0), "too many")
}

func TestMessageLine(t *testing.T) {
	m := Message{ID: jsontext.Value(`"\u0061\/"`), Result: jsontext.Value(`{"a": [1.0, "<"], "a": "\u0061"}`)}
	require.Equal(t, `{"jsonrpc":"2.0","id":"\u0061\/","result":{"a":[1.0,"<"],"a":"\u0061"}}`+"\n", string(m.Line()))
	require.Equal(t, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`+"\n",
		string(Failure(nil, CodeParse, "no").Line()))
	var again Message
	require.False(t, Read(nil, &again))
	require.True(t, Read(m.Line(), &again))
	require.Equal(t, `"\u0061\/"`, string(again.ID))
}

// TestKnown holds that members of a long message are found that are whole in its ends, at its top level alone.
func TestKnown(t *testing.T) {
	long := strings.Repeat("x", 3*framing.MaxEnd)
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":"a,b","result":{"id":2,"text":"` + long + `"}}`:           `"a,b"`,
		`{"result":{"id":2,"text":"` + long + `"},"jsonrpc":"2.0","id":1.0}` + "\n":      `1.0`,
		`{"result":[{"id":2},"` + long + `",{"id":3}],"id":1}`:                           `1`,
		`{"params":"` + long + `","id":1,"method":"x"}`:                                  `x 1`,
		`{"method":"x","params":"` + long + `","id":1}`:                                  `x 1`,
		`{"method":"x","params":"` + long + `"}`:                                         `x `,
		`{"result":"` + long + `\",\"id\":4}"}`:                                          ``,
		`{"result":"\"id\":4,` + long + `","more":{"id":4}}`:                             ``,
		`[{"id":1,"result":"` + long + `"}]`:                                             ``,
		`{"id":1` + long + `"id":2`:                                                      ``,
		`{"result":{"` + long + `":1,"id":4,"a":{"id":5}},"error":{"id":6},"more":"id"}`: ``,
	} {
		_, err := framing.Line(bufio.NewReader(strings.NewReader(line)), framing.MaxEnd)
		tooLong, ok := errors.AsType[*framing.LongError](err)
		require.True(t, ok)
		m := known(tooLong.Ends)
		require.Equal(t, want, strings.TrimPrefix(m.Method+" "+string(m.ID), " "), line[:40]+line[len(line)-40:])
	}
}

// stream is the output of a side, and a writer in place of its input.
type stream struct {
	io.Reader
	io.Writer
}

// broken is a writer whose reader has gone.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// blocked is a reader of a side that writes nothing.
func blocked(t *testing.T) io.Reader {
	r, w := io.Pipe()
	t.Cleanup(func() { _ = w.Close() })
	return r
}

// TestBetweenEnds holds by which end, and with which error, Run ends.
func TestBetweenEnds(t *testing.T) {
	failure := errors.New("no disk")
	for name, c := range map[string]struct {
		client, program stream
		hangsUp         bool
		err             string
		ofProgram       bool // the error is ErrProgram
	}{
		"the client, and then the program": {client: stream{strings.NewReader("a\n"), io.Discard}, hangsUp: true},
		"the program": {
			program: stream{strings.NewReader(""), io.Discard}, err: "the program has ended", ofProgram: true,
		},
		"the client does not read": {
			client: stream{nil, broken{}}, program: stream{io.MultiReader(strings.NewReader("a\n"), blocked(t)), io.Discard},
		},
		"the program does not read": {
			client: stream{strings.NewReader("a\n"), io.Discard}, program: stream{nil, broken{}},
			err: "the program has ended: io: read/write on closed pipe", ofProgram: true,
		},
		"a stream that breaks": {
			program: stream{io.MultiReader(strings.NewReader("a"), errs{failure}), io.Discard},
			err:     "the program has ended: no disk", ofProgram: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			output, end := io.Pipe()
			t.Cleanup(func() { _ = end.Close() })
			for _, s := range []*stream{&c.client, &c.program} {
				if s.Reader == nil && s == &c.program {
					s.Reader = output
				} else if s.Reader == nil {
					s.Reader = blocked(t)
				}
				if s.Writer == nil {
					s.Writer = io.Discard
				}
			}
			b := Between{
				Client: NewPeer(c.client), Program: NewPeer(c.program), Settle: func() {}, Ended: func() {},
			}
			b.FromClient, b.FromProgram = b.Program.Write, b.Client.Write
			b.Left = func() {
				if c.hangsUp {
					_ = end.Close()
				}
			}
			err := b.Run(context.Background())
			if c.err == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, c.err)
			require.Equal(t, c.ofProgram, errors.Is(err, ErrProgram))
		})
	}
}

// errs is a reader that fails.
type errs struct{ err error }

func (e errs) Read([]byte) (int, error) { return 0, e.err }

// TestBetweenAnswersLast holds that the lines of Ended are the last that a side gets, and that all are written.
func TestBetweenAnswersLast(t *testing.T) {
	var got strings.Builder
	b := Between{
		Client:  NewPeer(stream{blocked(t), &got}),
		Program: NewPeer(stream{strings.NewReader("1\n2"), io.Discard}),
		Settle:  func() {}, Left: func() {},
	}
	b.FromProgram = b.Client.Write
	b.Ended = func() { b.Client.Write([]byte("last\n")) }
	require.ErrorIs(t, b.Run(context.Background()), ErrProgram)
	require.Equal(t, "1\n2\nlast\n", got.String())
	b.Client.Write([]byte("late\n"))
	require.Equal(t, "1\n2\nlast\n", got.String())
}
