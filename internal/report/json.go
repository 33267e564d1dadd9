package report

import (
	"cmp"
	"fmt"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report/compare"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/signature"
)

// replayDocument is the JSON form of replays.
type replayDocument struct {
	SchemaVersion int         `json:"schemaVersion" jsonschema:"Rises when a field is removed or changes its meaning."`
	Files         []*Document `json:"files" jsonschema:"A report for each log, in the order in which they were named."`
}

// JSON appends documents as one JSON object and a line feed, and comparisons as an object and a line feed each.
func JSON[D Rendered](dst []byte, docs ...D) []byte {
	switch docs := any(docs).(type) {
	case []*Comparison:
		for _, c := range docs {
			dst = AppendJSON(dst, c.Found)
		}
	case []*Document:
		dst = AppendJSON(dst, replayDocument{schema.Version, append([]*Document{}, docs...)})
	}
	return dst
}

// UpdateLine is one line of the JSON lines form.
type UpdateLine struct {
	SchemaVersion int `json:"schemaVersion" jsonschema:"Rises when a field is removed or changes its meaning."`
	heed.Update

	CauseLine uint64 `json:"causeLine" jsonschema:"Line of the item's cause, as in the item."`
	File      string `json:"file"      jsonschema:"The log, as it was named."`
}

// versionedSummary is the last line of the JSON lines form of a log.
type versionedSummary struct {
	SchemaVersion int     `json:"schemaVersion" jsonschema:"Rises when a field is removed or changes its meaning."`
	Summary       Summary `json:"summary" jsonschema:"The accounting of the log."`
}

// AppendUpdate appends u as one JSON object and a line feed. It makes the item safe, since scrubbed text may be longer.
func AppendUpdate(dst []byte, file string, u *heed.Update) []byte {
	line := UpdateLine{schema.Version, *u, u.Item.Cause.Pos, safe(file)}
	line.Item.Sanitize()
	return AppendJSON(dst, line)
}

// AppendSummary appends {"schemaVersion":…,"summary":…} and a line feed.
func AppendSummary(dst []byte, d *Document) []byte {
	return AppendJSON(dst, versionedSummary{schema.Version, d.Summary})
}

// AppendJSON appends v as a line of JSON in which no text acts on a terminal.
func AppendJSON(dst []byte, v any) []byte {
	return append(text.AppendJSON(dst, text.JSON(v)), '\n')
}

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
	return AppendJSON(dst, shown)
}

// AppendRecordText appends r as one line of text.
func AppendRecordText(dst []byte, r *Record) []byte {
	phase := cmp.Or(safe(r.Phase), "-") // keeps columns where a log has not entered a phase yet
	return fmt.Appendf(dst, "%s:%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", safe(r.File), LineRange(r.StartLine, r.EndLine),
		r.Disposition, r.Severity, r.Level, r.Rule, phase, r.Signature, oneLine(r.Template))
}

// Forms are the JSON forms of this package by name: "replay" of the object with documents, "replay-lines" of each line
// of updates and summaries, "records" of each line of records; "diff", "baseline-check" and "suspects" of comparisons.
// JSON of a form returns its JSON Schema (draft 2020-12). "schemaVersion" is one for all forms: it rises
// when a field is removed or changes its meaning. New fields may appear within a version, so schemas are open.
var Forms = []schema.Form{
	schema.Object("replay", "replay", replayDocument{}),
	schema.Lines("replay-lines", "replay", UpdateLine{}, versionedSummary{}),
	schema.Lines("records", "records", Record{}),
	schema.Object("diff", "diff", compare.Diff{}),
	schema.Object("baseline-check", "baseline check", compare.Check{}),
	schema.Object("suspects", "suspects", compare.Suspects{}),
}
