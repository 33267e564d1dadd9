package acp

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The methods and notifications that the proxy knows.
const (
	methodInitialize = "initialize"
	methodNew        = "session/new"
	methodLoad       = "session/load"
	methodResume     = "session/resume"
	methodFork       = "session/fork"
	methodPrompt     = "session/prompt"
	methodCancel     = "session/cancel"
	methodUpdate     = "session/update"
	methodPermission = "session/request_permission"
	cancelRequest    = "$/cancel_request"
)

// protocolVersion is the version of the protocol that the proxy knows.
const protocolVersion = 1

// lenient reads what other implementations read, and writes it again.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// message is a JSON-RPC message: a request (ID, Method), a notification (Method) or a response (ID).
type message struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id,omitzero"`
	Method  string         `json:"method,omitzero"`
	Params  jsontext.Value `json:"params,omitzero"`
	Result  jsontext.Value `json:"result,omitzero"`
	Error   jsontext.Value `json:"error,omitzero"`
}

// key identifies a request by its id, however its strings are escaped: "" for none.
func key(id jsontext.Value) string {
	if id.Kind() != '"' {
		return string(id)
	}
	s, err := jsontext.AppendUnquote(nil, id)
	if err != nil {
		return string(id)
	}
	return `"` + string(s)
}

// ownID begins the ids of requests of the proxy.
const ownID = "heed-"

// read unmarshals JSON, and reports whether it could.
func read(data jsontext.Value, into any) bool {
	return len(data) > 0 && json.Unmarshal(data, into, lenient) == nil
}

// write returns v as JSON: v is of a type that has such.
func write(v any) jsontext.Value {
	data, err := json.Marshal(v, lenient)
	if err != nil {
		panic("BUG: acp: " + err.Error())
	}
	return data
}

// line returns a message as a line.
func (m message) line() []byte {
	m.Version = "2.0"
	return append(write(m), '\n')
}

// failure is the error of a response, by a code of JSON-RPC.
func failure(text string) message {
	return message{Error: write(struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}{-32603, text})}
}

// The ways in which a turn ends that the proxy knows.
const (
	stopEnd      = "end_turn"
	stopCanceled = "cancelled" // a word of the protocol
)

type promptResult struct {
	StopReason string `json:"stopReason"`
}

// canceled is the answer to a prompt that a person canceled before the agent had it.
func canceled() message { return message{Result: write(promptResult{stopCanceled})} }

// promptParams are those of session/prompt, session/cancel and extensions.
type promptParams struct {
	SessionID string           `json:"sessionId"`
	RunID     string           `json:"expectedRunId,omitzero"`
	Prompt    []jsontext.Value `json:"prompt,omitzero"`
	Meta      jsontext.Value   `json:"_meta,omitzero"`
	Rest      jsontext.Value   `json:",embed"`
}

// textBlock is a content block of text, or the part that is known of another.
type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text,omitzero"`
}

func block(text string) jsontext.Value { return write(textBlock{"text", text}) }

// split returns the text of content blocks, and those of another type.
func split(blocks []jsontext.Value) (string, []jsontext.Value) {
	var texts []string
	var others []jsontext.Value
	for _, b := range blocks {
		var t textBlock
		if read(b, &t) && t.Type == "text" {
			texts = append(texts, t.Text)
		} else {
			others = append(others, b)
		}
	}
	return strings.Join(texts, "\n"), others
}

// update is the part of a session/update that is known. Of a tool call that has begun, Title is what it does.
type update struct {
	Kind   string `json:"sessionUpdate"`
	CallID string `json:"toolCallId,omitzero"`
	Title  string `json:"title,omitzero"`
	Status string `json:"status,omitzero"`
	Meta   struct {
		Goose struct {
			RunID jsontext.Value `json:"activeRunId"`
		} `json:"goose"`
	} `json:"_meta,omitzero"`
}

type updateParams struct {
	SessionID string         `json:"sessionId"`
	Update    jsontext.Value `json:"update"`
}

// permissionCanceled is the client's answer to a request for a permission in a turn that was canceled.
var permissionCanceled = jsontext.Value(`{"outcome":{"outcome":"` + stopCanceled + `"}}`)

// newID returns an id for the n-th request of the proxy.
func newID(n int) jsontext.Value { return write(ownID + strconv.Itoa(n)) }
