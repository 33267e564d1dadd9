package bridge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/schema"
)

// maxText bounds an argument that is text, in characters, if its field has no bound.
const maxText = 256

// Ref is an argument that names an item, or a place in a list: a text, or its number in this epoch.
type Ref string

// UnmarshalJSON reads a text or a number.
func (r *Ref) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		return json.Unmarshal(raw, (*string)(r))
	}
	*r = Ref(raw)
	return nil
}

// oneID returns the id of an item that is given as id or as attentionId.
func oneID(id, attentionID Ref) (string, error) {
	switch {
	case id == "" && attentionID == "": // the schema cannot require one of both: see inputSchema
		return "", gabp.BadArgument("id", "a text", "nothing")
	case id != "" && attentionID != "" && id != attentionID:
		return "", gabp.BadArgument("attentionId", "the same as id", "another value")
	}
	return string(cmp.Or(id, attentionID)), nil
}

// wantCursor describes the values of a parameter for a cursor.
const wantCursor = `a cursor as "next" gave it, or an integer from 0, such as the diagnosticsCursor of an item`

// Refused is the data of an error that refuses the arguments of a tool: the data of [gabp.BadArgument], and more if the
// form is right.
type Refused struct {
	Path   string `json:"path"` // of the argument at fault: "arguments.id"
	Want   string `json:"want"`
	Got    string `json:"got"`
	Reason string `json:"reason,omitempty"` // "not_found", "epoch" or "beyond"

	// Oldest and Latest are the cursors to continue from if a cursor was refused: with all held entries, and with new
	// entries.
	Oldest string `json:"oldest,omitempty"`
	Latest string `json:"latest,omitempty"`
}

// notHeld refuses an argument that names something that is not held any more, or never was.
func notHeld(name, want, got string) *gabp.Error {
	return Refused{Reason: "not_found"}.about(name, want, got)
}

// about returns the error that refuses an argument, with more data.
func (r Refused) about(name, want, got string) *gabp.Error {
	r.Path, r.Want, r.Got = "arguments."+name, want, got
	return gabp.BadArgument(name, want, got).WithData(r)
}

// notAfter refuses the argument after, and names the cursors to continue from: of entries or events.
func notAfter(reason, got, of, oldest, latest string) *gabp.Error {
	want := fmt.Sprintf("a cursor such as %q for all %s, or %q for new %s", oldest, of, latest, of)
	return Refused{Reason: reason, Oldest: oldest, Latest: latest}.about("after", want, got)
}

// Forms are the JSON forms of answers as commands print them: with a version.
var Forms = []schema.Form{
	form("heed-status", "heed status --format json", "One object: the result of the tool heed/status", struct {
		Version
		Status
	}{}),
	form("heed-current", "heed current --format json", "One object: the result of GABP's attention/current", struct {
		Version
		gabp.CurrentResult
	}{}),
	form("heed-ack", "heed ack --format json", "One object: the result of the tool heed/ack", struct {
		Version
		Acknowledgement
	}{}),
	form("heed-tail", "One line of heed tail --format jsonl", "One entry, as the tool heed/entries returns it", struct {
		Version
		Entry
	}{}),
}

func form(name, title, about string, value any) schema.Form {
	return schema.Form{
		Name: name, Title: title, Values: []any{value},
		Description: about + ", with a version. New fields may appear within a version.",
	}
}

// Version is the first member of an answer that a program prints.
type Version struct {
	SchemaVersion int `json:"schemaVersion" jsonschema:"Rises when a field is removed or changes its meaning."`
}

// inputSchema returns the schema of the arguments of a tool, a struct. It has the same meaning in draft 07 of JSON
// Schema, which the protocol names, and in 2020-12. To require one of two members would take an anyOf at the top, which
// hosts of agents refuse in the schemas of tools.
func inputSchema(arguments reflect.Type) *schema.Schema {
	s := schema.Input(arguments)
	for _, p := range s.Properties {
		constrain(p.Schema)
	}
	slices.SortFunc(s.Properties, func(a, b schema.Property) int { return cmp.Compare(a.Name, b.Name) })
	return s
}

// constrain adds the bounds of an argument that its field does not have. The maximum of a text is of its characters; a
// text with a minimum is a [Ref].
func constrain(s *schema.Schema) {
	switch {
	case s.Items != nil:
		s.MinItems, s.UniqueItems = new(1), true
		constrain(s.Items)
	case s.Enum != nil:
		s.Type = "string"
	case s.Type == "string":
		s.MinLength, s.MaxLength = new(1), new(maxText)
		if s.Maximum != nil {
			s.MaxLength, s.Maximum = new(int(*s.Maximum)), nil
		}
		if s.Minimum != nil {
			s.Type, s.Maximum = []string{"string", "integer"}, new(float64(maxInteger))
		}
	case s.Type == "integer" && s.Maximum == nil:
		s.Maximum = new(float64(maxInteger))
	}
}
