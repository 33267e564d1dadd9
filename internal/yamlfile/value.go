package yamlfile

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Value is a node with the path of its field, such as "tests[2].level", and its owner.
type Value struct {
	*yaml.Node

	Field string
	Owner Owner
}

// Owner receives the problems of a file.
type Owner interface {
	Report(field string, p Problem)
}

// Open returns the root of the only document of a file. Without one it has reported why to the owner, unless the file
// is empty and may be so.
func (l *Language) Open(data []byte, owner Owner) (root Value, ok bool) {
	n, problems := l.Read(data)
	for _, p := range problems {
		owner.Report("", p)
	}
	return Value{Node: n, Owner: owner}, n != nil
}

// Fail reports a problem of the value.
func (v Value) Fail(hint, format string, args ...any) {
	v.Owner.Report(v.Field, Problem{v.Line, v.Column, fmt.Sprintf(format, args...), hint})
}

// At returns another node of the same field.
func (v Value) At(n *yaml.Node) Value {
	v.Node = n
	return v
}

// Under returns the same place with key, which may be any text, appended to the path of the field.
func (v Value) Under(key string) Value {
	v.Field = strings.TrimPrefix(v.Field+"."+Clean(Clip(key)), ".")
	return v
}

// Entry is one key of a mapping with its value. Both have the field of the value.
type Entry struct{ Key, Value Value }

// Mapping returns the entries of a mapping in file order. It reports and leaves out repeated keys, keys that are not
// plain text and, if known is not nil, keys that it does not have.
func (v Value) Mapping(known []string) iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		if v.Kind != yaml.MappingNode {
			hint := "write it as key: value"
			if len(known) > 0 && len(known) <= MaxListed {
				hint = "fields: " + strings.Join(known, ", ")
			}
			v.Fail(hint, "must be a mapping, not %s", KindName(v.Node))
			return
		}
		seen := make(map[string]int, len(v.Content)/2)
		for pair := range slices.Chunk(v.Content, 2) {
			key, name := v.At(pair[0]), pair[0].Value
			own := v.Under(name)
			first, twice := seen[name]
			switch {
			case key.Kind != yaml.ScalarNode:
				key.Fail("", "a key must be text, not %s", KindName(key.Node))
				continue
			case twice:
				key.Fail("keep one of the two", "%s is given twice, first in line %d", Quote(name), first)
				continue
			case known != nil && !slices.Contains(known, name):
				key.Fail(DidYouMean(name, known), "unknown field %s", Quote(name))
			case !yield(&Entry{own.At(pair[0]), own.At(pair[1])}):
				return
			}
			seen[name] = key.Line
		}
	}
}

// Key is a key of a mapping that describes a T, with the parser of its value.
type Key[T any] struct {
	Name    string
	Parse   func(to *T, v Value)
	Missing string // the hint if a mapping does not have it; "": it may be left out
}

// Needed returns k as a key that every mapping must have.
func (k Key[T]) Needed(hint string) Key[T] {
	k.Missing = hint
	return k
}

// KeyOf returns a key that is one value of a T.
func KeyOf[T, V any](name string, of func(*T) *V, parse func(Value) V) Key[T] {
	return Key[T]{Name: name, Parse: func(to *T, v Value) { *of(to) = parse(v) }}
}

// Keys are the keys of one kind of mapping, in the order of lists for people.
type Keys[T any] []Key[T]

// Names returns the names of the keys.
func (k Keys[T]) Names() []string {
	names := make([]string, len(k))
	for i := range k {
		names[i] = k[i].Name
	}
	return names
}

// Take parses the value of the key with a name into to.
func (k Keys[T]) Take(to *T, name string, v Value) {
	k[slices.IndexFunc(k, func(k Key[T]) bool { return k.Name == name })].Parse(to, v)
}

// Read parses a mapping into to, and returns the entries that it gives, by key.
func (k Keys[T]) Read(to *T, v Value) map[string]*Entry {
	given := make(map[string]*Entry, len(v.Content)/2)
	for e := range v.Mapping(k.Names()) {
		given[e.Key.Value] = e
		k.Take(to, e.Key.Value, e.Value)
	}
	for i := range k {
		if k[i].Missing != "" && given[k[i].Name] == nil && v.Kind == yaml.MappingNode {
			v.Under(k[i].Name).Fail(k[i].Missing, "is missing")
		}
	}
	return given
}

// ReadOr parses v into to: as the value of the key called only, or as a mapping. It returns the same as Read.
func (k Keys[T]) ReadOr(only string, to *T, v Value) map[string]*Entry {
	if v.Kind == yaml.MappingNode {
		return k.Read(to, v)
	}
	k.Take(to, only, v)
	return map[string]*Entry{only: {v, v}}
}

// Items returns the elements of a list. Indexes in their fields count from 1, as people do.
func (v Value) Items() []Value {
	if v.Kind != yaml.SequenceNode {
		v.Fail("write it as [a, b]", "must be a list, not %s", KindName(v.Node))
		return nil
	}
	out := make([]Value, len(v.Content))
	for i, n := range v.Content {
		out[i] = v.At(n)
		out[i].Field += "[" + strconv.Itoa(i+1) + "]"
	}
	return out
}

// Text returns a value that must be text.
func (v Value) Text() (text string, ok bool) {
	switch {
	case v.Kind != yaml.ScalarNode:
		v.Fail("", "must be text, not %s", KindName(v.Node))
	case v.ShortTag() == "!!str":
		return v.Value, true
	case v.ShortTag() == "!!null":
		v.Fail("write a text, or remove the field", "is empty")
	default:
		v.Fail("quote it: '"+Clean(Clip(v.Value))+"'", "must be text, not %s", KindName(v.Node))
	}
	return "", false
}

// Bool returns a value that must be true or false.
func (v Value) Bool() bool {
	if v.Kind == yaml.ScalarNode && v.ShortTag() == "!!bool" {
		return strings.EqualFold(v.Value, "true")
	}
	v.Fail("write true or false", "must be true or false, not %s", v.Shown())
	return false
}

// Shown returns the kind of a value, or its text in quotes, for a message.
func (v Value) Shown() string {
	if v.Kind == yaml.ScalarNode && v.ShortTag() != "!!null" {
		return Quote(v.Value)
	}
	return KindName(v.Node)
}
