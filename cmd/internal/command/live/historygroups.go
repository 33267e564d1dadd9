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
	var cmd *cobra.Command
	ask := func(ctx context.Context, h *history.History, game string, args []string) error {
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
		return p.show(&f, historyGroupDocument{thisVersion, groups}, "groups", groups)
	}
	cmd = p.withHistory("group SIGNATURE|ITEM", &f, ask)
	cmd.Args = cli.Args(1, 1, "name one signature of 16 digits, or one item of a running heed")
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
	cmd := p.withHistory("mods", &f, func(ctx context.Context, h *history.History, game string, _ []string) error {
		d := historyModsDocument{thisVersion, history.Mods{Game: game, Mods: []history.Mod{}}}
		if h != nil {
			var err error
			if d.Mods, err = h.Mods(ctx, game); err != nil {
				return err
			}
		}
		shown := &shownMods{Mods: d.Mods}
		switch {
		case h == nil:
			shown.Nothing = f.nothingYet()
		case len(d.Mods.Mods) == 0 && game == "" && f.game == "":
			shown.Nothing = "no session of a known game is remembered in " + f.path
		case len(d.Mods.Mods) == 0:
			shown.Nothing = "no session of " + cmp.Or(game, "an unknown game") + " lists all its mods"
		default:
			shown.count(top)
		}
		return p.show(&f, d, "mods", shown)
	})
	cli.TopFlag(cmd, &top, 10, "show the `N` first mods in the table, 0 for all")
	return f.register(f.ofGame(cmd, "of the `GAME`, by its name; without it that of the latest session"))
}

// shownMods is the evidence of the sessions about mods.
type shownMods struct {
	history.Mods

	Nothing          string // there is none, and why
	Sessions, Broken int
	Always           int // mods that are in all sessions
	More             int // mods that are not shown
}

// count counts sessions and mods. The first top are shown, or all for 0.
func (s *shownMods) count(top int) {
	all := s.Mods.Mods
	for i := range all {
		if all[i].Without == 0 {
			s.Always++
		}
	}
	s.Sessions, s.Broken = all[0].With+all[0].Without, all[0].BrokenWith+all[0].BrokenWithout
	if top > 0 && len(all) > top {
		s.More = len(all) - top
		s.Mods.Mods = all[:top]
	}
}
