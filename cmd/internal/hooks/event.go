package hooks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

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

// wire has the members of an input that are read, as all hosts name them.
type wire struct {
	Name           string          `json:"hook_event_name"`
	SessionID      string          `json:"session_id"`
	ConversationID string          `json:"conversation_id"` // Cursor
	CursorVersion  string          `json:"cursor_version"`  // Cursor
	TurnID         string          `json:"turn_id"`         // Codex
	Model          string          `json:"model"`
	PermissionMode string          `json:"permission_mode"`
	TranscriptPath string          `json:"transcript_path"`
	Timestamp      json.RawMessage `json:"timestamp"` // Gemini CLI and Copilot CLI
	AgentID        string          `json:"agent_id"`
	ToolName       string          `json:"tool_name"`
	ToolUseID      string          `json:"tool_use_id"`
	Interrupted    bool            `json:"is_interrupt"`
	Prompt         string          `json:"prompt"`
	StopActive     bool            `json:"stop_hook_active"`
	LoopCount      float64         `json:"loop_count"` // Cursor
	Status         string          `json:"status"`     // Cursor

	CopilotSession string `json:"sessionId"` // also VS Code
	CopilotTool    string `json:"toolName"`
	VSCodeName     string `json:"hookEventName"`

	WindsurfName    string `json:"agent_action_name"`
	WindsurfSession string `json:"trajectory_id"`
	WindsurfInfo    struct {
		Server string `json:"mcp_server_name"`
		Tool   string `json:"mcp_tool_name"`
		Prompt string `json:"user_prompt"`
	} `json:"tool_info"`

	ClineName    string    `json:"hookName"`
	ClineSession string    `json:"taskId"`
	ClineBefore  clineTool `json:"preToolUse"`
	ClineAfter   clineTool `json:"postToolUse"`
	ClinePrompt  struct {
		Prompt string `json:"prompt"`
	} `json:"userPromptSubmit"`
}

// clineTool is a tool of Cline, which calls the tools of all MCP servers by one of its own.
type clineTool struct {
	Name       string `json:"toolName"`
	Success    *bool  `json:"success"`
	Parameters struct {
		Server string `json:"server_name"`
		Tool   string `json:"tool_name"`
	} `json:"parameters"`
}

// name returns the tool's name, with the server's as Claude Code joins them.
func (t *clineTool) name() string {
	return cmp.Or(mcpName(t.Parameters.Server, t.Parameters.Tool), t.Name)
}

// mcpName returns the name of a tool of an MCP server, "" for none.
func mcpName(server, tool string) string {
	if server == "" || tool == "" {
		return tool
	}
	return "mcp__" + inTools(server) + "__" + tool
}

// Parse reads the input of an event. A host or event of "" is recognized by the input; Copilot CLI names the event only
// in its configuration. An unknown event has the kind Other. An error names the missing member, or the member with the
// wrong type.
func Parse(input []byte, host Host, event string) (Event, error) {
	if len(input) > MaxInput {
		return Event{}, fmt.Errorf("hook input: %d bytes, of at most %d", len(input), MaxInput)
	}
	input = bytes.TrimSpace(bytes.TrimPrefix(input, []byte("\ufeff"))) // a shell on Windows may write the mark
	var w wire
	if err := json.Unmarshal(input, &w); err != nil {
		return Event{}, fmt.Errorf("hook input: %s", text.Safe(err.Error(), 200))
	}
	if host == "" {
		host = w.host()
	}
	t := tableOf(host)
	if t.host == "" {
		return Event{}, fmt.Errorf("hooks: unknown host %s", text.Safe(string(host), 40))
	}
	e := Event{
		Host: host, Name: cmp.Or(event, w.Name, w.VSCodeName, w.WindsurfName, w.ClineName),
		Session: cmp.Or(w.ConversationID, w.SessionID, w.CopilotSession, w.WindsurfSession, w.ClineSession),
		Agent:   w.AgentID, CallID: w.ToolUseID,
		Tool: cmp.Or(w.ToolName, w.CopilotTool, mcpName(w.WindsurfInfo.Server, w.WindsurfInfo.Tool), w.ClineBefore.name(),
			w.ClineAfter.name()),
		Prompt:     cmp.Or(w.Prompt, w.WindsurfInfo.Prompt, w.ClinePrompt.Prompt),
		StopActive: w.StopActive || w.LoopCount > 0,
		Aborted:    w.Interrupted || host == Cursor && w.Status != "" && w.Status != "completed",
	}
	e.Kind, e.Aborted = t.event(e.Name).kind, e.Aborted || e.Name == stopFailure
	if ok := w.ClineAfter.Success; ok != nil && !*ok {
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
func (w *wire) host() Host {
	switch timed := len(w.Timestamp) > 0; {
	case w.CursorVersion != "" || w.ConversationID != "":
		return Cursor
	case w.VSCodeName != "":
		return VSCode
	case w.WindsurfName != "":
		return Windsurf
	case w.ClineName != "":
		return Cline
	case w.CopilotSession != "":
		return Copilot
	case timed && tableOf(Gemini).event(w.Name).kind != Other && w.TranscriptPath != "":
		return Gemini
	case timed:
		return Copilot
	case w.TurnID != "" || w.Name == "SessionStart" && w.Model != "" && w.PermissionMode != "":
		return Codex
	}
	return Claude
}
