package live

import (
	"cmp"
	"math"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/mcp"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/files"
)

// mcpFlags are those of "heed mcp".
type mcpFlags struct {
	hostFlags
	log   string
	game  string
	brief int
	tools string
}

// The values of --tools.
const (
	toolsCore = "core"
	toolsAll  = "all"
)

func (p *program) mcpCommand() *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp [flags] -- SERVER [ARGS]",
		Short: "Start an MCP server, and run between it and its client",
		Long: `mcp starts an MCP server that acts on a game, and takes its place for the client that
started heed, on standard input and output. It reads the log of the game from its start,
or follows what the server writes to its standard error. Calls of tools are held back
while an item that blocks is open, results begin with what the log reported, and heed's
own tools and resources are added to the server's. All else passes unchanged, but a call
of a tool without an id, which is dropped.

Tools that the server declares to be read-only are never held back. A person acknowledges
with "heed ack" meanwhile, and the agent with the tool heed_ack.

What it cannot do: tell the agent before it asks for something. heed writes its own
messages to a file in its state folder. It ends when the client or the server does, with
the status of the server: 125 if heed itself failed; 126 and 127 if the server cannot be
started or was not found.`,
		Example: `  heed mcp --log Player.log -- ./colony-mcp
  heed mcp --log ~/.config/unity3d/Studio/Game/Player.log -- npx game-mcp-server
  heed mcp -- python3 server.py`,
		Args: cli.Args(1, math.MaxInt, "name the server's program after --, such as heed mcp -- ./game-mcp"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.mcp(cmd, &f, args) },
	}
	f.register(cmd)
	f.registerGate(cmd)
	flags := cmd.Flags()
	flags.SetInterspersed(false) // the server's flags are the server's
	flags.StringVar(&f.log, "log", files.Standard, "follow the game's log at `PATH`, - for the standard error of the server, \"none\" for no log")
	flags.StringVar(&f.game, "game", "", "the `ID` of the game, for the other commands")
	flags.IntVar(&f.brief, "brief", defaultBrief, "tell of an item in at most `N` tokens; 0: in one line, without text of the log")
	flags.StringVar(&f.tools, "tools", toolsCore, "list heed's tools `core` (brief, ack, entries) or all of them")
	flags.StringVar(&f.logFile, "log-file", "", "write heed's own messages to `FILE`, - for standard error (default: in the state folder)")
	return cmd
}

func (p *program) mcp(cmd *cobra.Command, f *mcpFlags, args []string) error {
	err := cmp.Or(f.validate(cmd), checkBrief(cmd, f.brief), cli.OneOf(cmd, "tools", f.tools, toolsCore, toolsAll))
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	signals, asks, stop := passedOn()
	defer stop()
	signal.Ignore(syscall.SIGPIPE) // a client that reads no more is an end, not a reason to be killed

	b := gabp.Bridge{Token: gabp.NewToken(), GameID: f.game}
	l, err := gabp.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return own(err)
	}
	b.Address = l.Addr().String()
	log := running(f.log, "named by --log", false)
	if f.log == "none" {
		log = source{}
	}
	h, err := p.newHost(&f.hostFlags, hosting{
		name: "mcp-" + fileName(cmp.Or(f.game, filepath.Base(args[0]))), source: log, next: mcp.SessionNext,
		command: "mcp", bridge: b, listener: l,
	})
	if err != nil {
		return own(err)
	}
	defer h.close(exitOwn)
	go h.ends(asks)
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
		proxy, err := mcp.New(mcp.Config{
			Session: h.session, Bridge: h.proxy, BriefTokens: f.brief, AllTools: f.tools == toolsAll, Client: stdio{p.Stdin, p.Stdout}, Server: server,
			Left: server.hangUp, Now: p.Now, Log: h.log,
		})
		if err != nil {
			return own(err)
		}
		err = server.during(signals, h.log, func() error { return proxy.Run(ctx) })
		p.Status = server.Exit().Code
		h.log.Info("the server has ended", "exit", server.Exit().String(), "not messages", proxy.Odd())
		if err != nil {
			return cli.Failed(exitOwn, err)
		}
		return nil
	})
}
