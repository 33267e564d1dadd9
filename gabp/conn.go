package gabp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/heedlog/heed/internal/framing"
	"github.com/heedlog/heed/internal/text"
)

// deadliner is a stream with deadlines, as connections of package net and most files have.
type deadliner interface {
	SetReadDeadline(t time.Time) error
	SetWriteDeadline(t time.Time) error
}

// conn carries messages over a stream. One goroutine may read while others write.
type conn struct {
	rwc    io.ReadWriteCloser
	timed  deadliner // nil if the stream has no deadlines: it is closed at a timeout
	limits Limits

	br      *bufio.Reader
	maxRead atomic.Int64  // bytes of a message, fewer before the hello
	readBy  time.Time     // deadline of the next message, zero for none; owned by the reader
	ahead   chan struct{} // closed when br is the reader's again, nil: it is; owned by the reader

	// client is set at the bridge's side, whose server is a mod with the habits of those in the field: see newClientConn.
	client  bool
	pending []pendingFrame // headers without their bodies, owned by the reader

	writeMu sync.Mutex

	closeOnce sync.Once
	closed    chan struct{}
	late      atomic.Bool // closed at a timeout
}

// readBuffer is the size of a connection's read buffer, and bounds its headers.
const readBuffer = maxHeaderBytes

// newConn returns a server's connection over rwc, which it closes when it is closed. If rwc has no deadlines, as
// net.Conn has, it is closed when a timeout has passed. lim is complete.
func newConn(rwc io.ReadWriteCloser, lim Limits) *conn {
	c := &conn{rwc: rwc, limits: lim, br: bufio.NewReaderSize(rwc, readBuffer), closed: make(chan struct{})}
	c.maxRead.Store(int64(lim.MessageSize))
	if d, ok := rwc.(deadliner); ok && d.SetReadDeadline(time.Time{}) == nil {
		c.timed = d
	}
	return c
}

// newClientConn returns a client's connection over rwc. It reads frames whose parts come interleaved, drops answers
// over the limit, and writes ASCII only: mods in the field write two frames as header, header, body, body, and count
// characters in place of bytes.
func newClientConn(rwc io.ReadWriteCloser, lim Limits) *conn {
	c := newConn(rwc, lim)
	c.client = true
	c.br.Reset(reader(rwc))
	return c
}

// Read returns the next message. It waits for one without a limit, but a frame that
// has begun must be complete within FrameTimeout.
//
// A refused message is returned as far as it was parsed; the next one can be read. A
// *frameError means that no more can be read, io.EOF that the stream ended between
// messages, any other error that it broke. Only envelopes are checked; see
// [readParams].
func (c *conn) Read() (message, error) {
	if len(c.pending) == 0 {
		stop := c.deadline(c.readBy)
		c.takeBack()
		_, err := c.br.Peek(1)
		stop()
		if err != nil {
			return message{}, c.readError(err)
		}
	}
	end := time.Now().Add(c.limits.FrameTimeout)
	if len(c.pending) > 0 {
		end = c.pending[0].by
	}
	if !c.readBy.IsZero() && c.readBy.Before(end) {
		end = c.readBy
	}
	stop := c.deadline(end)
	defer stop()
	if err := c.readHeaders(); err != nil {
		return message{}, c.readError(err)
	}
	body, length, err := c.nextBody()
	if err != nil {
		return message{}, c.readError(err)
	}
	if limit := int(c.maxRead.Load()); length > limit {
		why := Errorf(CodeTooLarge, "%s; the call was executed", framing.TooLong("an answer", length, limit))
		return message{text: body, length: length, refused: why}, nil
	}
	body = bytes.TrimPrefix(body, utf8BOM)
	m, refused := decode(body, &c.limits)
	m.text, m.refused = body, refused
	return m, nil
}

// whileOpen returns a context that is done as soon as the stream ends, too. It is called by the reader, at most once
// for each message. The next Read returns the bytes that come in between.
func (c *conn) whileOpen(ctx context.Context) context.Context {
	_ = c.deadline(time.Time{})
	ctx, cancel := context.WithCancel(ctx)
	ahead := make(chan struct{})
	c.ahead = ahead
	go func() {
		defer close(ahead)
		if _, err := c.br.Peek(1); err != nil {
			cancel()
		}
	}()
	return ctx
}

// takeBack waits until br is the reader's again.
func (c *conn) takeBack() {
	if c.ahead != nil {
		<-c.ahead
		c.ahead = nil
	}
}

// deadline ends reads at t, or never if it is zero, until stop is called.
func (c *conn) deadline(t time.Time) (stop func()) {
	if c.timed != nil {
		_ = c.timed.SetReadDeadline(t) // a closed stream fails when it is read
		return func() {}
	}
	return c.closeAt(t)
}

// closeAt closes the connection at t unless stop is called first.
func (c *conn) closeAt(t time.Time) (stop func()) {
	if t.IsZero() {
		return func() {}
	}
	timer := time.AfterFunc(time.Until(t), func() {
		c.late.Store(true)
		_ = c.Close()
	})
	return func() { timer.Stop() }
}

// readError distinguishes a deadline from other ends of a stream.
func (c *conn) readError(err error) error {
	if c.late.Load() || errors.Is(err, os.ErrDeadlineExceeded) {
		return frameErrorf(codeParse, "the message did not arrive in time")
	}
	return err
}

// Write sends m, or fails within WriteTimeout; after an error the connection must be
// closed. A message larger than MessageSize is not sent, and an [*Error]. A client escapes all that is not ASCII.
func (c *conn) Write(m message) error {
	frame := m.appendFrame(nil, c.client)
	if len(frame) > c.limits.MessageSize+headerBytes {
		return Errorf(codeInternal, "a message of more than %d bytes", c.limits.MessageSize)
	}
	return c.write(frame)
}

// write writes whole frames at once.
func (c *conn) write(frames []byte) error {
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	end := time.Now().Add(c.limits.WriteTimeout)
	if c.timed != nil {
		if err := c.timed.SetWriteDeadline(end); err != nil {
			return err
		}
	} else {
		defer c.closeAt(end)()
	}
	if n, err := c.rwc.Write(frames); err != nil || n < len(frames) {
		return fmt.Errorf("gabp: write: %w", cmp.Or(err, io.ErrShortWrite))
	}
	return nil
}

// The bounds of linger.
const (
	lingerTime  = 250 * time.Millisecond
	lingerBytes = 1 << 20
)

// linger lets the peer read the last messages: closing a TCP connection with unread
// input resets it, and the peer loses output that it has not read.
func (c *conn) linger() {
	half, ok := c.rwc.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	defer c.deadline(time.Now().Add(lingerTime))()
	c.takeBack()
	_, _ = io.CopyN(io.Discard, c.br, lingerBytes)
}

// Close closes the stream. Reads and writes in progress fail.
func (c *conn) Close() (err error) {
	c.closeOnce.Do(func() {
		close(c.closed)
		err = c.rwc.Close()
	})
	return err
}

// utf8BOM begins the output of some writers.
var utf8BOM = []byte("\xef\xbb\xbf")

// readHeader reads the headers of a frame and returns the length of its message.
// Header names may have any case, values any space around them, lines a bare line feed;
// other headers are ignored, and so are empty lines before the first. It returns io.EOF
// if the stream ends before a frame, and a *frameError for an invalid one.
func readHeader(r *bufio.Reader, limit int) (length int, err error) {
	read, headers, length := 0, 0, -1
	for {
		line, err := r.ReadSlice('\n')
		read += len(line)
		switch {
		case errors.Is(err, bufio.ErrBufferFull) || read > maxHeaderBytes:
			return 0, frameErrorf(codeParse, "headers of more than %d bytes", maxHeaderBytes)
		case errors.Is(err, io.EOF) && read > 0 && (headers > 0 || len(bytes.TrimSpace(line)) > 0):
			return 0, io.ErrUnexpectedEOF
		case err != nil:
			return 0, err
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if headers == 0 {
			line = bytes.TrimPrefix(line, utf8BOM)
		}
		if len(line) == 0 {
			if headers == 0 {
				continue
			}
			if length < 0 {
				return 0, frameErrorf(codeParse, "a frame without Content-Length")
			}
			return length, nil
		}
		if headers++; headers > maxHeaders {
			return 0, frameErrorf(codeParse, "more than %d headers", maxHeaders)
		}
		name, value, ok := strings.Cut(string(line), ":")
		name = strings.TrimSpace(name)
		if !ok || !headerName().MatchString(name) {
			return 0, frameErrorf(codeParse, "not a header line; each message begins with Content-Length: N and an "+
				"empty line")
		}
		if !strings.EqualFold(name, "Content-Length") {
			continue
		}
		n, err := parseLength(strings.TrimSpace(value), limit)
		if err != nil {
			return 0, err
		}
		if length >= 0 && length != n {
			return 0, frameErrorf(codeParse, "Content-Length occurs twice, as %d and %d", length, n)
		}
		length = n
	}
}

// headerName is the form of a header's name. JSON and most lines of a log have another, and are refused at once.
var headerName = text.Lazy("^[!#-'*+.^_`|~0-9A-Za-z-]+$")

// parseLength parses digits and nothing else: with a sign, a fraction or another base
// the two sides could count differently.
func parseLength(s string, limit int) (int, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && n > uint64(limit):
		return 0, frameErrorf(codeInvalidRequest, "a message of %.40s bytes, want at most %d", s, limit)
	case err != nil:
		return 0, frameErrorf(codeParse, "Content-Length is %.40q, want a number of bytes", s)
	}
	return int(n), nil
}

// pendingFrame is a frame whose header has come, and whose body has not.
type pendingFrame struct {
	length int
	by     time.Time // when its body must have come
}

// The bounds of input that only a client accepts, beyond the protocol.
const (
	// maxPending bounds the headers that come before their bodies.
	maxPending = 64 << 10
	// maxDropped bounds the length of an answer that is read only to be dropped.
	maxDropped = math.MaxInt32
)

// headName begins the names of a frame's headers, and no JSON text.
const headName = "Content-"

// readHeaders reads the header of a frame if none is pending, and for a client the headers that come before the next
// body.
func (c *conn) readHeaders() error {
	limit := int(c.maxRead.Load())
	if c.client {
		limit = maxDropped
	}
	for {
		if len(c.pending) > 0 {
			if header, err := c.headerNext(); err != nil || !header {
				return err
			}
			if len(c.pending) == maxPending {
				return frameErrorf(codeParse, "headers of more than %d messages without a message", maxPending)
			}
		}
		length, err := readHeader(c.br, limit)
		if err != nil {
			return err
		}
		c.pending = append(c.pending, pendingFrame{length, time.Now().Add(c.limits.FrameTimeout)})
	}
}

// headerNext reports whether a header comes next, and not a body.
func (c *conn) headerNext() (bool, error) {
	if !c.client || c.pending[0].length < len(headName) { // no message is as short
		return false, nil
	}
	text, err := c.br.Peek(1)
	if err == nil && text[0]|0x20 != 'c' {
		return false, nil
	}
	if err == nil {
		text, err = c.br.Peek(len(headName))
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return bytes.EqualFold(text, []byte(headName)), err
}

// nextBody reads the body of one of the pending frames. If there are several it is a JSON object, which ends with its
// last brace, and belongs to the first frame of that length. No other text can be assigned to a frame. Of a body that
// is longer than the limit, text has the two ends.
func (c *conn) nextBody() (text []byte, length int, err error) {
	limit := int(c.maxRead.Load())
	if n := c.pending[0].length; len(c.pending) == 1 && n <= limit {
		c.pending = c.pending[:0]
		step := bodyStep
		if c.client { // a single peer, whom a person has started
			step = n
		}
		text, err = framing.Body(c.br, nil, n, step)
		return text, n, err
	}
	longest := slices.MaxFunc(c.pending, func(a, b pendingFrame) int { return a.length - b.length }).length
	known := len(c.pending) == 1
	if known {
		limit = framing.MaxEnd
	}
	var (
		kept framing.Ends
		end  braces
		done bool
	)
	for !done {
		if _, err := c.br.Peek(1); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, 0, err
		}
		chunk, _ := c.br.Peek(min(c.br.Buffered(), longest-length))
		if !known {
			chunk, done = end.next(chunk)
		}
		kept.Add(chunk, limit)
		length += len(chunk)
		_, _ = c.br.Discard(len(chunk))
		if length == longest || len(chunk) == 0 {
			break
		}
	}
	i := slices.IndexFunc(c.pending, func(f pendingFrame) bool { return f.length == length && (known || done) })
	if i < 0 {
		return nil, 0, frameErrorf(codeParse, "the parts of %d messages came interleaved, and cannot be told apart",
			len(c.pending))
	}
	c.pending = slices.Delete(c.pending, i, i+1)
	return append(kept.Head, kept.Tail...), length, nil
}

// braces finds the end of a JSON object.
type braces struct {
	depth           int
	quoted, escaped bool
}

// next returns the part of text that belongs to the object, none if it is no object, and whether the object ends
// there.
func (b *braces) next(text []byte) (part []byte, done bool) {
	for i, c := range text {
		switch {
		case b.escaped:
			b.escaped = false
		case b.quoted:
			b.escaped, b.quoted = c == '\\', c != '"'
		case c == '"':
			b.quoted = b.depth > 0
		case c == '{':
			b.depth++
		case c == '}':
			b.depth--
		}
		if b.depth <= 0 {
			if c != '}' || b.depth < 0 {
				return nil, false
			}
			return text[:i+1], true
		}
	}
	return text, false
}

// bodyStep bounds the bytes that a server allocates for the length in a header. The rest is allocated as it arrives, so
// that a peer uses at most twice the memory of its bytes.
const bodyStep = 64 << 10

// The headers of each frame, around the length of the message. The length comes first
// and its name is in this case, since readers in the field know no other.
const (
	frameHead   = "Content-Length: "
	frameTail   = "\r\nContent-Type: application/json\r\n\r\n"
	headerBytes = len(frameHead + "0000000000" + frameTail)
)

// appendFrame appends m as a frame. With ascii, escapes replace all other characters.
func (m *message) appendFrame(dst []byte, ascii bool) []byte {
	body := m.Append(nil)
	if ascii {
		body = escape(body)
	}
	return append(fmt.Appendf(dst, "%s%d%s", frameHead, len(body), frameTail), body...)
}

// escape replaces characters outside ASCII, which only strings of JSON text have, by escapes.
func escape(text []byte) []byte {
	if !bytes.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return text
	}
	var out []byte
	for _, r := range string(text) {
		if r < utf8.RuneSelf {
			out = append(out, byte(r))
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}
