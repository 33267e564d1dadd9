package gabp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/heedlog/heed/internal/text"
)

// badArgument is the data of an error that refuses arguments.
type badArgument struct {
	Path string `json:"path"` // of the value at fault: "arguments.pawns[2].id"
	Want string `json:"want"`
	Got  string `json:"got"`
}

// maxShown bounds the part of a schema or an argument in an error, in characters.
const maxShown = 200

// BadArgument returns the error by which a tool refuses an argument, as [Tools] does itself: with
// the code [CodeInvalidParams] and the data {path, want, got}. path is below the arguments:
// "pawns[2].id". want and got complete "want the id of a pawn, got 9".
func BadArgument(path, want, got string) *Error {
	path = strings.TrimSuffix("arguments."+path, ".")
	data := badArgument{text.Safe(path, maxShown), text.Safe(want, maxShown), text.Safe(got, maxShown)}
	return Errorf(CodeInvalidParams, "params.%s: want %s, got %s", data.Path, data.Want, data.Got).WithData(data)
}

// compileSchema compiles a JSON Schema, of draft 2020-12 unless it names another. It must be
// complete: nothing is loaded from elsewhere.
func compileSchema(schema json.RawMessage) (*jsonschema.Schema, error) {
	const name = "mem:schema"
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	if _, ok := doc.(map[string]any); !ok {
		return nil, errors.New("want an object")
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	_ = c.AddResource(name, doc) // the only one
	return c.Compile(name)
}

type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is not part of the schema", url)
}

// checkArguments holds arguments, a JSON object, to the schema of a tool.
func checkArguments(schema *jsonschema.Schema, arguments json.RawMessage) *Error {
	value, _ := jsonschema.UnmarshalJSON(bytes.NewReader(arguments)) // they are JSON
	invalid, ok := errors.AsType[*jsonschema.ValidationError](schema.Validate(value))
	if !ok {
		return nil
	}
	// The validator goes through the members in no order.
	byText := func(a, b *Error) int { return cmp.Compare(a.Message, b.Message) }
	return slices.MinFunc(faults(schema, value, invalid), byText)
}

// faults returns an error for each value that is at fault.
func faults(schema *jsonschema.Schema, value any, e *jsonschema.ValidationError) []*Error {
	at := e.InstanceLocation
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		missing := find(schema, value, append(slices.Clip(at), slices.Min(k.Missing)))
		return []*Error{BadArgument(missing.path, describe(missing.schema), "nothing")}
	case *kind.AdditionalProperties:
		known := find(schema, value, at).schema
		want := "nothing here"
		if known != nil && len(known.Properties) > 0 {
			want = "one of " + strings.Join(slices.Sorted(maps.Keys(known.Properties)), ", ")
		}
		unknown := find(schema, value, append(slices.Clip(at), slices.Min(k.Properties)))
		return []*Error{BadArgument(unknown.path, want, "an unknown name")}
	case *kind.AnyOf, *kind.OneOf, *kind.Not: // which branch was meant is not known
	default:
		if len(e.Causes) > 0 {
			var all []*Error
			for _, cause := range e.Causes {
				all = append(all, faults(schema, value, cause)...)
			}
			return all
		}
	}
	wrong := find(schema, value, at)
	return []*Error{BadArgument(wrong.path, describe(wrong.schema), show(wrong.value))}
}

// place is a value in arguments: its path, such as "pawns[2].id", and its schema, nil if that is not plain.
type place struct {
	path   string
	schema *jsonschema.Schema
	value  any
}

// find returns the place at a location.
func find(schema *jsonschema.Schema, value any, at []string) place {
	p := place{"", resolve(schema), value}
	for _, step := range at {
		s := p.schema
		p.schema = nil
		switch v := p.value.(type) {
		case map[string]any:
			p.path, p.value = p.path+"."+step, v[step]
			if s != nil {
				others, _ := s.AdditionalProperties.(*jsonschema.Schema)
				p.schema = resolve(cmp.Or(s.Properties[step], others))
			}
		case []any:
			i, _ := strconv.Atoi(step) // the validator's own
			p.path, p.value = p.path+"["+step+"]", v[i]
			if s != nil {
				items, _ := s.Items.(*jsonschema.Schema) // before draft 2020-12
				p.schema = resolve(cmp.Or(s.Items2020, items))
			}
		}
	}
	p.path = strings.TrimPrefix(p.path, ".")
	return p
}

// maxDescribed bounds how far references and branches of a schema are followed: it may be of itself.
const maxDescribed = 8

func resolve(s *jsonschema.Schema) *jsonschema.Schema {
	for range maxDescribed {
		if s == nil || s.Ref == nil {
			break
		}
		s = s.Ref
	}
	return s
}

// show describes a value in few characters.
func show(value any) string {
	switch v := value.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list of " + strconv.Itoa(len(v))
	}
	raw, _ := marshal(value) // decoded JSON
	return text.Safe(string(raw), maxShown/4)
}

// describe returns the values of a schema in words: "an integer from 1 to 5".
func describe(s *jsonschema.Schema) string { return describeTo(s, maxDescribed/2) }

func describeTo(s *jsonschema.Schema, depth int) string {
	s = resolve(s)
	switch {
	case s == nil || depth == 0:
		return "another value"
	case s.Enum != nil:
		return "one of " + oneOf(s.Enum.Values)
	case s.Const != nil:
		return oneOf([]any{*s.Const})
	}
	var forms []string
	for _, branch := range slices.Concat(s.AnyOf, s.OneOf) {
		if form := describeTo(branch, depth-1); !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	if s.Types != nil {
		for _, name := range s.Types.ToStrings() {
			forms = append(forms, describeType(s, name))
		}
	}
	if len(forms) == 0 {
		return "another value"
	}
	return strings.Join(forms, " or ")
}

func describeType(s *jsonschema.Schema, name string) string {
	switch name {
	case "integer", "number":
		return map[string]string{"integer": "an integer", "number": "a number"}[name] +
			span("from ", number(s.Minimum), number(s.Maximum), "")
	case "string":
		form := "a text" + span("of ", count(s.MinLength), count(s.MaxLength), " characters")
		if s.Pattern != nil {
			form += " that matches " + s.Pattern.String()
		}
		return form
	case "array":
		form := "a list" + span("of ", count(s.MinItems), count(s.MaxItems), " elements")
		if s.UniqueItems {
			form += ", no two the same"
		}
		return form
	case "object":
		return "an object" + span("of ", count(s.MinProperties), count(s.MaxProperties), " members")
	case "boolean":
		return "true or false"
	}
	return name
}

// span returns " of 1 to 5 elements", with what there is of it.
func span(both, least, most, unit string) string {
	switch {
	case least != "" && most != "":
		return " " + both + least + " to " + most + unit
	case least != "":
		return " of at least " + least + singular(unit, least)
	case most != "":
		return " of at most " + most + singular(unit, most)
	}
	return ""
}

func singular(unit, n string) string {
	if n == "1" {
		return strings.TrimSuffix(unit, "s")
	}
	return unit
}

func count(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

func number(r *big.Rat) string {
	if r == nil {
		return ""
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'f', -1, 64)
}

func oneOf(values []any) string {
	shown := make([]string, len(values))
	for i, v := range values {
		shown[i] = show(v)
	}
	return strings.Join(shown, ", ")
}
