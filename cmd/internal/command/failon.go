package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/settings"
	"github.com/heedlog/heed/event"
)

// The values of --fail-on.
const (
	failNew      = "new" // of groups that are new, or unknown to a baseline
	failBlocking = "blocking"
	failAdvisory = "advisory"
	failBlind    = "blind"
	failNever    = "never" // whatever settings say
)

// registerFailOn adds --fail-on with some values, which help describes, and --last-line, for the commands that have
// findings and fail on missing evidence.
func (p *program) registerFailOn(cmd *cobra.Command, help string, values ...string) {
	p.registerLastLine(cmd)
	cmd.Flags().StringSliceVar(&p.failOn, "fail-on", nil, "exit with 1 on `WHAT`: "+help+", several separated by commas; or never")
	values = append(values, failNever)
	cli.Completes(cmd, "fail-on", values...)
	cli.Checked(cmd, func(cmd *cobra.Command) error { return checkFailOn(cmd, p.failOn, values...) })
}

// registerLastLine adds --last-line, for the commands that fail on missing evidence.
func (p *program) registerLastLine(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.lastLine, "last-line", "", "count a log as cut if no line of its last run contains `TEXT`, such as the last words of a test run")
}

// checkFailOn refuses a value of --fail-on that is not among those allowed, and a flag
// without any: a variable that is not set would ask for nothing, unnoticed.
func checkFailOn(cmd *cobra.Command, given []string, allowed ...string) error {
	if flag := cmd.Flags().Lookup("fail-on"); len(given) == 0 && flag != nil && flag.Changed &&
		flag.Value.String() == "[]" {
		given = []string{""}
	}
	for _, what := range given {
		if err := cli.OneOf(cmd, "fail-on", what, allowed...); err != nil {
			return err
		}
	}
	if len(given) > 1 && slices.Contains(given, failNever) {
		return cli.Usage(cmd, "--fail-on %s: %s goes with nothing else", strings.Join(given, ","), failNever)
	}
	return nil
}

// failOnNew refuses --fail-on new: a log alone has nothing new. A file of settings is for all commands, so there it is
// dropped with a message. On the command line it is an error.
func (p *program) failOnNew(cmd *cobra.Command) error {
	if !slices.Contains(p.failOn, failNew) {
		return nil
	}
	instead := fmt.Sprintf(`a single log has nothing to compare with; use "%[1]s diff OLD NEW" or "%[1]s baseline check"`, p.Name)
	v := p.Settings.Value("fail-on")
	switch v.Origin {
	case settings.User, settings.Project, settings.Named:
		p.Note("fail-on %s (%s) has no effect on a replay: %s", failNew, v.Where, instead)
		p.failOn = slices.DeleteFunc(p.failOn, func(what string) bool { return what == failNew })
		return nil
	case settings.Environment:
		return cli.Usage(cmd, "%s names %s: %s", v.Where, failNew, instead)
	}
	return cli.Usage(cmd, "--fail-on %s: %s", failNew, instead)
}

// fails raises the exit status if --fail-on names a finding: fresh is the worst disposition of the new ones, all the
// worst of all.
func (p *program) fails(fresh, all event.Disposition, blind bool) {
	if slices.Contains(p.failOn, failNew) && fresh.Urgent() ||
		slices.Contains(p.failOn, failBlocking) && all == event.Blocking ||
		slices.Contains(p.failOn, failAdvisory) && all.Urgent() ||
		slices.Contains(p.failOn, failBlind) && blind {
		p.Raise(exitFinding)
	}
	if blind && p.lastLine != "" {
		p.Note("--last-line: a log counts as cut if no line of its last run contains %q", p.lastLine)
	}
}
