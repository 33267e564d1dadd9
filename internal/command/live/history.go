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

	"github.com/heedlog/heed/history"
	"github.com/heedlog/heed/internal/cli"
	"github.com/heedlog/heed/internal/command"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/report/compare"
	"github.com/heedlog/heed/signature"
	"github.com/heedlog/heed/summary"
)

// historyFlags are those of the commands that read history.
type historyFlags struct {
	file   string
	game   string
	format string
	width  int
}

func (f *historyFlags) register(cmd *cobra.Command) *cobra.Command {
	flags := cmd.Flags()
	flags.StringVar(&f.file, "history", "", "read the history in `FILE`")
	flags.StringVar(&f.format, "format", formatText, "print the `FORMAT` text or json")
	cli.WidthFlag(cmd, &f.width)
	cli.Completes(cmd, "format", formatText, formatJSON)
	return cmd
}

// ofGame adds the flag that selects a game.
func (f *historyFlags) ofGame(cmd *cobra.Command, help string) *cobra.Command {
	cmd.Flags().StringVar(&f.game, "game", "", help)
	return cmd
}

// withHistory makes a command that reads history: ask is given it, and nil where there is none, with its file.
func (p *program) withHistory(cmd *cobra.Command, f *historyFlags,
	ask func(ctx context.Context, h *history.History, file string, args []string) error,
) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cli.OneOf(cmd, "format", f.format, formatText, formatJSON); err != nil {
			return err
		}
		if err := cli.CheckWidth(cmd, f.width, 0); err != nil {
			return err
		}
		file := f.file
		switch file {
		case command.HistoryOff:
			return cli.Usage(cmd, "history is off: name its file with --history")
		case "":
			var err error
			if file, err = files.History(p.Getenv); err != nil {
				return cli.Failed(exitUsage, err)
			}
		}
		ctx, stop := untilInterrupted(cmd.Context())
		defer stop()
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return unlessGone(ask(ctx, nil, file, args))
		}
		h, err := command.OpenHistory(ctx, p.Program, file)
		if err != nil {
			return cli.Failed(exitNone, err)
		}
		defer h.Close() //nolint:errcheck // it was read from, and what was forgotten is committed
		err = unlessGone(ask(ctx, h, file, args))
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, history.ErrUnknown):
			return cli.Failed(exitUsage, err)
		case err != nil && !decided(err):
			return cli.Failed(exitNone, err)
		}
		return err
	}
	return cmd
}

// nothingYet is the message where there is no history.
func nothingYet(file string) string { return "nothing is remembered yet; it would be in " + file }

// none ends a command that needs what is remembered.
func none(file string) error { return cli.Failed(exitUsage, errors.New(nothingYet(file))) }

// historyVersion is the version that begins a document.
type historyVersion struct {
	SchemaVersion int `json:"schemaVersion" jsonschema:"Rises when a field is removed or changes its meaning."`
}

// The documents that the commands print as JSON.
type (
	historyDocument struct {
		historyVersion
		File     string            `json:"file" jsonschema:"The file of the history; it need not exist."`
		Sessions []history.Session `json:"sessions" jsonschema:"The sessions, the latest first."`
	}
	historyShowDocument struct {
		historyVersion
		Session history.Session `json:"session" jsonschema:"The session."`
		Summary json.RawMessage `json:"summary" jsonschema:"Its summary: see the schema heed-session."`
	}
	historyGroupDocument struct {
		historyVersion
		Groups []history.Group `json:"groups" jsonschema:"The group in each game that has it."`
	}
	historyModsDocument struct {
		historyVersion
		Game string        `json:"game" jsonschema:"The game without its version."`
		Mods []history.Mod `json:"mods" jsonschema:"Its mods, those first that more surely break it."`
	}
	historyForgetDocument struct {
		historyVersion
		Forgotten int `json:"forgotten" jsonschema:"How many sessions were forgotten."`
	}
)

// historyForms are the JSON forms of the commands.
var historyForms = []schema.Form{
	historyForm("heed-history", "heed history", historyDocument{}),
	historyForm("heed-history-show", "heed history show", historyShowDocument{}),
	historyForm("heed-history-group", "heed history group", historyGroupDocument{}),
	{
		Name: "heed-session", Title: "heed history export", Values: []any{summary.Session{}},
		Description: "Each line of it. New fields may appear within a version.",
	},
	historyForm("heed-history-mods", "heed history mods", historyModsDocument{}),
	historyForm("heed-history-forget", "heed history forget", historyForgetDocument{}),
}

func historyForm(name, command string, document any) schema.Form {
	return schema.Form{
		Name: name, Title: command + " --format json", Values: []any{document},
		Description: "One object. New fields may appear within a version.",
	}
}

// document prints a document as JSON, with its version.
func (p *program) document(d any) error {
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return p.print(append(text.AppendJSON(nil, data), '\n'))
}

var thisVersion = historyVersion{schema.Version}

func (p *program) historyCommand() *cobra.Command {
	var f historyFlags
	var top int
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Show what is remembered of the sessions of your games",
		Long: `history lists the sessions that heed remembers, the newest first: when each ended, how long
it was, how it fared, and what changed in the mods since the session before. It is in a file
of your own (--history), and reading it makes none.`,
		Example: `  heed history
  heed history show 12
  heed history --format json | jq '.sessions[] | select(.broken).id'`,
	}
	cli.Group(cmd, p.historyShowCommand(), p.historyGroupCommand(), p.historyModsCommand(), p.historyBaselineCommand(),
		p.historyExportCommand(), p.historyForgetCommand())
	word := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return word(cmd, args)
	}
	p.withHistory(cmd, &f, func(ctx context.Context, h *history.History, file string, _ []string) error {
		d := historyDocument{historyVersion: thisVersion, File: file, Sessions: []history.Session{}}
		if h != nil {
			game, err := gameOf(ctx, h, f.game)
			if err != nil {
				return err
			}
			all, err := h.Sessions(ctx, game, top)
			if err != nil {
				return err
			}
			d.Sessions = append(d.Sessions, all...)
		}
		if f.format == formatJSON {
			return p.document(d)
		}
		g := p.page(f.width)
		if len(d.Sessions) == 0 {
			g.line(span{plain, nothingYet(file)})
		}
		for i := range d.Sessions {
			p.listSession(g, &d.Sessions[i])
		}
		return p.write(g)
	})
	f.ofGame(cmd, "only sessions of the `GAME`, by its name")
	cmd.Flags().IntVar(&top, "top", 10, "show `N` sessions, 0 for all")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if top < 0 {
			return cli.Usage(cmd, "--top %d: must not be negative; 0 shows all", top)
		}
		return nil
	}
	return f.register(cmd)
}

// gameOf returns a game by its name as a person writes it, "" for none.
func gameOf(ctx context.Context, h *history.History, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	games, err := h.Games(ctx)
	if err != nil {
		return "", err
	}
	if i := slices.IndexFunc(games, func(game string) bool { return strings.EqualFold(game, name) }); i >= 0 {
		return games[i], nil
	}
	games = slices.DeleteFunc(games, func(game string) bool { return game == "" })
	return "", cli.Failed(exitUsage, fmt.Errorf("no session of the game %q is remembered; of these there are: %s", name,
		cmp.Or(strings.Join(games, ", "), "none")))
}

// fared is how a session fared in one word, with its style.
func fared(s *history.Session) span {
	switch {
	case s.Broken:
		return span{red, s.State}
	case s.Sound:
		return span{green, s.State}
	}
	return span{yellow, s.State}
}

// date is a time for a person.
func date(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// gameName is a game with its version, in words where it is not known.
func gameName(s *history.Session) string {
	return cmp.Or(strings.TrimSpace(s.Game+" "+s.Version), "an unknown game")
}

// listSession shows a session in one line, and what changed in another.
func (p *program) listSession(g *page, s *history.Session) {
	length := ""
	if s.Length() > 0 {
		length = lasted(s.Length())
	}
	if s.Running {
		length = "running"
	}
	word := fared(s)
	g.line(span{strong, fmt.Sprintf("%5d", s.ID)}, span{plain, fmt.Sprintf("  %s  %7s  ", date(s.Ended), length)}, word,
		span{plain, strings.Repeat(" ", max(0, 11-len(word.text))) + gameName(s) + ": " + s.Headline})
	if c := s.Changes.String(); s.Changes != nil && c != "nothing" {
		g.line(span{faint, strings.Repeat(" ", 7) + c})
	}
}

func (p *program) historyShowCommand() *cobra.Command {
	var f historyFlags
	return f.register(p.withHistory(&cobra.Command{
		Use:   "show NUMBER",
		Short: "Show a session that is remembered",
		Long: `show prints what is remembered of a session by its number: its log, how it fared, what
changed since the session before, and its groups, the urgent ones first.`,
		Example: `  heed history show 12
  heed history show 12 --format json | jq -r '.summary.mods[].name'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usage(cmd, "name one session by its number, as heed history lists it")
			}
			_, err := numbered(cmd, args)
			return err
		},
	}, &f, func(ctx context.Context, h *history.History, file string, args []string) error {
		if h == nil {
			return none(file)
		}
		id, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil {
			return err
		}
		s, sum, err := h.Session(ctx, id)
		if err != nil {
			return err
		}
		if f.format == formatJSON {
			data, err := json.Marshal(sum)
			if err != nil {
				return err
			}
			return p.document(historyShowDocument{thisVersion, s, data})
		}
		g := p.page(f.width)
		p.showSession(g, &s, sum)
		return p.write(g)
	}))
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

// shownGroups is how many groups of a session are shown.
const shownGroups = 20

func (p *program) showSession(g *page, s *history.Session, sum *summary.Session) {
	g.line(span{strong, fmt.Sprintf("session %d", s.ID)}, span{plain, " of " + gameName(s) + ": "}, fared(s))
	g.about("what", plain, s.Headline)
	g.about("log", plain, fmt.Sprintf("%s: %s, %s", s.Log, plural(uint64(s.Lines), "line", "lines"),
		plural(uint64(s.Records), "record", "records")))
	ended := date(s.Ended)
	if s.Length() > 0 {
		ended = date(s.Began) + " to " + ended + ", " + lasted(s.Length())
	}
	if s.Running {
		ended += "; it runs, or ended without notice"
	}
	g.about("when", plain, ended)
	g.about("mods", plain, number(uint64(s.Mods)+uint64(sum.MoreMods)))
	if s.Changes != nil {
		g.about("changed", plain, s.Changes.String())
	}
	for i := range sum.Groups[:min(len(sum.Groups), shownGroups)] {
		group := &sum.Groups[i]
		look := faint
		if group.Disposition.Urgent() {
			look = kind(group.Disposition.String() == "blocking").style
		}
		g.line(span{faint, "  " + group.Signature.String()}, span{look, " " + padded(group.Disposition.String(), 8)},
			span{plain, fmt.Sprintf(" %6s × %s", number(group.Count), cmp.Or(group.Sample, group.Template))})
	}
	if more := len(sum.Groups) + sum.MoreGroups - shownGroups; more > 0 {
		g.line(span{faint, "  and " + plural(uint64(more), "other group", "other groups")})
	}
}

func (p *program) historyGroupCommand() *cobra.Command {
	var f historyFlags
	var state string
	cmd := &cobra.Command{
		Use:   "group SIGNATURE|ITEM",
		Short: "Show since when a group is there, and what changed before",
		Long: `group prints what is remembered of a group of entries, by one of its signatures or by an
item of the heed that runs: when it was seen first and last, in how many sessions, how often,
and what changed just before it appeared and before it went.`,
		Example: `  heed history group 6a9e85b89ab77698
  heed history group 3`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usage(cmd, "name one signature of 16 digits, or one item of a running heed")
			}
			return nil
		},
	}
	p.withHistory(cmd, &f, func(ctx context.Context, h *history.History, file string, args []string) error {
		if h == nil {
			return none(file)
		}
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
		game, err := gameOf(ctx, h, f.game)
		if err != nil {
			return err
		}
		groups, err := h.Groups(ctx, sig)
		if err != nil {
			return err
		}
		groups = slices.DeleteFunc(groups, func(g history.Group) bool { return f.game != "" && g.Game != game })
		if len(groups) == 0 {
			return cli.Failed(exitUsage, fmt.Errorf("no session with a group of the signature %v is remembered", sig))
		}
		if f.format == formatJSON {
			return p.document(historyGroupDocument{thisVersion, groups})
		}
		g := p.page(f.width)
		for i := range groups {
			showGroup(g, &groups[i])
		}
		return p.write(g)
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
	defer c.Close() //nolint:errcheck // what was asked was answered
	t := fetchItem(ctx, c, item)
	if t.detail.Cause.Signature == 0 {
		return 0, cli.Failed(exitUsage, fmt.Errorf("%q is neither a signature of 16 digits nor an item of the running heed",
			item))
	}
	return t.detail.Cause.Signature, nil
}

func showGroup(g *page, group *history.Group) {
	g.line(span{strong, "group " + group.Signature.String()}, span{plain, " of " + cmp.Or(group.Game, "an unknown game")})
	g.about("text", plain, cmp.Or(group.Sample, group.Template))
	g.about("decision", plain, group.Disposition+" by rule "+group.Rule)
	seen := func(label string, s *history.Session) {
		text := fmt.Sprintf("session %d, %s", s.ID, date(s.Ended))
		if s.Changes != nil {
			text += "; just before, " + s.Changes.String()
			if s.Changes.String() == "nothing" {
				text += " changed"
			}
		}
		g.about(label, plain, text)
	}
	seen("first", &group.First)
	g.about("last", plain, fmt.Sprintf("session %d, %s", group.Last.ID, date(group.Last.Ended)))
	if group.Gone != nil {
		seen("gone", group.Gone)
	}
	often := fmt.Sprintf("%d of %s; %s, %.3g per 1,000 records", group.Sessions,
		plural(uint64(group.Of), "session", "sessions"), plural(uint64(group.Entries), "entry", "entries"), group.PerThousand)
	if group.PerHour > 0 {
		often += fmt.Sprintf(", %.3g per hour", group.PerHour)
	}
	g.about("in", plain, often)
	g.about("suspects", plain, group.Suspects.Text)
}

func (p *program) historyModsCommand() *cobra.Command {
	var f historyFlags
	cmd := p.withHistory(&cobra.Command{
		Use:   "mods",
		Short: "Show in how many sessions with and without each mod something broke",
		Long: `mods prints for each mod of a game, of the sessions that can tell, in how many with it and in
how many without it something broke, and the difference between these shares with an
interval; all intervals of the table hold together with 95 %. One that holds 0 says that
the sessions cannot tell. Sessions whose log lists no mods, or not all, are left out.`,
		Example: `  heed history mods
  heed history mods --game rimworld --format json | jq '.mods[] | select(.difference.low > 0).name'`,
		Args: noArgs,
	}, &f, func(ctx context.Context, h *history.History, file string, _ []string) error {
		d := historyModsDocument{historyVersion: thisVersion, Mods: []history.Mod{}}
		if h != nil {
			games, err := h.Games(ctx)
			if err != nil {
				return err
			}
			if d.Game, err = gameOf(ctx, h, f.game); err != nil {
				return err
			}
			if f.game == "" && len(games) > 0 {
				d.Game = games[0]
			}
			mods, err := h.Mods(ctx, d.Game)
			if err != nil {
				return err
			}
			d.Mods = append(d.Mods, mods...)
		}
		if f.format == formatJSON {
			return p.document(d)
		}
		g := p.page(f.width)
		switch {
		case h == nil:
			g.line(span{plain, nothingYet(file)})
		case len(d.Mods) == 0:
			g.line(span{plain, "no session of " + cmp.Or(d.Game, "an unknown game") + " can tell: none lists all its mods"})
		default:
			showMods(g, &d)
		}
		return p.write(g)
	})
	return f.register(f.ofGame(cmd, "of the `GAME`, by its name; without it that of the latest session"))
}

func showMods(g *page, d *historyModsDocument) {
	g.line(span{strong, "MODS"}, span{plain, " of " + cmp.Or(d.Game, "an unknown game")},
		span{faint, ": in how many sessions with and without each something broke"})
	g.line(span{faint, fmt.Sprintf("  %-12s  %-12s  %-26s  %s", "with", "without", "difference in %", "mod")})
	for i := range d.Mods {
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
}

func (p *program) historyBaselineCommand() *cobra.Command {
	f := historyFlags{format: formatText}
	var sessions int
	cmd := p.withHistory(&cobra.Command{
		Use:   "baseline",
		Short: "Print what sound sessions logged as known noise",
		Long: `baseline prints a baseline, as "heed baseline write" does, of what stood in many sessions in
which nothing broke: it is known noise from now on. Review it before you use it.`,
		Example: `  heed history baseline > heed-baseline.yaml
  heed baseline check --baseline heed-baseline.yaml Player.log`,
		Args: cobra.NoArgs,
	}, &f, func(ctx context.Context, h *history.History, file string, _ []string) error {
		if h == nil {
			return none(file)
		}
		game, err := gameOf(ctx, h, f.game)
		if err != nil {
			return err
		}
		if games, err := h.Games(ctx); err == nil && game == "" && len(games) > 0 {
			game = games[0]
		}
		b, left, err := h.Baseline(ctx, game, sessions, p.Now(), compare.DefaultExpiry)
		if err != nil {
			return err
		}
		if left > 0 {
			p.Note("%s left out: no text of them is remembered whole", plural(uint64(left), "group is", "groups are"))
		}
		return p.print(b.Append(nil))
	})
	flags := cmd.Flags()
	flags.StringVar(&f.file, "history", "", "read the history in `FILE`")
	flags.IntVar(&sessions, "sessions", 3, "take what stood in at least `N` sound sessions")
	return f.ofGame(cmd, "of the `GAME`, by its name; without it that of the latest session")
}

func (p *program) historyExportCommand() *cobra.Command {
	f := historyFlags{format: formatText}
	cmd := p.withHistory(&cobra.Command{
		Use:   "export",
		Short: "Print the summaries of all sessions, as JSON lines",
		Long: `export prints what is remembered of each session, the oldest first, as a line of JSON. It has
no private text, as the history has none. heed-parquet, of the module fleet, makes Parquet of
it.`,
		Example: `  heed history export | jq -r 'select(.state == "crashed").log.name'`,
		Args:    noArgs,
	}, &f, func(ctx context.Context, h *history.History, file string, _ []string) error {
		if h == nil {
			return none(file)
		}
		game, err := gameOf(ctx, h, f.game)
		if err != nil {
			return err
		}
		return h.Each(ctx, game, func(s *summary.Session) error {
			data, err := json.Marshal(s)
			if err != nil {
				return err
			}
			return p.print(append(text.AppendJSON(nil, data), '\n'))
		})
	})
	cmd.Flags().StringVar(&f.file, "history", "", "read the history in `FILE`")
	return f.ofGame(cmd, "only sessions of the `GAME`, by its name")
}

func (p *program) historyForgetCommand() *cobra.Command {
	var f historyFlags
	var before string
	var all bool
	var which history.Which
	cmd := &cobra.Command{
		Use:   "forget [NUMBER...]",
		Short: "Forget sessions",
		Long: `forget removes what is remembered of sessions: those with these numbers, those that ended
before a day, or all. The file keeps nothing of them.`,
		Example: `  heed history forget 12 13
  heed history forget --before 2026-01-31
  heed history forget --all`,
		Args: func(cmd *cobra.Command, args []string) (err error) {
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
			which.IDs, err = numbered(cmd, args)
			return err
		},
	}
	p.withHistory(cmd, &f, func(ctx context.Context, h *history.History, file string, _ []string) error {
		d := historyForgetDocument{historyVersion: thisVersion}
		if h == nil && len(which.IDs) > 0 {
			return none(file)
		}
		if h != nil {
			var err error
			if d.Forgotten, err = h.Forget(ctx, which); err != nil {
				return err
			}
		}
		if f.format == formatJSON {
			return p.document(d)
		}
		g := p.page(f.width)
		g.line(span{plain, plural(uint64(d.Forgotten), "session is", "sessions are") + " forgotten"})
		return p.write(g)
	})
	cmd.Flags().StringVar(&before, "before", "", "forget the sessions that ended before the `DAY`, such as 2026-01-31")
	cmd.Flags().BoolVar(&all, "all", false, "forget all sessions")
	return f.register(cmd)
}
