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

// Acknowledgement is the answer of heed/ack: that of attention/ack, which the protocol lets nothing be added to, and
// what it was about.
type Acknowledgement struct {
	gabp.AckResult

	Covered     []AckedItem `json:"covered" jsonschema:"The items that it cleared, the acknowledged one first; empty if that was not open."`
	MoreCovered int         `json:"moreCovered,omitempty" jsonschema:"How many others it cleared."`
	Open        []AckedItem `json:"open" jsonschema:"The items that are open now, the most urgent first."`
	MoreOpen    int         `json:"moreOpen,omitempty" jsonschema:"How many others are open."`
}

// AckedItem is what an [Acknowledgement] says of an item.
type AckedItem struct {
	ID          string `json:"attentionId" jsonschema:"Its id."`
	Summary     string `json:"summary" jsonschema:"What happened, in heed's own words."`
	Entries     uint64 `json:"entries" jsonschema:"How many entries it has."`
	Blocking    bool   `json:"blocking" jsonschema:"It holds calls back."`
	Predecessor string `json:"predecessor,omitempty" jsonschema:"The acknowledged item that it continues."`
}

// UnmarshalJSON parses an answer; the part of attention/ack as [gabp.AckResult.UnmarshalJSON] does.
func (a *Acknowledgement) UnmarshalJSON(data []byte) error {
	type scope struct {
		Covered, Open         []AckedItem
		MoreCovered, MoreOpen int
	}
	s := scope{Covered: []AckedItem{}, Open: []AckedItem{}}
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	*a = Acknowledgement{Covered: s.Covered, MoreCovered: s.MoreCovered, Open: s.Open, MoreOpen: s.MoreOpen}
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

// acked returns the first items of a list, and how many others it has.
func acked(list []heed.Item) (first []AckedItem, more int) {
	first = []AckedItem{}
	for i := range list[:min(len(list), maxAckedItems)] {
		a := &list[i]
		first = append(first, AckedItem{
			ID: a.ID, Summary: a.Summary, Entries: a.TotalUrgentEntries, Blocking: a.Blocking, Predecessor: a.Predecessor,
		})
	}
	return first, len(list) - len(first)
}
