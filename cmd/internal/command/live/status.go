package live

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/text"
)

// silentAfter is how long a log may not grow before that is shown. Games fall
// silent for shorter while they load.
const silentAfter = time.Minute

// maxShown bounds the items that status shows.
const maxShown = 8

func (p *program) statusCommand() *cobra.Command {
	var f clientFlags
	var follow bool
	cmd := p.clientCommand(&cobra.Command{
		Use: "status",
	}, &f, func(ctx context.Context, c *gabp.Client, r *runFile, _ []string) error {
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
	rest := time.NewTimer(refreshRest)
	defer rest.Stop()
	if _, err := c.CallTool(ctx, bridge.ToolWait, map[string]any{
		"after": latest, "limit": 1, "seconds": int(refreshEvery.Seconds()),
	}); err != nil {
		return err
	}
	select {
	case <-rest.C:
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
		if t.detail.ID == "" {
			t.detail.Item = it // it was cleared since
		}
		shown = append(shown, t)
	}
	var lately bridge.Timeline
	ask(ctx, c, bridge.ToolTimeline, map[string]any{"limit": latelyEvents}, &lately)
	g := p.page(f.width)
	p.showStatus(g, r, &st, &items, shown, lately.Events)
	_, rows := cli.Size(p.Stdout)
	switch {
	case again && rows > 0:
		g.inPlace(rows)
	case again:
		g.line()
	}
	return st.Latest, p.write(g)
}

// latelyEvents is how far back the agent's latest call is looked for.
const latelyEvents = 50

// showStatus shows how heed does. items are the open ones, shown the first of them; lately are events, the latest last.
func (p *program) showStatus(g *page, r *runFile, st *bridge.Status, items *bridge.Items, shown []itemInfo,
	lately []session.Event,
) {
	g.line(headline(st, items)...)
	if len(shown) > 0 {
		first := &shown[0]
		text := kind(first.detail.Blocking).text + ": " + first.what()
		if !first.since.IsZero() {
			text = "since " + p.clock(first.since) + ", " + p.ago(first.since) + "; " + text
		}
		g.about("first", plain, text)
	}
	g.about("mod", name, mods(items))
	s, says := p.logState(st)
	g.about("log", s, says)
	g.about("", faint, r.Log)
	g.logFound(st)
	g.about("game", plain, gameText(r, st))
	for _, e := range slices.Backward(lately) {
		if s, text := called(&e); text != "" {
			g.about("agent", s, text+", "+p.ago(e.Time))
			break
		}
	}
	g.about("entries", plain, fmt.Sprintf("%s received: %s ignored, %s in items",
		text.Number(st.Counts.Received), text.Number(st.Counts.Ignored), text.Number(st.Counts.Folded)))
	p.showRules(g, st)
	for _, l := range st.Limits {
		g.about("limit", yellow, fmt.Sprintf("%s was hit %s: %s", l.Name, text.Many(l.Count, "time"), l.Means))
	}
	if n := st.Snapshot; n != nil && n.Error != "" {
		g.about("state", yellow, "cannot be saved: "+n.Error)
	}
	if n := st.Snapshot; n != nil && n.Refused != "" {
		g.about("state", yellow, "not restored as a whole: "+n.Refused)
	}
	heed := "up " + lasted(time.Duration(st.UptimeMs)*time.Millisecond)
	if r.PID != 0 {
		heed = fmt.Sprintf("%s, process %d, %s", r.Command, r.PID, heed)
	}
	if st.Restored {
		heed += ", continued from a saved state"
	}
	g.about("heed", plain, heed)
	if r.Project != "" {
		g.about("settings", plain, "the project file "+r.Project)
	}
	g.about("page", plain, r.Web)
	if len(shown) == 0 {
		return
	}
	g.line()
	g.line(span{strong, "OPEN ITEMS"}, span{faint, ", most important first"})
	for i := range shown {
		t := &shown[i]
		since := "        "
		if !t.since.IsZero() {
			since = p.clock(t.since)
		}
		k := kind(t.detail.Blocking)
		count := text.Number(t.detail.TotalUrgentEntries)
		g.line(span{plain, "  "}, k, span{plain, fmt.Sprintf("  %s  %6s ×  ", since, count)},
			span{strong, "item " + t.short(t.detail.ID)})
		mod := t.mod()
		g.line(span{plain, strings.Repeat(" ", labelColumn)}, span{name, mod},
			span{plain, strings.Repeat(": ", min(len(mod), 1)) + t.what()})
	}
	if more := len(items.Items) + items.Omitted - len(shown); more > 0 {
		g.line(span{faint, "  and " + text.Many(more, "other")})
	}
}

// called returns the result of a call in words; "" for an event that is none.
func called(e *session.Event) (style, string) {
	switch e.Kind {
	case session.CallBegan:
		return plain, "called " + e.Tool + ": running"
	case session.CallRefused:
		return red, "called " + e.Tool + ": held back, not executed"
	case session.CallEnded:
		text := "called " + e.Tool + ": " + e.Status
		switch e.Outcome {
		case "":
		case coalesce.Unknown:
			text += " (unknown: " + e.Reason + ")"
		default:
			text += " (" + e.Outcome + ")"
		}
		return plain, text
	}
	return plain, ""
}

// headline returns the open items in one line. The gate decides whether they hold calls back.
func headline(st *bridge.Status, items *bridge.Items) []span {
	blocking := uint64(0)
	for i := range items.Items {
		if items.Items[i].Blocking {
			blocking++
		}
	}
	open := uint64(max(st.OpenItems, len(items.Items)+items.Omitted))
	advisory := ""
	if n := open - min(blocking, open); n > 0 {
		advisory = text.Many(n, "advisory item")
	}
	var out []span
	switch {
	case blocking > 0:
		out = append(out, span{red, text.Many(blocking, "BLOCKING item is open", "BLOCKING items are open")})
		if advisory != "" {
			out = append(out, span{plain, "; " + advisory})
		}
	case advisory != "":
		out = append(out, span{yellow, advisory}, span{plain, "; nothing blocks"})
	default:
		out = append(out, span{green, "nothing is open"})
	}
	if st.Blind {
		out = append(out, span{plain, "; "}, span{red, "BLIND"})
	}
	return append(out, span{plain, "."})
}

// mods names the mods that open items point at, with how many of them do.
func mods(items *bridge.Items) string {
	var names []string
	count := map[string]int{}
	for i := range items.Items {
		for _, mod := range items.Items[i].Blame {
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

// logState returns the state of the log in words: whether it grows.
func (p *program) logState(st *bridge.Status) (style, string) {
	l := st.Log
	if l == nil {
		if st.Blind {
			return red, "none is followed; " + blind(st)
		}
		return yellow, "none is followed"
	}
	read := fmt.Sprintf("%s, %s read", text.Many(l.Lines, "line"), cli.Bytes(float64(l.Offset)))
	if l.LostBytes > 0 {
		read += ", " + cli.Bytes(float64(l.LostBytes)) + " lost"
	}
	switch {
	case l.Error != "":
		return red, "cannot be read: " + l.Error
	case !l.Present:
		return yellow, cmp.Or(l.Absent, "does not exist (yet)") + "; " + read
	case st.Blind:
		return red, blind(st) + "; " + read
	case st.Behind != "":
		return yellow, "not fully read: " + st.Behind + "; " + read
	case l.LastGrowth.IsZero():
		return plain, "no new lines since heed follows it; " + read
	case p.Now().Sub(l.LastGrowth) > silentAfter:
		return yellow, "no new lines for " + lasted(p.Now().Sub(l.LastGrowth)) + "; " + read
	}
	return green, "last new line " + p.ago(l.LastGrowth) + "; " + read
}

// logFound prints how the log was found, and the evidence that it is of this run.
func (g *page) logFound(st *bridge.Status) {
	g.about("", faint, st.LogFrom)
	l := st.Log
	if l != nil && l.Evidence != "" {
		g.about("", faint, "of this run: "+l.Evidence)
	}
	if l != nil && l.Renamed {
		g.about("", faint, "another file is at its path, or none: it is followed under its new name")
	}
}

// blind explains that the log is blind.
func blind(st *bridge.Status) string {
	return "blind (rule " + st.BlindRule + "): a part of the log is missing, so faults may be missing here, too"
}

// gameText returns the game, its phase and the calls in flight in words.
func gameText(r *runFile, st *bridge.Status) string {
	var parts []string
	if r.Game != "" {
		parts = append(parts, r.Game)
	}
	if st.Phase != "" {
		parts = append(parts, "phase "+st.Phase)
	}
	return strings.Join(append(parts, text.Many(st.InFlight, "call")+" in flight"), ", ")
}

func (p *program) showRules(g *page, st *bridge.Status) {
	from := []string{}
	for _, f := range st.Rules.Files {
		from = append(from, filepath.Base(f.Name))
	}
	if st.Rules.Omitted > 0 {
		from = append(from, fmt.Sprintf("%d more files", st.Rules.Omitted))
	}
	if st.Rules.Default {
		from = append(from, "default rules")
	}
	says := text.Number(st.Rules.Rules)
	if len(from) > 0 {
		says += " (" + strings.Join(from, ", ") + ")"
	}
	if st.Rules.Swaps > 0 {
		says += "; changed " + p.ago(st.Rules.Since)
	}
	g.about("rules", plain, says)
	if st.Rules.Error != "" {
		g.about("", red, "the changed files were refused: "+st.Rules.Error)
	}
}
