package hooks

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/heedlog/heed/internal/text"
)

//go:embed opencode.js
var opencode string

// timeout is how long a host waits for the command, in seconds.
const timeout = 10

// notInTools are the characters of a server's name that hosts replace in the names of its tools.
var notInTools = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// Pattern returns the pattern of the names of the tools of an MCP server in a host without matchers, "" for another. In
// VS Code, which shortens the names of servers, it fits the tools of all servers.
func Pattern(host Host, server string) string {
	switch host {
	case VSCode:
		return "mcp_*"
	case Windsurf, Cline:
		return mcpName(server, "*")
	case Opencode:
		return notInTools.ReplaceAllLiteralString(server, "_") + "_*"
	}
	return ""
}

// Configuration returns the contents of a file by which a host runs command, and the file's path in the project. Only
// tools of the MCP server of that name can be denied, in Cursor, whose names of tools lack the server, tools of all
// servers; a host without matchers asks about all tools, and the command chooses by [Pattern]. The command gets the
// flags --host and --event if the input has neither. Both results are "" for an unknown host.
func Configuration(host Host, command, server string) (file, content string) {
	server = notInTools.ReplaceAllLiteralString(server, "_")
	config, wait, matcher := map[string]any{}, timeout, "mcp__"+server+"__.*"
	switch host {
	case Claude:
		file = ".claude/settings.json"
	case Codex:
		file, command = ".codex/hooks.json", command+" --host codex"
	case Gemini: // whose separator has changed, and which counts milliseconds
		file, matcher, wait = ".gemini/settings.json", "mcp_+"+server+"_.*", timeout*1000
	case Cursor:
		file, matcher, config["version"] = ".cursor/hooks.json", "^MCP:", 1
	case Copilot:
		file, matcher, config["version"] = ".github/hooks/heed.json", "(mcp__)?"+server+"[-_].*", 1
	case VSCode:
		file, matcher = ".github/hooks/heed.json", ""
	case Windsurf:
		file, matcher = ".windsurf/hooks.json", ""
	case Cline: // which runs a file for each event, by its name
		return ".clinerules/hooks/PreToolUse, and as copies TaskStart, TaskResume, UserPromptSubmit, PostToolUse, " +
			"TaskComplete and TaskCancel, each executable", "#!/bin/sh\nexec " + command + " --host cline\n"
	case Opencode:
		run := string(text.JSON(command + " --host opencode"))
		return ".opencode/plugins/heed.js", strings.Replace(opencode, "COMMAND", run, 1)
	default:
		return "", ""
	}
	hooks := map[string]any{}
	for kind, names := range events[host] {
		if (kind == AfterTool || kind == ToolFailed) && events[host][BatchEnd] != "" { // which ends the calls, too
			continue
		}
		event := strings.Fields(names)[0]
		entry := map[string]any{"command": command, "timeout": wait}
		switch host {
		case Cursor:
		case VSCode:
			entry["type"] = "command"
		case Windsurf:
			entry = map[string]any{"command": command, "show_output": true}
		case Copilot:
			run := command + " --host copilot --event " + event
			entry = map[string]any{"type": "command", "bash": run, "powershell": run, "timeoutSec": wait}
		default: // in the form that Claude Code began
			entry["type"] = "command"
			entry = map[string]any{"hooks": []any{entry}}
		}
		if kind == BeforeTool && matcher != "" {
			entry["matcher"] = matcher
		}
		hooks[event] = []any{entry}
	}
	config["hooks"] = hooks
	var b bytes.Buffer
	_ = json.Indent(&b, text.JSON(config), "", "  ") // which is JSON
	return file, b.String() + "\n"
}
