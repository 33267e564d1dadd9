package live

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/command"
	"github.com/heedlog/heed/cmd/internal/history"
	"github.com/heedlog/heed/cmd/internal/history/historysource"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/signature"
)

// historyFlags are the flags of the commands that read history.
type historyFlags struct {
	file   string
	game   string
	format string
	width  int
	needed bool // by the command, which is refused if nothing is remembered
	latest bool // if no game is named, the game of the latest session is selected

	path string // of the file, once it is known
}

func (f *historyFlags) register(cmd *cobra.Command) *cobra.Command {
	flags := cmd.Flags()
	flags.StringVar(&f.file, "history", "", "read the history in `FILE`")
	flags.StringVar(&f.format, "format", formatText, "print the `FORMAT` text or json")
	cli.WidthFlag(cmd, &f.width, 0)
	cli.Choice(cmd, "format", formatText, formatJSON)
	return cmd
}

// ofGame adds the flag that selects a game.
func (f *historyFlags) ofGame(cmd *cobra.Command, help string) *cobra.Command {
	cmd.Flags().StringVar(&f.game, "game", "", help)
	return cmd
}

// commandHistory opens the history in a file for the commands that read saved logs.
func (p *program) commandHistory(ctx context.Context, path string) (command.History, error) {
	h, err := p.openHistory(ctx, path)
	if err != nil {
		return nil, err
	}
	return commandHistory{h}, nil
}

type commandHistory struct{ *history.History }

func (h commandHistory) Ledger(of func() *summary.Session) briefing.Ledger {
	return &historysource.Ledger{History: h.History, Session: of}
}

// openHistory opens a history, and notes what became of the file, and of sessions that no heed ended.
func (p *program) openHistory(ctx context.Context, path string) (*history.History, error) {
	h, err := history.Open(ctx, history.Config{Path: path, Now: p.Now, Wait: keepWait})
	if err != nil {
		return nil, err
	}
	if aside := h.SetAside(); aside != "" {
		p.Note("what was remembered is lost: its file was corrupt, and is kept as %s", aside)
	}
	cut, err := h.Unfinished(ctx)
	if err != nil {
		p.Detail("whether sessions ended without notice is not known: %v", err)
	}
	for i := range cut {
		p.Note("session %d (%s) ended without notice: nothing is remembered of it after %s", cut[i].ID, cut[i].Log,
			cut[i].Saved.Format(time.DateTime))
	}
	return h, nil
}

// withHistory makes a command that reads history, and takes no arguments: ask is given the history, and nil if there is
// none, with the game that is selected.
func (p *program) withHistory(use string, f *historyFlags,
	ask func(ctx context.Context, h *history.History, game string, args []string) error,
) *cobra.Command {
	return &cobra.Command{Use: use, Args: cli.NoArgs(use), RunE: func(cmd *cobra.Command, args []string) error {
		if f.file == command.HistoryOff {
			return cli.Usage(cmd, "history is off: name its file with --history")
		}
		var err error
		if f.path, err = files.History(f.file, p.Getenv); err != nil {
			return cli.Failed(exitUsage, err)
		}
		ctx, stop := untilInterrupted(cmd.Context())
		defer stop()
		if _, err := os.Stat(f.path); errors.Is(err, fs.ErrNotExist) {
			if f.needed {
				return cli.Failed(exitUsage, errors.New(f.nothingYet()))
			}
			return ask(ctx, nil, "", args)
		}
		h, err := p.openHistory(ctx, f.path)
		if err != nil {
			return cli.Failed(exitNone, err)
		}
		defer h.Close() //nolint:errcheck // all changes are committed
		game, err := f.gameOf(ctx, h)
		if err == nil {
			err = ask(ctx, h, game, args)
		}
		if errors.Is(err, history.ErrUnknown) {
			err = cli.Failed(exitUsage, err)
		}
		return asked(ctx, err)
	}}
}

// nothingYet is the message if there is no session.
func (f *historyFlags) nothingYet() string { return "nothing is remembered; it would be in " + f.path }

// The documents that the commands print as JSON.
type (
	historyDocument struct {
		bridge.Version
		File     string            `json:"file" jsonschema:"The file of the history; it need not exist."`
		Sessions []history.Session `json:"sessions" jsonschema:"The sessions, the latest first."`
	}
	historyShowDocument struct {
		bridge.Version
		Session history.Session `json:"session" jsonschema:"The session."`
		Summary json.RawMessage `json:"summary" jsonschema:"Its summary: see the schema heed-session."`
	}
	historyGroupDocument struct {
		bridge.Version
		Groups []history.Group `json:"groups" jsonschema:"The group in each game that has it."`
	}
	historyModsDocument struct {
		bridge.Version
		history.GameMods
	}
	historyForgetDocument struct {
		bridge.Version
		Forgotten int `json:"forgotten" jsonschema:"How many sessions were forgotten."`
	}
)

// historyForms are the JSON forms of the commands.
var historyForms = []schema.Form{
	schema.Object("heed-history", "heed history", historyDocument{}),
	schema.Object("heed-history-show", "heed history show", historyShowDocument{}),
	schema.Object("heed-history-group", "heed history group", historyGroupDocument{}),
	{
		Name: "heed-session", Title: "heed history export", Values: []any{summary.Session{}},
		Description: "Each line of it. New fields may appear within a version.",
	},
	schema.Object("heed-history-mods", "heed history mods", historyModsDocument{}),
	schema.Object("heed-history-forget", "heed history forget", historyForgetDocument{}),
}

// show prints a document as JSON, with its version, or the page of a title with data.
func (p *program) show(f *historyFlags, document any, title string, data any) error {
	if f.format == formatJSON {
		return p.print(report.AppendJSON(nil, document))
	}
	return p.printForm(f.width, title, data)
}

var thisVersion = bridge.Version{SchemaVersion: schema.Version}

func (p *program) historyCommand() *cobra.Command {
	var f historyFlags
	var top int
	cmd := p.withHistory("history", &f, func(ctx context.Context, h *history.History, game string, _ []string) error {
		d := historyDocument{Version: thisVersion, File: f.path, Sessions: []history.Session{}}
		more := false
		if h != nil {
			all, err := h.Sessions(ctx, game, top+min(top, 1)) // one more, to know whether there is
			if err != nil {
				return err
			}
			if more = top > 0 && len(all) > top; more {
				all = all[:top]
			}
			d.Sessions = append(d.Sessions, all...)
		}
		return p.show(&f, d, "sessions", struct {
			historyDocument
			Nothing string
			More    bool
		}{d, f.nothingYet(), more})
	})
	cli.Group(cmd, p.historyShowCommand(), p.historyGroupCommand(), p.historyModsCommand(),
		p.historyExportCommand(), p.historyForgetCommand())
	f.ofGame(cmd, "only sessions of the `GAME`, by its name")
	cli.TopFlag(cmd, &top, 10, "show `N` sessions, 0 for all")
	return f.register(cmd)
}

// gameOf returns the selected game, by its name as a person writes it. It is "" if no game is selected, and if the game
// of the latest session is not known.
func (f *historyFlags) gameOf(ctx context.Context, h *history.History) (string, error) {
	if f.game == "" && !f.latest {
		return "", nil
	}
	games, err := h.Games(ctx)
	if err != nil {
		return "", err
	}
	games = slices.DeleteFunc(games, func(game string) bool { return game == "" })
	if f.game == "" {
		return strings.Join(games[:min(len(games), 1)], ""), nil
	}
	if i := slices.IndexFunc(games, func(game string) bool { return strings.EqualFold(game, f.game) }); i >= 0 {
		return games[i], nil
	}
	return "", cli.Failed(exitUsage, fmt.Errorf("no session of the game %q is remembered, but of: %s", f.game,
		cmp.Or(strings.Join(games, ", "), "none")))
}

// date is a time for a person.
func date(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// gameName is a game with its version, in words if it is not known.
func gameName(s *history.Session) string {
	return cmp.Or(strings.TrimSpace(s.Game+" "+s.Version), "an unknown game")
}

func (p *program) historyShowCommand() *cobra.Command {
	f := historyFlags{needed: true}
	cmd := p.withHistory("show NUMBER", &f, func(ctx context.Context, h *history.History, _ string, args []string) error {
		id, _ := strconv.ParseInt(args[0], 10, 64) // it is one
		s, sum, err := h.Session(ctx, id)
		if err != nil {
			return err
		}
		return p.show(&f, historyShowDocument{thisVersion, s, text.JSON(sum)}, "session", shownSession{&s, sum})
	})
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return cli.Usage(cmd, "name one session by its number, as heed history lists it")
		}
		_, err := numbered(cmd, args)
		return err
	}
	return f.register(cmd)
}

// numbered returns the numbers of sessions that a command line names.
func numbered(cmd *cobra.Command, args []string) (ids []int64, err error) {
	for _, arg := range args {
		id, err := strconv.ParseInt(arg, 10, 64)
		if err != nil || id <= 0 {
			return nil, cli.Usage(cmd, "%q is not the number of a session, as heed history lists it", arg)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// shownSession is a session with its summary.
type shownSession struct {
	*history.Session

	Summary *summary.Session
}

// ListedMods returns how many mods the log lists, with those that the summary lacks.
func (s shownSession) ListedMods() int64 { return s.Mods + int64(s.Summary.MoreMods) }

// shownGroups is how many groups of a session are shown.
const shownGroups = 20

// Groups returns the groups that are shown.
func (s shownSession) Groups() []summary.Group {
	return s.Summary.Groups[:min(len(s.Summary.Groups), shownGroups)]
}

// MoreGroups returns how many others there are.
func (s shownSession) MoreGroups() int {
	return len(s.Summary.Groups) + s.Summary.MoreGroups - len(s.Groups())
}

func (p *program) historyExportCommand() *cobra.Command {
	f := historyFlags{needed: true}
	cmd := p.withHistory("export", &f, func(ctx context.Context, h *history.History, game string, _ []string) error {
		return h.Each(ctx, game, func(s *summary.Session) error { return p.print(report.AppendJSON(nil, s)) })
	})
	cmd.Flags().StringVar(&f.file, "history", "", "read the history in `FILE`")
	return f.ofGame(cmd, "only sessions of the `GAME`, by its name")
}

func (p *program) historyForgetCommand() *cobra.Command {
	var f historyFlags
	var before string
	var all bool
	var which history.Which
	ask := func(ctx context.Context, h *history.History, _ string, _ []string) error {
		d := historyForgetDocument{Version: thisVersion}
		if h != nil {
			var err error
			if d.Forgotten, err = h.Forget(ctx, which); err != nil {
				return err
			}
		}
		return p.show(&f, d, "forgotten", d)
	}
	cmd := p.withHistory("forget [NUMBER...]", &f, ask)
	cmd.Args = func(cmd *cobra.Command, args []string) (err error) {
		ways := 0
		for _, given := range []bool{len(args) > 0, before != "", all} {
			if given {
				ways++
			}
		}
		if ways != 1 {
			return cli.Usage(cmd, "say what to forget: numbers of sessions, --before or --all")
		}
		which = history.Which{All: all}
		if before != "" {
			if which.Before, err = time.ParseInLocation(time.DateOnly, before, time.Local); err != nil {
				return cli.Usage(cmd, "--before %q: want a day, such as 2026-01-31", before)
			}
		}
		f.needed = len(args) > 0
		which.IDs, err = numbered(cmd, args)
		return err
	}
	cmd.Flags().StringVar(&before, "before", "", "forget the sessions that ended before the `DAY`, such as 2026-01-31")
	cmd.Flags().BoolVar(&all, "all", false, "forget all sessions")
	return f.register(cmd)
}

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
		d := historyModsDocument{thisVersion, history.GameMods{Game: game, Mods: []history.Mod{}}}
		if h != nil {
			var err error
			if d.GameMods, err = h.Mods(ctx, game); err != nil {
				return err
			}
		}
		shown := &shownMods{GameMods: d.GameMods}
		switch {
		case h == nil:
			shown.Nothing = f.nothingYet()
		case len(d.Mods) == 0 && game == "" && f.game == "":
			shown.Nothing = "no session of a known game is remembered in " + f.path
		case len(d.Mods) == 0:
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
	history.GameMods

	Nothing          string // there is none, and why
	Sessions, Broken int
	Always           int // mods that are in all sessions
	More             int // mods that are not shown
}

// count counts sessions and mods. The first top are shown, or all for 0.
func (s *shownMods) count(top int) {
	all := s.Mods
	for i := range all {
		if all[i].Without == 0 {
			s.Always++
		}
	}
	s.Sessions, s.Broken = all[0].With+all[0].Without, all[0].BrokenWith+all[0].BrokenWithout
	if top > 0 && len(all) > top {
		s.More = len(all) - top
		s.Mods = all[:top]
	}
}
