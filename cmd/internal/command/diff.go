package command

import (
	"github.com/spf13/cobra"

	"github.com/heedlog/heed/internal/report"
)

func (p *program) logDiffCommand() *cobra.Command {
	cmd := p.sidesCommand("diff", func(cmd *cobra.Command, c *comparing) error {
		d := c.collector.Diff()
		p.findings(&d.New, d.Added, d.More, d.Worse)
		return p.compared(cmd, c, report.Comparison{Found: d})
	})
	p.registerFailOn(cmd, "new, blocking, advisory, blind", failNew, failBlocking, failAdvisory, failBlind)
	return cmd
}
