package hooks

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/heedlog/heed/internal/text"
)

// MaxText bounds a text of an answer, in bytes. Claude Code and Codex replace a longer one by a preview and a file,
// Copilot CLI cuts it, and Cursor drops it, all from about 10,000 characters.
const MaxText = 8000

// Part is the effect of a text that a host takes at an event.
type Part string

// The parts.
const (
	None    Part = "none"    // it takes no text
	Deny    Part = "deny"    // the tool does not run, for this reason
	Context Part = "context" // the model reads it with the result, the prompt or the session's start
	GoOn    Part = "go-on"   // the turn does not end: the model continues with this text
)

// hostsFile has a block of lines for each host: "host NAME", and the pattern of its names of the tools of a server if
// it has no matchers; "event KIND PART NAME...", the names that it has for an event in its input or configuration; and
// "answer PART JSON", its form of a text. Copilot CLI has its own names, and takes others'
// hooks by theirs. Cursor and Gemini CLI report empty output as a fault. The model of Cline reads one of two members,
// and its user the other.
//
//go:embed hosts.txt
var hostsFile string

// table is the part of hostsFile for a host.
type table struct {
	host    Host
	tools   string // the pattern, "" for a host with matchers
	events  []named
	answers map[Part]string
}

// named is an event with all of its names.
type named struct {
	kind  Kind
	takes Part
	names []string
}

var tables = sync.OnceValue(func() (all []table) {
	for line := range strings.Lines(hostsFile) {
		words := strings.Fields(line)
		switch last := len(all) - 1; {
		case len(words) == 0:
		case words[0] == "host":
			all = append(all, table{Host(words[1]), strings.Join(words[2:], ""), nil, map[Part]string{}})
		case words[0] == "answer":
			all[last].answers[Part(words[1])] = words[2]
		case words[0] == "event":
			all[last].events = append(all[last].events, named{Kind(words[1]), Part(words[2]), words[3:]})
		}
	}
	return all
})

// tableOf returns the table of a host, an empty one for an unknown host.
func tableOf(host Host) *table {
	for i := range tables() {
		if t := &tables()[i]; t.host == host {
			return t
		}
	}
	return &table{}
}

// event returns an event by one of its names, of the kind Other for another name.
func (t *table) event(name string) named {
	for _, e := range t.events {
		if slices.Contains(e.names, name) {
			return e
		}
	}
	return named{kind: Other, takes: None}
}

// Takes returns the effect of a text at the event.
func (e *Event) Takes() Part {
	part := tableOf(e.Host).event(e.Name).takes
	if part == GoOn && e.Aborted {
		return None
	}
	return part
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
	part := e.Takes()
	if said == "" {
		part = None
	}
	said = cut(said)
	if e.Host == Windsurf && part != None {
		for line := range strings.SplitSeq(said, "\n") {
			output = append(output, text.Safe(line, 0)+"\n"...)
		}
		return output, 2
	}
	form := tableOf(e.Host).answers[part]
	if form == "" {
		return nil, 0
	}
	out := strings.NewReplacer("EVENT", string(text.JSON(e.Name)), "TEXT", string(text.JSON(said))).Replace(form)
	return append(text.AppendJSON(nil, []byte(out)), '\n'), 0
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
	return strings.Replace(tableOf(host).tools, "SERVER", inTools(server), 1)
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
	// The file for Cline has the command itself, the others have it in a JSON string.
	if host != Cline {
		quoted := text.JSON(command)
		command = string(quoted[1 : len(quoted)-1])
	}
	file, content, _ = strings.Cut(string(form), "\n\n")
	return file, strings.NewReplacer("COMMAND", command, "SERVER", inTools(server)).Replace(content)
}
