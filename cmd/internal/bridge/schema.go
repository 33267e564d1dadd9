package bridge

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/schema"
)

// Forms are the JSON forms of answers as commands print them: with a version.
var Forms = []schema.Form{
	form("heed-status", "heed status --format json", "One object: the result of the tool heed/status", struct {
		version
		Status
	}{}),
	form("heed-current", "heed current --format json", "One object: the result of GABP's attention/current", struct {
		version
		gabp.CurrentResult
	}{}),
	form("heed-ack", "heed ack --format json", "One object: the result of the tool heed/ack", struct {
		version
		Acknowledgement
	}{}),
	form("heed-tail", "One line of heed tail --format jsonl", "One entry, as the tool heed/entries returns it", struct {
		version
		Entry
	}{}),
}

func form(name, title, about string, value any) schema.Form {
	return schema.Form{
		Name: name, Title: title, Values: []any{value},
		Description: about + ", with a version. New fields may appear within a version.",
	}
}

// version is the first member of an answer that a program prints.
type version struct {
	SchemaVersion int `json:"schemaVersion" jsonschema:"Rises when a field is removed or changes its meaning."`
}

// outputSchema returns the schema of the JSON form of a struct.
func outputSchema(v any) json.RawMessage {
	return Encode(json.RawMessage((&schema.Form{Values: []any{v}}).JSON()))
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
// text with a minimum is a [ref].
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
