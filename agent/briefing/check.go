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
	attentionStages = []string{typeAttention, typeCustom}       // that may find fragments of attention
)

// checkRequest returns the errors of a request, nil for none. Its contract follows the rules for stages, but for paths,
// which no root has either.
func checkRequest(r *Request) error {
	p := &parser{file: "request", root: &yaml.Node{}}
	report := reporter(func(at []string, msg, hint string) {
		if !slices.Contains(at[:len(at)-1], "paths") {
			p.add(at, msg, hint)
		}
	})
	for _, v := range requestVariables {
		if n := len(v.of(r)); n > maxText {
			report([]string{v.name}, fmt.Sprintf("has %d bytes, more than the %d allowed", n, maxText), "")
		}
	}
	if r.MaxContextTokens < 0 {
		report([]string{"max_context_tokens"}, "must be at least 0", "")
	}
	required := &r.Contract.RequiredContext
	if n := len(required.LedgerQueries) + len(required.FrameworkRefs) + len(required.FileRefs); n > maxStages {
		report([]string{"contract"}, fmt.Sprintf("requires %d things, more than the %d allowed", n, maxStages), "")
	} else {
		for _, s := range r.Contract.stages() {
			var n yaml.Node
			_ = n.Encode(s.Config) // of texts, numbers and lists
			report.hold([]string{s.Stage}, schemaName+"#/definitions/"+s.Type, p.plain(nil, &n))
			s.check(report, []string{s.Stage}, true)
		}
	}
	return p.sorted()
}

// check reports the errors of a template, whose form is right.
func (t *Template) check(report reporter) {
	known := slices.Concat(ownKeys, slices.Sorted(maps.Keys(scriptTables)), []string{scriptCJK})
	for _, name := range slices.Sorted(maps.Keys(t.Tokens)) {
		if !slices.Contains(known, name) {
			report([]string{"chars_per_token", name}, "unknown kind of text or script", cmp.Or(yamlfile.DidYouMean(name, known),
				strings.Join(ownKeys, ", ")+", cjk, or a script of Unicode such as cyrillic"))
		}
	}
	names := map[string]int{}
	attention := false
	for i := range t.Pipeline {
		s, at := &t.Pipeline[i], []string{"pipeline", strconv.Itoa(i)}
		s.check(report, append(at, "config"), attention)
		attention = attention || slices.Contains(attentionStages, s.Type)
		name := s.name()
		if first, taken := names[name]; taken {
			report(at, fmt.Sprintf("is called %s, as pipeline[%d] is", yamlfile.Quote(name), first+1),
				"give it a name of its own: stage: NAME")
			continue
		}
		names[name] = i
	}
}

// name returns the name of a stage in a trace.
func (s *stage) name() string { return cmp.Or(s.Stage, s.Type) }

// check reports variables that can have no value. attention reports whether an earlier stage may find attention.
func (s *stage) check(report reporter, at []string, attention bool) {
	if s.Type != typeHorizontalSearch {
		at = append(slices.Clip(at), "filters")
	}
	texts := s.texts()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		replace(texts[name], func(variable string) string {
			report.variable(append(slices.Clip(at), name), variable, attention)
			return ""
		})
	}
}

func (report reporter) variable(at []string, name string, attention bool) {
	known := []string{"$" + attentionPrefix + "NAME"}
	for _, v := range requestVariables {
		known = append(known, "$"+v.name)
	}
	switch {
	case strings.HasPrefix(name, attentionPrefix):
		if !attention {
			report(at, fmt.Sprintf("$%s has no value here: no stage before this one finds attention", yamlfile.Clip(name)),
				"put a stage of type attention before it")
		}
	case !slices.Contains(known, "$"+name):
		hint := yamlfile.DidYouMean("$"+name, known)
		if name+"." == attentionPrefix {
			hint = "write $attention.NAME, such as $attention.signature"
		}
		report(at, "unknown variable $"+yamlfile.Clip(name), hint)
	}
}
