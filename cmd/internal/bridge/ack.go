package bridge

import (
	"context"
	"encoding/json"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/gabp"
)

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

type ackArgs struct {
	ID          ref    `json:"id,omitempty" minimum:"1" maximum:"256" jsonschema:"The id of the item, or the number that ends it. Required, as id or as attentionId."`
	AttentionID ref    `json:"attentionId,omitempty" minimum:"1" maximum:"256" jsonschema:"Another name for id."`
	Agent       string `json:"agent,omitempty" maximum:"64" jsonschema:"The agent for which its host acknowledges. Without it, who calls acknowledges."`
	Through     uint64 `json:"through,omitempty" minimum:"1" jsonschema:"With agent: the latest entry of the item that the agent was shown. Without it, nothing was."`
}

// acknowledge answers heed/ack.
func (d *Diagnostics) acknowledge(ctx context.Context, consumer string, in ackArgs) (*Acknowledgement, error) {
	id, err := oneID(in.ID, in.AttentionID)
	if err != nil {
		return nil, err
	}
	if d.session.Attention() == session.LeftToMod {
		return nil, gabp.Errorf(gabp.CodeToolUnavailable, "attention is left to the mod; call attention/ack")
	}
	if in.Agent != "" {
		if session.Person(in.Agent) {
			return nil, gabp.BadArgument("agent", "the name of an agent", "that of heed's own client")
		}
		consumer = in.Agent
		if in.Through > 0 {
			d.session.Delivered(consumer, id, in.Through)
		}
	}
	ack := d.session.Ack(ctx, consumer, id, 0)
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
