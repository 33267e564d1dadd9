package live

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/command"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/text"
)

// askBrief adds to the command "brief" the flags that select a running heed, and returns what asks it.
func (p *program) askBrief(cmd *cobra.Command) func(cmd *cobra.Command, item string, b *command.Brief) error {
	var f clientFlags
	f.selects(cmd)
	return func(cmd *cobra.Command, item string, b *command.Brief) error {
		return p.asking(cmd, &f, func(ctx context.Context, c *gabp.Client, _ *runFile) error {
			raw, err := c.CallTool(ctx, bridge.ToolBrief, briefArguments(item, b))
			if err != nil {
				return err
			}
			if b.Format == formatJSON {
				return p.printJSON(raw)
			}
			var d struct {
				command.BriefDocument
				Behind string `json:"behind"`
			}
			if err := json.Unmarshal(raw, &d); err != nil {
				return err
			}
			for _, w := range append(d.Warnings, d.Behind) {
				if w != "" {
					p.Note("%s", text.Safe(w, 0))
				}
			}
			return p.print(d.Appended(b.Format))
		})
	}
}

func briefArguments(item string, b *command.Brief) map[string]any {
	args := map[string]any{"template": b.Template}
	if b.Own != nil {
		args = map[string]any{"templateText": string(b.Text)}
	}
	if item != "" {
		args["id"] = item
	}
	if b.Tokens > 0 {
		args["tokens"] = b.Tokens
	}
	return args
}
