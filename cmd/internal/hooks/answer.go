package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/heedlog/heed/internal/text"
)

// MaxText bounds a text of an answer, in bytes. Claude Code and Codex replace a longer one by a preview and a file,
// Copilot CLI cuts it, and Cursor drops it, all from about 10,000 characters.
const MaxText = 8000

// Answer is what a host is to be told. An empty text is nothing to say.
type Answer struct {
	Deny    string // the tool does not run, for this reason
	Context string // the model reads it with the result, the prompt or the session's start
	GoOn    string // the turn does not end: the model goes on with this text
}

// says is what a host can be told at an event.
type says uint8

const (
	denies says = 1 << iota
	adds
	goesOn
)

// known is an event that a host has.
type known struct {
	kind    Kind
	says    says
	aborted bool // its turn was ended by an error
}

// events are the events of each host that matter, by their names in its input or configuration.
var events = map[Host]map[string]known{
	Claude: {
		"SessionStart":       {kind: SessionStart, says: adds},
		"UserPromptSubmit":   {kind: Prompt, says: adds},
		"PreToolUse":         {kind: BeforeTool, says: denies},
		"PostToolUse":        {kind: AfterTool, says: adds},
		"PostToolUseFailure": {kind: ToolFailed, says: adds},
		"PostToolBatch":      {kind: BatchEnd, says: adds},
		"Stop":               {kind: TurnEnd, says: goesOn},
		"StopFailure":        {kind: TurnEnd, aborted: true},
		"SessionEnd":         {kind: SessionEnd},
	},
	Codex: {
		"SessionStart":     {kind: SessionStart, says: adds},
		"UserPromptSubmit": {kind: Prompt, says: adds},
		"PreToolUse":       {kind: BeforeTool, says: denies},
		"PostToolUse":      {kind: AfterTool, says: adds},
		"Stop":             {kind: TurnEnd, says: goesOn},
		"StopFailure":      {kind: TurnEnd, aborted: true},
	},
	Gemini: {
		"SessionStart": {kind: SessionStart, says: adds},
		"BeforeAgent":  {kind: Prompt, says: adds},
		"BeforeTool":   {kind: BeforeTool, says: denies},
		"AfterTool":    {kind: AfterTool, says: adds},
		"AfterAgent":   {kind: TurnEnd, says: goesOn},
		"SessionEnd":   {kind: SessionEnd},
	},
	Cursor: {
		"sessionStart":       {kind: SessionStart, says: adds},
		"beforeSubmitPrompt": {kind: Prompt},
		"preToolUse":         {kind: BeforeTool, says: denies},
		"beforeMCPExecution": {kind: BeforeTool, says: denies},
		"postToolUse":        {kind: AfterTool, says: adds},
		"postToolUseFailure": {kind: ToolFailed},
		"stop":               {kind: TurnEnd, says: goesOn},
		"sessionEnd":         {kind: SessionEnd},
	},
	// In its own names, and in those that it also takes for others' hooks.
	Copilot: {
		"sessionStart":        {kind: SessionStart, says: adds},
		"SessionStart":        {kind: SessionStart, says: adds},
		"userPromptSubmitted": {kind: Prompt},
		"UserPromptSubmit":    {kind: Prompt},
		"preToolUse":          {kind: BeforeTool, says: denies},
		"PreToolUse":          {kind: BeforeTool, says: denies},
		"postToolUse":         {kind: AfterTool, says: adds},
		"PostToolUse":         {kind: AfterTool, says: adds},
		"postToolUseFailure":  {kind: ToolFailed},
		"PostToolUseFailure":  {kind: ToolFailed},
		"agentStop":           {kind: TurnEnd, says: goesOn},
		"Stop":                {kind: TurnEnd, says: goesOn},
		"sessionEnd":          {kind: SessionEnd},
		"SessionEnd":          {kind: SessionEnd},
	},
}

// can returns what the host can be told at the event.
func (e *Event) can() says {
	s := events[e.Host][e.Name].says
	if e.Aborted {
		s &^= goesOn
	}
	return s
}

// Can returns what the host can be told at the event: at most one of the three.
func (e *Event) Can() (deny, context, goOn bool) {
	s := e.can()
	return s&denies != 0, s&adds != 0, s&goesOn != 0
}

// MovedOn reports whether the event proves that a request to the model was made after an event of kind offered, of the
// same session and agent: what was said then has reached the model. After a single tool only the end of the turn proves
// it, since other tools of the same request may follow. Whoever gets a BatchEnd may keep that as the kind instead.
func (e *Event) MovedOn(offered Kind) bool {
	switch e.Kind {
	case TurnEnd:
		return !e.Aborted
	case BeforeTool, AfterTool, ToolFailed, BatchEnd:
		return offered == SessionStart || offered == Prompt || offered == BatchEnd || offered == TurnEnd
	}
	return false
}

// Render returns what to write to the host, and what it cannot be told at this event, which is to stay pending. Without
// anything to say, the output is empty or {}, whichever the host takes for going on as usual. A text longer than
// MaxText is cut at the end of a line, with a note of how much is left out.
func (e *Event) Render(a Answer) (stdout []byte, unsaid Answer) {
	var out any
	take := func(what says, t *string, say func(string) any) {
		if *t == "" || e.can()&what == 0 {
			return
		}
		out, *t = say(cut(*t)), ""
	}
	take(denies, &a.Deny, e.deny)
	take(adds, &a.Context, e.add)
	take(goesOn, &a.GoOn, e.goOn)
	switch {
	case out != nil:
	case e.Host == Cursor || e.Host == Gemini: // which report empty output as a fault
		out = struct{}{}
	default:
		return nil, a
	}
	return append(text.AppendJSON(nil, bytes.TrimSuffix(encode(out, ""), []byte("\n"))), '\n'), a
}

// encode returns texts as JSON, which ends with a newline.
func encode(v any, indent string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		panic("BUG: texts cannot be written: " + err.Error())
	}
	return b.Bytes()
}

// deny returns the host's form of a denial, which needs a reason that is not blank.
func (e *Event) deny(reason string) any {
	if strings.TrimSpace(reason) == "" {
		reason = "no reason was given"
	}
	switch e.Host {
	case Gemini:
		return map[string]string{"decision": "deny", "reason": reason}
	case Cursor:
		return map[string]string{"permission": "deny", "agent_message": reason, "user_message": reason}
	case Copilot:
		return map[string]string{"permissionDecision": "deny", "permissionDecisionReason": reason}
	}
	return e.specific(map[string]string{"permissionDecision": "deny", "permissionDecisionReason": reason})
}

// add returns the host's form of context.
func (e *Event) add(context string) any {
	switch e.Host {
	case Cursor:
		return map[string]string{"additional_context": context}
	case Copilot:
		return map[string]string{"additionalContext": context}
	}
	return e.specific(map[string]string{"additionalContext": context})
}

// goOn returns the host's form of an order to go on.
func (e *Event) goOn(order string) any {
	switch e.Host {
	case Gemini:
		return map[string]string{"decision": "deny", "reason": order}
	case Cursor:
		return map[string]string{"followup_message": order}
	}
	return map[string]string{"decision": "block", "reason": order}
}

// specific returns members that belong to the event.
func (e *Event) specific(members map[string]string) any {
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
