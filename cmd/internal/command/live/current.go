package live

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/text"
)

func (p *program) currentCommand() *cobra.Command {
	var f clientFlags
	cmd := p.clientCommand(&cobra.Command{
		Use: "current",
	}, &f, func(ctx context.Context, c *gabp.Client, _ *runFile, _ []string) error {
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
	detail bridge.ItemDetail
	since  time.Time // of its cause
	latest time.Time // of its latest entry
}

// what returns the subject of an item in a few words. Its summary is longer, since it is for agents.
func (t *itemInfo) what() string { return cmp.Or(t.detail.Title, t.detail.Summary) }

// mod returns the mods that an item points at, "" for none.
func (t *itemInfo) mod() string {
	if perhaps := t.detail.Perhaps; len(t.detail.Blame) == 0 && len(perhaps) > 0 {
		return "perhaps " + strings.Join(perhaps, ", ")
	}
	return strings.Join(t.detail.Blame, ", ")
}

// short returns the name that a person types for an item of the same heed.
func (t *itemInfo) short(id string) string { return short(id, t.detail.Cursor) }

// short returns the name that a person types for an item of the heed that gave a cursor: its number, or the whole id
// without a cursor.
func short(id, cursor string) string {
	epoch, _, _ := strings.Cut(cursor, "/")
	return session.ShortID(id, epoch)
}

// fetchItem asks for an item. The server at the address need not be heed: the result lacks the parts that it does not
// answer.
func fetchItem(ctx context.Context, c *gabp.Client, id string) (t itemInfo) {
	if !ask(ctx, c, bridge.ToolItem, map[string]any{"id": id}, &t.detail) {
		return itemInfo{}
	}
	if e := t.detail.Cause.Entry; e != nil {
		t.since = e.Time
	}
	if epoch, _, ok := strings.Cut(t.detail.Cursor, "/"); ok && t.detail.LatestSequence > 0 {
		var page bridge.Page
		after := epoch + "/" + strconv.FormatUint(t.detail.LatestSequence-1, 10)
		if ask(ctx, c, bridge.ToolEntries, map[string]any{"after": after, "limit": 1}, &page) && len(page.Entries) > 0 {
			t.latest = page.Entries[0].Time
		}
	}
	return t
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
	if a == nil {
		g.line(span{green, "nothing is open"})
		return
	}
	t := fetchItem(ctx, c, a.ID)
	var items bridge.Items
	ask(ctx, c, bridge.ToolItems, struct{}{}, &items)
	p.showItem(g, a, &t, len(items.Items)+items.Omitted-1)
}

// showItem shows an item of attention/current with what heed has of it besides, and how many more are open.
func (p *program) showItem(g *page, a *heed.Item, t *itemInfo, more int) {
	g.line(kind(a.Blocking), span{strong, " " + a.Severity.String()}, span{plain, "  item " + t.short(a.ID)})
	what := cmp.Or(t.what(), a.Summary)
	const changed = "; the game's state may have changed: read it again"
	if a.StateInvalidated && !strings.Contains(what, changed) { // a summary of several says so itself
		what += changed
	}
	g.about("what", plain, what)
	if why := t.detail.Cause.RuleWhy; why != "" && t.detail.Cause.Rule == t.detail.Rule {
		g.about("why", plain, "rule "+t.detail.Rule+": "+why)
	}
	g.about("do", plain, t.detail.Advice)
	g.about("mod", name, t.mod())
	switch after := t.detail.AfterMethod; {
	case a.CausalMethod != "":
		g.about("call", plain, a.CausalMethod)
	case after != "":
		g.about("call", plain, "during or after "+after+" (not certain)")
	}
	if !t.since.IsZero() {
		g.about("since", plain, p.clock(t.since)+", "+p.ago(t.since))
	}
	g.about("history", plain, t.detail.Known)
	count := text.Many(a.TotalUrgentEntries, "entry", "entries")
	if n := t.detail.Groups; n > 0 {
		count += " in "
		if !t.detail.GroupsExact {
			count += "at least "
		}
		count += text.Many(n, "group")
	}
	if !t.latest.IsZero() && a.TotalUrgentEntries > 1 {
		count += ", the latest " + p.ago(t.latest)
	}
	g.about("count", plain, count)
	g.about("variants", plain, t.detail.Variants.String())
	for i, s := range a.Sample {
		label := ""
		if i == 0 {
			label = "sample"
		}
		g.line(span{faint, fmt.Sprintf("  %-*s", labelColumn-2, label)},
			span{plain, fmt.Sprintf("%6s × %-7s %s", text.Number(s.RepeatCount), s.Level, s.Message)})
	}
	if more > 0 {
		g.about("more", plain, text.Many(more, "other item is open", "other items are open")+": heed status")
	}
	if a.Blocking {
		g.about("next", plain, "heed ack "+t.short(a.ID))
	}
}
