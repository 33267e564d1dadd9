package hooks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// MaxInput bounds the input of an event, in bytes. Hosts send the result of a tool, Claude Code all results of a batch.
const MaxInput = 4 << 20

// maxName bounds all names and ids of an event, in bytes.
const maxName = 1024

// Host is a program that runs hooks.
type Host string

// The hosts.
const (
	Claude   Host = "claude"
	Codex    Host = "codex"
	Gemini   Host = "gemini"
	Cursor   Host = "cursor"
	Copilot  Host = "copilot"
	VSCode   Host = "vscode"
	Windsurf Host = "windsurf"
	Cline    Host = "cline"
	Opencode Host = "opencode"
)

// Hosts returns all hosts.
func Hosts() (all []Host) {
	for _, t := range tables() {
		all = append(all, t.host)
	}
	return all
}

// Kind is the kind of an event, in any host.
type Kind string

// The kinds of events. At BatchEnd all tools that the model called at once are done, and the next request to the model
// is about to be made; only Claude Code has it.
const (
	SessionStart Kind = "session-start"
	Prompt       Kind = "prompt"
	BeforeTool   Kind = "before-tool"
	AfterTool    Kind = "after-tool"
	ToolFailed   Kind = "tool-failed"
	BatchEnd     Kind = "batch-end"
	TurnEnd      Kind = "turn-end"
	SessionEnd   Kind = "session-end"
	Other        Kind = "other"
)

// Event is a report of a host.
type Event struct {
	Host Host
	Kind Kind
	Name string // as the host calls it

	Session string // never empty
	Agent   string // the subagent that it happened in, which has a conversation of its own; "" for none

	Tool   string // as the host names it, with the server's name where the host has it
	CallID string // of the call of the tool, "" where the host gives none
	Prompt string // the user's request

	// StopActive reports that a hook let the agent continue before the end of the turn, Aborted that an error or the user
	// ended the turn, so that it cannot continue, or that the user ended the call.
	StopActive bool
	Aborted    bool
}

// members are the members of a JSON object.
type members map[string]json.RawMessage

// at returns the member at a path, which has dots between its names; nil for none.
func (m members) at(path string) json.RawMessage {
	name, rest, nested := strings.Cut(path, ".")
	if !nested {
		return m[name]
	}
	var inner members
	_ = json.Unmarshal(m[name], &inner) // of another type, it has no members
	return inner.at(rest)
}

// input has the members of an input, and the first error about a member with the wrong type.
type input struct {
	members
	wrong error
}

// read returns the first of the members at some paths that is not zero. Hosts have several names for one member.
func read[T comparable](in *input, paths ...string) (v T) {
	var zero T
	for _, path := range paths {
		if value := in.at(path); value != nil && v == zero {
			if err := json.Unmarshal(value, &v); err != nil {
				in.wrong = cmp.Or(in.wrong, fmt.Errorf("%s: %w", path, err))
			}
		}
	}
	return v
}

func (in *input) text(paths ...string) string { return read[string](in, paths...) }

// tool returns the name of a tool of an MCP server, as Claude Code joins both names; "" for none.
func (in *input) tool(server, tool string) string {
	server, tool = in.text(server), in.text(tool)
	if server == "" || tool == "" {
		return tool
	}
	return "mcp__" + inTools(server) + "__" + tool
}

// Parse reads the input of an event. A host or event of "" is recognized by the input; Copilot CLI names the event only
// in its configuration. An unknown event has the kind Other. An error names the missing member, or the member with the
// wrong type.
func Parse(data []byte, host Host, event string) (Event, error) {
	if len(data) > MaxInput {
		return Event{}, fmt.Errorf("hook input: %d bytes, of at most %d", len(data), MaxInput)
	}
	var in input
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // a shell on Windows may write the mark
	in.wrong = json.Unmarshal(data, &in.members)
	if host == "" {
		host = in.host()
	}
	t := tableOf(host)
	if t.host == "" {
		return Event{}, fmt.Errorf("hooks: unknown host %s", text.Safe(string(host), 40))
	}
	e := Event{
		Host: host, Name: cmp.Or(event, in.text("hook_event_name", "hookEventName", "agent_action_name", "hookName")),
		Session: in.text("conversation_id", "session_id", "sessionId", "trajectory_id", "taskId"),
		Agent:   in.text("agent_id"), CallID: in.text("tool_use_id"),
		Tool: cmp.Or(in.text("tool_name", "toolName"), in.tool("tool_info.mcp_server_name", "tool_info.mcp_tool_name"),
			// Cline calls the tools of all MCP servers by one of its own.
			in.tool("preToolUse.parameters.server_name", "preToolUse.parameters.tool_name"), in.text("preToolUse.toolName"),
			in.tool("postToolUse.parameters.server_name", "postToolUse.parameters.tool_name"), in.text("postToolUse.toolName")),
		Prompt:     in.text("prompt", "tool_info.user_prompt", "userPromptSubmit.prompt"),
		StopActive: read[bool](&in, "stop_hook_active") || read[float64](&in, "loop_count") > 0,
		Aborted:    read[bool](&in, "is_interrupt"),
	}
	status := in.text("status")
	if in.wrong != nil {
		return Event{}, fmt.Errorf("hook input: %s", text.Safe(in.wrong.Error(), 200))
	}
	e.Aborted = e.Aborted || e.Name == stopFailure || host == Cursor && status != "" && status != "completed"
	e.Kind = t.event(e.Name).kind
	if string(in.at("postToolUse.success")) == "false" {
		e.Kind = ToolFailed
	}
	return e, e.check()
}

// check returns an error for an event with a missing member, or a member that is too long.
func (e *Event) check() error {
	switch {
	case e.Name == "":
		return errors.New("hook input: no event: hook_event_name is missing, and none is named")
	case e.Session == "":
		return errors.New("hook input: no session: session_id, conversation_id and sessionId are missing")
	case e.Tool == "" && (e.Kind == BeforeTool || e.Kind == AfterTool || e.Kind == ToolFailed):
		return errors.New("hook input: no tool: tool_name and toolName are missing")
	}
	if n := len(e.Name + e.Session + e.Agent + e.Tool + e.CallID); n > maxName {
		return fmt.Errorf("hook input: names and ids of %d bytes, of at most %d", n, maxName)
	}
	return nil
}

// stopFailure is the event of a turn that was ended by an error.
const stopFailure = "StopFailure"

// calls are the statuses that kinds of events give to calls. A call that is open when the turn ends in order has been
// answered, since a request to the model came after it; a call that is open when the user prompts was left.
var calls = map[Kind]event.Status{
	BeforeTool: event.StatusStarted, AfterTool: event.StatusCompleted, ToolFailed: event.StatusFailed,
	BatchEnd: event.StatusCompleted, TurnEnd: event.StatusCompleted, Prompt: event.StatusCancelled,
	SessionEnd: event.StatusCancelled,
}

// Call returns the status that the event gives to the call that it names, or to all open calls of the agent where it
// names none. StatusNone is no change.
func (e *Event) Call() event.Status {
	if status := calls[e.Kind]; !e.Aborted || !status.Ended() {
		return status
	}
	return event.StatusCancelled
}

// host returns the host that sends such input. Cursor and Copilot CLI also run the hooks of Claude Code, with input of
// their own. In doubt it is Claude Code, which of all sends the fewest members.
func (in *input) host() Host {
	has := func(paths ...string) bool { return in.text(paths...) != "" }
	name, timed := in.text("hook_event_name"), in.at("timestamp") != nil // which may be a number
	switch {
	case has("cursor_version", "conversation_id"):
		return Cursor
	case has("hookEventName"):
		return VSCode
	case has("agent_action_name"):
		return Windsurf
	case has("hookName"):
		return Cline
	case has("sessionId"):
		return Copilot
	case timed && tableOf(Gemini).event(name).kind != Other && has("transcript_path"):
		return Gemini
	case timed:
		return Copilot
	case has("turn_id"), name == "SessionStart" && has("model") && has("permission_mode"):
		return Codex
	}
	return Claude
}
