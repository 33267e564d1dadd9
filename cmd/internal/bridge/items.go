package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/text"
)

// The bounds of answers about items.
const (
	maxItems    = 64
	maxAcked    = 8
	maxSamples  = 16
	around      = 8   // entries on each side of a cause: as many as the engine keeps with it
	aroundChars = 300 // of each
)

// Item is an item of attention and the cursor before its cause.
type Item struct {
	heed.Item

	Cursor string `json:"cursor" jsonschema:"Use it as after of heed/entries: the cause is then the first entry."`
}

// Items is the answer of heed/items.
type Items struct {
	Items   []Item `json:"items" jsonschema:"The open items, the most urgent first."`
	Omitted int    `json:"omitted" jsonschema:"How many others are open."`
	Read    bool   `json:"read" jsonschema:"The caller has read the first of them."`
	Behind  string `json:"behind,omitempty" jsonschema:"Why newer ones may be missing."`

	Acknowledged []string `json:"acknowledged,omitempty" jsonschema:"Ids of items of this run that were acknowledged, and whose end the log has not shown, the latest first: they may still be true."`
}

// ItemDetail is the answer of heed/item.
type ItemDetail struct {
	Item

	Successors []string `json:"successors,omitempty" jsonschema:"Items that continue it: what came after its acknowledgement, or had not been delivered."`
	Cause      Cause    `json:"cause" jsonschema:"Its most urgent entry; number 0 if it has none, for example when heed is blind."`
	Prelude    []Entry  `json:"prelude" jsonschema:"Entries just before the cause, of all kinds, oldest first."`
	Following  []Entry  `json:"following" jsonschema:"Entries just after the cause, of all kinds."`
	Lost       uint64   `json:"lost" jsonschema:"Entries around the cause that were evicted."`
	Behind     string   `json:"behind,omitempty" jsonschema:"Why newer entries may be missing."`
}

// Cause is the first of the most urgent entries of an item, and its rule in words.
type Cause struct {
	coalesce.CauseEntry

	RuleSummary string `json:"ruleSummary,omitempty" jsonschema:"What happened, from the rule file."`
	RuleWhy     string `json:"ruleWhy,omitempty" jsonschema:"The reason for the rule, from the rule file."`
	RuleAdvice  string `json:"ruleAdvice,omitempty" jsonschema:"What to do now, from the rule file."`
	Entry       *Entry `json:"entry,omitempty" jsonschema:"The entry itself, if heed still holds it."`
}

// item returns an item with its cursor. It blocks only if items hold calls back.
func (d *Diagnostics) item(a *heed.Item) Item {
	return Item{Item: d.session.Present(*a), Cursor: cursorText(d.epoch, a.DiagnosticsCursor)}
}

// items answers heed/items.
func (d *Diagnostics) items(ctx context.Context, consumer string, _ struct{}) (*Items, error) {
	out := Items{Items: []Item{}, Behind: d.sync(ctx)}
	open := d.session.Open(nil)
	shown := min(len(open), maxItems)
	for i := range open[:shown] {
		out.Items = append(out.Items, d.item(&open[i]))
		out.Items[i].Sample = nil
	}
	out.Omitted = len(open) - shown
	acked := d.session.Engine().Acked()
	out.Acknowledged = acked[:min(len(acked), maxAcked)]
	out.Read = shown > 0 && d.session.HasRead(consumer, open[0].ID)
	return &out, nil
}

type detailArgs struct {
	ID          Ref `json:"id,omitempty" minimum:"1" maximum:"256" jsonschema:"The id of the item: attentionId of a refusal or a result, or the number that ends it. Required, as id or as attentionId."`
	AttentionID Ref `json:"attentionId,omitempty" minimum:"1" maximum:"256" jsonschema:"Another name for id."`
	look
}

// detail answers heed/item.
func (d *Diagnostics) detail(ctx context.Context, consumer string, in detailArgs) (*ItemDetail, error) {
	id, err := oneID(in.ID, in.AttentionID)
	if err != nil {
		return nil, err
	}
	behind := d.sync(ctx)
	it, ok := d.session.Item(id)
	if !ok {
		return nil, notHeld("id", "the id of an open or recently cleared item, or its number",
			"an item that is not known; "+d.openNumbers())
	}
	out := ItemDetail{
		Item: d.item(&it), Successors: d.successors(it.ID), Prelude: []Entry{}, Following: []Entry{},
		Behind: behind, Cause: Cause{CauseEntry: it.Cause},
	}
	out.Sample = it.Sample[:min(len(it.Sample), maxSamples)]
	if r := d.session.Engine().Rules().Rule(it.Cause.Rule); r != nil {
		out.Cause.RuleSummary, out.Cause.RuleWhy = said(r.Summary), said(r.Why)
		out.Cause.RuleAdvice = text.Advice(said(r.Advice), it.Blame...)
	}
	d.evidence(&out, &it, in.look)
	d.session.Delivered(consumer, it.ID, it.LatestSequence)
	d.session.MarkRead(consumer, it.ID)
	return &out, nil
}

// openNumbers names the open items, the most urgent first, in heed's own words.
func (d *Diagnostics) openNumbers() string {
	var open []string
	for _, it := range d.session.Open(nil) {
		open = append(open, session.ShortID(it.ID, d.epoch))
	}
	return "open: " + cmp.Or(strings.Join(open[:min(len(open), maxItems)], ", "), "none")
}

// evidence adds the cause and the entries around it.
func (d *Diagnostics) evidence(out *ItemDetail, it *heed.Item, l look) {
	cause := it.Cause.Seq
	if cause == 0 {
		return
	}
	from := cause - min(cause, around+1)
	p := d.session.Engine().Read(heed.Cursor{Seq: from}, 2*around+1, heed.Filter{})
	end := min(cause+around, p.Next.Seq)
	near := look{Chars: min(aroundChars, l.Chars)}
	var held uint64
	for i := range p.Records {
		r := &p.Records[i]
		if r.Seq > end {
			break
		}
		held++
		switch {
		case r.Seq < cause:
			out.Prelude = append(out.Prelude, near.entry(r))
		case r.Seq == cause:
			out.Cause.Entry = new(l.entry(r))
		default:
			out.Following = append(out.Following, near.entry(r))
		}
	}
	if p.Err == nil && end > from {
		out.Lost = end - from - held
	}
}

// successors returns the items that continue one: those that are open, and those in the timeline.
func (d *Diagnostics) successors(id string) []string {
	var ids []string
	add := func(s string) {
		if s = named(s); s != "" && !slices.Contains(ids, s) {
			ids = append(ids, s)
		}
	}
	events, _, _ := d.session.Timeline(0)
	for i := range events {
		if events[i].Kind == session.Acknowledged && events[i].Attention == id {
			add(events[i].Successor)
		}
	}
	for _, it := range d.session.Open(nil) {
		if it.Predecessor == id {
			add(it.ID)
		}
	}
	return ids
}

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

// AckArgs are the arguments of heed/ack.
type AckArgs struct {
	ID          Ref    `json:"id,omitempty" minimum:"1" maximum:"256" jsonschema:"The id of the item, or the number that ends it. Required, as id or as attentionId."`
	AttentionID Ref    `json:"attentionId,omitempty" minimum:"1" maximum:"256" jsonschema:"Another name for id."`
	Agent       string `json:"agent,omitempty" maximum:"64" jsonschema:"The agent for which its host acknowledges. Without it, who calls acknowledges."`
	Through     uint64 `json:"through,omitempty" minimum:"1" jsonschema:"With agent: the latest entry of the item that the agent was shown. Without it, nothing was."`
}

// acknowledge answers heed/ack.
func (d *Diagnostics) acknowledge(ctx context.Context, consumer string, in AckArgs) (*Acknowledgement, error) {
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
