package bridge

import (
	"context"

	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/gabp"
)

// Diagnostics answers calls of heed's own tools, and reads of its resources. Make
// one with [NewDiagnostics].
type Diagnostics struct {
	session *session.Session
	briefer Briefer // or nil
	limits  func() []session.Limit
	epoch   string // of the engine
	run     string // of the timeline, which a restart does not keep
}

// NewDiagnostics returns the diagnostics of a session. Brief assembles the briefs of [ToolBrief]; without it the tool
// returns an error. Limits, which may be nil, returns the bounds that the host itself has hit; it is called from many
// goroutines.
func NewDiagnostics(s *session.Session, brief Briefer, limits func() []session.Limit) *Diagnostics {
	st := s.Status()
	if limits == nil {
		limits = func() []session.Limit { return nil }
	}
	return &Diagnostics{session: s, briefer: brief, limits: limits, epoch: st.Epoch, run: st.Run}
}

// Tags returns the tags of each tool but [ToolAck]: those by which bridges and gates recognize what only reads.
func Tags() []string { return []string{"diagnostic", "diagnostics", "read-only"} }

// Tools returns the definitions of the tools, for tools/list. The list belongs to the caller; its schemas and tags are
// read only.
func Tools() []gabp.Tool {
	list, _ := definitions().List(nil) // without parameters nothing is refused
	return list
}

// caller holds the consumer and the diagnostics of a call, in the context of the call: all diagnostics share the tools.
type caller struct {
	d        *Diagnostics
	consumer string
}

type callerKey struct{}

// Call calls a tool for a consumer. Known is false if no tool has this name; then there is no result and no error.
// An error is a [*gabp.Error].
func (d *Diagnostics) Call(
	ctx context.Context, consumer string, call gabp.ToolCall,
) (result any, known bool, err error) {
	result, err = definitions().Call(context.WithValue(ctx, callerKey{}, caller{d, consumer}), nil, call)
	if isCode(err, gabp.CodeToolNotFound) {
		return nil, false, nil
	}
	return result, true, err
}

// sync ingests the present log. It returns the reason why newer entries may be missing, "" on success.
func (d *Diagnostics) sync(ctx context.Context) string {
	if d.session.Sync(ctx) != nil {
		return "heed could not read the log to its end in time; newer entries may be missing"
	}
	return ""
}
