package acp

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/heedlog/heed/cmd/internal/jsonrpc"
)

// injection is a way to add a message to a turn without stopping it. Each is an extension of some agents; that of the
// proposals for the protocol's next version, session/inject, is not settled, and so not among them.
type injection struct {
	method  string
	offered func(s *session) bool
	params  func(s *session, p *promptParams)
	// outcome reads the answer.
	outcome func(result jsontext.Value) outcome
}

// outcome is what an agent did with an injection.
type outcome int

const (
	refused outcome = iota // or an answer that is not known
	taken
	noTurn // the agent has no turn, and took nothing
)

// injections are tried in this order.
var injections = []injection{
	{
		// claude-agent-acp and codex-acp; the answer to initialize has _meta.steering.supported. A message that found
		// no turn is left to the client, if it asks for that.
		method:  "_session/steering",
		offered: func(s *session) bool { return s.proxy.steering },
		params: func(_ *session, p *promptParams) {
			p.Meta = jsontext.Value(`{"steering":{"idleBehavior":"promptRequired"}}`)
		},
		outcome: func(result jsontext.Value) outcome {
			var r struct {
				Outcome string `json:"outcome"`
			}
			jsonrpc.Read(result, &r)
			switch r.Outcome {
			case "injected", "startedNewTurn":
				return taken
			case "promptRequired":
				return noTurn
			}
			return refused
		},
	},
	{
		// goose, which says the number of the run in the _meta of an update, and answers with it.
		method:  "_goose/unstable/session/steer",
		offered: func(s *session) bool { return s.runID != "" },
		params:  func(s *session, p *promptParams) { p.RunID = s.runID },
		outcome: func(result jsontext.Value) outcome {
			var r struct {
				RunID string `json:"runId"`
			}
			if jsonrpc.Read(result, &r); r.RunID == "" {
				return refused
			}
			return taken
		},
	},
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
