package hooks

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/heedlog/heed/internal/text"
)

// timeout is how long a host waits for the command, in seconds.
const timeout = 10

// notInTools are the characters of a server's name that hosts replace in the names of its tools.
var notInTools = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// Configuration returns what a user puts into a project to have a host run command, and the file's path in the project.
// Tools that can be denied are those of the MCP server of that name, of all servers in Cursor, where a tool's name does
// not have it. The command gets the flags --host and --event where the input does not tell. Both are "" for a host that
// is not known.
func Configuration(host Host, command, server string) (file, content string) {
	server = notInTools.ReplaceAllLiteralString(server, "_")
	config := map[string]any{}
	var entry func(event, matcher string) any
	var matcher string
	switch host {
	case Claude:
		file, matcher, entry = ".claude/settings.json", "mcp__"+server+"__.*", nested(command, timeout)
	case Codex:
		file, matcher, entry = ".codex/hooks.json", "mcp__"+server+"__.*", nested(command+" --host codex", timeout)
	case Gemini: // whose separator has changed
		file, matcher, entry = ".gemini/settings.json", "mcp_+"+server+"_.*", nested(command, timeout*1000)
	case Cursor:
		file, matcher, config["version"] = ".cursor/hooks.json", "^MCP:", 1
		entry = func(_, matcher string) any {
			return withMatcher(map[string]any{"command": command, "timeout": timeout}, matcher)
		}
	case Copilot:
		file, matcher, config["version"] = ".github/hooks/heed.json", "(mcp__)?"+server+"[-_].*", 1
		entry = func(event, matcher string) any {
			run := command + " --host copilot --event " + event
			return withMatcher(map[string]any{
				"type": "command", "bash": run, "powershell": run, "timeoutSec": timeout,
			}, matcher)
		}
	default:
		return "", ""
	}
	hooks := map[string]any{}
	for kind, names := range events[host] {
		of := ""
		switch single := kind == AfterTool || kind == ToolFailed; {
		case single && events[host][BatchEnd] != "": // which ends the calls, and reaches the model
			continue
		case kind == BeforeTool:
			of = matcher
		}
		event := strings.Fields(names)[0]
		hooks[event] = []any{entry(event, of)}
	}
	config["hooks"] = hooks
	var b bytes.Buffer
	_ = json.Indent(&b, text.JSON(config), "", "  ") // which is JSON
	return file, b.String() + "\n"
}

// nested returns the form of an entry that Claude Code began.
func nested(command string, timeout int) func(event, matcher string) any {
	return func(_, matcher string) any {
		run := map[string]any{"type": "command", "command": command, "timeout": timeout}
		return withMatcher(map[string]any{"hooks": []any{run}}, matcher)
	}
}

// withMatcher returns an entry that is for the tools of a pattern, or for all.
func withMatcher(entry map[string]any, matcher string) any {
	if matcher != "" {
		entry["matcher"] = matcher
	}
	return entry
}
