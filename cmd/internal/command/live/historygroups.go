package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/history"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/signature"
)

func (p *program) historyGroupCommand() *cobra.Command {
	f := historyFlags{needed: true}
	var state string
	cmd := &cobra.Command{
		Use:  "group SIGNATURE|ITEM",
		Args: cli.Args(1, 1, "name one signature of 16 digits, or one item of a running heed"),
	}
	p.withHistory(cmd, &f, func(ctx context.Context, h *history.History, game string, args []string) error {
		sig, err := signature.ParseID(args[0])
		if err != nil {
			number := args[0][strings.LastIndexByte(args[0], '-')+1:]
			if _, err := strconv.ParseUint(number, 10, 64); err != nil {
				return cli.Usage(cmd, "%s is no signature of 16 digits, and no item, which ends in a number", text.Safe(args[0], 64))
			}
			if sig, err = p.signatureOf(ctx, cmd, state, args[0]); err != nil {
				return err
			}
		}
		groups, err := h.Groups(ctx, sig)
		if err != nil {
			return err
		}
		groups = slices.DeleteFunc(groups, func(g history.Group) bool { return f.game != "" && g.Game != game })
		if len(groups) == 0 {
			return cli.Failed(exitUsage, fmt.Errorf("no session with a group of the signature %v is remembered", sig))
		}
		return p.show(&f, historyGroupDocument{thisVersion, groups}, func(g *page) {
			for i := range groups {
				p.form(g, "group", &groups[i])
			}
		})
	})
	cmd.Flags().StringVar(&state, "state", "", "for an item: look for a running heed in `DIR`")
	return f.register(f.ofGame(cmd, "only of the `GAME`, by its name"))
}

// signatureOf asks a running heed for the signature of the cause of an item.
func (p *program) signatureOf(ctx context.Context, cmd *cobra.Command, state, item string) (signature.ID, error) {
	c, _, err := p.connect(ctx, cmd, &clientFlags{state: state})
	if err != nil {
		return 0, err
	}
	defer c.Close() //nolint:errcheck // all answers have come
	t := fetchItem(ctx, c, item)
	if t.Cause.ID == 0 {
		return 0, cli.Failed(exitUsage, fmt.Errorf("%q is neither a signature of 16 digits nor an item of the running heed",
			item))
	}
	return t.Cause.ID, nil
}

// rate is a number with three digits at least.
func rate(v float64) string {
	if v >= 1000 {
		return text.Number(uint64(v))
	}
	return fmt.Sprintf("%.3g", v)
}

func (p *program) historyModsCommand() *cobra.Command {
	f := historyFlags{latest: true}
	var top int
	cmd := p.withHistory(&cobra.Command{
		Use:  "mods",
		Args: cli.NoArgs("mods"),
	}, &f, func(ctx context.Context, h *history.History, game string, _ []string) error {
		d := historyModsDocument{historyVersion: thisVersion, Game: game, Mods: []history.Mod{}}
		if h != nil {
			mods, err := h.Mods(ctx, d.Game)
			if err != nil {
				return err
			}
			d.Mods = append(d.Mods, mods...)
		}
		return p.show(&f, d, func(g *page) {
			switch {
			case h == nil:
				g.line(span{plain, f.nothingYet()})
			case len(d.Mods) == 0 && d.Game == "" && f.game == "":
				g.line(span{plain, "no session of a known game is remembered in " + f.path})
			case len(d.Mods) == 0:
				g.line(span{plain, "no session of " + cmp.Or(d.Game, "an unknown game") + " lists all its mods"})
			default:
				showMods(g, &d, top)
			}
		})
	})
	cli.TopFlag(cmd, &top, 10, "show the `N` first mods in the table, 0 for all")
	return f.register(f.ofGame(cmd, "of the `GAME`, by its name; without it that of the latest session"))
}

// showMods shows the evidence of the sessions about mods in sentences, and then the first mods in a table.
func showMods(g *page, d *historyModsDocument, top int) {
	var worse []string
	always := 0
	for i := range d.Mods {
		switch diff := d.Mods[i].Difference; {
		case d.Mods[i].Without == 0:
			always++
		case diff != nil && diff.Low > 0:
			worse = append(worse, d.Mods[i].Title())
		}
	}
	first := &d.Mods[0]
	sessions, broken := first.With+first.Without, first.BrokenWith+first.BrokenWithout
	g.line(span{plain, fmt.Sprintf("Something broke in %d of %s of %s.", broken, text.Many(sessions, "session"),
		cmp.Or(d.Game, "an unknown game"))})
	switch {
	case len(worse) > 0:
		g.line(span{red, fmt.Sprintf("More sessions broke with %s.", history.Listed(worse))})
		g.line(span{plain, "To test this, play without it: anything else that changed at that time looks the same."})
	case broken == 0 || broken == sessions:
		g.line(span{plain, "The sessions do not show which mod breaks the game: all of them ended alike."})
	default:
		g.line(span{plain, "The sessions do not show that a mod breaks the game."})
	}
	if always > 0 {
		g.line(span{plain, text.Many(always, "mod is", "mods are") + " in all sessions: nothing is known of them."})
	}
	g.line()
	g.line(span{strong, "MODS"}, span{faint, ": in how many sessions with and without each something broke"})
	left := 0
	if top > 0 && len(d.Mods) > top {
		left = len(d.Mods) - top
	}
	g.line(span{faint, fmt.Sprintf("  %-12s  %-12s  %-26s  %s", "with", "without", "difference in %", "mod")})
	for i := range d.Mods[:len(d.Mods)-left] {
		m := &d.Mods[i]
		look, difference := plain, "in all of them"
		if diff := m.Difference; diff != nil {
			difference = fmt.Sprintf("%+.0f (%+.0f to %+.0f)", 100*diff.Value, 100*diff.Low, 100*diff.High)
			if diff.Low > 0 {
				look = red
			}
		}
		without := ""
		if m.Without > 0 {
			without = fmt.Sprintf("%d of %d", m.BrokenWithout, m.Without)
		}
		g.line(span{plain, fmt.Sprintf("  %-12s  %-12s  ", fmt.Sprintf("%d of %d", m.BrokenWith, m.With), without)},
			span{look, fmt.Sprintf("%-26s", difference)}, span{name, "  " + m.Title()})
	}
	if left > 0 {
		g.line(span{faint, fmt.Sprintf("  and %d more: --top 0 shows all", left)})
	}
}
