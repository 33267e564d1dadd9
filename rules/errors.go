package rules

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/yamlfile"
)

// Error is one fault of a rule file: its place, its description and its remedy. Its
// text is safe to print: quotations from the file are escaped and cut.
type Error struct {
	File   string // name of the file, as given to [Compile]
	Line   int    // counting from 1; 0 when the error belongs to the file as a whole
	Column int    // in characters, counting from 1; 0 when unknown
	Rule   string // id of the rule, empty outside of a rule and where it has none
	Field  string // path of the field, such as "when", "tests[2].level" or "lists.colors"
	Msg    string // describes the fault
	Hint   string // the remedy; may be empty

	file int // index of the file among those given
}

// Error returns the position, the rule, the field, the message and the hint in
// one line, as in
//
//	rules: f.yaml:12:9: rule save.x: when: unknown name "templat" (did you mean "template"?)
func (e *Error) Error() string {
	field := e.Field
	if e.Rule != "" {
		field = strings.TrimSuffix("rule "+e.Rule+": "+field, ": ")
	}
	return "rules: " + yamlfile.Problem{Line: e.Line, Column: e.Column, Msg: e.Msg, Hint: e.Hint}.In(e.File, field)
}

// compare orders errors by file, as given, line and column.
func (e *Error) compare(o *Error) int {
	return cmp.Or(cmp.Compare(e.file, o.file), cmp.Compare(e.Line, o.Line), cmp.Compare(e.Column, o.Column))
}

// collector gathers errors while a set is compiled.
type collector struct {
	errs    []*Error
	dropped int
}

// at is a place in a file that an error can be about.
type at struct {
	src         *source
	line, col   int
	rule, field string
}

// of returns the place for a field of the rule.
func (p at) of(field string) at {
	p.field = field
	return p
}

func (c *collector) add(p at, hint, format string, args ...any) {
	if c.full() {
		c.dropped++
		return
	}
	c.errs = append(c.errs, &Error{
		File: p.src.name, Line: p.line, Column: p.col,
		Rule: p.rule, Field: p.field, Msg: fmt.Sprintf(format, args...), Hint: hint, file: p.src.index,
	})
}

// full reports whether further errors are only counted.
func (c *collector) full() bool { return len(c.errs) >= maxErrors }

// count returns how many errors were added.
func (c *collector) count() int { return len(c.errs) + c.dropped }

// all returns the collected errors, in order.
func (c *collector) all() []*Error {
	slices.SortStableFunc(c.errs, (*Error).compare)
	if c.dropped > 0 {
		return append(c.errs, &Error{Msg: fmt.Sprintf("and %d more errors", c.dropped)})
	}
	return c.errs
}

// err returns the collected errors, in order, or nil.
func (c *collector) err() error { return errors.Join(yamlfile.Each(c.all())...) }

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

// owner is the rule, or another part of a file, that has the values.
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

var (
	parseDisposition = oneIn[event.Disposition](dispositions)
	parseSeverity    = oneIn[event.Severity](severities)
)

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
