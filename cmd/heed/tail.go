package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/diag"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/safetext"
)

// tailWait is how long a question for new entries waits for one.
const tailWait = 30 * time.Second

// tailLimit is how many entries are asked for at a time.
const tailLimit = 200

// safe makes text harmless to show.
func safe(s string) string { return safetext.Text(s, 0) }

func (p *program) statusCommand() *cobra.Command {
	var f clientFlags
	return p.clientCommand(&cobra.Command{
		Use:   "status",
		Short: "Prints how a running heed does",
		Args:  cobra.NoArgs,
	}, &f, func(ctx context.Context, c *gabp.Client, _ []string) error {
		raw, err := c.CallTool(ctx, diag.ToolStatus, struct{}{})
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if !f.json {
			err = json.Indent(&out, raw, "", "  ")
		} else {
			err = json.Compact(&out, raw)
		}
		if err != nil {
			return err
		}
		for line := range strings.Lines(out.String()) {
			p.printf("%s\n", safe(strings.TrimSuffix(line, "\n")))
		}
		return nil
	})
}

func (p *program) tailCommand() *cobra.Command {
	var f clientFlags
	var after, least string
	var forever bool
	cmd := p.clientCommand(&cobra.Command{
		Use:   "tail",
		Short: "Prints the entries of a running heed after a cursor",
		Long: `Prints what a running heed has received and decided, after a cursor, and at last the
cursor to go on from. What is not held any more is counted.`,
		Args: cobra.NoArgs,
	}, &f, func(ctx context.Context, c *gabp.Client, _ []string) error {
		tool, arguments := diag.ToolEntries, map[string]any{"limit": tailLimit}
		if after != "" {
			arguments["after"] = after
		}
		if least != "" {
			arguments["minDisposition"] = least
		}
		for {
			raw, err := c.CallTool(ctx, tool, arguments)
			if err != nil {
				return err
			}
			var page shownPage
			if err := json.Unmarshal(raw, &page); err != nil {
				return err
			}
			if err := p.printEntries(&page, f.json); err != nil {
				return err
			}
			arguments["after"] = page.Next
			switch {
			case page.More:
			case forever:
				tool, arguments["seconds"] = diag.ToolWait, int(tailWait.Seconds())
			default:
				if !f.json {
					p.printf("next: %s\n", safe(page.Next))
				}
				return nil
			}
		}
	})
	cmd.Flags().StringVar(&after, "after", "", "begin after `CURSOR`, such as an earlier tail has printed; default: with the oldest entry held")
	cmd.Flags().BoolVarP(&forever, "follow", "f", false, "go on with entries as they come")
	cmd.Flags().StringVar(&least, "least", "", "only entries that are at least `advisory`, or blocking")
	return cmd
}

// shownPage is a page as it comes over the wire.
type shownPage struct {
	Entries []json.RawMessage `json:"entries"`
	Next    string            `json:"next"`
	Lost    uint64            `json:"lost"`
	More    bool              `json:"more"`
}

// shownEntry is an entry as it comes over the wire.
type shownEntry struct {
	Seq         uint64    `json:"seq"`
	Time        time.Time `json:"time"`
	Kind        string    `json:"kind"`
	Level       string    `json:"level"`
	Status      string    `json:"status"`
	Message     string    `json:"message"`
	Disposition string    `json:"disposition"`
}

// printEntries prints a page.
func (p *program) printEntries(page *shownPage, asJSON bool) error {
	if page.Lost > 0 && !asJSON {
		p.printf("(%d entries are not held any more)\n", page.Lost)
	}
	for _, raw := range page.Entries {
		if asJSON {
			p.printf("%s\n", raw)
			continue
		}
		var e shownEntry
		if err := json.Unmarshal(raw, &e); err != nil {
			return err
		}
		what := e.Level
		if e.Kind != "log" {
			what = e.Status
		}
		at := "        "
		if !e.Time.IsZero() {
			at = e.Time.Local().Format("15:04:05")
		}
		p.printf("%8d  %s  %-8s  %-10s %s\n", e.Seq, at, safe(e.Disposition), safe(what), safe(e.Message))
	}
	return nil
}
