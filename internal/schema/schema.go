// Package schema makes JSON Schemas (draft 2020-12) of the Go types whose values are written as JSON, so
// that a form and its description cannot differ.
//
// A field is described by its tags, in addition to "json":
//
//	jsonschema:"A text."         its description
//	enum:"open,cleared"          the values that it, or an element of it, has
//	pattern:"^[0-9a-f]{16}$"     the regular expression of its text
//	minimum:"1" maximum:"9"      its least and its greatest value
//	default:"5"                  the number that a missing one is
//
// A field without omitempty or omitzero is required. Only a required pointer may be null; slices are written
// as [] where they are empty. An unsigned type that has names (a String method) is one of them, another
// type that marshals as text is a string. Named structs become definitions under their names, so that they
// may be recursive. Schemas of output are open: new fields may appear within a version.
package schema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Version is the value of the field "schemaVersion", with which each document begins. It is one for all forms
// and rises when a field of one goes, or means something else; new fields do not change it.
const Version = 3

// Form is a form of output.
type Form struct {
	Name        string // by which it is asked for
	Title       string // which command writes it
	Description string

	// Values has a value of each type of a document, all structs.
	Values []any
}

// Object returns the form of the one object that a command writes as JSON.
func Object(name, command string, value any) Form {
	return Form{name, command + " --format json", "One object. New fields may appear within a version.", []any{value}}
}

// Lines returns the form of a command's lines of JSON; see [Object].
func Lines(name, command string, values ...any) Form {
	return Form{name, command + " --format jsonl", "Each line. New fields may appear within a version.", values}
}

// JSON returns the schema, indented, with a line feed. It panics where a type cannot be described.
func (f *Form) JSON() []byte {
	g := generator{defs: map[string]*Schema{}, of: map[string]reflect.Type{}, form: true}
	root := &Schema{}
	if len(f.Values) == 1 {
		root = g.object(reflect.TypeOf(f.Values[0]))
	} else {
		for _, v := range f.Values {
			root.OneOf = append(root.OneOf, g.schema(reflect.TypeOf(v)))
		}
	}
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	root.Title, root.Description, root.Defs = f.Title, f.Description, g.defs
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic("BUG: schema " + f.Name + ": " + err.Error())
	}
	return append(text, '\n')
}

// Find returns the form of a name, or nil.
func Find(forms []Form, name string) *Form {
	if i := slices.IndexFunc(forms, func(f Form) bool { return f.Name == name }); i >= 0 {
		return &forms[i]
	}
	return nil
}

// For returns the schema of a type, compact: of input, whose objects have no other members, or of
// output. A type that cannot be described is an error.
func For(t reflect.Type, input bool) (text []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			why := strings.TrimPrefix(fmt.Sprint(p), "BUG: schema: ") // of a caller's type it is none
			text, err = nil, fmt.Errorf("type %s has no schema: %s", t, why)
		}
	}()
	g := generator{defs: map[string]*Schema{}, of: map[string]reflect.Type{}, closed: input}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var root *Schema
	if t.Kind() == reflect.Struct && !t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		root = g.object(t)
	} else {
		root = g.schema(t)
	}
	root.Defs = g.defs
	return json.Marshal(root)
}

// Input returns the schema of a struct of arguments, which has no other members. It panics where a type cannot be
// described, and where a field is a named struct.
func Input(t reflect.Type) *Schema {
	g := generator{closed: true}
	return g.object(t)
}

// generator makes the schema of one form.
type generator struct {
	defs   map[string]*Schema
	of     map[string]reflect.Type // defs
	closed bool                    // objects have no other members
	form   bool                    // "schemaVersion" is Version
}

// object returns the schema of a struct, with the fields of embedded structs among its own.
func (g *generator) object(t reflect.Type) *Schema {
	s := &Schema{Type: "object", Properties: Properties{}}
	if g.closed {
		s.AdditionalProperties = false
	}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" || !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			panic(fmt.Sprintf("BUG: schema: %s.%s has no name in JSON", t, f.Name))
		}
		optional := strings.Contains(options, "omit")
		property := g.schema(f.Type)
		constrain(property, f.Tag)
		if f.Type.Kind() == reflect.Pointer && !optional {
			property = &Schema{OneOf: []*Schema{property, {Type: "null"}}}
		}
		property.Description = f.Tag.Get("jsonschema")
		if g.form && name == "schemaVersion" {
			*property = Schema{Const: Version, Description: property.Description}
		}
		s.Properties = append(s.Properties, Property{name, property})
		if !optional {
			s.Required = append(s.Required, name)
		}
	}
	return s
}

// constrain adds the constraints in the tags of a field to its schema, or to the schema of its elements.
func constrain(s *Schema, tag reflect.StructTag) {
	for s.Items != nil {
		s = s.Items
	}
	if names := tag.Get("enum"); names != "" {
		numbers := s.Type == "integer" || s.Type == "number"
		s.Type = nil
		for name := range strings.SplitSeq(names, ",") {
			var value any = name
			if numbers {
				value = number(name)
			}
			s.Enum = append(s.Enum, value)
		}
	}
	if pattern := tag.Get("pattern"); pattern != "" {
		s.Pattern = pattern
	}
	if value := tag.Get("default"); value != "" {
		s.Default = number(value)
	}
	for name, bound := range map[string]**float64{"minimum": &s.Minimum, "maximum": &s.Maximum} {
		if value := tag.Get(name); value != "" {
			n := number(value)
			*bound = &n
		}
	}
}

func number(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic("BUG: schema: " + err.Error())
	}
	return n
}

// schema returns the schema of a type: of a named struct a reference to its definition.
func (g *generator) schema(t reflect.Type) *Schema {
	switch {
	case t.Kind() == reflect.Pointer:
		return g.schema(t.Elem())
	case t == reflect.TypeFor[time.Time]():
		return &Schema{Type: "string", Format: "date-time"}
	case t == reflect.TypeFor[json.RawMessage]() || t.Kind() == reflect.Interface:
		return &Schema{}
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return text(t)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 &&
		!reflect.PointerTo(t.Elem()).Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return &Schema{Type: "string", ContentEncoding: "base64"}
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		return &Schema{Type: "array", Items: g.schema(t.Elem())}
	case t.Kind() == reflect.Map:
		return &Schema{Type: "object", AdditionalProperties: g.schema(t.Elem())}
	case t.Kind() != reflect.Struct:
		if s := scalar(t); s != nil {
			return s
		}
		panic("BUG: schema: there is none of a " + t.Kind().String())
	case t.Name() == "":
		return g.object(t)
	}
	name := strings.ToLower(t.Name()[:1]) + t.Name()[1:]
	switch known := g.of[name]; known {
	case nil:
		g.of[name] = t
		g.defs[name] = g.object(t)
	case t:
	default:
		panic(fmt.Sprintf("BUG: schema: %s and %s would be one definition", known, t))
	}
	return &Schema{Ref: "#/$defs/" + name}
}

// text returns the schema of a type that marshals as text. A small unsigned type is an enumeration: its names are the
// names of the values from 0 on, up to the first value without a name of its own, such as "kind(7)".
func text(t reflect.Type) *Schema {
	if t.Kind() != reflect.Uint8 {
		return &Schema{Type: "string"}
	}
	s := &Schema{}
	for i := range 256 {
		v := reflect.New(t).Elem()
		v.SetUint(uint64(i))
		name := fmt.Sprint(v.Interface())
		if strings.Contains(name, "(") || slices.Contains(s.Enum, any(name)) {
			break
		}
		s.Enum = append(s.Enum, name)
	}
	return s
}
