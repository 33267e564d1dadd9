package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/safetext"
)

// tailWait is how long a question for new entries waits for one.
const tailWait = 30 * time.Second

// safe makes text harmless to show.
func safe(s string) string { return safetext.Text(s, 0) }

func (p *program) statusCommand() *cobra.Command {
	var f clientFlags
	return p.clientCommand(&cobra.Command{
		Use:   "status",
		Short: "Prints how a running heed does",
		Args:  cobra.NoArgs,
	}, &f, func(ctx context.Context, c *gabp.Client, _ []string) error {
		raw, err := c.CallTool(ctx, toolStatus, struct{}{})
		if err != nil {
			return err
		}
		return p.printResult(raw, f.json)
	})
}
