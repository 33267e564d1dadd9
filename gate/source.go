package gate

import (
	"context"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
)

// Source is what a [Gate] asks. It must be safe for concurrent use, and must
// return soon after the context ends.
type Source interface {
	// Current takes in everything that is there to be known, and returns the item
	// that a viewer should see first, and false where none is open. An item that
	// blocks counts as shown; another one does not, since the gate shows it to
	// nobody. [ErrNoAttention] says that there is nothing to ask; any other error
	// that the source cannot tell.
	Current(ctx context.Context, viewer string) (heed.Attention, bool, error)

	// Ack acknowledges an item; see [Gate.Ack].
	Ack(ctx context.Context, consumer, id string, through uint64) (heed.AckResult, error)
}

// Recorder is a [Source] that keeps account of the calls.
type Recorder interface {
	Source

	// Begin notes that a call is about to be dispatched.
	Begin(call Call) Running

	// Refused notes that a call was held back.
	Refused(d Decision)
}

// Running is a call under way, as a [Recorder] knows it.
type Running interface {
	// End notes how the call ended, and returns what is known to have come of it:
	// the verdict, and the item to be shown to the caller, or nil. Err says that
	// not everything that is there was taken in. It is called once.
	End(ctx context.Context, status event.Status, errText string) (v heed.Verdict, related *heed.Attention, err error)
}
