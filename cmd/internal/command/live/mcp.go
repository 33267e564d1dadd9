package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/command"
	"github.com/heedlog/heed/cmd/internal/mcp"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/text"
)

// mcpFlags are the flags of "heed mcp".
type mcpFlags struct {
	hostFlags
	log   string
	game  string
	brief int
	tools string

	url      string
	urlToken string // the file that has it

	listen       string
	listenRemote bool
	tokenFile    string
}

// The values of --tools.
const (
	toolsCore = "core"
	toolsAll  = "all"
)

func (p *program) mcpCommand() *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:  "mcp [flags] -- SERVER [ARGS]",
		RunE: func(cmd *cobra.Command, args []string) error { return p.mcp(cmd, &f, args) },
	}
	cmd.AddCommand(p.installCommand(&f))
	f.register(cmd)
	f.registerGate(cmd)
	flags := cmd.Flags()
	flags.SetInterspersed(false) // the server's flags are the server's
	flags.StringVar(&f.log, "log", files.Standard, "follow the game's log at `PATH`, - for the standard error of the server, \"none\" for no log")
	flags.StringVar(&f.game, "game", "", "the `ID` of the game, for the other commands")
	flags.IntVar(&f.brief, "brief", defaultBrief, "tell of an item in at most `N` tokens; 0: in one line, without text of the log")
	flags.StringVar(&f.url, "url", "", "run in front of the server at `URL`, in place of a program")
	flags.StringVar(&f.urlToken, "url-token-file", "", "send the server of --url the bearer token in `FILE`")
	flags.StringVar(&f.listen, "listen", "", "serve a client over HTTP on `ADDR`, such as 127.0.0.1:7777, in place of standard input and output")
	flags.BoolVar(&f.listenRemote, "listen-remote", false, "let --listen listen to other machines, too")
	flags.StringVar(&f.tokenFile, "token-file", "", "with --listen: require the token in `FILE`, which is made if it does not exist; none requires no token (default: in the state folder)")
	flags.StringVar(&f.tools, "tools", toolsCore, "list `WHICH` of heed's tools: core (brief, ack, entries) or all")
	cli.Choice(cmd, "tools", toolsCore, toolsAll)
	flags.StringVar(&f.logFile, "log-file", "", "write heed's own messages to `FILE`, - for standard error (default: in the state folder)")
	return cmd
}

// validate returns an error for flags that would be refused later, before anything starts.
func (f *mcpFlags) validate(cmd *cobra.Command, args []string) error {
	err := cmp.Or(checkBrief(cmd, f.brief), loopbackOnly(cmd, "listen"))
	u, bad := url.Parse(f.url)
	switch {
	case err != nil:
		return err
	case f.url == "" && len(args) == 0:
		return cli.Usage(cmd, "name the server's program after --, such as heed mcp -- ./game-mcp, or --url")
	case f.url == "":
		return nil
	case len(args) > 0:
		return cli.Usage(cmd, "--url and a program: choose one")
	case bad != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return cli.Usage(cmd, "--url %s: want such as http://127.0.0.1:8080/mcp", f.url)
	case f.log == files.Standard:
		return cli.Usage(cmd, "--url: name the game's log with --log; none for no log")
	}
	return nil
}

func (p *program) mcp(cmd *cobra.Command, f *mcpFlags, args []string) error {
	if err := f.validate(cmd, args); err != nil {
		return err
	}
	ctx := cmd.Context()
	signals, asks, stop := passedOn()
	defer stop()
	name := "server"
	if len(args) > 0 {
		name = filepath.Base(args[0])
	} else { // there is no program that ends with the signal
		var stop func()
		ctx, stop = untilInterrupted(ctx)
		defer stop()
	}
	signal.Ignore(syscall.SIGPIPE) // a client that reads no more is an end, not a reason to be killed

	l, err := gabp.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return own(err)
	}
	b := gabp.Bridge{Address: l.Addr().String(), Token: gabp.NewToken(), GameID: f.game}
	how := "named by --log"
	if f.log == files.Standard {
		how = "the standard error of the server; --log names another"
	}
	log := running(f.log, how, false)
	if f.log == "none" {
		log = source{}
	}
	h := &host{
		flags: &f.hostFlags, name: "mcp-" + fileName(cmp.Or(f.game, name)), source: log, next: mcp.SessionNext,
		command: "mcp", bridges: f.bridges(b), listener: l,
	}
	if err := p.newHost(h); err != nil {
		return own(err)
	}
	defer h.close(exitOwn)
	go h.ends(asks)
	client, served, err := p.mcpClient(ctx, h, f)
	if err != nil {
		return own(err)
	}
	defer served()
	run := func(server io.ReadWriter, left func(), exit func() string) error {
		proxy := mcp.New(mcp.Config{
			Session: h.session, Bridge: h.proxy, BriefTokens: f.brief, AllTools: f.tools == toolsAll, Client: client,
			Server: server, Left: left, Exit: exit, Now: p.Now, Log: h.log,
		})
		defer func() { h.log.Info("the server has ended", "not messages", proxy.Odd()) }()
		return proxy.Run(ctx)
	}
	if f.url != "" {
		token := ""
		if f.urlToken != "" {
			if token, err = readToken(f.urlToken); err != nil {
				return cli.Failed(exitUsage, err)
			}
		}
		return h.serveDuring(ctx, func(<-chan error) error {
			server := mcp.Dial(f.url, token, h.log)
			defer server.Finish(0)
			return run(server, func() { server.Finish(f.grace) }, nil)
		})
	}
	out := &output{}
	stderr, err := out.tee(h, "stderr", p.Stderr, h.spool != nil)
	if err != nil {
		return own(err)
	}
	return h.serveDuring(ctx, func(<-chan error) error { // the server's changes of the log come after this
		defer out.finish(h)
		server, err := startTalking(args, stderr, f.grace)
		out.handedOver()
		if err != nil {
			return err
		}
		defer server.Kill()
		h.log.Info("the server was started", "program", args[0], "pid", server.PID())
		err = server.during(signals, h.log, func() error { return run(server, server.hangUp, server.ending) })
		p.Status = server.Exit().Code
		h.log.Info("the server's exit", "exit", server.Exit().String())
		if err != nil {
			return cli.Failed(exitOwn, err)
		}
		return nil
	})
}

// endingWithin bounds how long the exit of a server is waited for that has closed its output.
const endingWithin = time.Second

// ending returns how the program ended, "" if it runs on.
func (t *talker) ending() string {
	select {
	case <-t.Exited():
		return t.Exit().String()
	case <-time.After(endingWithin):
		return ""
	}
}

// maxClientConns bounds the connections of a client over HTTP, which has one for each request without an answer.
const maxClientConns = 512

// mcpClient returns the client: on standard input and output, or over HTTP until stop is called.
func (p *program) mcpClient(ctx context.Context, h *host, f *mcpFlags) (client io.ReadWriter, stop func(), err error) {
	if f.listen == "" {
		return stdio{p.Stdin, p.Stdout}, func() {}, nil
	}
	token, with := "", "without a token"
	if f.tokenFile != "none" {
		file := cmp.Or(f.tokenFile, h.state.path("mcp.token"))
		if token, err = ownToken(file); err != nil {
			return nil, nil, cli.Failed(exitUsage, err)
		}
		with = "with the token in " + file
	}
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return nil, nil, cli.Failed(exitUsage, fmt.Errorf("--listen: %w", err))
	}
	front, mux := mcp.NewFront(token, f.listenRemote), http.NewServeMux()
	mux.Handle("/mcp", front)
	ctx, cancel := context.WithCancel(ctx)
	served := make(chan struct{})
	go func() {
		defer close(served)
		defer front.Close() //nolint:errcheck // nothing waits to be read any more
		if err := serveHTTP(ctx, l, mux, time.Minute, maxClientConns); err != nil {
			h.lost("listen", fmt.Errorf("no client can connect any more: %w", err))
		}
	}()
	p.Note("serves MCP at http://%s/mcp, %s", l.Addr(), with)
	return front, func() { cancel(); <-served }, nil
}

// ownToken returns the token in a file, which it makes if it does not exist.
func ownToken(path string) (string, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(file, gabp.NewToken())
		err = errors.Join(err, file.Close())
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	return readToken(path)
}

// maxClientFile bounds, in bytes, the file of a client.
const maxClientFile = 16 << 20

// installFlags are the flags of "heed mcp install".
type installFlags struct {
	server, file string
	write, undo  bool
}

// installCommand makes the command. front has the flags of mcp.
func (p *program) installCommand(front *mcpFlags) *cobra.Command {
	var f installFlags
	names := make([]string, len(mcp.Clients))
	for i := range mcp.Clients {
		names[i] = mcp.Clients[i].Name
	}
	cmd := &cobra.Command{
		Use:       "install CLIENT [-- FLAGS OF MCP]",
		Args:      cli.Args(1, math.MaxInt, "name a client: "+strings.Join(names, ", ")),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			i := slices.Index(names, args[0])
			if i < 0 {
				return cli.Usage(cmd, "client %q: use one of %s%s", args[0], strings.Join(names, ", "), cli.Meant(args[0], names))
			}
			own, err := frontFlags(cmd, front, args[1:])
			if err != nil {
				return err
			}
			return p.install(cmd, &f, &mcp.Clients[i], own)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.server, "server", "game", "the `NAME` of the server in the configuration")
	flags.StringVar(&f.file, "file", "", "change the configuration in `FILE`")
	flags.BoolVar(&f.write, "write", false, "write what is shown")
	flags.BoolVar(&f.undo, "undo", false, "take heed away from before the server")
	return cmd
}

func (p *program) install(cmd *cobra.Command, f *installFlags, client *mcp.Client, args []string) error {
	var front []string
	switch self, err := os.Executable(); {
	case err != nil:
		return own(err)
	case f.undo && len(args) > 0:
		return cli.Usage(cmd, "--undo takes no flags of mcp")
	case !f.undo:
		front = append([]string{self, "mcp"}, args...)
	}
	places := client.Files
	if f.file != "" {
		places = []string{f.file}
	}
	var there []string
	for _, place := range places {
		file := place
		if rest, ok := strings.CutPrefix(file, "~/"); ok {
			home, err := os.UserHomeDir()
			if err != nil {
				return own(err)
			}
			file = filepath.Join(home, rest)
		}
		data, err := files.ReadRegular(file, maxClientFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return cli.Failed(exitUsage, err)
		}
		edited, before, after, err := client.Edit(file, data, f.server, front)
		switch {
		case errors.Is(err, mcp.ErrNoServer):
			there = append(there, client.Servers(file, data)...)
			continue
		case errors.Is(err, mcp.ErrInFront), errors.Is(err, mcp.ErrAlone):
			return p.print(fmt.Appendf(nil, "%s: %s: %v\n", file, f.server, err))
		case err != nil:
			return cli.Failed(exitUsage, fmt.Errorf("%s: %s: %w", file, f.server, err))
		}
		out := fmt.Appendf(nil, "%s\n%s%s", file, marked("-", before), marked("+", after))
		if f.write {
			if err := command.ReplaceFile(file, edited); err != nil {
				return own(err)
			}
			out = append(out, "written; restart the client\n"...)
		} else {
			out = append(out, "nothing is changed yet: --write writes this\n"...)
		}
		return p.print(out)
	}
	if len(there) == 1 && !cmd.Flags().Changed("server") {
		only := *f
		only.server = there[0]
		return p.install(cmd, &only, client, args)
	}
	next := "configure it there first, or name its file by --file"
	if len(there) > 0 {
		next = "there are: " + text.Safe(strings.Join(there, ", "), 400)
	}
	return cli.Failed(exitUsage, fmt.Errorf("no server %q in %s; %s", f.server, strings.Join(places, ", "), next))
}

// frontFlags returns the flags of mcp with absolute paths, or an error for flags that mcp would refuse.
func frontFlags(cmd *cobra.Command, f *mcpFlags, args []string) (own []string, err error) {
	parent := cmd.Parent()
	parent.InheritedFlags() // which adds the flags of all commands
	flags := parent.Flags()
	err = flags.ParseAll(args, func(flag *pflag.Flag, value string) error {
		if err := flags.Set(flag.Name, value); err != nil {
			return err
		}
		kind, _ := pflag.UnquoteUsage(flag)
		if path, err := filepath.Abs(value); err == nil && slices.Contains([]string{"PATH", "FILE", "DIR"}, kind) &&
			!slices.Contains([]string{files.Standard, "none", "off"}, value) {
			value = path
		}
		if flag.NoOptDefVal != "" { // its value is no word of its own
			own = append(own, "--"+flag.Name+"="+value)
		} else {
			own = append(own, "--"+flag.Name, value)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, cli.Usage(cmd, "%w", cli.FlagError(parent, err))
	case flags.NArg() > 0:
		return nil, cli.Usage(cmd, "the server is in the configuration: unexpected %q", flags.Arg(0))
	}
	return own, cmp.Or(parent.PreRunE(parent, nil), f.validate(parent, []string{"the server"}))
}

// marked returns lines with a mark in front, safe for a terminal.
func marked(mark, lines string) []byte {
	var out []byte
	for line := range strings.SplitSeq(strings.TrimRight(lines, "\n"), "\n") {
		out = append(text.AppendSafe(append(out, mark+" "...), line, 0), '\n')
	}
	return out
}
