package gabp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/heedlog/heed/internal/framing"
)

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
		if !ok || !headerName.MatchString(name) {
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
var headerName = regexp.MustCompile("^[!#-'*+.^_`|~0-9A-Za-z-]+$")

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

// frame returns m as a frame. With ascii, escapes replace all other characters.
func (m *message) frame(ascii bool) []byte {
	body := m.Append(nil)
	if ascii {
		body = escape(body)
	}
	return fmt.Appendf(nil, "%s%d%s%s", frameHead, len(body), frameTail, body)
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
