// Package hooks speaks with the hooks of coding agents' hosts: Claude Code, OpenAI Codex CLI, Gemini CLI, Cursor,
// GitHub Copilot CLI, VS Code, Windsurf, Cline and opencode. A host starts a command for an event, with JSON on its
// input, and reads JSON from its output. [Parse] reads the input, [Event.Render] writes the output:
//
//	e, err := hooks.Parse(input, host, name) // "" for both: recognized by the input
//	…
//	output, status := e.Render("The save is corrupt: …") // which e.Takes() as a denial, as context or to go on
//
// # Guarantees
//
// Each host gets the members that it documents and no other: Codex takes an answer with an unknown member for a failed
// hook, and then the tool runs. An answer is one line of JSON, so that no text can break out of its string, and nothing
// in it acts on a terminal.
//
// # Exit status
//
// The command ends with status 2, which denies the tool or the prompt in most hosts, only where Render returns it, and
// for Copilot CLI and Cline only with 0, also where Parse returns an error: any other denies the tool there.
//
// # Bounds
//
// The functions are pure and keep nothing. Input is bounded by [MaxInput], a text by [MaxText]. The fields of an Event
// are as the host sent them, and not fit to be shown.
package hooks
