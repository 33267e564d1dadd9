package live

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/bridge"
	"github.com/heedlog/heed/internal/cli"
)

func (p *program) ackCommand() *cobra.Command {
	var f clientFlags
	cmd := p.clientCommand(&cobra.Command{
		Use:   "ack [ID]",
		Short: "Acknowledge an item of a running heed",
		Long: `ack marks an item as looked at, as the agent would do: it no longer holds calls back. The
agent's next result tells it that a person acknowledged the item.
"heed current" and "heed status" show its number, which is unique while heed runs; its
whole id, or four characters or more of its beginning, do as well. ack then prints what is
still open.

Without an ID, ack takes the item that holds calls back now, as far as "heed current" or
"heed status" has shown it: what is new since then stays open.

Exit status as of heed; 1 if the item was not open, or nothing holds calls back.`,
		Example: `  heed ack
  heed ack 7
  heed ack 7 --format json | jq .acknowledged`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usage(cmd, "name one item, or none for the one that holds calls back: unexpected %q", args[1])
			}
			if len(args) == 1 && args[0] == "" {
				return cli.Usage(cmd, "the item's id is empty; leave it out for the item that holds calls back")
			}
			return nil
		},
	}, &f, func(ctx context.Context, c *gabp.Client, _ *runFile, args []string) error {
		return p.ack(ctx, c, &f, args)
	})
	f.register(cmd, formatJSON, "the result of heed/ack")
	return cmd
}

// ack acknowledges the item that is meant.
func (p *program) ack(ctx context.Context, c *gabp.Client, f *clientFlags, args []string) error {
	var it bridge.Item
	var before openItems
	var err error
	if len(args) == 0 {
		it, err = holding(ctx, c)
	} else {
		it.ID, before, err = named(ctx, c, args[0])
	}
	if err != nil {
		return err
	}
	params := gabp.AckParams{AttentionID: it.ID}
	r := bridge.Acknowledgement{Covered: []bridge.AckedItem{}, Open: []bridge.AckedItem{}}
	// Another server, and heed where it leaves attention to the mod, has no such tool.
	if !ask(ctx, c, bridge.ToolAck, params, &r) {
		if err := c.Call(ctx, gabp.MethodAttentionAck, params, &r.AckResult); err != nil {
			return err
		}
	}
	old := len(args) > 0 && before.complete && !slices.Contains(before.ids, r.AttentionID)
	if !r.Acknowledged || old {
		p.Raise(exitFinding)
	}
	if f.format == formatJSON {
		raw, err := json.Marshal(r)
		if err != nil {
			return err
		}
		return p.printJSON(raw)
	}
	g := p.page(f.width)
	t := fetchItem(ctx, c, r.AttentionID)
	named := "item " + t.short(r.AttentionID)
	switch {
	case !r.Acknowledged:
		g.line(span{yellow, "no item " + args[0] + " is known"}, span{plain, "; open: " + before.String()})
	case old:
		g.line(span{yellow, named + " was cleared before"}, span{plain, "; open: " + before.String()})
	case len(args) == 0:
		g.line(span{green, named + " is acknowledged"}, span{plain, ", up to what was shown: " + it.Summary})
	default:
		g.line(span{green, named + " is acknowledged"})
	}
	p.showCurrent(ctx, g, c, r.CurrentAttention)
	return p.write(g)
}

// openItems are the ids of open items, as far as a server reports them.
type openItems struct {
	ids      []string
	cursor   string // of the server
	omitted  int
	complete bool
}

// String names the items as a person types them.
func (o *openItems) String() string {
	names := make([]string, 0, len(o.ids)+1)
	for _, id := range o.ids {
		names = append(names, short(id, o.cursor))
	}
	if o.omitted > 0 {
		names = append(names, "and perhaps "+plural(uint64(o.omitted), "other", "others"))
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}

// holding returns the item that holds calls back. To ask for it does not count as
// having been shown it, where heed/items answers: what came since a person looked is not
// acknowledged unseen.
func holding(ctx context.Context, c *gabp.Client) (bridge.Item, error) {
	var items bridge.Items
	if ask(ctx, c, bridge.ToolItems, struct{}{}, &items) && items.Behind == "" {
		if len(items.Items) > 0 && items.Items[0].Blocking {
			return items.Items[0], nil
		}
	}
	// What heed cannot see is not among the items, and neither are those of another server.
	var r gabp.CurrentResult
	if err := c.Call(ctx, gabp.MethodAttentionCurrent, struct{}{}, &r); err != nil {
		return bridge.Item{}, err
	}
	if a := r.Attention; a != nil && a.Blocking {
		return bridge.Item{Attention: *a}, nil
	}
	return bridge.Item{}, &cli.StatusError{
		Status: exitFinding, Err: errNothingHolds, Next: `to acknowledge an advisory item, give its id, which "heed status" shows`,
	}
}

var errNothingHolds = errors.New("nothing holds calls back")

// leastPrefix is how much of an id must be given that is not its number: all of them begin with the day on which heed
// was started.
const leastPrefix = 4

// named returns the id that a person means, and what is open: by the number of an item, which the server knows, by its
// id or by the beginning of an id that is open. What fits none is taken at its word: it may have been cleared before.
func named(ctx context.Context, c *gabp.Client, name string) (id string, open openItems, err error) {
	// An acknowledgement is up to what was shown: this client has to be shown it.
	var current gabp.CurrentResult
	if err := c.Call(ctx, gabp.MethodAttentionCurrent, struct{}{}, &current); err != nil {
		return "", open, err
	}
	var items bridge.Items
	open.complete = ask(ctx, c, bridge.ToolItems, struct{}{}, &items) && items.Omitted == 0 && items.Behind == ""
	open.omitted = items.Omitted
	for i := range items.Items {
		open.ids, open.cursor = append(open.ids, items.Items[i].ID), items.Items[i].Cursor
	}
	if a := current.Attention; a != nil && !slices.Contains(open.ids, a.ID) {
		open.ids = append(open.ids, a.ID)
	}
	if i := slices.IndexFunc(open.ids, func(id string) bool { return id == name || short(id, open.cursor) == name }); i >= 0 {
		return open.ids[i], open, nil
	}
	if len(name) < leastPrefix {
		return name, open, nil
	}
	fit := openItems{cursor: open.cursor, omitted: items.Omitted}
	for _, id := range open.ids {
		if strings.HasPrefix(id, name) {
			fit.ids = append(fit.ids, id)
		}
	}
	switch {
	case len(fit.ids) == 0:
		return name, open, nil
	case len(fit.ids) == 1 && fit.omitted == 0:
		return fit.ids[0], open, nil
	}
	return "", open, cli.Failed(exitUsage, fmt.Errorf("several open items begin with %q: %s", name, &fit))
}
