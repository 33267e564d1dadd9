package acp

import "github.com/heedlog/heed/cmd/internal/jsonrpc"

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
