package jsonrpc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/heedlog/heed/internal/framing"
)

// maxQueued bounds the bytes that wait for one side before no more is read of the other.
const maxQueued = 1 << 20

// flushWait bounds how long Run waits until all that is queued is written.
const flushWait = 5 * time.Second

// ErrProgram is the error of Run when the program has ended, alone if its output has. It is wrapped with another cause.
var ErrProgram = errors.New("the program has ended")

// Between runs between a client and a program. The methods of Client and Program may be called at any time.
type Between struct {
	Client, Program *Peer

	// FromClient and FromProgram handle a line, which ends in a line feed unless it is the last. Each is called by one
	// goroutine, one line at a time.
	FromClient, FromProgram func(line []byte)
	// Settle returns when all lines that were read are handled. It is called when a side has no more.
	Settle func()
	// Left is called when the client sends no more and the program has all its lines: it closes the program's input, so
	// that its output ends. The client gets the program's lines until then.
	Left func()
	// Ended is called before the last lines are written: it answers the requests that are open.
	Ended func()
}

// Run passes lines on until the client or the program ends, or ctx does. It returns nil if the client ended. The caller
// closes the streams.
func (b *Between) Run(ctx context.Context) error {
	ended := make(chan error, 4) // one of each goroutine
	var left atomic.Bool
	go b.Client.run(func(error) { ended <- nil })
	go b.Program.run(func(err error) { ended <- fmt.Errorf("%w: %w", ErrProgram, err) })
	go func() {
		if err := b.Client.read(b.Program, b.FromClient); !errors.Is(err, io.EOF) {
			ended <- err
			return
		}
		left.Store(true)
		b.Settle()
		flush(ctx, b.Program)
		b.Left()
	}()
	go func() {
		err := b.Program.read(b.Client, b.FromProgram)
		b.Settle()
		switch {
		case left.Load():
			ended <- nil
		case errors.Is(err, io.EOF):
			ended <- ErrProgram
		default:
			ended <- fmt.Errorf("%w: %w", ErrProgram, err)
		}
	}()
	var err error
	select {
	case <-ctx.Done():
		err = context.Cause(ctx)
	case err = <-ended:
	}
	b.Ended()
	flush(ctx, b.Client, b.Program)
	return err
}

// Peer is one side: it is read line by line, and lines are written to it in order. Make one with [NewPeer].
type Peer struct {
	Dropped atomic.Uint64 // lines of it that were too long, and had no id

	in  *bufio.Reader
	out io.Writer

	mu    sync.Mutex
	moved sync.Cond
	lines [][]byte
	size  int
	torn  bool // the last line has no end
	over  bool // no more are written
	done  chan struct{}
}

// NewPeer returns the side at the other end of stream.
func NewPeer(stream io.ReadWriter) *Peer {
	p := &Peer{in: bufio.NewReaderSize(stream, 64<<10), out: stream, done: make(chan struct{})}
	p.moved.L = &p.mu
	return p
}

// read handles the lines of p until it ends, each when there is room to write it to the other.
func (p *Peer) read(to *Peer, take func(line []byte)) error {
	for {
		to.Room()
		line, err := framing.Line(p.in, framing.MaxMessage)
		long, tooLong := errors.AsType[*framing.LongError](err)
		switch {
		case tooLong:
			p.refuse(long, take)
		case err != nil:
			return err
		default:
			take(line)
		}
	}
}

// refuse takes an error in place of an answer that is too long, and answers a request with an error.
func (p *Peer) refuse(long *framing.LongError, take func(line []byte)) {
	switch m := known(long.Ends); {
	case m.ID == nil:
		p.Dropped.Add(1)
	case m.Method == "":
		text := framing.TooLong("an answer", long.Size, long.Limit) + "; the call was executed"
		take(Failure(m.ID, CodeTooLarge, text).Line())
	default:
		p.Write(Failure(m.ID, CodeInvalid, framing.TooLong("a request", long.Size, long.Limit)).Line())
	}
}

// Write queues a line. It does not wait.
func (p *Peer) Write(line []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	if p.torn {
		line = append([]byte("\n"), line...)
	}
	p.torn = !bytes.HasSuffix(line, []byte("\n"))
	p.lines = append(p.lines, line)
	p.size += len(line)
	p.moved.Broadcast()
}

// Room waits until few bytes wait to be written.
func (p *Peer) Room() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.size > maxQueued && !p.over {
		p.moved.Wait()
	}
}

// run writes until finish is called and all is written, or writing fails.
func (p *Peer) run(failed func(error)) {
	defer close(p.done)
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for len(p.lines) == 0 {
			if p.over {
				return
			}
			p.moved.Wait()
		}
		line := p.lines[0]
		p.lines = p.lines[1:]
		p.mu.Unlock()
		_, err := p.out.Write(line)
		p.mu.Lock()
		p.size -= len(line)
		p.moved.Broadcast()
		if err != nil {
			p.over = true
			failed(err)
			return
		}
	}
}

// flush ends the queues of peers, and waits until all is written, but not for long.
func flush(ctx context.Context, peers ...*Peer) {
	ctx, cancel := context.WithTimeout(ctx, flushWait)
	defer cancel()
	for _, p := range peers {
		p.mu.Lock()
		p.over = true
		p.moved.Broadcast()
		p.mu.Unlock()
	}
	for _, p := range peers {
		select {
		case <-p.done:
		case <-ctx.Done():
		}
	}
}

// The codes of errors.
const (
	CodeParse         = -32700
	CodeInvalid       = -32600
	CodeInvalidParams = -32602
	CodeInternal      = -32603
	CodeTooLarge      = -32003 // of an answer that is not passed on; the request was executed
)

// Message is a request (ID, Method), a notification (Method) or a response (ID).
type Message struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id,omitzero"`
	Method  string         `json:"method,omitzero"`
	Params  jsontext.Value `json:"params,omitzero"`
	Result  jsontext.Value `json:"result,omitzero"`
	Error   jsontext.Value `json:"error,omitzero"`
}

// lenient reads JSON that other implementations read, and writes it again with the same bytes in strings.
var lenient = json.JoinOptions(
	jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(true),
)

// Read unmarshals JSON, and reports whether it could.
func Read(data jsontext.Value, into any) bool {
	return len(data) > 0 && json.Unmarshal(data, into, lenient) == nil
}

// Write returns v as JSON in one line. The type of v must have a JSON form.
func Write(v any) jsontext.Value {
	data, err := json.Marshal(v, lenient)
	if err != nil {
		panic("BUG: jsonrpc: " + err.Error())
	}
	return data
}

// Line returns the message as a line.
func (m Message) Line() []byte {
	m.Version = "2.0"
	return append(Write(m), '\n')
}

// Failure returns the response to a request with an error. The id is null if it is not known.
func Failure(id jsontext.Value, code int, text string) Message {
	if id == nil {
		id = jsontext.Value("null")
	}
	return Message{ID: id, Error: Write(struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}{code, text})}
}

// known returns the members of a long message that are whole in its two ends.
func known(ends framing.Ends) (m Message) {
	reads := func(object []byte) bool { return jsontext.Value(object).IsValid(lenient) && Read(object, &m) }
	for i, c := range slices.Backward(ends.Head) {
		if c == ',' && reads(append(ends.Head[:i:i], '}')) {
			break
		}
	}
	for i, c := range ends.Tail {
		if c == '"' && reads(append([]byte{'{'}, ends.Tail[i:]...)) {
			break
		}
	}
	return m
}

// Key returns the form of an id that all its spellings share. An integer has all its digits.
func Key(id jsontext.Value) string {
	form := id.Clone()
	if _, err := strconv.ParseInt(string(id), 10, 64); err != nil {
		_ = form.Canonicalize() // else its bytes
	}
	return string(form)
}

// maxOpen bounds the requests without an answer.
const maxOpen = 4096

// Open holds the requests that have no answer yet, by their keys.
type Open[T any] map[string]T

// Add adds a request. It returns false if one with the id is open, or too many are.
func (o Open[T]) Add(id jsontext.Value, of T) bool {
	if _, twice := o[Key(id)]; twice || len(o) >= maxOpen {
		return false
	}
	o[Key(id)] = of
	return true
}

// Take removes and returns a request.
func (o Open[T]) Take(id jsontext.Value) (of T, known bool) {
	of, known = o[Key(id)]
	delete(o, Key(id))
	return of, known
}
