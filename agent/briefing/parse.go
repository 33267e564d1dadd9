package briefing

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
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
	return "briefing: " + yamlfile.Problem{Line: e.Line, Column: e.Column, Msg: e.Msg, Hint: e.Hint}.In(e.File, e.Field)
}

// language describes templates to package yamlfile.
var language = yamlfile.Language{
	Name: "a template", Begins: "template_id: NAME", Instead: "write the value where it is needed",
	MaxBytes: maxTemplateBytes, MaxDepth: maxTemplateDepth,
}

// Parse reads a template: one YAML document, or JSON, as docs/briefing.md describes it. It is read whole or
// not at all: the error wraps an [*Error] for each thing that is wrong with its YAML, else with its form by [Schema],
// else between its parts. Name, the name of the file, is in errors only; data is not retained.
func Parse(name string, data []byte) (*Template, error) {
	root, problems := language.Read(data)
	p := &parser{file: cmp.Or(name, "template"), root: root}
	for _, w := range problems {
		p.errs = append(p.errs, &Error{File: p.file, Line: w.Line, Column: w.Column, Msg: w.Msg, Hint: w.Hint})
	}
	t := &Template{CacheTTL: DefaultCacheTTL}
	var value any
	for _, step := range []func(){ // each if those before it found no error
		func() { value = p.plain(nil, root) },
		func() { p.hold(nil, schemaName, value) },
		func() {
			for i, key := range root.Content[:len(root.Content)-1] { // a number is the default alone
				if n := root.Content[i+1]; i%2 == 0 && key.Value == "chars_per_token" && n.Kind == yaml.ScalarNode {
					all := []*yaml.Node{{Kind: yaml.ScalarNode, Value: byDefault}, n}
					root.Content[i+1] = &yaml.Node{Kind: yaml.MappingNode, Content: all}
				}
			}
			if err := root.Decode(t); err != nil { // a number that is too large
				p.errs = append(p.errs, &Error{File: p.file, Msg: yamlfile.Clean(err.Error())})
			}
		},
		func() { p.check(t) },
	} {
		if len(p.errs) == 0 {
			step()
		}
	}
	if err := p.sorted(); err != nil {
		return nil, err
	}
	return t, nil
}

// parser reads the nodes of a template.
type parser struct {
	file string
	root *yaml.Node
	errs []*Error
}

// add adds an error of a part of the template, with the place of the part, or of the nearest part around it.
func (p *parser) add(at []string, msg, hint string) {
	n, field := p.root, ""
	for _, step := range at {
		if i, err := strconv.Atoi(step); err == nil && n.Kind == yaml.SequenceNode {
			n, field = n.Content[i], field+"["+strconv.Itoa(i+1)+"]"
			continue
		}
		field = strings.TrimPrefix(field+"."+yamlfile.Clean(yamlfile.Clip(step)), ".")
		for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				n = n.Content[i+1]
				break
			}
		}
	}
	p.errs = append(p.errs, &Error{File: p.file, Line: n.Line, Column: n.Column, Field: field, Msg: msg, Hint: hint})
}

// sorted returns the errors in the order of the file, each in a line: at most maxErrors, and the number of the others.
func (p *parser) sorted() error {
	slices.SortStableFunc(p.errs, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Field, b.Field))
	})
	if more := len(p.errs) - maxErrors; more > 0 {
		p.errs = append(p.errs[:maxErrors:maxErrors], &Error{
			File: p.file, Msg: fmt.Sprintf("and %d more errors", more),
		})
	}
	return errors.Join(yamlfile.Each(p.errs)...)
}

// plain returns a part of the template as JSON has it: dates are texts, and each key is a text, once.
func (p *parser) plain(at []string, n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		out := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			below := append(slices.Clip(at), key.Value)
			switch _, twice := out[key.Value]; {
			case key.ShortTag() == "!!merge":
				p.add(at, "a merge key", language.Instead)
			case key.ShortTag() != "!!str":
				p.add(at, "a key must be text, not "+yamlfile.KindName(key), "put it in quotes")
			case twice:
				p.add(below, "is given twice", "keep one of the two")
			}
			out[key.Value] = p.plain(below, n.Content[i+1])
		}
		return out
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, item := range n.Content {
			out[i] = p.plain(append(slices.Clip(at), strconv.Itoa(i)), item)
		}
		return out
	}
	if !slices.Contains([]string{"!!null", "!!bool", "!!int", "!!float"}, n.ShortTag()) {
		return n.Value
	}
	var v any
	_ = n.Decode(&v) // the tag is from the value
	if f, ok := v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		p.add(at, "must be a number, not "+yamlfile.Quote(n.Value), "")
	}
	return v
}

// UnmarshalYAML reads a stage, whose type decides the type of its configuration.
func (s *stage) UnmarshalYAML(n *yaml.Node) error {
	in := struct {
		Stage, Type string
		Enabled     bool
		Share       float64
		Config      yaml.Node
	}{Enabled: true}
	if err := n.Decode(&in); err != nil {
		return err
	}
	config := reflect.New(reflect.TypeOf(stageTypes[in.Type])).Interface()
	err := in.Config.Decode(config)
	*s = newStage(in.Stage, in.Type, config)
	s.Disabled, s.Share = !in.Enabled, in.Share
	return err
}

// UnmarshalYAML reads arguments as JSON has them.
func (a *args) UnmarshalYAML(n *yaml.Node) error {
	*a, _ = new(parser).plain(nil, n).(map[string]any)
	return nil
}

// schemaName is the URL of the schema of templates.
const schemaName = "mem:template"

// compiler compiles the schema of templates.
var compiler struct {
	sync.Mutex
	*jsonschema.Compiler
}

// compile returns the schema of templates, or the part of it at a URL.
func compile(url string) *jsonschema.Schema {
	compiler.Lock()
	defer compiler.Unlock()
	if compiler.Compiler == nil {
		doc, _ := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
		compiler.Compiler = jsonschema.NewCompiler()
		_ = compiler.AddResource(schemaName, doc) // else nothing compiles
	}
	return compiler.MustCompile(url)
}

// hold adds an error for each part of a value, at a place, that a schema refuses.
func (p *parser) hold(at []string, url string, value any) {
	if wrong, ok := errors.AsType[*jsonschema.ValidationError](compile(url).Validate(value)); ok {
		p.faults(at, wrong)
	}
}

func (p *parser) faults(in []string, e *jsonschema.ValidationError) {
	for _, cause := range e.Causes {
		p.faults(in, cause)
	}
	if len(e.Causes) > 0 {
		return
	}
	s, at := compile(e.SchemaURL), slices.Concat(in, e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			p.add(append(slices.Clip(at), name), "is missing", s.Properties[name].Description)
		}
	case *kind.AdditionalProperties:
		known := slices.Sorted(maps.Keys(s.Properties))
		for _, name := range k.Properties {
			p.add(append(slices.Clip(at), name), "unknown field", yamlfile.DidYouMean(name, known))
		}
	case *kind.Enum:
		known := make([]string, len(k.Want))
		for i, v := range k.Want {
			known[i] = v.(string)
		}
		got, _ := k.Got.(string)
		p.add(at, "unknown value "+yamlfile.Quote(fmt.Sprint(k.Got)), yamlfile.DidYouMean(got, known))
	case *kind.Pattern, *kind.Not:
		p.add(at, "has the wrong form", s.Description)
	default:
		alone := jsonschema.ValidationError{ErrorKind: e.ErrorKind}
		p.add(at, yamlfile.Clean(strings.TrimPrefix(alone.Error(), "at '': ")), s.Description)
	}
}

// Bounds of a request, and of the warnings of a context. The schema has the bounds of a template.
const (
	maxStages = 64
	maxList   = 64
	maxText   = 4 << 10
)

// The names that a template may use.
var (
	kindNames       = []string{Prose: "prose", Stack: "stack", Hex: "hex"}
	ownKeys         = append([]string{byDefault}, kindNames...) // of Tokens; the others are scripts
	attentionStages = []string{"attention", "custom"}           // that may find fragments of attention
)

// checkRequest returns the errors of a request, nil for none. Its contract follows the rules for stages, but for paths,
// which no root has either.
func checkRequest(r *Request) error {
	p := &parser{file: "request", root: &yaml.Node{}}
	for name, value := range r.variables() {
		if n := len(value); n > maxText {
			p.add([]string{name}, fmt.Sprintf("has %d bytes, more than the %d allowed", n, maxText), "")
		}
	}
	if r.MaxContextTokens < 0 {
		p.add([]string{"max_context_tokens"}, "must be at least 0", "")
	}
	stages := r.Contract.stages()
	if n := len(stages); n > maxStages {
		p.add([]string{"contract"}, fmt.Sprintf("requires %d things, more than the %d allowed", n, maxStages), "")
		return p.sorted()
	}
	for _, s := range stages {
		var n yaml.Node
		_ = n.Encode(s.Config) // of texts, numbers and lists
		p.hold([]string{s.Stage}, schemaName+"#/definitions/"+s.Type, p.plain(nil, &n))
		p.variables(&s, []string{s.Stage}, true)
	}
	p.errs = slices.DeleteFunc(p.errs, func(e *Error) bool {
		return strings.HasPrefix(e.Field, "contract.file_read.") && strings.Contains(e.Field, ".paths.")
	})
	return p.sorted()
}

// check adds the errors of a template, whose form is right.
func (p *parser) check(t *Template) {
	known := slices.Concat(ownKeys, slices.Sorted(maps.Keys(scriptTables)), []string{scriptCJK})
	for _, name := range slices.Sorted(maps.Keys(t.Tokens)) {
		if !slices.Contains(known, name) {
			p.add([]string{"chars_per_token", name}, "unknown kind of text or script", cmp.Or(yamlfile.DidYouMean(name, known),
				strings.Join(ownKeys, ", ")+", cjk, or a script of Unicode such as cyrillic"))
		}
	}
	attention := false
	for i := range t.Pipeline {
		s, at := &t.Pipeline[i], []string{"pipeline", strconv.Itoa(i)}
		p.variables(s, append(at, "config"), attention)
		attention = attention || slices.Contains(attentionStages, s.Type)
		first := slices.IndexFunc(t.Pipeline, func(o stage) bool { return o.Stage == s.Stage })
		if first < i {
			p.add(at, fmt.Sprintf("is called %s, as pipeline[%d] is", yamlfile.Quote(s.Stage), first+1),
				"give it a name of its own: stage: NAME")
		}
	}
}

// variables adds an error for each variable of a stage that can have no value. attention reports whether an earlier
// stage may find attention.
func (p *parser) variables(s *stage, at []string, attention bool) {
	if s.Type != "horizontal_search" {
		at = append(slices.Clip(at), "filters")
	}
	known := []string{"$" + attentionPrefix + "NAME"}
	for _, name := range slices.Sorted(maps.Keys(new(Request).variables())) {
		known = append(known, "$"+name)
	}
	texts := s.texts()
	for _, field := range slices.Sorted(maps.Keys(texts)) {
		replace(texts[field], func(name string) string {
			at := append(slices.Clip(at), field)
			switch {
			case strings.HasPrefix(name, attentionPrefix):
				if !attention {
					p.add(at, fmt.Sprintf("$%s has no value here: no stage before this one finds attention", yamlfile.Clip(name)),
						"put a stage of type attention before it")
				}
			case name+"." == attentionPrefix:
				p.add(at, "unknown variable $attention", "write $attention.NAME, such as $attention.signature")
			case !slices.Contains(known, "$"+name):
				p.add(at, "unknown variable $"+yamlfile.Clip(name), yamlfile.DidYouMean("$"+name, known))
			}
			return ""
		})
	}
}
