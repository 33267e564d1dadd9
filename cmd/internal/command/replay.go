package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/report/replay"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// The values of --ack.
const (
	ackNever = "never"
	ackAuto  = "auto"
)

// defaultTop rows of each section of the table of signatures fill about half a
// screen.
const defaultTop = 10

func (p *program) replayCommand() *cobra.Command {
	var ack string
	cmd := p.logCommand("replay FILE...", func(cmd *cobra.Command, names []string) error {
		set, err := p.compile()
		if err != nil {
			return err
		}
		m := p.remembers(cmd.Context(), names, true)
		defer m.close()
		return p.replayAll(cmd, &replaying{set: set, memory: m, ack: ack == ackAuto, scrubber: p.newScrubber()}, names)
	})
	p.registerRules(cmd)
	p.registerMods(cmd)
	p.registerLanguage(cmd)
	p.registerView(cmd, "write the `FORMAT` text, json (one document), jsonl (a line per update, then a summary), markdown (for an issue), junit or sarif (findings, for CI)",
		"show the `N` most frequent signatures of each disposition, 0 for all; without it, junit and sarif list 1000", replayFormats...)
	cmd.Flags().StringVar(&ack, "ack", ackNever, "acknowledge blocking items `WHEN`: never, or auto (each as soon as it blocks, as an agent does)")
	cli.Choice(cmd, "ack", ackNever, ackAuto)
	cli.Checked(cmd, p.failOnNew)
	p.registerFailOn(cmd, "blocking, advisory (or blocking), blind (also if bytes, repeats or the beginning are missing, or the log is empty)",
		failBlocking, failAdvisory, failBlind) // of a log alone nothing is new
	p.registerMemory(cmd)
	return cmd
}

// replaying is a run that replays logs.
type replaying struct {
	set      *rules.Set
	memory   *memory // nil for none
	scrubber *report.Scrubber
	ack      bool // acknowledge each item as soon as it blocks
	details  bool // of a page
}

// replayAll replays the files in order. It reports a file that cannot be read and continues. Text is written as each
// log ends; scrubbed text after the last one, since each log may show private names of the others.
func (p *program) replayAll(cmd *cobra.Command, r *replaying, names []string) error {
	out := p.buffered()
	streams := p.formats[0] == formatJSONL || p.formats[0] == formatText && r.scrubber == nil
	if streams {
		p.learnNames(cmd.Context(), r.scrubber, names...)
	}
	shown := 0
	var replays []*report.Replay // for the end of the run
	p.eachLog(cmd.Context(), names, func(name string) error {
		if out.Flush() != nil {
			return nil
		}
		rep, err := p.replay(cmd.Context(), r, name, out)
		if err != nil && name == names[0] {
			err = withCommand(cmd, name, err)
		}
		if rep == nil || out.Flush() != nil {
			return err
		}
		if streams {
			_, _ = out.Write(p.rendered(cmd, 0, shown, rep)) // Flush returns its error
		}
		if shown++; !streams || len(p.formats) > 1 {
			replays = append(replays, rep)
		}
		_ = out.Flush()
		return err
	})
	if !streams {
		_, _ = out.Write(p.rendered(cmd, 0, 0, replays...))
	}
	err := cli.CannotWrite(exitIO, "the report", out.Flush())
	if len(replays) > 0 && err == nil {
		err = p.writeMore(cmd, func(i int) []byte { return p.rendered(cmd, i, 0, replays...) })
	}
	p.removed(r.scrubber)
	return err
}

// rendered returns replays in the format of a number, for an output that has so many others. The first format decides
// the exit status.
func (p *program) rendered(cmd *cobra.Command, number, shown int, replays ...*report.Replay) []byte {
	format, top := p.formats[number], p.top
	if isFindings(format) && !cmd.Flags().Changed("top") {
		top = maxFindings
	}
	docs := p.documents(replays, format, top)
	for _, doc := range docs {
		if number == 0 {
			p.fails(event.Ignore, doc.Summary.Worst, doc.WentBlind)
		}
	}
	return render(p, format, shown, docs...)
}

// render returns documents in a format, for an output that has the documents of so many logs.
func render[D report.Rendered](p *program, format string, shown int, docs ...D) (out []byte) {
	switch format {
	case formatJSON:
		return report.JSON(nil, docs...)
	case formatJUnit:
		return report.JUnit(nil, docs...)
	case formatSARIF:
		return report.SARIF(nil, docs...)
	}
	for i, doc := range docs {
		if shown+i > 0 && format != formatJSONL {
			out = append(out, '\n')
		}
		switch format {
		case formatJSONL:
			out = report.AppendSummary(out, any(doc).(*report.Document))
		case formatMarkdown:
			out = report.Markdown(out, doc)
		default:
			out = report.Text(out, doc, p.layout())
		}
	}
	return out
}

// replay replays one file. As JSON lines, updates go to out as they come, scrubbed like the report. It returns no
// report for a file that could not be opened, and both report and error for a file that could not be read to its end.
func (p *program) replay(ctx context.Context, r *replaying, name string, out *bufio.Writer) (*report.Replay, error) {
	log, tee := r.memory.begin(p, name, r.scrubber)
	source, err := p.open(ctx, replay.Config(r.set), name, tee)
	if err != nil {
		return nil, err
	}
	defer source.close()
	config := source.Report(p.fileName(name), r.scrubber)
	config.Details = r.details
	if log != nil {
		config.Learn = log.scrub
		config.History = func(group signature.ID) string { return r.memory.known(ctx, p, log, group) }
	}
	rep := report.New(config)
	shownName := r.scrubber.Text(name)
	observe := func() bool {
		rep.Observe(source.Record, &source.Outcome)
		return true
	}
	err = source.Each(observe, func(u *heed.Update) bool {
		shown := rep.Update(u)
		if p.formats[0] == formatJSONL {
			_, _ = out.Write(report.AppendUpdate(nil, shownName, shown))
		}
		if r.ack && u.Item.Blocking {
			source.Engine.Ack("", u.Item.ID, u.Item.LatestSequence)
		}
		return out.Flush() == nil // a reader at the other end of a pipe sees updates as they happen
	})
	if out.Flush() != nil {
		return nil, nil
	}
	end := source.End(nil)
	switch {
	case ctx.Err() != nil:
		end.Interrupted, err = true, nil
		p.Raise(exitInterrupted)
	case err != nil:
		end.Err = err
		err = ioError(fmt.Errorf("%s: %w", name, err))
	}
	rep.End(end)
	if log != nil && err == nil && !end.Interrupted {
		r.memory.end(ctx, p, log, name, rep, r.set)
	}
	return rep, err
}

// withCommand adds the next step to an error about an input that does not exist: the
// root reads a mistyped command as the name of a file.
func withCommand(cmd *cobra.Command, name string, err error) error {
	if !cmd.HasParent() && name != "" && errors.Is(err, errNoFile) {
		if near := cli.Command(cmd.Root(), name); near != "" {
			return ioError(fmt.Errorf("%s: %w; did you mean the command %q?", name, errNoFile, near))
		}
	}
	return err
}

func (p *program) reportCommand() *cobra.Command {
	var opened bool
	var file string
	cmd := p.logCommand("report FILE... -o report.html", func(cmd *cobra.Command, names []string) error {
		return p.report(cmd, names, file, opened)
	})
	cli.Checked(cmd, func(cmd *cobra.Command) error {
		switch nowhere := file == standardInput; {
		case nowhere && opened && cmd.Flags().Changed("output"):
			return cli.Usage(cmd, "a browser opens files: --open goes with no --output -")
		case nowhere && !opened && cli.IsTerminal(p.Stdout):
			return cli.Usage(cmd, "a terminal cannot show a page: name a file, such as -o report.html")
		}
		return nil
	})
	p.registerRules(cmd)
	p.registerMods(cmd)
	p.registerLanguage(cmd)
	cmd.Flags().StringVarP(&file, outputFlag, "o", standardInput, "write the page to `FILE`, - for standard output")
	if p.host.Open != nil {
		cmd.Flags().BoolVar(&opened, "open", false, "open the page in the browser; without --output it is written beside the log, or to the user's documents")
	}
	p.registerMemory(cmd)
	p.registerLastLine(cmd)
	p.registerScrub(cmd)
	return cmd
}

// report replays the logs and writes the page to a file, and opens it if open is set.
func (p *program) report(cmd *cobra.Command, names []string, file string, open bool) error {
	set, err := p.compile()
	if err != nil {
		return err
	}
	memory := p.remembers(cmd.Context(), names, !open) // a page comes at once
	defer memory.close()
	p.formats = []string{formatPage}
	r := &replaying{set: set, memory: memory, scrubber: p.newScrubber(), details: true}
	var replays []*report.Replay
	p.eachLog(cmd.Context(), names, func(name string) error {
		rep, err := p.replay(cmd.Context(), r, name, p.buffered())
		if rep != nil {
			replays = append(replays, rep)
		}
		return err
	})
	if replays == nil {
		return nil // reported already, log by log
	}
	data := report.HTML(nil, p.documents(replays, formatPage, 0)...) // once the private names of all logs are known
	p.removed(r.scrubber)
	pages := []string{file}
	switch {
	case file == standardInput && open:
		pages = p.pageFiles(names[0])
	case file == standardInput:
		return p.Print("the report", data)
	}
	for _, page := range pages {
		if err = ReplaceFile(page, data); err == nil && open {
			return p.openPage(page)
		}
		if err == nil {
			return nil
		}
	}
	return ioError(fmt.Errorf("cannot write the report: %w", err))
}

// pageFiles returns the files to which a page about a log may be written without --output, the best first: next to the
// log, or in a folder of the user. Browsers in Snap packages see no hidden folder of the home, in which games for Linux
// keep their logs.
func (p *program) pageFiles(log string) []string {
	home, err := os.UserHomeDir()
	hidden := false
	if err == nil && runtime.GOOS != "windows" {
		if full, err := filepath.Abs(log); err == nil {
			below, ok := relative(home, full)
			hidden = ok && strings.HasPrefix(below, ".")
		}
	}
	var folders []string
	if info, err := os.Stat(log); err == nil && info.Mode().IsRegular() && !hidden {
		folders = append(folders, filepath.Dir(log))
	}
	if home != "" {
		folders = append(folders, filepath.Join(home, "Documents"), home)
	}
	name := filepath.Base(log)
	switch {
	case log == standardInput:
		name = "log"
	case files.IsAddress(log):
		name = fileOf(log)
	}
	out := make([]string, 0, len(folders)+1)
	for _, folder := range append(folders, os.TempDir()) {
		out = append(out, filepath.Join(folder, name+".html"))
	}
	return out
}

// openPage shows a page in the browser, and prints in one line where it is. A browser that does not open is
// no failure: the page is there.
func (p *program) openPage(file string) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return ioError(err)
	}
	wrote := file + ": opened in the browser"
	if err := p.host.Open(file); err != nil {
		wrote = fmt.Sprintf("%s: open it in a browser, since that failed (%v)", file, err)
	}
	return p.Print("the name of the page", append(text.AppendSafe(nil, wrote, 0), '\n'))
}
