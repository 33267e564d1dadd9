package rules

import (
	"slices"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/yamlfile"
)

// language is the language of rule files, as YAML.
var language = yamlfile.Language{
	Name: "a rule file", Begins: "version: 1",
	Instead:  "aliases are not part of the rule language; use a list or a macro",
	MaxBytes: MaxFileBytes, MaxDepth: maxDepth,
}

type (
	value       = yamlfile.Value
	keys[T any] = yamlfile.Keys[T]
)

// owner is the rule, or another part of a file, of which values are.
type owner struct {
	src  *source
	rule string
	errs *collector
}

// Report implements [yamlfile.Owner].
func (o *owner) Report(field string, p yamlfile.Problem) {
	o.errs.add(at{o.src, p.Line, p.Column, o.rule, field}, p.Hint, "%s", p.Msg)
}

// ownerOf returns the owner of a value of a rule file.
func ownerOf(v value) *owner { return v.Owner.(*owner) }

// placeOf returns the place of a value, for errors of later steps.
func placeOf(v value) at {
	o := ownerOf(v)
	return at{o.src, v.Line, v.Column, o.rule, v.Field}
}

// words returns the elements of a list of texts.
func words(v value) (list []value) {
	for _, item := range v.Items() {
		if _, ok := item.Text(); ok {
			list = append(list, item)
		}
	}
	return list
}

// oneIn returns a parser of a value that must be one of names.
func oneIn[E interface {
	event.Disposition | event.Kind | event.Level | event.Severity | event.Status
}](names []string) func(value) E {
	return func(v value) E {
		s, ok := v.Text()
		if ok && !slices.Contains(names, s) {
			v.Fail(yamlfile.DidYouMean(s, names), "unknown value %s", yamlfile.Quote(s))
			s = ""
		}
		e, _ := event.Parse[E](s)
		return e
	}
}
