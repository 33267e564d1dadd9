package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
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
		Use:  hookName,
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
	if f.server == "" {
		return cli.Usage(cmd, "--server: name the MCP server whose tools act on the game")
	}
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
	reaching, done := context.WithTimeout(ctx, hookWithin/2) // the rest is for the answer if a heed hangs
	defer done()
	found, err := p.reach(reaching, cmd, &f.clientFlags)
	defer closeAll(found)
	for i := range found {
		h.names = append(h.names, found[i].run.label())
	}
	switch {
	case err != nil:
		p.Note("nothing is told: %v", err)
		h.heed, err = absent{err}, nil
	case len(found) == 1:
		h.heed = found[0].Client
	default:
		err = h.each(ctx, found)
		h.heed, h.all = absent{errNoHeed}, true
	}
	err = errors.Join(err, h.answer(ctx, ""))
	if !h.told {
		err = errors.Join(err, h.say(""))
	}
	return err
}

// each answers the event from several heeds, those first that hold its call back: the game of a tool is not known.
func (h *hooked) each(ctx context.Context, found []reached) (err error) {
	var holding, others []reached
	for _, one := range found {
		if h.holds(ctx, one) {
			holding = append(holding, one)
		} else {
			others = append(others, one)
		}
	}
	for _, one := range append(holding, others...) {
		pid := strconv.Itoa(one.run.PID)
		h.heed, h.chosen = one.Client, []string{"--pid", pid}
		err = errors.Join(err, h.answer(ctx, "/"+pid))
	}
	h.chosen = nil
	return err
}

// holds reports whether the event asks for a call, and an item of the heed holds it back.
func (h *hooked) holds(ctx context.Context, one reached) bool {
	var current gabp.CurrentResult
	return h.gates() && one.Call(ctx, gabp.MethodAttentionCurrent, struct{}{}, &current) == nil &&
		current.Attention != nil && current.Attention.Blocking
}

// gates reports whether the event asks for a call of the game that may be refused.
func (h *hooked) gates() bool {
	e := h.event
	return e.Takes() == hooks.Deny && h.flags.acts(e.Tool) && !fitsAny(h.flags.allow, e.Tool)
}

// absent is a heed that does not answer, and why.
type absent struct{ error }

// Call returns why the heed does not answer.
func (a absent) Call(context.Context, string, any, any) error { return a.error }

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
	found, err := p.reach(cmd.Context(), cmd, &f.clientFlags)
	defer closeAll(found)
	if err != nil {
		p.Status = exitFinding
		fmt.Fprintf(&b, "heed      %v\n", err)
		if s, ok := errors.AsType[*cli.StatusError](err); ok && s.Next != "" {
			fmt.Fprintf(&b, "          %s\n", s.Next)
		}
	}
	for i := range found {
		fmt.Fprintf(&b, "heed      is found: %s\n", &found[i].run)
	}
	return p.print([]byte(b.String()))
}

// hookWithin bounds all questions to a heed in an event: a host waits 10 seconds for the answer.
var hookWithin = 8 * time.Second

// hooked is one event, and the heed that is asked about it.
type hooked struct {
	*program

	flags *hookFlags
	event *hooks.Event
	agent string // the name under which it acknowledges and calls

	heed   deliver.Heed
	names  []string // of all heeds that answer
	all    bool     // the conversation is of all of several, and continues if they are lost
	chosen []string // flags that select the heed among several
	heard  string   // the last answer of a heed in the conversation; see heardNote
	told   bool     // a text was written
}

// answer answers the event, and keeps the undelivered messages. It writes before it keeps: after a kill in between they
// are sent again.
//
// suffix tells the conversations with several heeds apart.
func (h *hooked) answer(ctx context.Context, suffix string) error {
	if len(h.names) == 0 && !h.remembers() {
		return nil
	}
	asked, unsaid := false, error(nil)
	step := func(s steer.State) (steer.State, error) {
		asked = true
		s, unsaid = h.step(ctx, s)
		return s, unsaid
	}
	box, err := h.openOutbox(ctx, h.flags.state)
	if err == nil {
		defer box.Close() //nolint:errcheck // all states are committed
		conversation := fmt.Sprintf("hook/%s/%s/%s", h.event.Host, h.event.Session, h.event.Agent) + suffix
		err = box.update(ctx, conversation, h.Now(), step)
	}
	if err != nil && unsaid == nil { // it is no reason to deny nothing
		h.Note("what is not delivered now is not kept: %v", err)
	}
	if !asked {
		_, _ = step(steer.State{})
	}
	return unsaid
}

// remembers reports whether there are conversations from before.
func (h *hooked) remembers() bool {
	dir, err := stateIn(h.flags.state, h.Getenv)
	if err == nil {
		_, err = os.Stat(dir.path(outboxName))
	}
	return err == nil
}

// offeredNote is the note of the kind of the event at which a text was offered last.
const offeredNote = "offered"

// heardNote is the note of the last answer of a heed: the item that held a call back, [nothing], or "" if there was
// none, or its loss was reported.
const heardNote = "heard"

// nothing is the heardNote of a heed that let a call pass.
const nothing = "nothing"

// severalNote is the note of the names of several heeds, one a line, whose loss was not reported.
const severalNote = "several"

// step takes the event, from the state before it to the one after it.
func (h *hooked) step(ctx context.Context, s steer.State) (steer.State, error) {
	e := h.event
	c := deliver.New(deliver.Config{
		State: s, Resume: true, Heed: h.heed, Caller: h.agent, BriefTokens: h.flags.brief, Now: h.Now,
		Way: way.Commands(cli.CommandLine, h.agent, slices.Concat(h.flags.arguments(), h.chosen)),
		Log: slog.New(slog.DiscardHandler),
	})
	c.Do(h.observe)
	notes := c.State().Notes
	h.heard = notes[heardNote]
	several, lost := notes[severalNote], strings.Split(notes[severalNote], "\n")
	for _, name := range append(h.names, "") {
		if i := slices.Index(lost, name); i >= 0 {
			lost = slices.Delete(lost, i, i+1)
		}
	}
	said := ""
	missed := len(h.names) > 0 && len(lost) > 0 && !h.told // another is left
	switch {
	case missed:
		h.heard = nothing
		if said = h.lost(ctx, c, "heed ("+strings.Join(lost, ", ")+")"); said != "" {
			several, lost = "", nil
		}
	case len(h.names) == 0:
		said = h.lost(ctx, c, "heed")
	case !h.all:
		said = h.steer(ctx, c)
	}
	if h.all {
		several = strings.Join(append(h.names, lost...), "\n")
		switch {
		case h.told && h.gates():
			h.heard = "an item of one of several"
		case missed || h.gates() || h.heard == "":
			h.heard = nothing
		}
	}
	c.Do(func(m *steer.Machine, now time.Time) steer.Action {
		m.Note(heardNote, h.heard)
		m.Note(severalNote, several)
		if said != "" {
			m.Note(offeredNote, string(e.Kind))
		}
		if said == "" && e.Kind == hooks.TurnEnd || e.Kind == hooks.SessionEnd {
			return m.Ended(false)
		}
		return steer.Action{}
	})
	if said == "" {
		return c.State(), nil
	}
	h.told = true
	return c.State(), h.say(said)
}

// steer returns the text for the event, "" for none, and reports its call.
func (h *hooked) steer(ctx context.Context, c *deliver.Conversation) (said string) {
	e, part, gates := h.event, h.event.Takes(), h.gates()
	var current gabp.CurrentResult
	if gates {
		if err := h.heed.Call(ctx, gabp.MethodAttentionCurrent, struct{}{}, &current); err != nil {
			h.Note("attention is not known: %v", err)
			return h.lost(ctx, c, "heed")
		}
	}
	h.heard = cmp.Or(h.heard, nothing)
	if e.Call().Ended() {
		h.report(ctx, c, "")
	}
	switch item := current.Attention; {
	case h.told: // by another heed: the rest waits for the next event
		return ""
	case gates:
		h.heard = nothing
		if item != nil && item.Blocking {
			h.heard = "item " + way.Number(item)
			said = h.noted(c.Refuse(ctx, way.Refusal{Tool: e.Tool, Item: item}))
			h.report(ctx, c, item.ID)
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
	if e.Call() == event.StatusStarted && said == "" && h.flags.acts(e.Tool) {
		h.report(ctx, c, "")
	}
	return said
}

// lost returns the text for the event if a heed answered before and answers no more, "" if there is nothing to add.
// Calls are refused until the user prompts, if the last one was, and else once. who names the heed.
func (h *hooked) lost(ctx context.Context, c *deliver.Conversation, who string) string {
	held := h.heard != "" && h.heard != nothing
	switch {
	case h.heard == "":
	case h.gates() && held:
		why := who + " does not answer any more, and " + h.heard + " held calls back. They are refused until heed runs again, " +
			"or the user prompts"
		return h.noted(c.Refuse(ctx, way.Refusal{Tool: h.event.Tool, Why: why, Wait: "start heed again, or ask the user"}))
	case h.gates():
		h.heard = ""
		return h.noted(c.Refuse(ctx, way.Refusal{Tool: h.event.Tool, Why: who + deliver.Unchecked + ". The next ones pass"}))
	case held && h.event.Kind == hooks.Prompt:
		h.heard = nothing
	}
	if h.event.Takes() != hooks.Context || h.heard != nothing {
		return ""
	}
	h.heard = ""
	c.Lost(who, true)
	return h.noted(c.Offer(ctx))
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
func (h *hooked) observe(m *steer.Machine, _ time.Time) steer.Action {
	e := h.event
	if e.MovedOn(hooks.Kind(m.State().Notes[offeredNote])) {
		deliver.Confirm(m)
	}
	ends := e.Kind == hooks.SessionEnd || e.Kind == hooks.TurnEnd && (e.StopActive || e.Aborted)
	if e.Kind == hooks.Prompt || m.State().Phase == steer.Idle && !ends {
		m.Ended(false) // the host need not report it
		m.Begin(steer.Message{Author: deliver.User, Text: e.Prompt})
	}
	if e.Kind == hooks.BatchEnd {
		m.Note(offeredNote, string(hooks.BatchEnd))
	}
	return steer.Action{}
}

// report reports the call of the event, and the item that holds it back, "" for none. Calls of the game are those that
// the host asks about: the end of any other call ends none that has begun.
func (h *hooked) report(ctx context.Context, c *deliver.Conversation, held string) {
	e := h.event
	exempt := fitsAny(h.flags.allow, e.Tool) || !h.flags.acts(e.Tool)
	call := bridge.Call{ID: e.CallID, Tool: e.Tool, Exempt: exempt, Held: held, Status: e.Call()}
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
