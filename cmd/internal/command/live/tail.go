package live

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/session"
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
		if f.after != "" && cmd.Flags().Changed("last") {
			return cli.Usage(cmd, "--after and --last: choose one")
		}
		if err := cli.NotNegative(cmd, "last", f.last); err != nil || f.least == "" {
			return err
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

// fold shows entries for a person, and the first of those in a row that say the same; a line with how many followed
// comes after it.
type fold struct {
	p       *program
	columns int          // of --width, 0: the terminal's
	epoch   string       // of the entries
	lines   []shownEntry // to be printed

	row    sameness      // of the entries in the last line; none if that line has no entries
	latest *bridge.Entry // of them
	unsaid uint64        // how many of them are not shown yet
	said   time.Time     // when something was shown
}

// sameness is equal for entries with the same message and decision. No entry has the zero value.
type sameness [10]any

func samenessOf(e *bridge.Entry) sameness {
	message := e.Message
	if e.Kind == event.KindLog && e.Signature != 0 {
		message = ""
	}
	return sameness{
		e.Kind, e.Level, e.Status, e.Disposition, e.Severity, e.Invalidates, e.Rule, e.Source, e.Signature, message,
	}
}

// unsaidFor bounds how long repeats that go on are not shown.
const unsaidFor = 10 * time.Second

// show shows the entries of a page.
func (f *fold) show(page *bridge.Page) error {
	f.epoch = page.Epoch
	for entries := page.Entries; len(entries) > 0; {
		row, n := samenessOf(&entries[0]), 1
		for n < len(entries) && samenessOf(&entries[n]) == row {
			n++
		}
		if row == f.row {
			f.unsaid += uint64(n)
		} else {
			f.rest()
			f.lines = append(f.lines, shownEntry{Entry: &entries[0], epoch: f.epoch})
			f.unsaid, f.said = uint64(n-1), f.p.Now()
		}
		f.row, f.latest = row, &entries[n-1]
		entries = entries[n:]
	}
	if page.TimedOut || f.p.Now().Sub(f.said) >= unsaidFor {
		f.rest()
	}
	return f.print()
}

// end shows the waiting entries; the next entry begins a line.
func (f *fold) end() error {
	f.rest()
	f.row = sameness{}
	return f.print()
}

// print prints the lines.
func (f *fold) print() error {
	lines := f.lines
	f.lines = nil
	return f.p.printForm(f.columns, "entries", lines)
}

// rest adds the number of entries that followed the line before, or the entry if it is one.
func (f *fold) rest() {
	if f.unsaid == 0 {
		return
	}
	last := shownEntry{Entry: f.latest, epoch: f.epoch}
	if f.unsaid > 1 {
		last.Repeated = f.unsaid
	}
	f.lines = append(f.lines, last)
	f.unsaid, f.said = 0, f.p.Now()
}

// shownEntry is a line of tail: an entry, or how often it was repeated since the line before.
type shownEntry struct {
	*bridge.Entry

	Repeated uint64
	epoch    string
}

// What returns the level of a log record, and the status of another entry.
func (e *shownEntry) What() string {
	switch {
	case e.Kind != event.KindLog:
		return e.Status.String()
	case e.Level != event.LevelUnknown:
		return e.Level.String()
	}
	return ""
}

// Says returns the message, of an operation with its tool.
func (e *shownEntry) Says() string {
	message := e.Message
	if e.Kind == event.KindLog {
		return message
	}
	if item := session.ShortID(message, e.epoch); item != message {
		message = "item " + item
	}
	if e.Source != "" && message != "" {
		message = ": " + message
	}
	return e.Source + message
}
