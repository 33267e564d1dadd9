package live

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/way"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/text"
)

// followFlags are the flags of "heed follow".
type followFlags struct {
	hostFlags
	format  string
	fromEnd bool
	width   int
}

func (p *program) followCommand() *cobra.Command {
	var f followFlags
	cmd := &cobra.Command{
		Use:  "follow PATH",
		Args: cli.Args(1, 1, "name the log to follow, and nothing else"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.follow(cmd, &f, args[0]) },
	}
	f.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", formatText, "print the `FORMAT` text or jsonl (one update per line)")
	flags.BoolVar(&f.fromEnd, "from-end", false, "skip what is in the log now")
	flags.StringVar(&f.logFile, "log-file", "-", "write heed's own messages to `FILE`, - for standard error")
	cli.WidthFlag(cmd, &f.width, 0)
	cli.Choice(cmd, "format", formatText, formatJSONL)
	return cmd
}

func (p *program) follow(cmd *cobra.Command, f *followFlags, path string) error {
	ctx, stop := untilInterrupted(cmd.Context())
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	h := &host{flags: &f.hostFlags, name: "follow", source: running(path, "", f.fromEnd)}
	if err := p.newHost(h); err != nil {
		return err
	}
	defer h.close(exitNone)
	defer context.AfterFunc(ctx, h.end)()
	var unwritten error // also of the last updates, when all else has ended
	h.session.OnUpdates(func(updates []heed.Update) {
		if unwritten == nil {
			if unwritten = p.showUpdates(updates, path, f); unwritten != nil {
				cancel(unwritten)
			}
		}
	})
	err := h.serve(ctx)
	if unwritten != nil {
		return unwritten
	}
	if err == nil {
		st := h.session.Engine().Stats()
		p.Note("%s open; %s, %s in items", text.Many(uint64(max(0, st.Coalesce.Open)), "item is", "items are"),
			text.Many(st.Received-st.Late, "entry", "entries"), text.Number(st.Folded))
	}
	return err
}

// showUpdates shows changes of attention.
func (p *program) showUpdates(updates []heed.Update, path string, f *followFlags) error {
	g := p.page(f.width)
	for i := range updates {
		u := &updates[i]
		if f.format == formatJSONL {
			g.buf = report.AppendUpdate(g.buf, path, u)
			continue
		}
		g.update(p.Now(), u)
	}
	return p.write(g)
}

// update adds a line about an update.
func (g *page) update(at time.Time, u *heed.Update) {
	a := &u.Item
	k := kind(a.Blocking)
	if a.State == coalesce.Cleared {
		k = span{green, "cleared "}
	}
	spans := []span{
		{faint, at.Format(time.TimeOnly)},
		{plain, "  " + fmt.Sprintf("%-7s  ", u.Kind)},
		k,
		{plain, "  " + fmt.Sprintf("%-7s ", a.Severity)},
		{strong, fmt.Sprintf("item %-2s", way.Number(a))},
		{plain, fmt.Sprintf(" %6s ×  ", text.Number(a.TotalUrgentEntries))},
	}
	if len(a.Blame) > 0 {
		spans = append(spans, span{name, strings.Join(a.Blame, ", ")}, span{plain, ": "})
	}
	g.line(append(spans, span{plain, cmp.Or(a.Title, a.Summary)})...)
}
