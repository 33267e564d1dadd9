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
		Use: "fleet FOLDER...",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.Prepare(args); err != nil { // here the settings are in the flags
				return cli.Usage(cmd, "%w", err)
			}
			return p.fleet(cmd, c)
		},
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
	return p.Print("the headline", []byte(report.Headline+"\n"))
}
