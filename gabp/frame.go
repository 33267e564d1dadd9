package gabp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
)

// utf8BOM begins the output of writers that were given an encoding carelessly.
var utf8BOM = []byte("\xef\xbb\xbf")

// readHeader reads the headers of a frame and returns the length of the message
// that follows. Header names may have any case, values any space around them,
// lines a bare line feed; other headers are passed over, and so are empty lines
// before the first. It returns io.EOF where the stream ends before a frame, and
// a [*FrameError] for what is no frame.
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
		if !ok || !isToken(name) {
			return 0, frameErrorf(codeParse, "a line that is no header; each message begins with Content-Length: N and an empty line")
		}
		if !strings.EqualFold(name, "Content-Length") {
			continue
		}
		n, err := parseLength(strings.TrimSpace(value), limit)
		if err != nil {
			return 0, err
		}
		if length >= 0 && length != n {
			return 0, frameErrorf(codeParse, "Content-Length comes twice, as %d and %d", length, n)
		}
		length = n
	}
}

// isToken reports whether s may name a header: JSON and most lines of a log may
// not, so that who sends them is told at once.
func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// parseLength reads digits and nothing else: a sign, a fraction or another base
// means that the two sides would count differently.
func parseLength(s string, limit int) (int, error) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, frameErrorf(codeParse, "Content-Length is %.40q, want a number of bytes", s)
		}
	}
	n, err := strconv.ParseUint(s, 10, 63)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && n > uint64(limit):
		return 0, frameErrorf(codeInvalidRequest, "a message of %.40s bytes, want at most %d", s, limit)
	case err != nil:
		return 0, frameErrorf(codeParse, "Content-Length is empty")
	}
	return int(n), nil
}

// bodyStep is how much is taken on the word of a header. The rest is allocated
// as it comes, so that a peer holds no more of our memory than it has sent.
const bodyStep = 64 << 10

// readBody reads the n bytes of a message into memory of its own.
func readBody(r *bufio.Reader, n int) ([]byte, error) {
	body := make([]byte, 0, min(n, bodyStep))
	for len(body) < n {
		if len(body) == cap(body) {
			grown := make([]byte, len(body), min(n, 2*cap(body)))
			copy(grown, body)
			body = grown
		}
		got, err := io.ReadFull(r, body[len(body):cap(body)])
		body = body[:len(body)+got]
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return body, nil
}

// appendFrame appends m as a frame.
func appendFrame(dst []byte, m *message) []byte {
	// The length stands before what it counts: room is left for it, and what is
	// not used is closed up.
	const head, digits = "Content-Length: ", 10
	start := len(dst)
	dst = append(dst, head+"0000000000\r\n\r\n"...)
	body := len(dst)
	dst = m.Append(dst)
	var num [digits]byte
	length := strconv.AppendInt(num[:0], int64(len(dst)-body), 10)
	n := start + len(head)
	n += copy(dst[n:], length)
	n += copy(dst[n:], "\r\n\r\n")
	return append(dst[:n], dst[body:]...)
}
