package gabp

import (
	"github.com/heedlog/heed"
	"github.com/heedlog/heed/internal/text"
)

// The states of an [Attention].
const (
	StateOpen    = "open"
	StateCleared = "cleared"
)

// Attention is the attention item of the protocol. It is plain data; [Project]
// and [ParseAttention] make ones that follow the schema.
type Attention struct {
	AttentionID      string `json:"attentionId"`
	State            string `json:"state"`    // [StateOpen] or [StateCleared]
	Severity         string `json:"severity"` // "info", "warning", "error" or "fatal"
	Blocking         bool   `json:"blocking"` // false once cleared
	StateInvalidated bool   `json:"stateInvalidated"`
	Summary          string `json:"summary"` // never empty

	CausalOperationID string `json:"causalOperationId,omitempty"`
	CausalMethod      string `json:"causalMethod,omitempty"`

	OpenedAtSequence   uint64   `json:"openedAtSequence"`
	LatestSequence     uint64   `json:"latestSequence"`
	DiagnosticsCursor  *uint64  `json:"diagnosticsCursor,omitempty"`
	TotalUrgentEntries uint64   `json:"totalUrgentEntries"`
	Sample             []Sample `json:"sample,omitempty"`
}

// Sample is one group of an [Attention]. Its message is log text.
type Sample struct {
	Level          string `json:"level"`
	Message        string `json:"message"`     // never empty
	RepeatCount    uint64 `json:"repeatCount"` // at least 1
	LatestSequence uint64 `json:"latestSequence"`
}

// The most characters of the texts of an item on the wire. The engine's own
// are shorter; these hold for a host's Summarizer too.
const (
	maxSummary = 1000
	maxCausal  = 256
	maxMessage = 500
)

// Project returns the wire form of an item, which follows the schema whatever
// a holds: texts on one line, harmless to show, and bounded; integers below 2^53;
// a summary and messages that are not empty; nothing blocking that is cleared.
func Project(a heed.Attention) Attention {
	cursor := integer(a.DiagnosticsCursor)
	out := Attention{
		AttentionID:        textOr(a.ID, maxNameBytes, "unknown"),
		State:              StateOpen,
		Severity:           severity(a.Severity.String()),
		Blocking:           a.Blocking,
		StateInvalidated:   a.StateInvalidated,
		Summary:            textOr(a.Summary, maxSummary, "Something needs attention; read the diagnostics."),
		CausalOperationID:  text.Safe(a.CausalOperationID, maxCausal),
		CausalMethod:       text.Safe(a.CausalMethod, maxCausal),
		OpenedAtSequence:   integer(a.OpenedAtSequence),
		LatestSequence:     integer(a.LatestSequence),
		DiagnosticsCursor:  &cursor,
		TotalUrgentEntries: integer(a.TotalUrgentEntries),
	}
	if a.State == StateCleared {
		out.State, out.Blocking = StateCleared, false
	}
	if len(a.Sample) > 0 {
		out.Sample = make([]Sample, 0, len(a.Sample))
	}
	for _, s := range a.Sample {
		out.Sample = append(out.Sample, Sample{
			Level:          severity(s.Level.String()),
			Message:        textOr(s.Message, maxMessage, "(no text)"),
			RepeatCount:    max(1, integer(s.RepeatCount)),
			LatestSequence: integer(s.LatestSequence),
		})
	}
	return out
}

// Advisory returns a as an item that stops nobody, for observing only.
func (a Attention) Advisory() Attention {
	a.Blocking = false
	return a
}

// cleared returns a as it is once it is over.
func (a Attention) cleared() Attention {
	a.State, a.Blocking = StateCleared, false
	return a
}

func textOr(s string, limit int, otherwise string) string {
	if s = text.Safe(s, limit); s == "" {
		return otherwise
	}
	return s
}

func integer(n uint64) uint64 { return min(n, maxInteger) }

// severity keeps a value that is none of the protocol's from the wire.
func severity(s string) string {
	switch s {
	case "info", "warning", "error", "fatal":
		return s
	}
	return "error"
}
