package hooks

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/heedlog/heed/internal/text"
)

// MaxText bounds a text of an answer, in bytes. Claude Code and Codex replace a longer one by a preview and a file,
// Copilot CLI cuts it, and Cursor drops it, all from about 10,000 characters.
const MaxText = 8000

// Part is the effect of a text that a host takes at an event.
type Part uint8

// The parts.
const (
	None    Part = iota // it takes no text
	Deny                // the tool does not run, for this reason
	Context             // the model reads it with the result, the prompt or the session's start
	GoOn                // the turn does not end: the model continues with this text
)

// events are the names that each host has for the kinds of events that matter, in its input or configuration. Copilot
// CLI has its own names, and takes others' hooks by theirs.
var events = map[Host]map[Kind]string{
	Claude: {
		SessionStart: "SessionStart", Prompt: "UserPromptSubmit", BeforeTool: "PreToolUse", AfterTool: "PostToolUse",
		ToolFailed: "PostToolUseFailure", BatchEnd: "PostToolBatch", TurnEnd: "Stop " + stopFailure,
		SessionEnd: "SessionEnd",
	},
	Codex: {
		SessionStart: "SessionStart", Prompt: "UserPromptSubmit", BeforeTool: "PreToolUse", AfterTool: "PostToolUse",
		TurnEnd: "Stop " + stopFailure,
	},
	Gemini: {
		SessionStart: "SessionStart", Prompt: "BeforeAgent", BeforeTool: "BeforeTool", AfterTool: "AfterTool",
		TurnEnd: "AfterAgent", SessionEnd: "SessionEnd",
	},
	Cursor: {
		SessionStart: "sessionStart", Prompt: "beforeSubmitPrompt", BeforeTool: "preToolUse beforeMCPExecution",
		AfterTool: "postToolUse", ToolFailed: "postToolUseFailure", TurnEnd: "stop", SessionEnd: "sessionEnd",
	},
	Copilot: {
		SessionStart: "sessionStart SessionStart", Prompt: "userPromptSubmitted UserPromptSubmit",
		BeforeTool: "preToolUse PreToolUse", AfterTool: "postToolUse PostToolUse",
		ToolFailed: "postToolUseFailure PostToolUseFailure", TurnEnd: "agentStop Stop", SessionEnd: "sessionEnd SessionEnd",
	},
	VSCode: {
		SessionStart: "SessionStart", Prompt: "UserPromptSubmit", BeforeTool: "PreToolUse", AfterTool: "PostToolUse",
		TurnEnd: "Stop",
	},
	Windsurf: {
		Prompt: "pre_user_prompt", BeforeTool: "pre_mcp_tool_use", AfterTool: "post_mcp_tool_use",
		TurnEnd: "post_cascade_response",
	},
	Cline: {
		SessionStart: "TaskStart TaskResume", Prompt: "UserPromptSubmit", BeforeTool: "PreToolUse", AfterTool: "PostToolUse",
		TurnEnd: "TaskComplete", SessionEnd: "TaskCancel",
	},
	Opencode: {Prompt: "UserPromptSubmit", BeforeTool: "PreToolUse", AfterTool: "PostToolUse", TurnEnd: "Stop"},
}

// stopFailure is the event of a turn that was ended by an error.
const stopFailure = "StopFailure"

// kindOf returns the kind of an event of a host by its name.
func kindOf(host Host, name string) Kind {
	for kind, names := range events[host] {
		if slices.Contains(strings.Fields(names), name) {
			return kind
		}
	}
	return Other
}

// Takes returns the effect of a text at the event.
func (e *Event) Takes() Part {
	switch kindOf(e.Host, e.Name) {
	case BeforeTool:
		return Deny
	case Prompt, ToolFailed:
		if slices.Contains([]Host{Cursor, Copilot, VSCode, Windsurf, Opencode}, e.Host) {
			return None
		}
		return Context
	case SessionStart, AfterTool, BatchEnd:
		return Context
	case TurnEnd:
		if !e.Aborted && e.Name != stopFailure && !slices.Contains([]Host{Windsurf, Cline, Opencode}, e.Host) {
			return GoOn
		}
	}
	return None
}

// MovedOn reports whether the event proves that a request to the model was made after an event of kind offered, of the
// same session and agent: its text has reached the model. After a single tool only the end of the turn proves it, since
// other tools of the same request may follow. A caller that gets a BatchEnd may keep it as the kind instead.
func (e *Event) MovedOn(offered Kind) bool {
	switch e.Kind {
	case TurnEnd:
		return !e.Aborted
	case BeforeTool, AfterTool, ToolFailed, BatchEnd:
		return offered == SessionStart || offered == Prompt || offered == BatchEnd || offered == TurnEnd
	}
	return false
}

// Render returns the output with a text, if the host takes one at the event. Without a text, the output is empty or {},
// by which the host continues as usual. A text longer than MaxText is cut at the end of a line, with a note of its
// missing length. With status 2 the output is for standard error, which Windsurf's agent reads.
func (e *Event) Render(said string) (output []byte, status int) {
	var out any = struct{}{}
	switch {
	case e.Host == Windsurf:
		if said == "" || e.Takes() == None {
			return nil, 0
		}
		for line := range strings.SplitSeq(cut(said), "\n") {
			output = append(output, text.Safe(line, 0)+"\n"...)
		}
		return output, 2
	case said != "" && e.Takes() != None:
		out = e.form(cut(said))
	case e.Host != Cursor && e.Host != Gemini: // which report empty output as a fault
		return nil, 0
	}
	return append(text.AppendJSON(nil, text.JSON(out)), '\n'), 0
}

// form returns the host's form of a text at the event.
func (e *Event) form(said string) any {
	switch part := e.Takes(); {
	case e.Host == Gemini && part != Context:
		return map[string]string{"decision": "deny", "reason": said}
	case e.Host == Cline: // whose model reads the one, and whose user the other
		return map[string]any{"cancel": part == Deny, "contextModification": said, "errorMessage": said}
	case e.Host == VSCode && part == GoOn:
		return e.specific(map[string]string{"decision": "block", "reason": said})
	case e.Host == Cursor && part == Deny:
		return map[string]string{"permission": "deny", "agent_message": said, "user_message": said}
	case e.Host == Cursor && part == Context:
		return map[string]string{"additional_context": said}
	case e.Host == Cursor:
		return map[string]string{"followup_message": said}
	case part == GoOn:
		return map[string]string{"decision": "block", "reason": said}
	case part == Deny:
		return e.specific(map[string]string{"permissionDecision": "deny", "permissionDecisionReason": said})
	}
	return e.specific(map[string]string{"additionalContext": said})
}

// specific returns members that belong to the event.
func (e *Event) specific(members map[string]string) any {
	if e.Host == Copilot {
		return members
	}
	members["hookEventName"] = e.Name
	return map[string]any{"hookSpecificOutput": members}
}

// cut returns at most MaxText bytes of s as valid UTF-8, with a note where it is cut: at the end of a line, unless that
// would leave out half of what there is room for.
func cut(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= MaxText {
		return s
	}
	n := text.Prefix(s, MaxText-len("\n[9223372036854775807 bytes left out]"))
	if line := strings.LastIndexByte(s[:n], '\n'); line > n/2 {
		n = line
	}
	return fmt.Sprintf("%s\n[%d bytes left out]", s[:n], len(s)-n)
}

// notInTools are the characters of a server's name that hosts replace in the names of its tools.
var notInTools = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// inTools returns the name of a server as it is in the names of its tools.
func inTools(server string) string { return notInTools.ReplaceAllLiteralString(server, "_") }

// Pattern returns the pattern of the names of the tools of an MCP server in a host without matchers, "" for another. In
// VS Code, which shortens the names of servers, it fits the tools of all servers.
func Pattern(host Host, server string) string {
	switch host {
	case VSCode:
		return "mcp_*"
	case Windsurf, Cline:
		return mcpName(server, "*")
	case Opencode:
		return inTools(server) + "_*"
	}
	return ""
}

// configurations has for each host the path of a file in the project, an empty line, and the contents of the file.
//
//go:embed configurations
var configurations embed.FS

// Configuration returns the contents of a file by which a host runs command, and the file's path in the project. Only
// tools of the MCP server of that name can be denied, in Cursor, whose names of tools lack the server, tools of all
// servers; a host without matchers asks about all tools, and the command chooses by [Pattern]. The command gets the
// flags --host and --event if the input has neither. Both results are "" for an unknown host.
func Configuration(host Host, command, server string) (file, content string) {
	form, _ := configurations.ReadFile("configurations/" + string(host) + ".txt") // "" for an unknown host
	if host != Cline {                                                            // all others have the command in a string, as JSON has it
		quoted := text.JSON(command)
		command = string(quoted[1 : len(quoted)-1])
	}
	file, content, _ = strings.Cut(string(form), "\n\n")
	return file, strings.NewReplacer("COMMAND", command, "SERVER", inTools(server)).Replace(content)
}
