package report

import (
	"slices"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/internal/text"
)

// replayDocument is the JSON form of replays.
type replayDocument struct {
	SchemaVersion int         `json:"schemaVersion" jsonschema:"Rises when a field is removed or changes its meaning."`
	Files         []*Document `json:"files" jsonschema:"A report for each log, in the order in which they were named."`
}

// JSON appends documents as one JSON object and a line feed, and comparisons as an object and a line feed each.
func JSON[D rendered](dst []byte, docs ...D) []byte {
	switch docs := any(docs).(type) {
	case []*Comparison:
		for _, c := range docs {
			dst = appendJSON(dst, c.found())
		}
	case []*Document:
		dst = appendJSON(dst, replayDocument{schema.Version, append([]*Document{}, docs...)})
	}
	return dst
}

// UpdateLine is one line of the JSON lines form, and one of the updates of a [Document].
type UpdateLine struct {
	Update      string            `json:"update" jsonschema:"What happened to the item." enum:"opened,updated,cleared"`
	Attention   heed.Item         `json:"attention" jsonschema:"The item, as in GABP."`
	Line        uint64            `json:"line" jsonschema:"Line of the entry that caused the update."`
	CauseLine   uint64            `json:"causeLine" jsonschema:"Line of the first entry with the item's highest disposition."`
	Rule        string            `json:"rule" jsonschema:"The rule that decided about that entry."`
	Reason      string            `json:"reason" jsonschema:"Why there is an update."`
	Disposition event.Disposition `json:"disposition" jsonschema:"The highest disposition of the item."`
	Groups      int               `json:"groups" jsonschema:"Groups of entries in the item; exact up to 65536."`
	OpenedLine  uint64            `json:"openedLine" jsonschema:"Line at which the item was opened."`
	Predecessor string            `json:"predecessor,omitempty" jsonschema:"Id of the acknowledged item that it continues."`
	Blame       []string          `json:"blame,omitempty" jsonschema:"Mods that the cause points at."`
	File        string            `json:"file" jsonschema:"The log, as it was named."`
}

// versionedUpdate and versionedSummary are the lines of the JSON lines form.
type versionedUpdate struct {
	SchemaVersion int `json:"schemaVersion" jsonschema:"Rises when a field is removed or changes its meaning."`
	UpdateLine
}

type versionedSummary struct {
	SchemaVersion int     `json:"schemaVersion" jsonschema:"Rises when a field is removed or changes its meaning."`
	Summary       Summary `json:"summary" jsonschema:"The accounting of the log."`
}

// updateLine is the row of an update. Names of operations come from hosts as they are.
func updateLine(file string, u *heed.Update) UpdateLine {
	a := u.Item
	a.Sample = slices.Clone(a.Sample)
	a.Sanitize()
	return UpdateLine{
		Update: u.Kind, Attention: a,
		Line: u.Pos, CauseLine: a.Cause.Pos, Rule: a.Cause.Rule, Reason: string(u.Reason),
		Disposition: a.Disposition, Groups: a.Groups, OpenedLine: a.OpenedPos,
		Predecessor: a.Predecessor, Blame: safeAll(a.Blame), File: safe(file),
	}
}

// AppendUpdate appends u as one JSON object and a line feed. Its "attention"
// has exactly the fields of GABP's attention item.
func AppendUpdate(dst []byte, file string, u *heed.Update) []byte {
	return appendJSON(dst, versionedUpdate{schema.Version, updateLine(file, u)})
}

// AppendSummary appends {"schemaVersion":…,"summary":…} and a line feed, the last line of the JSON lines
// form of one log.
func AppendSummary(dst []byte, d *Document) []byte {
	return appendJSON(dst, versionedSummary{schema.Version, d.Summary})
}

// appendJSON appends v and a line feed.
func appendJSON(dst []byte, v any) []byte {
	return append(text.AppendJSON(dst, text.JSON(v)), '\n')
}
