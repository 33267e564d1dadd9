package live

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/agent/steer"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/deliver"
	"github.com/heedlog/heed/cmd/internal/hooks"
	"github.com/heedlog/heed/cmd/internal/way"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/text"
)

// hookFlags are the flags of "heed hook".
type hookFlags struct {
	clientFlags
	host      string
	event     string
	tools     []string
	allow     []string
	brief     int
	configure string
	server    string
	doctor    bool
}

// hookName is the name of the command.
const hookName = "hook"

// hookSaid is the status of a hook whose host reads the answer from standard error, and ends with 2.
const hookSaid = 1000

// hookStatus returns the exit status of a hook that would end with status, after whatever error: hosts deny every tool,
// prompt and end of a turn for 2, and Copilot CLI and Cline a tool for all but 0.
func hookStatus(args []string, status int) int {
	switch {
	case status == hookSaid:
		return 2
	case slices.ContainsFunc(args, func(arg string) bool {
		return arg == "--doctor" || strings.HasPrefix(arg, "--configure")
	}):
		return status // a person asks, and no host
	case slices.ContainsFunc(args, func(arg string) bool {
		return strings.HasSuffix(arg, string(hooks.Copilot)) || strings.HasSuffix(arg, string(hooks.Cline))
	}):
		return exitOK
	}
	return min(status, exitFinding)
}

func (p *program) hookCommand() *cobra.Command {
	var f hookFlags
	var names []string
	for _, h := range hooks.Hosts() {
		names = append(names, string(h))
	}
	cmd := &cobra.Command{
		Use:   hookName,
		Short: "Answer a hook of a coding agent's host",
		Long: `hook is the command of a hook of Claude Code, Codex, Gemini CLI, Cursor, Copilot CLI, VS
Code, Windsurf, Cline or opencode. It reads the event on standard input and answers on standard
output: a tool is denied while an item of the running heed blocks, and what happened is
added after a tool or with the user's prompt, as far as the host can. A turn that would
end while the agent was not told of what blocks goes on once. The host decides which tools
it asks about, and --tool which of them are the game's:

  heed hook --configure claude --server game --allow '*get_*'

prints the configuration for the tools of the MCP server "game", and where it belongs.
"heed hook --doctor" reports whether each host has ever called, and whether a heed is found.

What was not delivered is kept in a database in the state folder, for the next event.
Exit status: 0, also while no heed runs, when all passes; 1 for input that is no event, and
for flags or settings that are wrong, which hosts show and take for no denial; 2 with a text
on standard error for Windsurf, whose agent reads it there. With --host copilot or cline,
which take any other for a denial, the status is always 0. With --configure or --doctor, 2
is wrong usage.`,
		Example: `  heed hook --configure claude --server game
  heed hook --configure vscode --tool 'mcp_game_*' --allow '*get_*'
  heed hook --doctor
  echo '{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"mcp__game__build"}' | heed hook --host claude`,
		Args: cli.NoArgs(hookName),
		RunE: func(cmd *cobra.Command, _ []string) error { return p.hook(cmd, &f, names) },
	}
	f.selects(cmd)
	cli.Checked(cmd, func(cmd *cobra.Command) error { return f.validate(cmd, names) })
	flags := cmd.Flags()
	flags.StringVar(&f.host, "host", "", "the `HOST` that asks: "+strings.Join(names, ", ")+" (default: recognized by what it sends)")
	flags.StringVar(&f.event, "event", "", "the `EVENT`, for hosts that do not send it")
	flags.StringArrayVar(&f.tools, "tool", nil, "only tools whose name fits `PATTERN` act on the game; all others pass (repeatable; default: all that the host asks about)")
	flags.StringArrayVar(&f.allow, "allow", nil, "never deny a tool whose name fits `PATTERN`, such as '*get_*' (repeatable)")
	flags.IntVar(&f.brief, "brief", defaultBrief, "tell of an item in at most `N` tokens; 0: in one line, without text of the log")
	flags.StringVar(&f.configure, "configure", "", "print the configuration for `HOST`, and do nothing else")
	flags.StringVar(&f.server, "server", "game", "with --configure: the `NAME` of the MCP server whose tools act on the game")
	flags.BoolVar(&f.doctor, "doctor", false, "report whether hosts have called, and whether a heed is found, and do nothing else")
	cli.Completes(cmd, "host", names...)
	cli.Completes(cmd, "configure", names...)
	return cmd
}

func (f *hookFlags) validate(cmd *cobra.Command, hosts []string) error {
	known := func(flag, host string) error { return cli.OneOf(cmd, flag, cmp.Or(host, hosts[0]), hosts...) }
	return cmp.Or(known("host", f.host), known("configure", f.configure),
		checkPatterns(cmd, "tool", f.tools), checkPatterns(cmd, "allow", f.allow), checkBrief(cmd, f.brief))
}

func (p *program) hook(cmd *cobra.Command, f *hookFlags, hosts []string) error {
	if f.configure != "" {
		file, content := hooks.Configuration(hooks.Host(f.configure), f.command(), f.server)
		p.Note("this belongs into %s", file)
		return p.print([]byte(content))
	}
	if f.doctor {
		return p.doctor(cmd, f, hosts)
	}
	input, err := io.ReadAll(io.LimitReader(p.Stdin, hooks.MaxInput+1))
	if err != nil {
		return cli.Failed(exitFinding, err)
	}
	e, err := hooks.Parse(input, hooks.Host(f.host), f.event)
	if err != nil {
		return cli.Failed(exitFinding, err)
	}
	p.called(f, &e)
	ctx, stop := untilInterrupted(cmd.Context())
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, hookWithin)
	defer cancel()
	agent := agentName("hook", e.Session, e.Agent)
	h := hooked{program: p, flags: f, event: &e, agent: agent}
	client, _, err := p.connect(ctx, cmd, &f.clientFlags)
	if err != nil {
		p.Note("nothing is told: %v", err)
		return h.say("")
	}
	defer client.Close() //nolint:errcheck // all answers have come
	h.client = client
	return h.answer(ctx)
}

// command returns the command of the hook, with the flags that choose tools and the heed.
func (f *hookFlags) command() string {
	args := []string{"heed", hookName}
	tools := f.tools
	if pattern := hooks.Pattern(hooks.Host(f.configure), f.server); tools == nil && pattern != "" {
		tools = []string{pattern}
	}
	for _, pattern := range tools {
		args = append(args, "--tool", pattern)
	}
	for _, pattern := range f.allow {
		args = append(args, "--allow", pattern)
	}
	return cli.CommandLine(append(args, f.arguments()...)...)
}

// acts reports whether a tool acts on the game.
func (f *hookFlags) acts(tool string) bool {
	return !ownTool(tool) && (f.tools == nil || fitsAny(f.tools, tool))
}

// calledPrefix begins the names of the files of the last event of each host, in the state folder.
const calledPrefix = "hook-"

// called keeps the name of the event, and its time as the time of the file, for the doctor.
func (p *program) called(f *hookFlags, e *hooks.Event) {
	if dir, err := stateIn(f.state, p.Getenv); err == nil && dir.open() == nil {
		_ = os.WriteFile(dir.path(calledPrefix+string(e.Host)), []byte(text.Safe(e.Name, 80)), 0o600) // it is a hint alone
	}
}

// unheard is why a host may not call, where its documents give a reason.
var unheard = map[hooks.Host]string{
	hooks.Codex:  ": it ignores the hooks of a project until its user trusts them",
	hooks.VSCode: ": an organization may have turned hooks off", hooks.Cline: ": it runs executable files alone",
}

// doctor reports whether hosts have called, and whether a heed is found.
func (p *program) doctor(cmd *cobra.Command, f *hookFlags, hosts []string) error {
	dir, err := stateIn(f.state, p.Getenv)
	if err != nil {
		return cli.Failed(exitUsage, err)
	}
	var b strings.Builder
	p.Status = exitFinding
	for _, host := range hosts {
		path := dir.path(calledPrefix + host)
		info, err := os.Stat(path)
		switch {
		case f.host != "" && f.host != host:
		case err == nil:
			name, _ := os.ReadFile(path)
			p.Status = exitOK
			fmt.Fprintf(&b, "%-9s has called: %s, %s ago\n", host, text.Safe(string(name), 80),
				p.Now().Sub(info.ModTime()).Round(time.Second))
		default:
			fmt.Fprintf(&b, "%-9s has never called%s\n", host, unheard[hooks.Host(host)])
		}
	}
	client, run, err := p.connect(cmd.Context(), cmd, &f.clientFlags)
	if err != nil {
		p.Status = exitFinding
		fmt.Fprintf(&b, "heed      is not found: %v\n", err)
	} else {
		fmt.Fprintf(&b, "heed      is found: %s\n", run)
		_ = client.Close() // nothing was asked
	}
	return p.print([]byte(b.String()))
}

// hookWithin bounds all questions to a heed in an event: a host waits 10 seconds for the answer.
var hookWithin = 8 * time.Second

// hooked is one event, and the heed that is asked about it.
type hooked struct {
	*program

	flags  *hookFlags
	event  *hooks.Event
	agent  string // the name under which it acknowledges and calls
	client *gabp.Client
}

// answer answers the event, and keeps the undelivered messages. It writes before it keeps: after a kill in between they
// are sent again.
func (h *hooked) answer(ctx context.Context) error {
	asked, unsaid := false, error(nil)
	step := func(s steer.State) (steer.State, error) {
		asked = true
		s, unsaid = h.step(ctx, s)
		return s, unsaid
	}
	box, err := h.openOutbox(ctx, h.flags.state)
	if err == nil {
		defer box.Close() //nolint:errcheck // all states are committed
		conversation := fmt.Sprintf("hook/%s/%s/%s", h.event.Host, h.event.Session, h.event.Agent)
		err = box.Update(ctx, conversation, h.Now(), step)
	}
	if err != nil && unsaid == nil { // it is no reason to deny nothing
		h.Note("what is not delivered now is not kept: %v", err)
	}
	if !asked {
		_, _ = step(steer.State{})
	}
	return unsaid
}

// offeredNote is the note of the kind of the event at which a text was offered last.
const offeredNote = "offered"

// step takes the event, from the state before it to the one after it.
func (h *hooked) step(ctx context.Context, s steer.State) (steer.State, error) {
	e := h.event
	c, err := deliver.New(deliver.Config{
		State: s, Resume: true, Heed: h.client, Caller: h.agent, BriefTokens: h.flags.brief, Now: h.Now,
		Way: way.Commands(cli.CommandLine, h.agent, h.flags.arguments()),
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return s, err
	}
	c.Do(func(m *steer.Machine, now time.Time) steer.Action { return h.observe(m, now) })
	said := ""
	if e.Call().Ended() {
		h.report(ctx, c)
	}
	switch part := e.Takes(); {
	case part == hooks.Deny && h.flags.acts(e.Tool) && !fitsAny(h.flags.allow, e.Tool):
		var current gabp.CurrentResult
		if err := h.client.Call(ctx, gabp.MethodAttentionCurrent, struct{}{}, &current); err != nil {
			h.Note("attention is not known: %v", err)
			break
		}
		if item := current.Attention; item != nil && item.Blocking {
			said = h.noted(c.Refuse(ctx, item, "", e.Tool))
		}
	case part == hooks.Context:
		said = h.noted(c.Offer(ctx))
	case part == hooks.GoOn && !e.StopActive:
		if err := c.Look(ctx); err != nil {
			h.Note("attention is not known: %v", err)
		}
		if slices.ContainsFunc(c.State().Pending, func(msg steer.Message) bool { return !msg.Rides }) {
			said = h.noted(c.Offer(ctx))
		}
	}
	if said != "" {
		c.Do(func(m *steer.Machine, _ time.Time) steer.Action {
			m.Note(offeredNote, string(e.Kind))
			return steer.Action{}
		})
	}
	if e.Call() == event.StatusStarted && said == "" && h.flags.acts(e.Tool) {
		h.report(ctx, c)
	}
	if said == "" && e.Kind == hooks.TurnEnd || e.Kind == hooks.SessionEnd {
		c.Do(func(m *steer.Machine, now time.Time) steer.Action { return m.Ended(now, false) })
	}
	return c.State(), h.say(said)
}

// say writes the answer: on standard error, with its status, where the host reads it there.
func (h *hooked) say(said string) error {
	out, status := h.event.Render(said)
	if status == exitOK {
		return h.print(out)
	}
	h.Status = hookSaid
	_, err := h.Stderr.Write(out)
	return err
}

// observe reports the event to the machine: a turn that begins, and the messages that the model has read.
func (h *hooked) observe(m *steer.Machine, now time.Time) steer.Action {
	e := h.event
	if e.MovedOn(hooks.Kind(m.State().Notes[offeredNote])) {
		deliver.Confirm(m)
	}
	ends := e.Kind == hooks.SessionEnd || e.Kind == hooks.TurnEnd && (e.StopActive || e.Aborted)
	if e.Kind == hooks.Prompt || m.State().Phase == steer.Idle && !ends {
		m.Ended(now, false) // the host need not report it
		m.Begin(steer.Message{Author: deliver.User, Text: e.Prompt})
	}
	if e.Kind == hooks.BatchEnd {
		m.Note(offeredNote, string(hooks.BatchEnd))
	}
	return steer.Action{}
}

// report reports the call of the event. Calls of the game are those that the host asks about: the end of any other call
// ends none that has begun.
func (h *hooked) report(ctx context.Context, c *deliver.Conversation) {
	e := h.event
	call := bridge.Call{ID: e.CallID, Tool: e.Tool, Exempt: fitsAny(h.flags.allow, e.Tool), Status: e.Call()}
	if err := c.Report(ctx, call); err != nil {
		h.Note("the call is not known to heed: %v", err)
	}
}

// ownTool reports whether a tool is heed's own in a bridge, which is never denied and no call of the game.
func ownTool(name string) bool {
	own := []string{"heed_", "heed/", "attention_ack", "attention/ack", "attention_current", "attention/current"}
	return slices.ContainsFunc(own, func(part string) bool { return strings.Contains(name, part) })
}

// noted returns said, and notes err as the reason why more is not known.
func (h *hooked) noted(said string, err error) string {
	if err != nil {
		h.Note("attention is not known: %v", err)
	}
	return said
}
