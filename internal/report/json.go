package report

import (
	"github.com/heedlog/heed"
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
			dst = appendJSON(dst, c.Found)
		}
	case []*Document:
		dst = appendJSON(dst, replayDocument{schema.Version, append([]*Document{}, docs...)})
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
	return appendJSON(dst, line)
}

// AppendSummary appends {"schemaVersion":…,"summary":…} and a line feed.
func AppendSummary(dst []byte, d *Document) []byte {
	return appendJSON(dst, versionedSummary{schema.Version, d.Summary})
}

// appendJSON appends v and a line feed.
func appendJSON(dst []byte, v any) []byte {
	return append(text.AppendJSON(dst, text.JSON(v)), '\n')
}
