package report

import (
	"cmp"
	"fmt"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/signature"
)

// Record is one record of a capture with its decision, and one line of the JSON form of records.
type Record struct {
	SchemaVersion int `json:"schemaVersion" jsonschema:"Rises when a field is removed or changes its meaning."` // by AppendRecord

	File        string            `json:"file" jsonschema:"The log, as it was named."`
	StartLine   int               `json:"startLine" jsonschema:"The first line of the record." minimum:"1"`
	EndLine     int               `json:"endLine" jsonschema:"Its last line." minimum:"1"`
	Kind        string            `json:"kind" jsonschema:"What it was read as." enum:"log,context,operation,state,notice"`
	Layout      string            `json:"layout" jsonschema:"The layout in which it was read." enum:"auto,plain,json,unity-2019.2,unity-2019.4,unity-2022.3,console,hugslib,crash-report"`
	Split       string            `json:"split" jsonschema:"What marks the end of the record." enum:"none,footer,json,block,frame,indent,form,list,blank,line,hole,console,exception,crash,field,tag,no-footer"`
	Level       event.Level       `json:"level" jsonschema:"Its level, if known."`
	LevelBy     string            `json:"levelBy" jsonschema:"What the level is taken from." enum:"none,footer,json,block,frame,indent,form,list,blank,line,hole,console,exception,crash,field,tag,no-footer"`
	RefState    string            `json:"refState,omitempty" jsonschema:"The state of its stack reference; absent if it has none." enum:"original,resolved,unresolved"`
	Cut         uint64            `json:"cut,omitempty" jsonschema:"Bytes of text that were left out."`
	Signature   signature.ID      `json:"signature" jsonschema:"The id of its template." pattern:"^[0-9a-f]{16}$"`
	Template    string            `json:"template" jsonschema:"The text with variable parts masked, then a line per stack frame."`
	Disposition event.Disposition `json:"disposition" jsonschema:"What was decided about it."`
	Severity    event.Severity    `json:"severity" jsonschema:"Its severity."`
	Rule        string            `json:"rule" jsonschema:"The rule that decided."`
	Escalated   bool              `json:"escalated,omitempty" jsonschema:"It is this urgent because of repetition; the rule alone is less urgent."`
	Phase       string            `json:"phase" jsonschema:"The phase of the game at the record."`

	// Blame needs no escapes in its names.
	Blame []heed.Suspect `json:"blame,omitempty" jsonschema:"Mods that the record points at, the most likely first."`
}

// AppendRecord appends r as one JSON object and a line feed.
func AppendRecord(dst []byte, r *Record) []byte {
	shown := *r
	shown.SchemaVersion = schema.Version
	shown.File, shown.Rule, shown.Phase, shown.Template = safe(r.File), safe(r.Rule), safe(r.Phase), safeLines(r.Template)
	return appendJSON(dst, shown)
}

// AppendRecordText appends r as one line of text.
func AppendRecordText(dst []byte, r *Record) []byte {
	lines := number(uint64(r.StartLine))
	if r.EndLine != r.StartLine {
		lines += "-" + number(uint64(r.EndLine))
	}
	phase := cmp.Or(safe(r.Phase), "-") // keeps columns where a log has not entered a phase yet
	dst = fmt.Appendf(dst, "%s:%s\t%s\t%s\t%s\t%s\t%s", safe(r.File), lines, r.Disposition, r.Severity, r.Level, r.Rule,
		phase)
	return fmt.Appendf(dst, "\t%s\t%s\n", r.Signature, oneLine(r.Template))
}
