package live

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/text"
)

// tailWait is how long a question for new entries waits for one.
const tailWait = 30 * time.Second

// The number of entries that are asked for at a time, and that tail begins with.
const (
	tailLimit   = 200
	defaultLast = 20
)

// tailFlags are the flags of "heed tail".
type tailFlags struct {
	clientFlags
	after  string
	last   int
	follow bool
	least  string
}

func (p *program) tailCommand() *cobra.Command {
	var f tailFlags
	cmd := p.clientCommand("tail", &f.clientFlags,
		func(ctx context.Context, c *gabp.Client, _ *runFile, _ []string) error { return p.tail(ctx, c, &f) })
	cli.Checked(cmd, func(cmd *cobra.Command) error {
		if f.last < 0 {
			return cli.Usage(cmd, "--last %d: must not be negative; 0 shows all", f.last)
		}
		if f.after != "" && cmd.Flags().Changed("last") {
			return cli.Usage(cmd, "--after and --last: choose one")
		}
		if !isCursor(f.after) {
			return cli.Usage(cmd, "--after %q: not a cursor; tail prints one at its end", f.after)
		}
		if f.least == "" {
			return nil
		}
		return cli.OneOf(cmd, "least", f.least, event.Advisory.String(), event.Blocking.String())
	})
	f.register(cmd, formatJSONL, "one entry of heed/entries per line")
	flags := cmd.Flags()
	flags.StringVar(&f.after, "after", "", "begin after `CURSOR`, as an earlier tail printed it")
	flags.IntVarP(&f.last, "last", "n", defaultLast, "begin with the last `N` entries (that --least selects), 0 for all")
	flags.BoolVarP(&f.follow, "follow", "f", false, "continue with new entries")
	flags.StringVar(&f.least, "least", "", "only entries of the disposition `WHAT` or above: advisory or blocking")
	cli.Completes(cmd, "least", event.Advisory.String(), event.Blocking.String())
	return cmd
}

// isCursor reports whether text has the form of a cursor, as heed gives them out: a
// number, with the run that it is of before it. None is one.
func isCursor(text string) bool {
	if text == "" {
		return true
	}
	_, err := strconv.ParseUint(text[strings.LastIndexByte(text, '/')+1:], 10, 64)
	return err == nil
}

func (p *program) tail(ctx context.Context, c *gabp.Client, f *tailFlags) (err error) {
	tool, arguments := bridge.ToolEntries, map[string]any{"limit": tailLimit}
	keep := 0 // of those that are asked for from the first held on, the latest
	switch {
	case f.after != "":
		arguments["after"] = f.after
	case f.last > 0 && f.least != "": // the tool counts before it leaves out
		keep = f.last
	case f.last > 0:
		arguments["last"] = f.last
	}
	if f.least != "" {
		arguments["minDisposition"] = f.least
	}
	var held bridge.Page
	lines, next := &fold{p: p, columns: f.width}, ""
	defer func() {
		err = cmp.Or(err, lines.end())
		if next != "" {
			p.Note("to continue from here: --after %s", next)
		}
	}()
	for {
		raw, err := c.CallTool(ctx, tool, arguments)
		switch {
		case err != nil && next != "":
			return gone(err)
		case err != nil:
			return err
		}
		var page bridge.Page
		if err := json.Unmarshal(raw, &page); err != nil {
			return err
		}
		next = page.Next
		if keep > 0 {
			held.Lost += page.Lost
			held.Entries = append(held.Entries, page.Entries...)
			held.Entries = held.Entries[max(0, len(held.Entries)-keep):]
			if !page.More {
				page.Entries, page.Lost, keep = held.Entries, held.Lost, 0
			}
		}
		if keep == 0 {
			if err := p.showEntries(&page, f, lines); err != nil {
				return err
			}
		}
		delete(arguments, "last")
		arguments["after"] = next
		switch {
		case page.More:
		case f.follow:
			tool, arguments["seconds"] = bridge.ToolWait, int(tailWait.Seconds())
		default:
			return nil
		}
	}
}

// showEntries shows a page, for a person by lines.
func (p *program) showEntries(page *bridge.Page, f *tailFlags, lines *fold) error {
	if page.Lost > 0 {
		if err := lines.end(); err != nil {
			return err
		}
		p.Note("%s no longer kept", text.Many(page.Lost, "entry is", "entries are"))
	}
	if f.format == formatJSONL {
		for i := range page.Entries {
			if err := p.printJSON(text.JSON(&page.Entries[i])); err != nil {
				return err
			}
		}
		return nil
	}
	return lines.show(page)
}
