package acp

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/heedlog/heed/cmd/internal/jsonrpc"
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

// latestVersion is the latest version of the protocol that the proxy knows. Version 2 is a draft.
const latestVersion = 1

// ownID begins the ids of requests of the proxy.
const ownID = "heed-"

// message is a request, a notification or a response.
type message = jsonrpc.Message

// write returns v as JSON.
func write(v any) jsontext.Value { return jsonrpc.Write(v) }

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

// promptParams are the params of session/prompt, session/cancel and extensions.
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

// split returns the text of content blocks, and the blocks of another type.
func split(blocks []jsontext.Value) (string, []jsontext.Value) {
	var texts []string
	var others []jsontext.Value
	for _, b := range blocks {
		var t textBlock
		if jsonrpc.Read(b, &t) && t.Type == "text" {
			texts = append(texts, t.Text)
		} else {
			others = append(others, b)
		}
	}
	return strings.Join(texts, "\n"), others
}

// update is the known part of a session/update. Of a tool call that has begun, Title describes the work, and Work names
// its kind.
type update struct {
	Kind   string `json:"sessionUpdate"`
	CallID string `json:"toolCallId,omitzero"`
	Name   string `json:"name,omitzero"` // of the tool, by some agents
	Title  string `json:"title,omitzero"`
	Work   string `json:"kind,omitzero"`
	Status string `json:"status,omitzero"`

	Meta struct {
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

// outcome is the fate of an injection.
type outcome int

const (
	refused outcome = iota // or an answer that is not known
	taken
	noTurn // the agent has no turn, and took nothing
)

// The ways to add a message to a turn without stopping it. Each is an extension of some agents. The method of the
// proposals for the protocol's next version, session/inject, is not settled, and so not among them.
const (
	// claude-agent-acp and codex-acp; the answer to initialize has _meta.steering.supported. A message that found no
	// turn is left to the client, if it asks for that.
	methodSteering = "_session/steering"
	// goose, which says the number of the run in the _meta of an update, and answers with it.
	methodGoose = "_goose/unstable/session/steer"
)

// injection returns the method by which the agent takes messages in its turn, "" if it does not.
func (s *session) injection() string {
	switch {
	case s.refuse:
	case s.proxy.steering:
		return methodSteering
	case s.runID != "":
		return methodGoose
	}
	return ""
}

// outcomeOf reads the answer to an injection.
func outcomeOf(m message) outcome {
	var r struct {
		Outcome string `json:"outcome"`
		RunID   string `json:"runId"`
	}
	switch jsonrpc.Read(m.Result, &r); {
	case r.RunID != "", r.Outcome == "injected", r.Outcome == "startedNewTurn":
		return taken
	case r.Outcome == "promptRequired":
		return noTurn
	}
	return refused
}

// initialized is the part of the answer to initialize that is known.
type initialized struct {
	Version int `json:"protocolVersion"`
	Meta    struct {
		Steering struct {
			Supported bool `json:"supported"`
		} `json:"steering"`
	} `json:"_meta"`
}
