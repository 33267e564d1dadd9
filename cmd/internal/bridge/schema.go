package bridge

import (
	"cmp"
	"encoding/json"
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

// inputSchema returns the schema of the arguments of a tool. It has the same meaning in draft 07 of JSON Schema, which
// the protocol names, and in 2020-12.
func inputSchema(params []param) json.RawMessage {
	s := &schema.Schema{Type: "object", Properties: schema.Properties{}, AdditionalProperties: false}
	for i := range params {
		p := &params[i]
		s.Properties = append(s.Properties, schema.Property{Name: p.name, Schema: &p.schema})
		switch {
		case p.alias != "":
			// To require one of both would take an anyOf at the top, which hosts of agents refuse in the schemas of
			// tools: parseArgs does it.
			other := p.schema
			other.Description = "Another name for " + p.name + "."
			s.Properties = append(s.Properties, schema.Property{Name: p.alias, Schema: &other})
		case p.required:
			s.Required = append(s.Required, p.name)
		}
	}
	slices.SortFunc(s.Properties, func(a, b schema.Property) int { return cmp.Compare(a.Name, b.Name) })
	return Encode(s)
}
