package live

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/text"
)

func (p *program) currentCommand() *cobra.Command {
	var f clientFlags
	cmd := p.clientCommand("current", &f, func(ctx context.Context, c *gabp.Client, _ *runFile, _ []string) error {
		var raw json.RawMessage
		if err := c.Call(ctx, gabp.MethodAttentionCurrent, struct{}{}, &raw); err != nil {
			return err
		}
		var r gabp.CurrentResult
		if err := json.Unmarshal(raw, &r); err != nil {
			return err
		}
		if r.Attention != nil && r.Attention.Blocking {
			p.Raise(exitFinding)
		}
		if f.format == formatJSON {
			return p.printJSON(raw)
		}
		return p.printForm(f.width, "current", fetchCurrent(ctx, c, r.Attention))
	})
	f.register(cmd, formatJSON, "the result of attention/current")
	return cmd
}

// itemInfo has the details of an item that an agent does not get; empty if heed does not answer.
type itemInfo struct {
	bridge.ItemDetail

	Since  time.Time // of its cause
	Latest time.Time // of its latest entry
}

// What returns the subject of an item in a few words. Its summary is longer, since it is for agents.
func (t *itemInfo) What() string { return cmp.Or(t.Title, t.Summary) }

// Mod returns the mods that an item points at, "" for none.
func (t *itemInfo) Mod() string {
	if perhaps := t.Perhaps; len(t.Blame) == 0 && len(perhaps) > 0 {
		return "perhaps " + strings.Join(perhaps, ", ")
	}
	return strings.Join(t.Blame, ", ")
}

// Short returns the name that a person types for an item of the same heed.
func (t *itemInfo) Short(id string) string { return short(id, t.Cursor) }

// short returns the name that a person types for an item of the heed that gave a cursor: its number, or the whole id
// without a cursor.
func short(id, cursor string) string {
	epoch, _, _ := strings.Cut(cursor, "/")
	return session.ShortID(id, epoch)
}

// fetchItem asks for an item. The server at the address need not be heed: the result lacks the parts that it does not
// answer.
func fetchItem(ctx context.Context, c *gabp.Client, id string) (t itemInfo) {
	if !ask(ctx, c, bridge.ToolItem, map[string]any{"id": id}, &t.ItemDetail) {
		return itemInfo{}
	}
	if e := t.Cause.Entry; e != nil {
		t.Since = e.Time
	}
	if epoch, _, ok := strings.Cut(t.Cursor, "/"); ok && t.LatestSequence > 0 {
		var page bridge.Page
		after := epoch + "/" + strconv.FormatUint(t.LatestSequence-1, 10)
		if ask(ctx, c, bridge.ToolEntries, map[string]any{"after": after, "limit": 1}, &page) && len(page.Entries) > 0 {
			t.Latest = page.Entries[0].Time
		}
	}
	return t
}

// maxAcked bounds the acknowledged items that are shown.
const maxAcked = 3

// fetchAcked asks for the acknowledged items that may still be true, the latest first.
func fetchAcked(ctx context.Context, c *gabp.Client, items *bridge.Items) (all []itemInfo) {
	for _, id := range items.Acknowledged[:min(len(items.Acknowledged), maxAcked)] {
		if t := fetchItem(ctx, c, id); t.ID != "" { // else it was forgotten since
			all = append(all, t)
		}
	}
	return all
}

// ask calls a tool of heed, and reports whether it answered.
func ask(ctx context.Context, c *gabp.Client, tool string, arguments, result any) bool {
	raw, err := c.CallTool(ctx, tool, arguments)
	return err == nil && json.Unmarshal(raw, result) == nil
}

// shownItem is the item of attention/current, nil for none.
type shownItem struct {
	*heed.Item

	Info  *itemInfo
	More  int        // other open items
	Acked []itemInfo // without an item: acknowledged, and may still be true
}

// fetchCurrent asks for the details of an item, nil for none.
func fetchCurrent(ctx context.Context, c *gabp.Client, a *heed.Item) *shownItem {
	var items bridge.Items
	ask(ctx, c, bridge.ToolItems, struct{}{}, &items)
	if a == nil {
		return &shownItem{Acked: fetchAcked(ctx, c, &items)}
	}
	t := fetchItem(ctx, c, a.ID)
	return &shownItem{Item: a, Info: &t, More: len(items.Items) + items.Omitted - 1}
}

// What describes the item in a sentence.
func (s *shownItem) What() string {
	what := cmp.Or(s.Info.What(), s.Summary)
	const changed = "; the game's state may have changed: read it again"
	if s.StateInvalidated && !strings.Contains(what, changed) { // a summary of several says so itself
		what += changed
	}
	return what
}

func (p *program) ackCommand() *cobra.Command {
	var f clientFlags
	var who bridge.AckArgs
	cmd := p.clientCommand("ack [ID]", &f, func(ctx context.Context, c *gabp.Client, _ *runFile, args []string) error {
		return p.ack(ctx, c, &f, who, args)
	})
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return cli.Usage(cmd, "name one item, or none for the one that holds calls back: unexpected %q", args[1])
		}
		if len(args) == 1 && args[0] == "" {
			return cli.Usage(cmd, "the item's id is empty; leave it out for the item that holds calls back")
		}
		return nil
	}
	f.register(cmd, formatJSON, "the result of heed/ack")
	cmd.Flags().StringVar(&who.Agent, "agent", "", "acknowledge as the agent with this `NAME`")
	cmd.Flags().Uint64Var(&who.Through, "through", 0, "with --agent: acknowledge what came up to the entry with this `NUMBER`")
	return cmd
}

// shownAck is the answer to an acknowledgement.
type shownAck struct {
	*bridge.Acknowledgement

	Info         *itemInfo
	Named, Agent string // by the command line

	Before    bool // it was not open
	ClearedBy string
	Cursor    string // of the heed
	Now       *shownItem
}

// Short returns the name that a person types for an item.
func (s *shownAck) Short(id string) string { return short(id, s.Cursor) }

// ack acknowledges the item that is meant, for a person if who names no agent.
func (p *program) ack(ctx context.Context, c *gabp.Client, f *clientFlags, who bridge.AckArgs, args []string) error {
	var it bridge.Item
	var unread bool
	var err error
	if len(args) == 0 {
		it, unread, err = holding(ctx, c)
	} else {
		it, err = named(ctx, c, args[0])
	}
	if err != nil {
		return err
	}
	var r bridge.Acknowledgement
	r.Covered, r.Open = []heed.Item{}, []heed.Item{}
	if unread && who.Agent == "" {
		r.AttentionID, r.CurrentAttention = it.ID, &it.Item
		return p.unread(ctx, c, f, &r)
	}
	// Another server, and heed if it leaves attention to the mod, has no such tool.
	who.AttentionID = bridge.Ref(it.ID)
	raw, err := c.CallTool(ctx, bridge.ToolAck, who)
	if err != nil && who.Agent != "" { // attention/ack would acknowledge for a person
		return err
	}
	all := err == nil && json.Unmarshal(raw, &r) == nil
	if !all {
		params := gabp.AckParams{AttentionID: it.ID}
		if err := c.Call(ctx, gabp.MethodAttentionAck, params, &r.AckResult); err != nil {
			return err
		}
	}
	before := all && r.Acknowledged && len(r.Covered) == 0
	if !r.Acknowledged || before {
		p.Raise(exitFinding)
	}
	if f.format == formatJSON {
		return p.printJSON(text.JSON(r))
	}
	t := fetchItem(ctx, c, r.AttentionID)
	shown := &shownAck{
		Acknowledgement: &r, Info: &t, Named: strings.Join(args, ""), Agent: who.Agent, Before: !r.Acknowledged || before,
		Cursor: cmp.Or(t.Cursor, it.Cursor),
	}
	if shown.Before {
		shown.ClearedBy = clearedBy(ctx, c, &t)
	}
	shown.Now = fetchCurrent(ctx, c, r.CurrentAttention)
	return p.printForm(f.width, "ack", shown)
}

// unread shows an item in place of its acknowledgement: the next one covers it.
func (p *program) unread(ctx context.Context, c *gabp.Client, f *clientFlags, r *bridge.Acknowledgement) error {
	p.Raise(exitFinding)
	shown := fetchCurrent(ctx, c, r.CurrentAttention)
	if f.format == formatJSON {
		return p.printJSON(text.JSON(r))
	}
	return p.printForm(f.width, "unread", shown)
}

// clearedBy returns how an item that is not open was cleared, and by whom, as far as heed knows.
func clearedBy(ctx context.Context, c *gabp.Client, t *itemInfo) string {
	why := string(t.ClearedBy)
	var acks bridge.Timeline
	if why == string(coalesce.ReasonAcknowledged) && ask(ctx, c, bridge.ToolTimeline, map[string]any{
		"attention": t.ID, "kinds": []session.EventKind{session.Acknowledged}, "limit": 1,
	}, &acks) && len(acks.Events) > 0 {
		who := acks.Events[0].Consumer
		if session.Person(who) {
			who = "a person"
		}
		why += " by " + who
	}
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

// holding returns the item that holds calls back. If heed/items answers, the question does not count as a delivery:
// entries since a person looked are not acknowledged unseen. unread reports that no person has read the item.
func holding(ctx context.Context, c *gabp.Client) (it bridge.Item, unread bool, err error) {
	var items bridge.Items
	if ask(ctx, c, bridge.ToolItems, struct{}{}, &items) && items.Behind == "" {
		if len(items.Items) > 0 && items.Items[0].Blocking {
			return items.Items[0], !items.Read, nil
		}
	}
	// The items lack the item about an unreadable log, and all items of another server.
	var r gabp.CurrentResult
	if err := c.Call(ctx, gabp.MethodAttentionCurrent, struct{}{}, &r); err != nil {
		return it, false, err
	}
	if a := r.Attention; a != nil && a.Blocking {
		return bridge.Item{Item: *a}, false, nil
	}
	return it, false, &cli.StatusError{
		Status: exitFinding, Err: errors.New("nothing holds calls back"),
		Next: `to acknowledge an advisory item, give its number, which "heed status" shows`,
	}
}

// named returns the item that a person means, by its number or its id, with a cursor if something is open. A name that
// no open item has is taken at its word: the item may have been cleared before.
func named(ctx context.Context, c *gabp.Client, name string) (it bridge.Item, err error) {
	// An acknowledgement covers the entries that were delivered to this client: the question delivers them.
	var current gabp.CurrentResult
	if err := c.Call(ctx, gabp.MethodAttentionCurrent, struct{}{}, &current); err != nil {
		return it, err
	}
	var items bridge.Items
	_ = ask(ctx, c, bridge.ToolItems, struct{}{}, &items) // a server without it knows whole ids
	it.ID = name
	for i := range items.Items {
		if it.Cursor = items.Items[i].Cursor; short(items.Items[i].ID, it.Cursor) == name {
			it.ID = items.Items[i].ID
		}
	}
	return it, nil
}
