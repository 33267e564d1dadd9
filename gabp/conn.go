package gabp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heedlog/heed/internal/framing"
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
	closeErr  error
	closed    chan struct{}
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
// message.validate.
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
	timer := time.AfterFunc(time.Until(t), func() { _ = c.close(os.ErrDeadlineExceeded) })
	return func() { timer.Stop() }
}

// readError distinguishes a deadline from other ends of a stream.
func (c *conn) readError(err error) error {
	select {
	case <-c.closed:
		if c.closeErr != nil {
			err = c.closeErr
		}
	default:
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return frameErrorf(codeParse, "the message did not arrive in time")
	}
	return err
}

// Write sends m, or fails within WriteTimeout; after an error the connection must be
// closed. A message larger than MessageSize is not sent, and an [*Error]. A client escapes all that is not ASCII.
func (c *conn) Write(m message) error {
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	frame := m.frame(c.client)
	if len(frame) > c.limits.MessageSize+headerBytes {
		return Errorf(codeInternal, "a message of more than %d bytes", c.limits.MessageSize)
	}
	end := time.Now().Add(c.limits.WriteTimeout)
	if c.timed != nil {
		if err := c.timed.SetWriteDeadline(end); err != nil {
			return err
		}
	} else {
		defer c.closeAt(end)()
	}
	if n, err := c.rwc.Write(frame); err != nil || n < len(frame) {
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
func (c *conn) Close() error { return c.close(nil) }

func (c *conn) close(why error) error {
	var err error
	c.closeOnce.Do(func() {
		c.closeErr = why
		close(c.closed)
		err = c.rwc.Close()
	})
	return err
}
