package mcp

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/heedlog/heed/cmd/internal/jsonrpc"
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

// Keys of the metadata of a request.
const (
	versionKey      = "io.modelcontextprotocol/protocolVersion"
	capabilitiesKey = "io.modelcontextprotocol/clientCapabilities"
)

// message is a message in one line, with the members that its transport reads.
type message struct {
	object
	line    []byte
	id      json.RawMessage // nil of a notification
	method  string          // "" of an answer
	params  object
	version string // its own, "" of versions before typedSince
	again   bool   // the client has its answer already
	end     func() // of a request that was sent
}

// readMessage returns the message, false if raw is none. Two readers cannot understand a strict one differently.
func readMessage(raw []byte, strict bool) (m *message, ok bool) {
	line := bytes.ReplaceAll(bytes.ReplaceAll(raw, []byte("\n"), nil), []byte("\r"), nil) // no string holds one
	o, ok := parse(line, strict)
	m = &message{object: o, line: append(line, '\n'), id: o.get("id"), method: o.text("method"), params: o.inner("params")}
	if string(m.id) == "null" {
		m.id = nil
	}
	m.version = m.params.inner("_meta").text(versionKey)
	return m, ok && (!strict || o.exact("id", "method", "params"))
}

func (m *message) key() string { return jsonrpc.Key(jsontext.Value(m.id)) }

// asks reports whether the message is a request.
func (m *message) asks() bool { return m.method != "" && m.id != nil }

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
	if inner, ok := strings.CutPrefix(s, encodedFrom); ok {
		if inner, ok = strings.CutSuffix(inner, encodedTo); ok {
			if text, err := base64.StdEncoding.DecodeString(inner); err == nil {
				return string(text)
			}
		}
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
