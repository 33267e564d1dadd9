package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/bridge"
	"github.com/heedlog/heed/internal/cli"
)

func (p *program) ackCommand() *cobra.Command {
	var f clientFlags
	cmd := p.clientCommand(&cobra.Command{
		Use:   "ack [ID]",
		Short: "Acknowledge an item of a running heed",
		Long: `ack marks an item as looked at, as the agent would do: it no longer holds calls back.
"heed current" and "heed status" show its id; the first four characters or more are
enough if no other open item begins with them. ack then prints what is still open.

Without an ID, ack takes the item that holds calls back now, as far as "heed current" or
"heed status" has shown it: what is new since then stays open.

Exit status as of heed; 1 if the item was not open, or nothing holds calls back.`,
		Example: `  heed ack
  heed ack 1-7
  heed ack 1-7 --format json | jq .acknowledged`,
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
	var err error
	if len(args) == 0 {
		it, err = holding(ctx, c)
	} else {
		it, err = named(ctx, c, args[0])
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
	if !r.Acknowledged {
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
	switch {
	case !r.Acknowledged:
		g.line(span{yellow, it.ID + " is not open"})
	case len(args) == 0:
		g.line(span{green, it.ID + " is acknowledged"}, span{plain, ", up to what was shown: " + it.Summary})
	default:
		g.line(span{green, it.ID + " is acknowledged"})
	}
	p.showCurrent(ctx, g, c, r.CurrentAttention)
	return p.write(g)
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

// leastPrefix is how much of an id must be given. All of them begin with the day on which
// heed was started, and the number that "heed follow" shows is no part of that.
const leastPrefix = 4

// named returns the open item that id is of, whole or by its beginning. What fits none is
// taken at its word: it may have been cleared before.
func named(ctx context.Context, c *gabp.Client, id string) (bridge.Item, error) {
	// An acknowledgement is up to what was shown: this client has to be shown it.
	var current gabp.CurrentResult
	if err := c.Call(ctx, gabp.MethodAttentionCurrent, struct{}{}, &current); err != nil {
		return bridge.Item{}, err
	}
	var items bridge.Items
	_ = ask(ctx, c, bridge.ToolItems, struct{}{}, &items) // a server without it knows whole ids
	open := make([]string, 0, len(items.Items)+1)
	for i := range items.Items {
		open = append(open, items.Items[i].ID)
	}
	if a := current.Attention; a != nil && !slices.Contains(open, a.ID) {
		open = append(open, a.ID)
	}
	if len(id) < leastPrefix || slices.Contains(open, id) {
		return bridge.Item{Attention: heed.Attention{ID: id}}, nil
	}
	open = slices.DeleteFunc(open, func(whole string) bool { return !strings.HasPrefix(whole, id) })
	switch {
	case len(open) == 0:
		return bridge.Item{Attention: heed.Attention{ID: id}}, nil
	case items.Omitted > 0:
		open = append(open, "and perhaps "+plural(uint64(items.Omitted), "other", "others"))
		fallthrough
	case len(open) > 1:
		return bridge.Item{}, cli.Failed(exitUsage, fmt.Errorf("several open items begin with %q: %s", id,
			strings.Join(open, ", ")))
	}
	return bridge.Item{Attention: heed.Attention{ID: open[0]}}, nil
}
