package gabp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
)

// utf8BOM begins the output of some writers.
var utf8BOM = []byte("\xef\xbb\xbf")

// readHeader reads the headers of a frame and returns the length of its message.
// Header names may have any case, values any space around them, lines a bare line feed;
// other headers are ignored, and so are empty lines before the first. It returns io.EOF
// where the stream ends before a frame, and a *frameError for an invalid one.
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

// isToken reports whether s may name a header. JSON and most lines of a log may not, and
// are refused at once.
func isToken(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// parseLength parses digits and nothing else: with a sign, a fraction or another base
// the two sides could count differently.
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

// bodyStep bounds what is allocated for the length in a header. The rest is allocated
// as it arrives, so that a peer cannot use more memory than twice what it has sent.
const bodyStep = 64 << 10

// readBody reads the n bytes of a message into a new buffer.
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

// The headers of each frame, with a gap for the length of the message. The length comes first
// and its name is in this case, since readers in the field know no other.
const (
	frameHead   = "Content-Length: "
	frameGap    = "0000000000"
	frameTail   = "\r\nContent-Type: application/json\r\n\r\n"
	headerBytes = len(frameHead + frameGap + frameTail)
)

// appendFrame appends m as a frame.
func appendFrame(dst []byte, m *message) []byte {
	// The length precedes what it counts: it is written into the gap, which is then closed.
	start := len(dst)
	dst = append(dst, frameHead+frameGap+frameTail...)
	body := len(dst)
	dst = m.Append(dst)
	var num [len(frameGap)]byte
	length := strconv.AppendInt(num[:0], int64(len(dst)-body), 10)
	n := start + len(frameHead)
	n += copy(dst[n:], length)
	n += copy(dst[n:], frameTail)
	return append(dst[:n], dst[body:]...)
}
