package report

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/signature"
)

// Record is one record of a capture with what was decided about it, and one line of the JSON form of records.
type Record struct {
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

// versionedRecord is the line that [AppendRecord] writes.
type versionedRecord struct {
	SchemaVersion int `json:"schemaVersion" jsonschema:"Rises when a field is removed or changes its meaning."`
	Record
}

// AppendRecord appends r as one JSON object and a line feed. A log has a record for nearly every line, so it is
// written without encoding/json, which takes four times as long and allocates:
//
//	go test ./report -run - -bench Record
func AppendRecord(dst []byte, r *Record) []byte {
	dst = strconv.AppendInt(append(dst, `{"schemaVersion":`...), schema.Version, 10)
	dst = appendField(dst, `,"file":`, r.File)
	dst = strconv.AppendInt(append(dst, `,"startLine":`...), int64(r.StartLine), 10)
	dst = strconv.AppendInt(append(dst, `,"endLine":`...), int64(r.EndLine), 10)
	dst = appendField(dst, `,"kind":`, r.Kind)
	dst = appendField(dst, `,"layout":`, r.Layout)
	dst = appendField(dst, `,"split":`, r.Split)
	dst = appendField(dst, `,"level":`, r.Level.String())
	dst = appendField(dst, `,"levelBy":`, r.LevelBy)
	if r.RefState != "" {
		dst = appendField(dst, `,"refState":`, r.RefState)
	}
	if r.Cut > 0 {
		dst = strconv.AppendUint(append(dst, `,"cut":`...), r.Cut, 10)
	}
	dst = append(dst, `,"signature":"`...)
	dst = appendID(dst, r.Signature)
	dst = appendTemplate(append(dst, `","template":`...), r.Template)
	dst = appendField(dst, `,"disposition":`, r.Disposition.String())
	dst = appendField(dst, `,"severity":`, r.Severity.String())
	dst = appendField(dst, `,"rule":`, r.Rule)
	if r.Escalated {
		dst = append(dst, `,"escalated":true`...)
	}
	dst = appendField(dst, `,"phase":`, r.Phase)
	if len(r.Blame) > 0 {
		dst = text.AppendJSON(append(dst, `,"blame":`...), text.JSON(r.Blame))
	}
	return append(dst, "}\n"...)
}

// appendField appends what comes before a value, and text as a JSON string.
func appendField(dst []byte, before, text string) []byte {
	dst = append(append(dst, before...), '"')
	return append(appendQuoted(dst, safe(text)), '"')
}

// appendTemplate appends a template as a JSON string, line by line as
// [safeLines] would have it.
func appendTemplate(dst []byte, t string) []byte {
	dst = append(dst, '"')
	for {
		line, rest, more := strings.Cut(t, "\n")
		dst = appendQuoted(dst, safe(line))
		if !more {
			return append(dst, '"')
		}
		dst, t = append(dst, `\n`...), rest
	}
}

// appendQuoted appends text that package text has seen to as it stands
// between the quotes of a JSON string: without controls, two characters are
// left to escape.
func appendQuoted(dst []byte, text string) []byte {
	for i := range len(text) {
		if b := text[i]; b == '"' || b == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, text[i])
	}
	return dst
}

// appendID appends the 16 hexadecimal digits of an id.
func appendID(dst []byte, id signature.ID) []byte {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(id))
	return hex.AppendEncode(dst, b[:])
}

// AppendRecordText appends r as one line of text.
func AppendRecordText(dst []byte, r *Record) []byte {
	dst = append(dst, safe(r.File)...)
	dst = append(dst, ':')
	dst = append(dst, number(uint64(r.StartLine))...)
	if r.EndLine != r.StartLine {
		dst = append(dst, '-')
		dst = append(dst, number(uint64(r.EndLine))...)
	}
	phase := cmp.Or(safe(r.Phase), "-") // keeps columns where a log has not entered a phase yet
	for _, field := range [...]string{r.Disposition.String(), r.Severity.String(), r.Level.String(), r.Rule, phase} {
		dst = append(append(dst, '\t'), field...)
	}
	dst = appendID(append(dst, '\t'), r.Signature)
	return append(append(append(dst, '\t'), oneLine(r.Template)...), '\n')
}
