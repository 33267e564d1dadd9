package bridge

import (
	"context"
	"encoding/json"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/gabp"
)

// maxAgent bounds the name of an agent, in characters.
const maxAgent = 64

// maxAckedItems bounds each list of an [Acknowledgement].
const maxAckedItems = 8

// Acknowledgement is the answer of heed/ack: the answer of attention/ack, to which the protocol lets nothing be
// added, and the items that it cleared and left open.
type Acknowledgement struct {
	gabp.AckResult
	scope
}

// scope names the items that an acknowledgement cleared and left open.
type scope struct {
	Covered     []heed.Item `json:"covered" jsonschema:"The items that it cleared, the acknowledged one first; empty if that was not open."`
	MoreCovered int         `json:"moreCovered,omitempty" jsonschema:"How many others it cleared."`
	Open        []heed.Item `json:"open" jsonschema:"The items that are open now, the most urgent first."`
	MoreOpen    int         `json:"moreOpen,omitempty" jsonschema:"How many others are open."`
}

// UnmarshalJSON parses an answer; the part of attention/ack as [gabp.AckResult.UnmarshalJSON] does.
func (a *Acknowledgement) UnmarshalJSON(data []byte) error {
	s := scope{Covered: []heed.Item{}, Open: []heed.Item{}}
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	a.scope = s
	return json.Unmarshal(data, &a.AckResult)
}

// acknowledge answers heed/ack.
func (d *Diagnostics) acknowledge(ctx context.Context, consumer string, a args) (any, error) {
	if d.session.Attention() == session.LeftToMod {
		return nil, gabp.Errorf(gabp.CodeToolUnavailable, "attention is left to the mod; call attention/ack")
	}
	if agent := a.text("agent"); agent != "" {
		if session.Person(agent) {
			return nil, gabp.BadArgument("agent", "the name of an agent", "that of heed's own client")
		}
		consumer = agent
		if through := a.integer("through"); through > 0 {
			d.session.Delivered(consumer, a.text("id"), uint64(through))
		}
	}
	ack := d.session.Ack(ctx, consumer, a.text("id"), 0)
	out := &Acknowledgement{AckResult: gabp.AckResult{Acknowledged: ack.Acknowledged, AttentionID: ack.ID}}
	if ack.Open {
		out.CurrentAttention = &ack.Current
	}
	out.Covered, out.MoreCovered = acked(ack.Items)
	out.Open, out.MoreOpen = acked(ack.Left)
	return out, nil
}

// acked returns the first items of a list without their samples, and the number of the others.
func acked(list []heed.Item) (first []heed.Item, more int) {
	first = append([]heed.Item{}, list[:min(len(list), maxAckedItems)]...)
	for i := range first {
		first[i].Sample = nil
	}
	return first, len(list) - len(first)
}
