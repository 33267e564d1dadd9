package briefing

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/heedlog/heed/internal/yamlfile"
)

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
	for _, v := range r.variables() {
		if n := len(v.value); n > maxText {
			p.add([]string{v.name}, fmt.Sprintf("has %d bytes, more than the %d allowed", n, maxText), "")
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
	for _, v := range new(Request).variables() {
		known = append(known, "$"+v.name)
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
