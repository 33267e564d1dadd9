package bridge

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// schema is the part of JSON Schema that is needed here. It has the same meaning in draft 07, which the protocol names,
// and in 2020-12.
type schema struct {
	Type                 any                `json:"type"` // a name or several
	Description          string             `json:"description,omitempty"`
	Enum                 []string           `json:"enum,omitempty"`
	Format               string             `json:"format,omitempty"`
	Minimum              *int64             `json:"minimum,omitempty"`
	Maximum              *int64             `json:"maximum,omitempty"`
	MinLength            int                `json:"minLength,omitempty"`
	MaxLength            int64              `json:"maxLength,omitempty"`
	MinItems             int                `json:"minItems,omitempty"`
	UniqueItems          bool               `json:"uniqueItems,omitempty"`
	Default              *int64             `json:"default,omitempty"`
	Items                *schema            `json:"items,omitempty"`
	Properties           map[string]*schema `json:"properties,omitempty"`
	Required             []string           `json:"required,omitempty"`
	MinProperties        int                `json:"minProperties,omitempty"`
	AdditionalProperties *bool              `json:"additionalProperties,omitempty"`
}

// inputSchema returns the schema of the arguments of a tool.
func inputSchema(params []param) *schema {
	s := &schema{Type: "object", Properties: map[string]*schema{}, AdditionalProperties: new(bool)}
	for i := range params {
		p := &params[i]
		s.Properties[p.name] = p.schema()
		switch {
		case p.alias != "":
			// To require one of both would take an anyOf at the top, which hosts of agents refuse in the schemas of
			// tools.
			s.Properties[p.alias] = p.schema()
			s.Properties[p.alias].Description = "Another name of " + p.name + "."
			if p.required {
				s.MinProperties = 1
			}
		case p.required:
			s.Required = append(s.Required, p.name)
		}
	}
	return s
}

func (p *param) schema() *schema {
	s := &schema{Description: p.doc}
	switch p.kind {
	case textKind:
		s.Type, s.Enum = "string", p.enum
		if p.enum == nil {
			s.MinLength, s.MaxLength = 1, p.bytes()
		}
	case integerKind:
		s.Type, s.Minimum, s.Maximum = "integer", &p.min, &p.max
		if p.def > 0 {
			s.Default = &p.def
		}
	case flagKind:
		s.Type = "boolean"
	case wordsKind:
		s.Type, s.MinItems, s.UniqueItems = "array", 1, true
		s.Items = &schema{Type: "string", Enum: p.enum}
	case cursorKind:
		s.Type, s.MinLength, s.MaxLength, s.Minimum = []string{"string", "integer"}, 1, p.bytes(), new(int64)
	}
	return s
}

// outputSchema returns the schema of the JSON form of a struct. The tag jsonschema of a field describes it, the tag
// enum lists its values; those of an enumeration are its names.
func outputSchema(v any) *schema { return schemaOf(reflect.TypeOf(v)) }

// wordsOf returns the names of the values of T, which end where String has none.
func wordsOf[T interface {
	~uint8
	String() string
}]() []string {
	var all []string
	for v := T(0); ; v++ {
		s := v.String()
		if strings.HasSuffix(s, ")") {
			return all
		}
		all = append(all, s)
	}
}

// enumerations are the names of the values of types that marshal as text.
var enumerations = map[reflect.Type][]string{
	reflect.TypeFor[event.Kind]():        wordsOf[event.Kind](),
	reflect.TypeFor[event.Level]():       wordsOf[event.Level](),
	reflect.TypeFor[event.Status]():      wordsOf[event.Status](),
	reflect.TypeFor[event.Severity]():    wordsOf[event.Severity](),
	reflect.TypeFor[event.Disposition](): wordsOf[event.Disposition](),
	reflect.TypeFor[signature.ID]():      nil,
}

func schemaOf(t reflect.Type) *schema {
	switch {
	case t.Kind() == reflect.Pointer:
		return schemaOf(t.Elem())
	case t == reflect.TypeFor[time.Time]():
		return &schema{Type: "string", Format: "date-time"}
	}
	if names, ok := enumerations[t]; ok {
		return &schema{Type: "string", Enum: names}
	}
	switch t.Kind() {
	case reflect.String:
		return &schema{Type: "string"}
	case reflect.Bool:
		return &schema{Type: "boolean"}
	case reflect.Int, reflect.Uint64:
		most := int64(maxInteger)
		return &schema{Type: "integer", Minimum: new(int64), Maximum: &most}
	case reflect.Float64:
		return &schema{Type: "number", Minimum: new(int64)}
	case reflect.Map:
		return &schema{Type: "object"}
	case reflect.Slice:
		return &schema{Type: "array", Items: schemaOf(t.Elem())}
	case reflect.Struct:
		s := &schema{Type: "object", Properties: map[string]*schema{}, AdditionalProperties: new(bool)}
		s.members(t)
		return s
	}
	panic("BUG: bridge: no schema for " + t.String())
}

// members adds the fields of a struct; those of an embedded one are its own.
func (s *schema) members(t reflect.Type) {
	for f := range t.Fields() {
		if f.Anonymous {
			s.members(f.Type)
			continue
		}
		if !f.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		m := &schema{Type: "array", Items: &schema{Type: "object"}}
		if f.Type != reflect.SliceOf(t) { // else its elements are such as this
			m = schemaOf(f.Type)
		}
		m.Description = f.Tag.Get("jsonschema")
		if f.Type.Kind() == reflect.Pointer && options == "" {
			m.Type = []string{"object", "null"}
		}
		if e := f.Tag.Get("enum"); e != "" {
			m.Enum = strings.Split(e, ",")
		}
		s.Properties[name] = m
		if !slices.Contains([]string{"omitempty", "omitzero"}, options) {
			s.Required = append(s.Required, name)
		}
	}
}
