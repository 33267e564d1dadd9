package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/report"
)

func (p *program) followCommand() *cobra.Command {
	var f hostFlags
	var format string
	var fromEnd bool
	cmd := &cobra.Command{
		Use:   "follow PATH",
		Short: "Follows a log and prints attention as it happens",
		Long: `Follows the log at PATH, which need not exist yet, through rotation, truncation and
replacement, and prints each change of attention as it happens.`,
		Args: oneArg("the log to follow"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.validate(cmd); err != nil {
				return err
			}
			if format != "text" && format != "jsonl" {
				return usage(cmd, "--format %q: use text or jsonl", format)
			}
			ctx, stop := untilInterrupted(cmd.Context())
			defer stop()
			h, err := p.newHost(&f, args[0], from(fromEnd), "follow")
			if err != nil {
				return err
			}
			defer h.close()
			h.session.OnUpdates(func(updates []heed.Update) { p.print(updates, args[0], format) })
			return h.serve(ctx, nil, nil)
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&format, "format", "text", "print `text` or jsonl")
	cmd.Flags().BoolVar(&fromEnd, "from-end", false, "begin with what is added from now on")
	cmd.Flags().StringVar(&f.logFile, "log-file", "-", "write what heed says of itself to `FILE`, - for standard error")
	return cmd
}

// print prints updates. The engine has made their texts harmless.
func (p *program) print(updates []heed.Update, path, format string) {
	var out []byte
	for i := range updates {
		u := &updates[i]
		if format == "jsonl" {
			out = report.AppendUpdate(out, path, u)
			continue
		}
		out = appendUpdate(out, p.now().Format("15:04:05"), u)
	}
	// A reader that is gone ends the program by its own signal.
	_, _ = p.stdout.Write(out)
}

// appendUpdate appends an update as a line.
func appendUpdate(dst []byte, at string, u *heed.Update) []byte {
	a := &u.Attention
	kind := "advisory"
	if a.Blocking {
		kind = "BLOCKING"
	}
	if a.State == "cleared" {
		kind = "cleared"
	}
	return fmt.Appendf(dst, "%s  %-8s %-8s %-7s %s  %s\n", at, u.Kind, kind, a.Severity, a.ID, a.Summary)
}
