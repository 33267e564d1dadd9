package live

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/history"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/report/compare"
	"github.com/heedlog/heed/report/summary"
)

func (p *program) historyBaselineCommand() *cobra.Command {
	f := historyFlags{format: formatText, needed: true, latest: true}
	var sessions int
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Print what sound sessions logged as known noise",
		Long: `baseline prints a baseline, as "heed baseline write" does, of what stood in many sessions in
which nothing broke: it is known noise from now on. Review it before you use it.`,
		Example: `  heed history baseline > heed-baseline.yaml
  heed baseline check --baseline heed-baseline.yaml Player.log`,
		Args: cobra.NoArgs,
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if sessions < 1 {
				return cli.Usage(cmd, "--sessions %d: want 1 or more", sessions)
			}
			return nil
		},
	}
	p.withHistory(cmd, &f, func(ctx context.Context, h *history.History, game string, _ []string) error {
		b, left, err := h.Baseline(ctx, game, sessions, p.Now(), compare.DefaultExpiry)
		if err != nil {
			return err
		}
		if left > 0 {
			p.Note("%s left out: no text of them is remembered whole", text.Many(left, "group is", "groups are"))
		}
		return p.print(b.Append(nil))
	})
	flags := cmd.Flags()
	flags.StringVar(&f.file, "history", "", "read the history in `FILE`")
	flags.IntVar(&sessions, "sessions", 3, "take what stood in at least `N` sound sessions")
	return f.ofGame(cmd, "of the `GAME`, by its name; without it that of the latest session")
}

func (p *program) historyExportCommand() *cobra.Command {
	f := historyFlags{format: formatText, needed: true}
	cmd := p.withHistory(&cobra.Command{
		Use:   "export",
		Short: "Print the summaries of all sessions, as JSON lines",
		Long: `export prints what is remembered of each session, the oldest first, as a line of JSON. It has
no private text, as the history has none. heed-parquet, of the module fleet/beam, makes Parquet
of it.`,
		Example: `  heed history export | jq -r 'select(.state == "crashed").log.name'`,
		Args:    cli.NoArgs("export"),
	}, &f, func(ctx context.Context, h *history.History, game string, _ []string) error {
		return h.Each(ctx, game, func(s *summary.Session) error { return p.printDocument(s) })
	})
	cmd.Flags().StringVar(&f.file, "history", "", "read the history in `FILE`")
	return f.ofGame(cmd, "only sessions of the `GAME`, by its name")
}

func (p *program) historyForgetCommand() *cobra.Command {
	var f historyFlags
	var before string
	var all bool
	var which history.Which
	cmd := &cobra.Command{
		Use:   "forget [NUMBER...]",
		Short: "Forget sessions",
		Long: `forget removes what is remembered of sessions: those with these numbers, those that ended
before a day, or all. The file keeps nothing of them.`,
		Example: `  heed history forget 12 13
  heed history forget --before 2026-01-31
  heed history forget --all`,
		Args: func(cmd *cobra.Command, args []string) (err error) {
			ways := 0
			for _, given := range []bool{len(args) > 0, before != "", all} {
				if given {
					ways++
				}
			}
			if ways != 1 {
				return cli.Usage(cmd, "say what to forget: numbers of sessions, --before or --all")
			}
			which = history.Which{All: all}
			if before != "" {
				if which.Before, err = time.ParseInLocation(time.DateOnly, before, time.Local); err != nil {
					return cli.Usage(cmd, "--before %q: want a day, such as 2026-01-31", before)
				}
			}
			which.IDs, err = numbered(cmd, args)
			return err
		},
	}
	p.withHistory(cmd, &f, func(ctx context.Context, h *history.History, _ string, _ []string) error {
		d := historyForgetDocument{historyVersion: thisVersion}
		if h == nil && len(which.IDs) > 0 {
			return f.none()
		}
		if h != nil {
			var err error
			if d.Forgotten, err = h.Forget(ctx, which); err != nil {
				return err
			}
		}
		return p.show(&f, d, func(g *page) {
			g.line(span{plain, text.Many(d.Forgotten, "session is", "sessions are") + " forgotten"})
		})
	})
	cmd.Flags().StringVar(&before, "before", "", "forget the sessions that ended before the `DAY`, such as 2026-01-31")
	cmd.Flags().BoolVar(&all, "all", false, "forget all sessions")
	return f.register(cmd)
}
