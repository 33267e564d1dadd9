package gate

import (
	"context"
	"fmt"
	"slices"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/gabp"
)

// caller sends a request and decodes the answer into result.
type caller interface {
	Call(ctx context.Context, method string, params, result any) error
}

// Remote returns a [Source] that asks a peer over GABP through c, a [gabp.Client]. methods are the methods that the
// peer advertises: Welcome().Capabilities.Methods of the client. If attention/current is not among them, the peer is
// never asked and the answer is [ErrNoAttention].
//
// An answer that [gabp.ParseAttention] refuses is an error. An acknowledgement over GABP has no sequence number: it
// covers the entries that the peer delivered.
func Remote(c caller, methods []string) Source {
	return &remote{
		caller:  c,
		current: slices.Contains(methods, gabp.MethodAttentionCurrent),
		ack:     slices.Contains(methods, gabp.MethodAttentionAck),
	}
}

type remote struct {
	caller       caller
	current, ack bool
}

// Current implements [Source].
func (r *remote) Current(ctx context.Context, _ string) (heed.Item, bool, error) {
	if !r.current {
		return heed.Item{}, false, ErrNoAttention
	}
	var answer gabp.CurrentResult
	if err := r.caller.Call(ctx, gabp.MethodAttentionCurrent, struct{}{}, &answer); err != nil {
		return heed.Item{}, false, fmt.Errorf("%s: %w", gabp.MethodAttentionCurrent, err)
	}
	if answer.Attention == nil {
		return heed.Item{}, false, nil
	}
	return *answer.Attention, true, nil
}

// Ack implements [Source].
func (r *remote) Ack(ctx context.Context, _, id string, _ uint64) (heed.AckResult, error) {
	if !r.ack {
		return heed.AckResult{}, ErrNoAttention
	}
	var answer gabp.AckResult
	if err := r.caller.Call(ctx, gabp.MethodAttentionAck, gabp.AckParams{AttentionID: id}, &answer); err != nil {
		return heed.AckResult{}, fmt.Errorf("%s: %w", gabp.MethodAttentionAck, err)
	}
	res := heed.AckResult{Acknowledged: answer.Acknowledged, ID: id}
	if answer.CurrentAttention != nil {
		res.Current, res.Open = *answer.CurrentAttention, true
	}
	return res, nil
}
