package command

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/text"
)

// registerInputs adds the flags that select logs without naming files.
func (p *program) registerInputs(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.game, "game", "", "read the newest log of `GAME` on this machine: "+gameNames())
	cmd.Flags().BoolVar(&p.previous, "previous", false, "without FILE: read the log of the previous run")
	cli.Completes(cmd, "game", files.Games()...)
}

// logCommand makes a command that reads logs: run gets their names.
func (p *program) logCommand(use string, run func(cmd *cobra.Command, names []string) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Args: p.oneWay, RunE: func(cmd *cobra.Command, args []string) error {
			names, err := p.inputs(cmd, args)
			if err != nil {
				return err
			}
			return run(cmd, names)
		},
	}
	p.registerInputs(cmd)
	return cmd
}

// gameNames lists the values of --game.
func gameNames() string {
	return strings.Join(files.Games(), ", ") + ", or COMPANY/PRODUCT of any game made with Unity"
}

// oneWay refuses a command line that names logs in two ways.
func (p *program) oneWay(cmd *cobra.Command, args []string) error {
	switch asked := cmd.Flags().Changed("game"); {
	case asked && len(args) > 0:
		return cli.Usage(cmd, "name a log or a --game, not both")
	case p.previous && len(args) > 0:
		return cli.Usage(cmd, "--previous is for the log of a game: name no log with it")
	}
	return onceStdin(cmd, args)
}

// sidesCommand makes a command that compares old logs with new ones: run gets the logs.
func (p *program) sidesCommand(name string, run func(cmd *cobra.Command, c *comparing) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " OLD NEW... | OLD --game GAME | --game GAME --previous", Args: p.twoSides,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := p.readSides(cmd, args)
			if c == nil {
				return err
			}
			return run(cmd, c)
		},
	}
	p.registerCompare(cmd)
	p.registerInputs(cmd)
	cmd.Flags().Lookup("game").Usage = "compare with the newest log of `GAME` on this machine, as NEW: " + gameNames()
	cmd.Flags().Lookup("previous").Usage = "with --game: the log of the previous run, as OLD; if OLD is named, as NEW"
	return cmd
}

// twoSides refuses a command line that does not name an old and a new log.
func (p *program) twoSides(cmd *cobra.Command, args []string) error {
	switch asked := cmd.Flags().Changed("game"); {
	case p.previous && !asked:
		return cli.Usage(cmd, "--previous needs --game, such as --game %s --previous", files.Games()[0])
	case asked && len(args) > 1:
		return cli.Usage(cmd, "--game is the new log: name the old one alone")
	case asked && len(args) == 0 && !p.previous:
		return cli.Usage(cmd, "--game is the new log: name an old one, or add --previous for that of the run before")
	case !asked && len(args) < 2:
		return cli.Usage(cmd, "name an old and a new log: OLD NEW, or OLD and --game, or --game and --previous")
	}
	return onceStdin(cmd, args)
}

// onceStdin refuses standard input that is named more than once.
func onceStdin(cmd *cobra.Command, args []string) error {
	if i := slices.Index(args, standardInput); i >= 0 && slices.Contains(args[i+1:], standardInput) {
		return cli.Usage(cmd, "standard input can be read only once")
	}
	return nil
}

// sides returns the old logs and the new logs of a command line that twoSides accepts. If a game is installed twice,
// the newest log decides the folder of both.
func (p *program) sides(args []string) (before, now []string, err error) {
	if len(args) > 1 {
		return p.logs(args[:1]), p.logs(args[1:]), nil
	}
	if len(args) == 1 {
		now, err = p.gameLog(p.previous)
		return p.logs(args), now, err
	}
	if now, err = p.gameLog(false); err != nil {
		return nil, nil, err
	}
	previous := files.Previous(now[0])
	p.Note("comparing with %s", previous)
	return []string{previous}, now, nil
}

// inputs returns the logs that the arguments name. Without arguments it returns the log of --game, standard input if a
// pipe or a file is there, or the newest log of a known game. It prints on standard error which logs were chosen.
func (p *program) inputs(cmd *cobra.Command, args []string) ([]string, error) {
	names := p.logs(args)
	switch {
	case len(args) > 0:
	case p.game == "" && !p.previous && p.piped(cmd.Context()):
		names = []string{standardInput}
	default:
		var err error
		if names, err = p.gameLog(p.previous); err != nil {
			return nil, err
		}
	}
	return names, checkOutputs(cmd, names)
}

// piped reports whether standard input is a pipe or a file that is not empty.
func (p *program) piped(ctx context.Context) bool {
	if f, ok := p.Stdin.(*os.File); ok {
		if info, err := f.Stat(); err != nil || info.Mode()&fs.ModeCharDevice != 0 {
			return false
		}
	}
	stdin := p.Stdin
	in := pipeInput(ctx, func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil })
	p.Stdin = in
	return p.begins(in) == nil
}

// logs returns the logs that the arguments name. It reports each argument without a log.
func (p *program) logs(args []string) []string {
	names := make([]string, len(args))
	for i, arg := range args {
		names[i] = p.named(arg)
	}
	files, taken, wrong := files.Inputs(names, readsAsLog)
	for _, err := range wrong {
		p.Fail(ioError(p.inWords(err)))
	}
	for _, t := range taken {
		p.Note("%s: %s", t.Argument, takenText(t))
		for _, name := range t.Left {
			p.Detail("%s: left out, because it does not look like a log; name the file to read it anyway", name)
		}
	}
	return files
}

// maxSniffed bounds, in bytes, the part of a file that readsAsLog reads. It is larger than the checked text, since the
// file may be compressed.
const maxSniffed = 1 << 20

// readsAsLog reports whether a file is a log by its beginning; plain text is not one.
func readsAsLog(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return true // reading it returns the error
	}
	defer func() { _ = f.Close() }() // only read from
	r, err := capture.NewReader(io.LimitReader(f, maxSniffed), capture.Options{})
	return err == nil && text.Check(r.Head(readSize)) == nil && r.At().Layout != capture.LayoutPlain
}

// takenText names the files of an argument, by their places in a folder.
func takenText(t files.Taken) string {
	const shown = 5
	var names []string
	for _, name := range t.Files[:min(len(t.Files), shown)] {
		if rel, err := filepath.Rel(t.Argument, name); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
		names = append(names, name)
	}
	if more := len(t.Files) - shown; more > 0 {
		names = append(names, fmt.Sprintf("… and %d more", more))
	}
	return "reading " + text.Count(len(t.Files), "log") + ": " + strings.Join(names, ", ")
}

// gameLog finds the log of the latest run of a game, or of the previous run.
func (p *program) gameLog(previous bool) ([]string, error) {
	runs, places, err := files.LogsOf(p.game, "", p.Getenv, previous)
	if err != nil {
		return nil, &cli.StatusError{Status: exitUsage, Err: fmt.Errorf("--game: %w", err)}
	}
	if len(runs) == 0 && p.game == "" && !previous {
		return nil, &cli.StatusError{
			Status: exitUsage,
			Err: errors.Join(p.inWords(text.Say("no log of a known game (%s) was found", strings.Join(files.Games(), ", "))),
				p.inWords(text.Say(`name a log: "%s Player.log", or "%[1]s report Player.log -o page.html" for a page`, p.Name))),
			Next: p.inWords(text.Say(`all commands: "%s --help"`, p.Name)).Error(),
		}
	}
	if len(runs) == 0 {
		return nil, &cli.StatusError{
			Status: exitIO, Err: p.notFound(cmp.Or(p.game, strings.Join(files.Games(), ", ")), places),
			Next: p.inWords(text.Say("run the game once, or name the file: a menu of the game may open its folder")).Error(),
		}
	}
	p.Note("reading %s, of %s", runs[0].Path, runs[0].Time.Format("2006-01-02 15:04"))
	for _, other := range runs[1:] {
		p.Note("left out %s, of %s: name the file to read it", other.Path, other.Time.Format("2006-01-02 15:04"))
	}
	return []string{runs[0].Path}, nil
}

// notFound is the error of a game without a log: the places that were looked at, one a line.
func (p *program) notFound(game string, places []string) error {
	lines := []error{fmt.Errorf("--game %s: %w", game, p.inWords(text.Say("no log was found; looked for")))}
	for _, place := range places {
		lines = append(lines, errors.New("  "+place))
	}
	return errors.Join(lines...)
}

// watched follows the reading of one input, for progress and for --verbose.
type watched struct {
	ctx     context.Context
	from    io.Reader
	program *program
	name    string
	read    atomic.Int64
	began   time.Time
	closed  chan struct{}
}

// watch begins to follow an input of size bytes, 0 where that is not known. It ends when ctx is done.
func (p *program) watch(ctx context.Context, name string, size int64, from io.Reader) *watched {
	w := &watched{ctx: ctx, from: from, program: p, name: name, began: p.Now(), closed: make(chan struct{})}
	if f, ok := p.Stdin.(*os.File); name == standardInputName && ok && cli.IsTerminal(f) {
		p.Note("reading the log from the terminal; end it with Ctrl-D (Ctrl-Z and Enter on Windows)")
	} else if cli.IsTerminal(p.Stderr) {
		go w.progress(size)
	}
	return w
}

// progressEvery is how often a line on a terminal tells how much of an input was read.
const progressEvery = 2 * time.Second

// progress notes how much of size bytes was read, until the input is closed.
func (w *watched) progress(size int64) {
	of := ""
	if size > 0 {
		of = " of " + cli.Bytes(float64(size))
	}
	for {
		select {
		case <-w.closed:
			return
		case <-time.After(progressEvery):
			w.program.Note("%s: %s%s read", filepath.Base(w.name), cli.Bytes(float64(w.read.Load())), of)
		}
	}
}

func (w *watched) Read(b []byte) (int, error) {
	if err := context.Cause(w.ctx); err != nil {
		return 0, err
	}
	n, err := w.from.Read(b)
	w.read.Add(int64(n))
	return n, err
}

// over returns in, which is no longer followed when it is closed.
func (w *watched) over(in *input) *input {
	closeInput := in.close
	in.close = func() error {
		close(w.closed)
		if p := w.program; p.Verbose {
			took := p.Now().Sub(w.began)
			p.Detail("%s: read %s in %s, %s/s", w.name, cli.Bytes(float64(w.read.Load())), took.Round(time.Millisecond),
				cli.Bytes(float64(w.read.Load())/max(took.Seconds(), 1e-6)))
		}
		return closeInput()
	}
	return in
}

// standardInputName is how messages name standard input.
const standardInputName = "standard input"

// standardInput is the name of standard input on the command line.
const standardInput = "-"

// errNoFile says that a file does not exist.
var errNoFile = text.Say("no such file")

// openAny opens a file of any kind, an address by the name that p.named gives it, or standard input for "-".
func (p *program) openAny(ctx context.Context, name string) (*input, error) {
	if name == standardInput {
		watch := p.watch(ctx, standardInputName, 0, p.Stdin)
		in := pipeInput(ctx, func() (io.ReadCloser, error) { return io.NopCloser(watch), nil })
		if f, ok := p.Stdin.(*os.File); !ok || !cli.IsTerminal(f) {
			_ = p.begins(in) // its error comes again
		}
		return watch.over(in), nil
	}
	if files.IsAddress(name) {
		return p.openAddress(ctx, name)
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && name == "":
		return nil, ioError(fmt.Errorf("%q: %w", name, errNoFile))
	case errors.Is(err, fs.ErrNotExist):
		return nil, ioError(fmt.Errorf("%s: %w%s", name, p.inWords(errNoFile), files.Missing(name)))
	case err != nil:
		return nil, ioError(err)
	case info.IsDir():
		return nil, ioError(fmt.Errorf("%s %w", name, p.inWords(text.Say("is a directory: name a log in it"))))
	}
	if !info.Mode().IsRegular() {
		return pipeInput(ctx, func() (io.ReadCloser, error) { return os.Open(name) }), nil
	}
	if p.writesTo(info) {
		return nil, ioError(fmt.Errorf("%s is also the output file: write the output to another file", name))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, ioError(err)
	}
	watch := p.watch(ctx, name, info.Size(), f)
	return watch.over(&input{bufio.NewReaderSize(watch, readSize), f.Close}), nil
}

// silence is how long standard input may be silent before a message says that it is read.
const silence = time.Second

// begins waits until standard input has a byte, and returns an error where it ends or breaks before.
func (p *program) begins(in *input) (err error) {
	begun := make(chan struct{})
	go func() {
		_, err = in.Peek(1)
		close(begun)
	}()
	p.await(begun, time.After(silence))
	return err
}

// await waits until standard input has begun, and notes when it is late.
func (p *program) await(begun <-chan struct{}, late <-chan time.Time) {
	select {
	case <-begun:
	case <-late:
		p.Note("waiting for a log on standard input; name a file to read another")
		<-begun
	}
}

// writesTo reports whether a file is the output: it would be overwritten, or read without end while it grows.
func (p *program) writesTo(file fs.FileInfo) bool {
	if info, err := os.Stat(p.output); err == nil && os.SameFile(info, file) {
		return true
	}
	out, ok := p.Stdout.(*os.File)
	if !ok {
		return false
	}
	info, err := out.Stat()
	return err == nil && info.Mode().IsRegular() && os.SameFile(info, file)
}

// readSize is how much is read from a file at a time.
const readSize = 64 << 10

// input is an open file or standard input.
type input struct {
	*bufio.Reader
	close func() error
}

func (i *input) Close() error { return i.close() }

// pipeInput opens and reads an input that may stay silent, such as standard input or a named pipe, in a goroutine:
// neither the opening nor a read can be interrupted. The goroutine ends with the process.
func pipeInput(ctx context.Context, open func() (io.ReadCloser, error)) *input {
	pr, pw := io.Pipe()
	stop := context.AfterFunc(ctx, func() { pw.CloseWithError(context.Cause(ctx)) })
	go func() {
		r, err := open()
		if err == nil {
			_, err = io.Copy(pw, r)
			_ = r.Close() // only read from
		}
		pw.CloseWithError(err)
	}()
	return &input{Reader: bufio.NewReaderSize(pr, readSize), close: func() error { stop(); return pr.Close() }}
}

// fetched is a log that is shared at an address.
type fetched struct {
	address string
	data    []byte // nil before it was read
}

// named returns the name of an input in messages and reports. For an address it leaves out user, password, query and
// fragment, which may be secret.
func (p *program) named(input string) string {
	if !files.IsAddress(input) {
		return input
	}
	u, err := url.Parse(input)
	if err != nil || u.Host == "" {
		return input // opening it returns the error
	}
	shown := (&url.URL{Scheme: strings.ToLower(u.Scheme), Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
	if p.fetched == nil {
		p.fetched = map[string]*fetched{}
	}
	name := shown
	for i := 2; p.fetched[name] != nil && p.fetched[name].address != input; i++ {
		name = fmt.Sprintf("%s (%d)", shown, i) // the addresses differ in a part that is left out
	}
	if p.fetched[name] == nil {
		p.fetched[name] = &fetched{address: input}
	}
	return name
}

// openAddress opens a log that is shared at an address, by its name. It is read once, and then held.
func (p *program) openAddress(ctx context.Context, name string) (*input, error) {
	f := p.fetched[name]
	switch {
	case f == nil:
		return nil, cli.Failed(exitUsage, fmt.Errorf("%q is no address of a log", name))
	case p.host.Fetch == nil:
		return nil, cli.Failed(exitUsage, fmt.Errorf("%s: %s uses no network: download the log, or use heed", name, p.Name))
	case f.data == nil:
		p.Note("fetching %s", name)
		data, err := p.host.Fetch(ctx, f.address)
		if err != nil {
			return nil, ioError(fmt.Errorf("%s: %w", name, err))
		}
		f.data = append([]byte{}, data...) // not nil
	}
	return &input{bufio.NewReaderSize(bytes.NewReader(f.data), readSize), func() error { return nil }}, nil
}

// fileOf returns the last part of an address as the name of a file on any system.
func fileOf(address string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && strings.ContainsRune(`<>:"/\|?*% `, r) || r < ' ' {
			return '_'
		}
		return r
	}, path.Base(address))
}
