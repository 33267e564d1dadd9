package command

import (
	"github.com/spf13/cobra"

	"github.com/heedlog/heed/internal/report"
)

func (p *program) logDiffCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:  "diff OLD NEW... | OLD --game GAME | --game GAME --previous",
		Args: p.twoSides,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := p.readSides(cmd, args)
			if c == nil {
				return err
			}
			d := c.collector.Diff()
			p.findings(&d.New, d.Added, d.More, d.Worse)
			return p.compared(cmd, c, report.Comparison{Found: d})
		},
	}
	p.registerCompare(cmd)
	p.registerFailOn(cmd, "new, blocking, advisory, blind", failNew, failBlocking, failAdvisory, failBlind)
	p.registerSides(cmd)
	return cmd
}
