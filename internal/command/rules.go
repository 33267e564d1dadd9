package command

import (
	"github.com/spf13/cobra"

	"github.com/heedlog/heed/internal/cli"
)

func (p *program) rulesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "Work on rule files",
		Long: `rules has the commands for those who write rules. They run the tests inside rule
files, find what is unlikely to be meant in them, show which rules decide in captures,
which never do, and what another rule set would change, and propose a rule for a record.`,
		Example: `  heed rules check mine.yaml
  heed rules propose Player.log:87 > mine.yaml
  heed rules diff default mine.yaml Player.log`,
	}
	return cli.Group(cmd,
		p.rulesCheckCommand(), p.rulesCoverageCommand(), p.rulesDiffCommand(), p.rulesLintCommand(), p.rulesProposeCommand(),
		p.rulesSchemaCommand(), p.rulesTestCommand(),
	)
}
