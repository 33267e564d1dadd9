package briefing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/heedlog/heed/internal/yamlfile"
)

// Bounds of a template's file.
const (
	maxTemplateBytes = 256 << 10
	maxErrors        = 100
	maxTemplateDepth = 16
)

// Error is one error of a template. Its text is safe to print.
type Error struct {
	File   string // as given to [Parse], or the id of a template that was not parsed
	Line   int    // counting from 1; 0 when the error belongs to the whole, or the template was not parsed
	Column int    // in characters, counting from 1; 0 when unknown
	Field  string // its path, such as "pipeline[2].config.strategy"; counting from 1
	Msg    string // the error
	Hint   string // a correction; may be empty
}

// Error returns the place, the field, the message and the hint in one line.
func (e *Error) Error() string {
	s := "briefing: " + yamlfile.Place(e.File, e.Line, e.Column)
	if e.Field != "" {
		s += e.Field + ": "
	}
	s += e.Msg
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// problems has all errors of a template, in the order of the file. After 100, one more without a place has the number
// of the others.
type problems []*Error

// Error returns one line per error.
func (e problems) Error() string { return yamlfile.Lines(e) }

// Unwrap returns the errors one by one.
func (e problems) Unwrap() []error { return yamlfile.Each(e) }

// language describes templates to package yamlfile.
var language = yamlfile.Language{
	Name: "a template", Begins: "template_id: NAME", Instead: "write the value where it is needed",
	MaxBytes: maxTemplateBytes, MaxDepth: maxTemplateDepth,
}

// Parse reads a template: one YAML document, or JSON, as docs/briefing.md describes it. It is read whole or
// not at all: the error wraps an [*Error] for each thing that is wrong. Name, the name of the file, is in errors only;
// data is not retained.
func Parse(name string, data []byte) (*Template, error) {
	p := parser{file: cmp.Or(name, "template"), at: map[string]*yaml.Node{}}
	root, problems := language.Read(data)
	for _, w := range problems {
		p.errs = append(p.errs, &Error{
			File: p.file, Line: w.Line, Column: w.Column, Msg: w.Msg, Hint: w.Hint,
		})
	}
	t := new(Template)
	if root != nil {
		p.value("", root, reflect.ValueOf(t).Elem())
		if p.at["cache_ttl"] != nil && t.CacheTTL == 0 {
			t.CacheTTL = -1
		}
		failed := map[string]bool{}
		for _, e := range p.errs {
			failed[e.Field] = true
		}
		t.check(func(field, msg, hint string) {
			for f := field; ; f = parent(f) {
				if failed[f] {
					return // an unreadable field is not missing
				}
				if f == "" {
					break
				}
			}
			p.add(p.node(field), field, hint, "%s", msg)
		})
	}
	if len(p.errs) > 0 {
		return nil, p.sorted()
	}
	return t, nil
}

// parent returns the field that a field is part of.
func parent(field string) string { return field[:max(strings.LastIndexAny(field, ".["), 0)] }

// parser reads nodes into values, by the tags of their types, and keeps the place of each field.
type parser struct {
	file string
	errs problems
	at   map[string]*yaml.Node // by field
}

// node returns the node of a field, or of the nearest field around it.
func (p *parser) node(field string) *yaml.Node {
	for p.at[field] == nil {
		field = parent(field)
	}
	return p.at[field]
}

func (p *parser) add(n *yaml.Node, field, hint, format string, args ...any) {
	p.errs = append(p.errs, &Error{
		File: p.file, Line: n.Line, Column: n.Column, Field: field, Msg: fmt.Sprintf(format, args...), Hint: hint,
	})
}

// sorted returns the errors in the order of the file: at most maxErrors, and the number of the others.
func (p *parser) sorted() problems {
	slices.SortStableFunc(p.errs, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if more := len(p.errs) - maxErrors; more > 0 {
		p.errs = append(p.errs[:maxErrors:maxErrors], &Error{
			File: p.file, Msg: fmt.Sprintf("and %d more errors", more),
		})
	}
	return p.errs
}

// value reads n into v.
func (p *parser) value(field string, n *yaml.Node, v reflect.Value) {
	p.at[field] = n
	switch to := v.Addr().Interface().(type) {
	case *stage:
		p.stage(field, n, to)
		return
	case *Tokens:
		p.tokens(field, n, to)
		return
	case *time.Duration:
		p.duration(field, n, to)
		return
	case *map[string]any:
		*to = p.object(field, n)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		p.fields(field, n, v)
	case reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			p.add(n, field, "write it as [a, b]", "must be a list, not %s", yamlfile.KindName(n))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
		for i, item := range n.Content {
			p.value(index(field, i), item, v.Index(i))
		}
	case reflect.Map: // of texts
		v.Set(reflect.MakeMap(v.Type()))
		for _, e := range p.mapping(field, n, nil) {
			item := reflect.New(v.Type().Elem()).Elem()
			p.value(join(field, e.key), e.value, item)
			v.SetMapIndex(reflect.ValueOf(e.key), item)
		}
	default:
		want := scalars[v.Kind()]
		if n.Kind != yaml.ScalarNode || !strings.Contains(want.tags, n.ShortTag()) || n.Decode(v.Addr().Interface()) != nil {
			got := kind(n)
			if v.Kind() == reflect.String { // which looks like a number in quotes
				got = yamlfile.KindName(n)
			}
			p.add(n, field, want.hint, "must be %s, not %s", want.name, got)
		}
	}
}

// scalars are the values that are no collections, with their tags in YAML.
var scalars = map[reflect.Kind]struct{ name, tags, hint string }{
	reflect.String:  {"text", "!!str", "put it in quotes"},
	reflect.Bool:    {"true or false", "!!bool", "write true or false"},
	reflect.Int:     {"a whole number", "!!int", ""},
	reflect.Int64:   {"a whole number", "!!int", ""},
	reflect.Float64: {"a number", "!!int !!float", ""},
}

// kind returns the kind of a node, or the text itself.
func kind(n *yaml.Node) string {
	if name := yamlfile.KindName(n); name != "text" && name != "a number" {
		return name
	}
	return yamlfile.Quote(n.Value)
}

func (p *parser) duration(field string, n *yaml.Node, to *time.Duration) {
	const hint = "write a number with its unit, such as 50ms, 60s or 5m"
	d, err := time.ParseDuration(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode || err != nil || n.ShortTag() != "!!str":
		p.add(n, field, hint, "must be a duration, not %s", kind(n))
	case d < 0:
		p.add(n, field, hint, "must not be negative")
	default:
		*to = d
	}
}

// any reads a JSON value for a custom stage.
func (p *parser) any(field string, n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		return p.object(field, n)
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, item := range n.Content {
			out[i] = p.any(index(field, i), item)
		}
		return out
	}
	if !slices.Contains([]string{"!!null", "!!bool", "!!int", "!!float"}, n.ShortTag()) {
		return n.Value
	}
	var v any
	_ = n.Decode(&v) // the tag is from the value
	if _, err := json.Marshal(v); err != nil {
		p.add(n, field, "", "must be a number, not %s", kind(n))
	}
	return v
}

func (p *parser) object(field string, n *yaml.Node) map[string]any {
	out := map[string]any{}
	for _, e := range p.mapping(field, n, nil) {
		out[e.key] = p.any(join(field, e.key), e.value)
	}
	return out
}

// stage reads a stage, whose type decides the type of its configuration.
func (p *parser) stage(field string, n *yaml.Node, to *stage) {
	enabled := true
	var config *yaml.Node
	fields := map[string]any{"stage": &to.Stage, "type": &to.Type, "share": &to.Share, "enabled": &enabled}
	for _, e := range p.mapping(field, n, stageKeys) {
		if e.key == "config" {
			config = e.value
			continue
		}
		wrong := len(p.errs)
		p.value(join(field, e.key), e.value, reflect.ValueOf(fields[e.key]).Elem())
		if e.key == "share" && to.Share == 0 && len(p.errs) == wrong {
			p.add(e.value, join(field, e.key), "leave it out for all of them", "must be more than 0, and at most 1")
		}
	}
	to.Disabled = !enabled
	if kind, known := stageTypes[to.Type]; known {
		fresh := reflect.New(kind)
		if to.Config = fresh.Interface(); config != nil {
			p.value(join(field, "config"), config, fresh.Elem())
		}
	}
}

// tokens reads a number, or a mapping of numbers.
func (p *parser) tokens(field string, n *yaml.Node, to *Tokens) {
	*to = Tokens{}
	number := func(field, key string, n *yaml.Node) {
		var f float64
		wrong := len(p.errs)
		if p.value(field, n, reflect.ValueOf(&f).Elem()); len(p.errs) == wrong {
			(*to)[key] = f
		}
	}
	if n.Kind != yaml.MappingNode {
		number(field, byDefault, n)
		return
	}
	for _, e := range p.mapping(field, n, nil) {
		number(join(field, e.key), e.key, e.value)
	}
}

// entry is one key of a mapping, with its value.
type entry struct {
	key   string
	value *yaml.Node
}

// fields reads the fields of a struct.
func (p *parser) fields(field string, n *yaml.Node, v reflect.Value) {
	names := fieldsOf(v.Type())
	for _, e := range p.mapping(field, n, names) {
		p.value(join(field, e.key), e.value, v.Field(slices.Index(names, e.key)))
	}
}

// fieldsOf returns the names of the fields of a struct, in their order.
func fieldsOf(t reflect.Type) []string {
	names := make([]string, t.NumField())
	for i := range names {
		names[i] = t.Field(i).Tag.Get("yaml")
	}
	return names
}

// mapping returns the entries of n in the order of the file. Keys that are not plain text, repeated ones, and with
// known those that are not in it, are errors and left out.
func (p *parser) mapping(field string, n *yaml.Node, known []string) []entry {
	if n.Kind != yaml.MappingNode {
		hint := "write it as key: value"
		if known != nil {
			hint = "fields: " + strings.Join(known, ", ")
		}
		p.add(n, field, hint, "must be a mapping, not %s", yamlfile.KindName(n))
		return nil
	}
	out := make([]entry, 0, len(n.Content)/2)
	first := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case k.ShortTag() == "!!merge":
			p.add(k, field, language.Instead, "a merge key")
		case k.ShortTag() != "!!str":
			p.add(k, field, "put it in quotes", "a key must be text, not %s", yamlfile.KindName(k))
		case first[k.Value] != nil:
			p.add(k, join(field, k.Value), "keep one of the two", "is given twice, first in line %d",
				first[k.Value].Line)
		case known != nil && !slices.Contains(known, k.Value):
			p.add(k, join(field, k.Value), yamlfile.DidYouMean(k.Value, known), "unknown field")
		default:
			out = append(out, entry{k.Value, v})
		}
		if k.Kind == yaml.ScalarNode && first[k.Value] == nil {
			first[k.Value] = k
		}
	}
	return out
}

// join returns the path of a field's part.
func join(field, key string) string {
	key = yamlfile.Clean(yamlfile.Clip(key))
	if field == "" {
		return key
	}
	return field + "." + key
}

// index returns the path of an item of a list, counting from 1.
func index(field string, i int) string { return field + "[" + strconv.Itoa(i+1) + "]" }
