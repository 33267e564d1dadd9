package mcp

import (
	"bufio"
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/heedlog/heed/internal/framing"
)

// Headers and forms of content of Streamable HTTP.
const (
	headerVersion = "Mcp-Protocol-Version"
	headerSession = "Mcp-Session-Id"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
	headerLast    = "Last-Event-Id"

	typeJSON   = "application/json"
	typeEvents = "text/event-stream"
)

// named returns the tool, prompt or resource that a request is about, "" for another.
func (m *message) named() string {
	switch m.method {
	case "tools/call", "prompts/get":
		return m.params.text("name")
	case "resources/read":
		return m.params.text("uri")
	}
	return ""
}

// The form of a value that a header cannot hold as it is.
const encodedFrom, encodedTo = "=?base64?", "?="

// headerValue returns a value as a header holds it.
func headerValue(s string) string {
	taken := strings.HasPrefix(s, encodedFrom) && strings.HasSuffix(s, encodedTo)
	odd := func(r rune) bool { return r < ' ' || r > '~' }
	if s == strings.TrimSpace(s) && !taken && !strings.ContainsFunc(s, odd) {
		return s
	}
	return encodedFrom + base64.StdEncoding.EncodeToString([]byte(s)) + encodedTo
}

// headerText returns the value that a header holds.
func headerText(s string) string {
	inner, from := strings.CutPrefix(s, encodedFrom)
	inner, to := strings.CutSuffix(inner, encodedTo)
	if text, err := base64.StdEncoding.DecodeString(inner); from && to && err == nil {
		return string(text)
	}
	return s
}

// sse is a message of a stream of events.
type sse struct {
	id, data string
	retry    time.Duration
}

// readEvents calls take with each event, until the stream ends or take returns false. A message is bounded.
func readEvents(r io.Reader, take func(sse) bool) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var e sse
	var data []string
	size := 0
	for {
		line, err := framing.Line(in, framing.MaxMessage)
		if err != nil {
			return err
		}
		text := strings.TrimRight(string(line), "\r\n")
		name, value, _ := strings.Cut(text, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case text == "":
			e.data = strings.Join(data, "\n")
			if !take(e) {
				return nil
			}
			e, data, size = sse{}, nil, 0
		case name == "data":
			if size += len(value); size > framing.MaxMessage {
				return &framing.LongError{Size: size, Limit: framing.MaxMessage}
			}
			data = append(data, value)
		case name == "id":
			e.id = value
		case name == "retry":
			if ms, err := strconv.Atoi(value); err == nil {
				e.retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
}

// readBody returns a body of bounded length.
func readBody(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, framing.MaxMessage+1))
	if len(body) > framing.MaxMessage {
		return nil, &framing.LongError{Size: len(body), Limit: framing.MaxMessage}
	}
	return body, err
}

// ofType reports whether a header names a form of content.
func ofType(h http.Header, name, form string) bool {
	return strings.Contains(strings.ToLower(h.Get(name)), form)
}
