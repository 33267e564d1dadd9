package bridge

import (
	"context"
	"errors"

	"github.com/heedlog/heed/gabp"
)

// forward passes a request to the mod, and its answer back, byte for byte.
func (p *Proxy) forward(ctx context.Context, r *gabp.Request) (any, error) {
	client := p.mod.current()
	if client == nil {
		return nil, gabp.Errorf(gabp.CodeMethodNotFound, "method not found: %s (no mod is connected)", r.Method)
	}
	result, err := client.CallRaw(ctx, r.Method, r.Params)
	if v := p.mod.verbatim(err); v != nil {
		return nil, v
	}
	if err != nil {
		return nil, modError(ctx, err)
	}
	return result, nil
}

// unknown is the data of an error after which it is not known whether the request was executed.
type unknown struct {
	Outcome string `json:"outcome"`
}

// modError returns the answer to a bridge for an error of a call to the mod: the mod's own error, or what happened to
// the connection. In the latter case it is not known whether the request was executed, and the data are [unknown].
func modError(ctx context.Context, err error) *gabp.Error {
	if e, ok := errors.AsType[*gabp.Error](err); ok {
		return e
	}
	if errors.Is(ctx.Err(), context.Canceled) { // nobody reads this answer, but the journal keeps it
		return gabp.Errorf(gabp.CodeToolFailed, "the bridge went away before the game's mod had answered; whether the "+
			"request was executed is not known").WithData(unknown{"unknown"})
	}
	if errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		return gabp.Errorf(gabp.CodeToolTimeout, "the game's mod did not answer in time; whether the request was executed "+
			"is not known").WithData(unknown{"unknown"})
	}
	return gabp.Errorf(gabp.CodeToolFailed, "the connection to the game's mod was lost; whether the request was "+
		"executed is not known").WithData(unknown{"unknown"})
}
