package schema

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// Schema is a JSON Schema: the keywords that heed writes, in their order.
type Schema struct {
	Type                 any                `json:"type,omitempty"` // one name or several
	Properties           Properties         `json:"properties,omitzero"`
	Items                *Schema            `json:"items,omitempty"`
	Schema               string             `json:"$schema,omitempty"`
	Ref                  string             `json:"$ref,omitempty"`
	Defs                 map[string]*Schema `json:"$defs,omitempty"`
	Title                string             `json:"title,omitempty"`
	Description          string             `json:"description,omitempty"`
	Default              any                `json:"default,omitempty"`
	Enum                 []any              `json:"enum,omitempty"`
	Const                any                `json:"const,omitempty"`
	Minimum              *float64           `json:"minimum,omitempty"`
	Maximum              *float64           `json:"maximum,omitempty"`
	MinLength            *int               `json:"minLength,omitempty"`
	MaxLength            *int               `json:"maxLength,omitempty"`
	Pattern              string             `json:"pattern,omitempty"`
	MinItems             *int               `json:"minItems,omitempty"`
	UniqueItems          bool               `json:"uniqueItems,omitempty"`
	Required             []string           `json:"required,omitempty"`
	AdditionalProperties any                `json:"additionalProperties,omitempty"` // a *Schema, or false
	OneOf                []*Schema          `json:"oneOf,omitempty"`
	ContentEncoding      string             `json:"contentEncoding,omitempty"`
	Format               string             `json:"format,omitempty"`
}

// MarshalJSON writes the schema without keywords, which allows everything, as true.
func (s *Schema) MarshalJSON() ([]byte, error) {
	type plain Schema
	text, err := json.Marshal((*plain)(s))
	if bytes.Equal(text, []byte("{}")) {
		return []byte("true"), nil
	}
	return text, err
}

// Properties are the members of an object, in their order.
type Properties []Property

// Property is one member.
type Property struct {
	Name   string
	Schema *Schema
}

// MarshalJSON writes them as an object.
func (p Properties) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i := range p {
		name, _ := json.Marshal(p[i].Name) // a text never fails
		value, err := json.Marshal(p[i].Schema)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, name...), ':'), value...)
	}
	return append(text, '}'), nil
}

// scalar returns the schema of a type that is no struct, list or map, and nil if it has none.
func scalar(t reflect.Type) *Schema {
	switch k := t.Kind(); {
	case k == reflect.String:
		return &Schema{Type: "string"}
	case k == reflect.Bool:
		return &Schema{Type: "boolean"}
	case k == reflect.Float32 || k == reflect.Float64:
		return &Schema{Type: "number"}
	case k >= reflect.Int && k <= reflect.Uint64:
		s := &Schema{Type: "integer"}
		if k >= reflect.Uint {
			s.Minimum = new(0.0)
		}
		return s
	}
	return nil
}
