package gate

import (
	"context"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
)

// Source has the attention of a [Gate]. It must be safe for concurrent use, and return
// soon after the context ends.
type Source interface {
	// Current ingests all existing evidence, and returns the current item for a
	// consumer, false where none is open. A blocking item counts as delivered; another
	// does not, since the gate returns it to nobody. [ErrNoAttention] means that there
	// is no attention; with any other error its state is unknown.
	Current(ctx context.Context, consumer string) (heed.Item, bool, error)

	// Ack acknowledges an item; see [Gate.Ack].
	Ack(ctx context.Context, consumer, id string, through uint64) (heed.AckResult, error)
}

// Recorder is a [Source] that records calls.
type Recorder interface {
	Source

	// Begin records that a call is about to be dispatched.
	Begin(call Call) Running

	// Refused records that a call was held back.
	Refused(d Decision)
}

// Running is a call in progress of a [Recorder].
type Running interface {
	// End records the end of the call, and returns its verdict and the item to return
	// to the caller, or nil. With an error, some evidence could not be ingested. It is
	// called once.
	End(ctx context.Context, status event.Status, errText string) (v heed.Verdict, related *heed.Item, err error)
}
