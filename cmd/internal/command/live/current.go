package live

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/gabp"
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
		g := p.page(f.width)
		p.showCurrent(ctx, g, c, r.Attention)
		return p.write(g)
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

// kind is the word for an item that blocks or does not, with its style.
func kind(blocking bool) span {
	if blocking {
		return span{red, "BLOCKING"}
	}
	return span{yellow, "advisory"}
}

// showCurrent shows an item, nil for none.
func (p *program) showCurrent(ctx context.Context, g *page, c *gabp.Client, a *heed.Item) {
	var items bridge.Items
	ask(ctx, c, bridge.ToolItems, struct{}{}, &items)
	if a == nil {
		g.line(span{green, "nothing is open"})
		p.form(g, "acked", fetchAcked(ctx, c, &items))
		return
	}
	t := fetchItem(ctx, c, a.ID)
	p.showItem(g, a, &t, len(items.Items)+items.Omitted-1)
}

// shownItem is an item of attention/current with what heed has of it besides, and how many more are open.
type shownItem struct {
	*heed.Item

	Info *itemInfo
	More int
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

// showItem shows an item.
func (p *program) showItem(g *page, a *heed.Item, t *itemInfo, more int) {
	p.form(g, "current", &shownItem{a, t, more})
}
