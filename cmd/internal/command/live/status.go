package live

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/text"
)

// maxShown bounds the items that status shows.
const maxShown = 8

func (p *program) statusCommand() *cobra.Command {
	var f clientFlags
	var follow bool
	cmd := p.clientCommand("status", &f, func(ctx context.Context, c *gabp.Client, r *runFile, _ []string) error {
		for {
			latest, err := p.status(ctx, c, r, &f, follow)
			if err != nil || !follow {
				return err
			}
			if err := changed(ctx, c, latest); err != nil {
				return gone(err)
			}
		}
	})
	f.register(cmd, formatJSON, "the result of heed/status")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "update the output as it changes, in place on a terminal")
	return cmd
}

// A status that is followed is shown again when there is something new, and
// within refreshEvery, for times go on; but not more often than a person can read.
const (
	refreshEvery = 2 * time.Second
	refreshRest  = 300 * time.Millisecond
)

// changed waits until it is time to show the status again.
func changed(ctx context.Context, c *gabp.Client, latest string) error {
	rested := time.After(refreshRest)
	if _, err := c.CallTool(ctx, bridge.ToolWait, map[string]any{
		"after": latest, "limit": 1, "seconds": int(refreshEvery.Seconds()),
	}); err != nil {
		return err
	}
	select {
	case <-rested:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// status shows how heed does, and returns the cursor after the latest entry.
func (p *program) status(ctx context.Context, c *gabp.Client, r *runFile, f *clientFlags, again bool) (latest string,
	err error,
) {
	raw, err := c.CallTool(ctx, bridge.ToolStatus, struct{}{})
	if err != nil {
		return "", err
	}
	var st bridge.Status
	if err := json.Unmarshal(raw, &st); err != nil {
		return "", err
	}
	if f.format == formatJSON {
		return st.Latest, p.printJSON(raw)
	}
	var items bridge.Items
	ask(ctx, c, bridge.ToolItems, struct{}{}, &items)
	var shown []itemInfo
	for _, it := range items.Items[:min(len(items.Items), maxShown)] {
		t := fetchItem(ctx, c, it.ID)
		if t.ID == "" {
			t.Item = it // it was cleared since
		}
		shown = append(shown, t)
	}
	g := p.page(f.width)
	p.form(g, "status", &shownStatus{
		Status: &st, Run: r, Items: &items, Shown: shown, Acked: fetchAcked(ctx, c, &items), Call: latestCall(ctx, c),
	})
	_, rows := cli.Size(p.Stdout)
	switch {
	case again && rows > 0:
		g.inPlace(rows)
	case again:
		g.line()
	}
	return st.Latest, p.print(g.Out)
}

// shownStatus is how heed does.
type shownStatus struct {
	*bridge.Status

	Run   *runFile
	Items *bridge.Items // the open ones
	Shown []itemInfo    // the first of them
	Acked []itemInfo    // acknowledged, and may still be true
	Call  *session.Event
}

// latestCall returns the agent's latest call, with its present verdict, nil if there is none.
func latestCall(ctx context.Context, c *gabp.Client) *session.Event {
	var lately bridge.Timeline
	ask(ctx, c, bridge.ToolTimeline, map[string]any{
		"limit": 1, "kinds": []session.EventKind{session.CallBegan, session.CallEnded, session.CallRefused},
	}, &lately)
	if len(lately.Events) == 0 {
		return nil
	}
	e := &lately.Events[0]
	if e.Kind == session.CallEnded { // its present verdict: later entries count, too
		ask(ctx, c, bridge.ToolOperation, map[string]any{"id": e.Operation}, e)
	}
	return e
}

// Blocks returns how many open items block. The gate decides whether they hold calls back.
func (s *shownStatus) Blocks() (n int) {
	for i := range s.Items.Items {
		if s.Items.Items[i].Blocking {
			n++
		}
	}
	return n
}

// More returns how many open items are not shown.
func (s *shownStatus) More() int { return len(s.Items.Items) + s.Items.Omitted - len(s.Shown) }

// Advises returns how many open items do not block.
func (s *shownStatus) Advises() int { return max(s.OpenItems, s.More()+len(s.Shown)) - s.Blocks() }

// Uptime returns how long heed runs.
func (s *shownStatus) Uptime() time.Duration { return time.Duration(s.UptimeMs) * time.Millisecond }

// Mods names the mods that open items point at, with how many of them do.
func (s *shownStatus) Mods() string {
	var names []string
	count := map[string]int{}
	for i := range s.Items.Items {
		for _, mod := range s.Items.Items[i].Blame {
			if count[mod]++; count[mod] == 1 {
				names = append(names, mod)
			}
		}
	}
	for i, mod := range names {
		names[i] = fmt.Sprintf("%s (%s)", mod, text.Many(uint64(count[mod]), "item"))
	}
	return strings.Join(names, ", ")
}

// RulesFrom returns the sources of the rules.
func (s *shownStatus) RulesFrom() string {
	from := []string{}
	for _, f := range s.Rules.Files {
		from = append(from, filepath.Base(f.Name))
	}
	if s.Rules.Omitted > 0 {
		from = append(from, fmt.Sprintf("%d more files", s.Rules.Omitted))
	}
	if s.Rules.Default {
		from = append(from, "default rules")
	}
	return strings.Join(from, ", ")
}
