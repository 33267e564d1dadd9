package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/cli"
	"github.com/heedlog/heed/internal/settings"
	"github.com/heedlog/heed/report"
	"github.com/heedlog/heed/rules"
)

// The values of --ack and --fail-on.
const (
	ackNever = "never"
	ackAuto  = "auto"

	failBlocking = "blocking"
	failAdvisory = "advisory"
	failBlind    = "blind"
)

// defaultTop rows of each section of the table of signatures fill about half a
// screen.
const defaultTop = 10

// replayFlags are the flags of the main command.
type replayFlags struct {
	rules  ruleFlags
	inputs inputFlags
	scrub  scrubFlags
	format string
	top    int
	topSet bool
	width  int
	ack    string
	failOn []string

	prepare func(*source, *report.Config) // sets up more than the text forms need; nil for nothing
}

func (p *program) rootCommand() *cobra.Command {
	f := &replayFlags{}
	cmd := &cobra.Command{
		Use:   "classify-replay FILE...",
		Short: "Show what in a captured log deserved attention, why, how often and where",
		Long: `classify-replay replays captured logs through heed's engine, as if an agent had
been watching, and shows what would have had its attention: a headline, the
attention items with their cause, the timeline of updates, the signatures by
disposition, and an accounting of every entry.

FILE is a Unity Player.log of any layout, a copy of the game's console, a HugsLib
upload, JSON lines or plain text, recognized by its content; also compressed with
gzip or zstd. "-" is standard input. A directory stands for the logs in it, and a
pattern such as "logs/**/*.log" for the files that it matches. --game finds the log
of a game by itself. Each file is a replay of its own.

What is configured (flags, HEED_ variables, .heed.yaml) is told by "config show".

Exit status, the highest that applies: 0 done (also when the log went blind, which
the report then says), 1 a finding that --fail-on asked for, 2 wrong usage or rules
that do not load, 3 a file that could not be read, or output that could not be
written, to its end, 130 interrupted.`,
		Example: `  classify-replay Player.log
  classify-replay --game rimworld --previous
  classify-replay --format jsonl Player.log | jq -r 'select(.update == "opened").attention.summary'
  zcat old.log.gz | classify-replay --top 30 -
  classify-replay --format markdown Player.log > issue.md
  classify-replay --format sarif Player.log > heed.sarif
  classify-replay --rules mine.yaml --fail-on blocking,blind build/*.log`,
		Args: f.inputs.atLeastOne(`a log to replay, or "-" for standard input, or --game`),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.validate(cmd); err != nil {
				return err
			}
			if err := p.failOnNew(cmd, f); err != nil {
				return err
			}
			set, err := f.rules.compile()
			if err != nil {
				return err
			}
			names, err := p.inputs(&f.inputs, args)
			if err != nil {
				return err
			}
			return p.replayAll(cmd, f, set, names)
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if strings.Contains(err.Error(), "':' in -:") { // a place in standard input, such as -:3
			return cli.Usage(cmd, `what begins with a dash reads as a flag: write a place in standard input after "--", such as %s -- -:3`, cmd.CommandPath())
		}
		return cli.Usage(cmd, "%w", cli.FlagError(cmd, err))
	})
	f.rules.register(cmd)
	f.inputs.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", formatText, "write the `FORMAT` text, json (one document), jsonl (a line per update, then a summary), markdown (for an issue), junit or sarif (findings, for CI), or otlp (a log record per update, as JSON lines)")
	flags.IntVar(&f.top, "top", defaultTop, "show the `N` most frequent signatures of each disposition, 0 for all; junit and sarif have 1000 where it is not given")
	widthFlag(cmd, &f.width)
	flags.StringVar(&f.ack, "ack", ackNever, "acknowledge blocking items `WHEN`: never, or auto: each as soon as it blocks, as an agent would")
	f.scrub.register(cmd)
	flags.StringSliceVar(&f.failOn, "fail-on", nil, "exit with 1 on `WHAT`: blocking, advisory (or blocking), blind (also where bytes or repeats are missing); several with commas")
	cli.Completes(cmd, "format", replayFormats...)
	cli.Completes(cmd, "fail-on", failBlocking, failAdvisory, failBlind) // of a log alone nothing is new
	cmd.AddCommand(p.explainCommand(), p.recordsCommand(), p.signaturesCommand(), p.reportCommand(),
		p.logDiffCommand(), p.baselineCommand(), p.suspectsCommand(), p.rulesCommand(), p.schemaCommand(),
		p.ConfigCommand(), p.CompletionCommand())
	p.Flags(cmd, "say what is read, from where, and how long it took")
	sayStatus(cmd)
	return cmd
}

// sayStatus adds the exit statuses to the help of the commands that have no others.
func sayStatus(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		sayStatus(c)
		if !c.HasSubCommands() && !strings.Contains(strings.ToLower(c.Long), "exit status") && !strings.Contains(c.Long, "exits with") {
			c.Long += `

Exit status as of classify-replay: 0 done, 2 wrong usage, 3 a file that could not be
read or written to its end, 130 interrupted.`
		}
	}
}

// failOnNew refuses --fail-on new: of a log alone nothing is new. A file of settings
// is for all commands, so that there it is left out, and said; whoever asks for it in
// this run counts on it.
func (p *program) failOnNew(cmd *cobra.Command, f *replayFlags) error {
	if !slices.Contains(f.failOn, failNew) {
		return nil
	}
	const instead = `of a log alone nothing is new; use "classify-replay diff OLD NEW" or "classify-replay baseline check"`
	v := p.Settings.Value("fail-on")
	switch v.Origin {
	case settings.User, settings.Project:
		p.Note("fail-on %s (%s) has no effect on a replay: %s", failNew, v.Where, instead)
		f.failOn = slices.DeleteFunc(f.failOn, func(what string) bool { return what == failNew })
		return nil
	case settings.Environment:
		return cli.Usage(cmd, "%s names %s: %s", v.Where, failNew, instead)
	}
	return cli.Usage(cmd, "--fail-on %s: %s", failNew, instead)
}

func (f *replayFlags) validate(cmd *cobra.Command) error {
	if err := cli.OneOf(cmd, "format", f.format, replayFormats...); err != nil {
		return err
	}
	if err := cli.OneOf(cmd, "ack", f.ack, ackNever, ackAuto); err != nil {
		return err
	}
	if len(f.failOn) == 0 && cmd.Flags().Changed("fail-on") {
		f.failOn = []string{""} // a variable that is not set would ask for nothing, unnoticed
	}
	for _, what := range f.failOn {
		if what == failNew {
			continue // said in failOnNew
		}
		if err := cli.OneOf(cmd, "fail-on", what, failBlocking, failAdvisory, failBlind); err != nil {
			return err
		}
	}
	f.topSet = cmd.Flags().Changed("top")
	if f.top < 0 {
		return cli.Usage(cmd, "--top %d: must not be negative; 0 shows all", f.top)
	}
	return checkWidth(cmd, f.width)
}

// replayAll replays the files in order. One that cannot be read does not keep
// the others from being shown.
func (p *program) replayAll(cmd *cobra.Command, f *replayFlags, set *rules.Set, names []string) error {
	ctx := cmd.Context()
	out := &output{w: p.Stdout}
	shown := 0
	form := f.form(p.layout(f.width, f.top))
	scrubber := f.scrub.scrubber(f.format)
	if form.begin != nil {
		out.buf = form.begin(out.buf)
	}
	for _, name := range names {
		if ctx.Err() != nil {
			p.Raise(exitInterrupted)
			break
		}
		rep, err := p.replay(ctx, f, set, name, out, form.update, scrubber)
		if err != nil {
			p.Fail(p.explain(cmd, name, err))
		}
		if out.err != nil {
			break
		}
		if rep == nil {
			continue
		}
		p.Raise(f.findings(rep))
		if form.replay != nil {
			out.buf = form.replay(out.buf, rep, shown)
		}
		shown++
		if !out.flush() {
			break
		}
	}
	if form.end != nil {
		out.buf = form.end(out.buf)
	}
	out.flush()
	p.removed(scrubber)
	if out.err != nil {
		return inputError(fmt.Errorf("cannot write the report: %w", out.err))
	}
	return nil
}

// findings returns the exit status that --fail-on asks for.
func (f *replayFlags) findings(rep *report.Replay) int {
	worst := rep.Worst()
	if slices.Contains(f.failOn, failBlocking) && worst == event.Blocking ||
		slices.Contains(f.failOn, failAdvisory) && worst.Urgent() ||
		slices.Contains(f.failOn, failBlind) && rep.WentBlind() {
		return exitFinding
	}
	return exitOK
}

// updateWriter appends an update, prompted at a time that may be unknown.
type updateWriter func(out []byte, file string, at time.Time, u *heed.Update) []byte

// replay replays one file. Where write is not nil, updates go to out as they
// come, scrubbed like the report. It returns no report for a file that could not be opened, and both
// report and error for one that could not be read to its end.
func (p *program) replay(ctx context.Context, f *replayFlags, set *rules.Set, name string, out *output, write updateWriter, scrubber *report.Scrubber) (*report.Replay, error) {
	source, err := p.open(ctx, set, name)
	if err != nil {
		return nil, err
	}
	defer source.close()
	engine := source.engine
	config := report.Config{
		File: f.fileName(name), Template: engine.Template, Group: engine.Group, Blame: source.blame, Scrub: scrubber,
		Rule: func(id string) (summary, why string) {
			if r := set.Rule(id); r != nil {
				return r.Summary, r.Why
			}
			return "", ""
		},
	}
	if f.prepare != nil {
		f.prepare(source, &config)
	}
	rep, err := report.New(config)
	if err != nil {
		return nil, err
	}
	shownName := scrubber.Text(name)
	var updates []heed.Update
	for {
		if err := source.next(); err != nil {
			end := report.End{
				Layout: source.records.Layout().String(), Lines: source.records.Lines(), Stats: engine.Stats(), Open: engine.Open(nil),
				Environment: source.environment(), Bytes: source.bytes(),
			}
			switch {
			case ctx.Err() != nil:
				end.Interrupted = true
				p.Raise(exitInterrupted)
				err = nil
			case errors.Is(err, io.EOF):
				err = nil
			default:
				end.Err = err
				err = inputError(fmt.Errorf("%s: %w", name, err))
			}
			rep.End(end)
			return rep, err
		}
		if !source.acted {
			rep.Observe(source.entry(), &source.outcome)
		}
		updates = engine.Updates(updates[:0])
		for len(updates) > 0 {
			for i := range updates {
				u := &updates[i]
				rep.Update(u)
				if write != nil {
					scrubbed := scrubber.Update(*u)
					out.buf = write(out.buf, shownName, entryOf(source.record).Time, &scrubbed)
				}
				if f.ack == ackAuto && u.Attention.Blocking {
					engine.Ack(u.Attention.ID, u.Attention.LatestSequence)
				}
			}
			// Acknowledgements have updates of their own.
			updates = engine.Updates(updates[:0])
		}
		// A reader at the other end of a pipe sees updates as they happen.
		if len(out.buf) > 0 && !out.flush() {
			return nil, nil
		}
	}
}

// fileName returns how a report names a file: SARIF, whose readers look for it in a
// repository, from the working directory where it is below that.
func (f *replayFlags) fileName(name string) string {
	if f.format != formatSARIF || name == standardInput {
		return name
	}
	dir, err := os.Getwd()
	if err != nil {
		return name
	}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if below, ok := relative(dir, path); ok {
		return below
	}
	// One of them may be named by way of a link.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return name
	}
	if path, err = filepath.EvalSymlinks(filepath.Dir(path)); err != nil {
		return name
	}
	if below, ok := relative(dir, filepath.Join(path, filepath.Base(name))); ok {
		return below
	}
	return name
}

// relative returns the way from a directory to what is below it.
func relative(dir, path string) (string, bool) {
	below, err := filepath.Rel(dir, path)
	return below, err == nil && filepath.IsLocal(below)
}

// explain adds the next step to an error about an input that does not exist:
// a mistyped command is read as the name of a file.
func (p *program) explain(cmd *cobra.Command, name string, err error) error {
	if name != "" && errors.Is(err, errNoFile) {
		if near := cli.Command(cmd, name); near != "" {
			return inputError(fmt.Errorf("%w; did you mean the command %q?", err, near))
		}
	}
	return err
}

// source is a capture that is being fed to an engine.
type source struct {
	input   io.Closer
	records *capture.Ahead
	engine  *heed.Engine

	began capture.Environment // what the beginning of the capture tells
	mods  report.Environment  // those that were listed

	record  *capture.Record // the last one
	acted   bool            // it is what a host did, of which there is no outcome
	outcome heed.Outcome    // what became of it
}

// open opens a capture and makes an engine for it. What is no log is refused with
// an error that says what to do instead.
func (p *program) open(ctx context.Context, set *rules.Set, name string) (*source, error) {
	in, err := p.openAny(ctx, name)
	if err != nil {
		return nil, err
	}
	reader, err := capture.NewReader(in, capture.Options{})
	if err != nil {
		_ = in.Close() // only read from
		return nil, inputError(fmt.Errorf("%s: %w", name, err))
	}
	if err := looksBinary(reader.Head(readSize)); err != nil {
		_ = in.Close()
		if name == standardInput {
			name = standardInputName
		}
		return nil, inputError(fmt.Errorf("%s %w", name, err))
	}
	engine, err := heed.New(engineConfig(set))
	if err != nil {
		_ = in.Close()
		return nil, err
	}
	return &source{input: in, records: capture.NewAhead(reader), engine: engine}, nil
}

// engineConfig returns the set-up of an engine for a replay. Nobody reads its
// journal: whoever wants the lines around a cause has the log itself. So the
// journal is kept small, and memory is the same for a log of any length.
func engineConfig(set *rules.Set) heed.Config {
	c := heed.Config{Rules: set}
	c.Journal.Entries, c.Journal.Bytes = 256, 64<<10
	c.Journal.Firsts, c.Journal.FirstsBytes = 64, 64<<10
	c.Journal.Pinned, c.Journal.PinnedBytes = 64, 64<<10
	return c
}

// close closes the input, which ends a read that waits there. It was only read
// from, so that its error says nothing.
func (s *source) close() {
	_ = s.input.Close()
	s.records.Close()
}

// next takes the next record and gives it to the engine.
func (s *source) next() error {
	rec, err := s.records.Next()
	if err != nil {
		return err
	}
	s.record = rec
	s.began.Observe(rec)
	if s.acted = rec.Kind == capture.KindAct; s.acted {
		if a := &rec.Act; a.Time.IsZero() {
			s.engine.View(a.Viewer) // what it names is covered
			s.engine.AckBy(a.Viewer, a.ID, a.UpTo)
		} else {
			s.engine.Advance(a.Time)
		}
		return nil
	}
	if rec.Mods != nil {
		s.learn(rec.Mods)
	}
	s.outcome = feed(s.engine, rec)
	return nil
}

// environment returns where the capture was made, as far as it told by now.
func (s *source) environment() report.Environment {
	e := s.mods
	e.Facts = report.Facts(s.began.Facts())
	return e
}

// bytes returns how many bytes of the log were read, 0 where they do not tell how long
// it is: in JSON lines, notices are about what the lines were made from.
func (s *source) bytes() uint64 {
	if s.records.Layout() == capture.LayoutJSON {
		return 0
	}
	return s.records.Bytes()
}

// learn tells the engine which mods a record lists.
func (s *source) learn(list *capture.ModList) {
	mods := make([]heed.Mod, len(list.Mods))
	for i, m := range list.Mods {
		mods[i] = heed.Mod(m.Mod)
		s.mods.Mods = append(s.mods.Mods, report.Mod{Name: m.Name, PackageID: m.PackageID, Versions: m.Versions})
	}
	s.mods.MoreMods += list.Omitted
	s.engine.LearnMods(mods)
}

// blame returns the mods that s.record points at.
func (s *source) blame() []heed.Suspect { return s.engine.Blame(&s.record.Log) }

// entry describes s.record for the report.
func (s *source) entry() report.Entry {
	rec := s.record
	e := report.Entry{First: uint64(rec.StartLine), Last: uint64(rec.EndLine), Time: rec.Log.Time, Message: rec.Log.Message, Stack: rec.Log.Stack}
	switch rec.Kind {
	case capture.KindOperation:
		e.Kind, e.Status, e.Time = event.KindOperation, rec.Operation.Status, rec.Operation.Time
		e.Message = rec.Operation.Entry().Message
	case capture.KindState:
		e.Kind, e.Status, e.Time = event.KindState, rec.State.Status, rec.State.Time
		e.Message = rec.State.Entry().Message
	case capture.KindNotice:
		e.Kind, e.Status, e.Count = event.KindNotice, rec.Notice.Status, rec.Notice.Count
		e.Time, e.Message = rec.Notice.Time, rec.Notice.Entry().Message
		if rec.StartLine == 0 {
			e.First = rec.Notice.Pos
		}
	}
	return e
}
