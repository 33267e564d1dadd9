package mcp

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/heedlog/heed/internal/framing"
	"github.com/heedlog/heed/internal/text"
)

// Headers and forms of content of Streamable HTTP.
const (
	headerVersion = "Mcp-Protocol-Version"
	headerSession = "Mcp-Session-Id"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
	headerLast    = "Last-Event-Id"
	headerParam   = "Mcp-Param-"

	typeJSON   = "application/json"
	typeEvents = "text/event-stream"
)

// subjects are the parameters that name the tool, prompt or resource that a request is about, by its method.
var subjects = map[string]string{"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}

// mirrored are the arguments of tools that a client repeats in headers, by tool.
type mirrored = *lru.Cache[string, []mirror]

func newMirrored() mirrored {
	all, _ := lru.New[string, []mirror](maxTools) // the error is about another size
	return all
}

// mirror is the header of an argument.
type mirror struct {
	header string
	path   []string
}

// learn takes the tools of a list, and returns those with valid annotations. refuse is called with each other tool: a
// client over HTTP must not have it.
func learn(all mirrored, tools []json.RawMessage, refuse func(tool string, why error)) []json.RawMessage {
	return slices.DeleteFunc(tools, func(raw json.RawMessage) bool {
		tool, _ := parse(raw, false)
		name, found := tool.text("name"), map[string]mirror{}
		err := mirrors(tool.inner("inputSchema"), nil, found)
		if err != nil {
			refuse(name, err)
		}
		if all.Remove(name); err == nil && len(found) > 0 {
			all.Add(name, slices.Collect(maps.Values(found)))
		}
		return err != nil
	})
}

// annotation is the keyword of a schema that names a header.
const annotation = "x-mcp-header"

// annotated finds annotations outside of properties.
var annotated = text.Lazy(`"` + annotation + `"\s*:\s*"`)

// mirrors adds the headers that a schema and its properties name, at any depth, by their names in lower case. It
// returns an error if one is named at another place, twice, for another value than a text, an integer or a boolean, or
// wrongly.
func mirrors(schema object, path []string, found map[string]mirror) error {
	if raw := schema.get(annotation); raw != nil {
		name := schema.text(annotation)
		key := strings.ToLower(name)
		isScalar := slices.Contains([]string{"string", "integer", "boolean"}, schema.text("type"))
		if !tokenForm().MatchString(name) || !isScalar || path == nil || found[key].path != nil {
			return fmt.Errorf("%s %s is no header of its own for a text, an integer or a boolean", annotation, raw)
		}
		found[key] = mirror{headerParam + name, path}
	}
	for _, m := range schema {
		if m.name != "properties" {
			if annotated().Match(m.value) {
				return fmt.Errorf("%s is below %s", annotation, m.name)
			}
			continue
		}
		for _, property := range schema.inner("properties") {
			child, _ := parse(property.value, false)
			if err := mirrors(child, append(slices.Clip(path), property.name), found); err != nil {
				return err
			}
		}
	}
	return nil
}

// tokenForm is the form of the name of a header.
var tokenForm = text.Lazy("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// headers returns the headers of a request for its method and subject, and for arguments that are not null, as JSON.
func (m *message) headers(all mirrored) map[string]json.RawMessage {
	headers := map[string]json.RawMessage{headerMethod: encode(m.method)}
	if m.version == "" {
		return headers
	}
	headers[headerVersion] = encode(m.version)
	name := m.params.text(subjects[m.method])
	if name != "" {
		headers[headerName] = encode(name)
	}
	if m.method == "tools/call" {
		args, _ := all.Get(name)
		for _, arg := range args {
			of, last := m.params.inner("arguments"), len(arg.path)-1
			for _, name := range arg.path[:last] {
				of = of.inner(name)
			}
			if raw := of.get(arg.path[last]); raw != nil && string(raw) != "null" {
				headers[arg.header] = raw
			}
		}
	}
	return headers
}

// agrees reports whether a header has a value of the body; 42.0 is 42.
func agrees(header string, body json.RawMessage) bool {
	a, err := strconv.ParseFloat(header, 64)
	b, other := strconv.ParseFloat(string(body), 64)
	return header == plainText(body) || err == nil && other == nil && a == b
}

// plainText returns the text of a string, and another value as it is.
func plainText(raw json.RawMessage) (text string) {
	if json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return text
}

// The form of a value that a header cannot hold as it is.
const encodedFrom, encodedTo = "=?base64?", "?="

// headerValue returns a value as a header holds it.
func headerValue(s string) string {
	taken := strings.HasPrefix(s, encodedFrom) && strings.HasSuffix(s, encodedTo)
	odd := func(r rune) bool { return r < ' ' || r > '~' }
	if s != "" && s == strings.TrimSpace(s) && !taken && !strings.ContainsFunc(s, odd) {
		return s
	}
	return encodedFrom + base64.StdEncoding.EncodeToString([]byte(s)) + encodedTo
}

// headerText returns the value that a header holds, false if its form is broken.
func headerText(s string) (text string, ok bool) {
	inner, from := strings.CutPrefix(s, encodedFrom)
	inner, to := strings.CutSuffix(inner, encodedTo)
	if !from || !to {
		return s, true
	}
	decoded, err := base64.StdEncoding.DecodeString(inner)
	return string(decoded), err == nil
}

// sse is a message of a stream of events.
type sse struct {
	id    string
	data  []byte // each line with its end
	retry time.Duration
}

// readEvents calls take with each event, until the stream ends or take returns false. A message is bounded.
func readEvents(r io.Reader, take func(sse) bool) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var e sse
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
			if !take(e) {
				return nil
			}
			e = sse{}
		case name == "data":
			e.data = append(append(e.data, value...), '\n')
			if len(e.data) > framing.MaxMessage {
				return &framing.LongError{Size: len(e.data), Limit: framing.MaxMessage}
			}
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
