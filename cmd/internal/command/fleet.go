package command

import (
	"errors"
	"flag"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/fleet/intake"
	"github.com/heedlog/heed/internal/text"
)

func (p *program) fleetCommand() *cobra.Command {
	c := &intake.Config{}
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	c.Flags(flags)
	cmd := &cobra.Command{
		Use:   "fleet FOLDER...",
		Short: "Make one report about the logs of many players",
		Long: `fleet reads the logs of many players, also in archives (.zip, .tar, .tar.gz, .tgz, .tar.zst),
and makes one report: how many players crashed and why, which problems break play, how
many players have each and since which version of the game, which mods go with it, and
what a release changed. The page is fleet.html; fleet.json has all of it.

The player is the first folder below FOLDER, such as a in logs/a/Player.log; --player
finds the player elsewhere in the path. Texts are scrubbed, and a text that fewer than
--k players have is not shown. A line on standard error shows progress.

For more logs than fit on one machine, heed-fleet makes the same report on a cluster:
see docs/fleet.md.

Exit status: 0 done, 2 wrong usage, 3 no log was read, or the report could not be
written, 130 interrupted.`,
		Example: `  heed fleet logs
  heed fleet --player '/players/([^/]+)/' --split-version 1.6.4566 logs
  heed fleet --before october --after november --json november.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := c.Prepare(args); err != nil {
				return cli.Usage(cmd, "%w", err)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return p.fleet(cmd, c) },
	}
	flags.VisitAll(func(f *flag.Flag) {
		if f.Name == "rules" { // a list, also of settings
			cmd.Flags().StringArrayVar(&c.RuleFiles, f.Name, nil, f.Usage)
			return
		}
		cmd.Flags().AddGoFlag(f)
	})
	return cmd
}

// fleet makes a report about the logs of many players, and prints its headline.
func (p *program) fleet(cmd *cobra.Command, c *intake.Config) error {
	if err := c.Here(); errors.Is(err, intake.ErrOverwrites) {
		return cli.Usage(cmd, "%w", err)
	} else if err != nil {
		return ioError(err)
	}
	noteEnded(c.Ended(), p.Message)
	stop := intake.Progress(func(line string) { p.Note("%s", line) })
	report, err := c.Report(cmd.Context())
	stop()
	if err != nil {
		return ioError(err)
	}
	for _, file := range []struct {
		name string
		data []byte
	}{{c.JSON, report.JSON()}, {c.HTML, report.HTML()}} {
		if file.name == "" {
			continue
		}
		if err := ReplaceFile(file.name, file.data); err != nil {
			return ioError(fmt.Errorf("cannot write the report: %w", err))
		}
	}
	p.Note("%s", c.Outcome(report))
	if report.Players > 0 && report.Players < uint64(c.K) {
		p.Note("fewer than %s have most texts: --k 1 shows them", text.Count(c.K, "player"))
	}
	if report.Logs == 0 {
		return ioError(intake.ErrNoLog)
	}
	return p.print("the headline", []byte(report.Headline+"\n"))
}
