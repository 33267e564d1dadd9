package rules

import (
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/yamlfile"
)

// language is the language of rule files, as YAML.
var language = yamlfile.Language{
	Name: "a rule file", Begins: "version: 1",
	Instead:  "aliases are not part of the rule language; use a list or a macro",
	MaxBytes: MaxFileBytes, MaxDepth: maxDepth,
}

// parseYAML reads the one document of src. On failure it has reported why and
// returns nil.
func parseYAML(src *source, data []byte, errs *collector) *yaml.Node {
	root, problems := language.Read(data)
	for _, w := range problems {
		errs.add(at{src: src, line: w.Line, col: w.Column}, w.Msg, w.Hint)
	}
	return root
}

// here returns the place of node n, keeping the rule and field of p.
func (p at) here(n *yaml.Node) at {
	p.line, p.col = n.Line, n.Column
	return p
}

// under returns the same place with key, which may be anything, appended to the
// field's path.
func (p at) under(key string) at {
	key = yamlfile.Clean(yamlfile.Clip(key))
	if p.field != "" {
		key = p.field + "." + key
	}
	p.field = key
	return p
}

// item returns the same place with an index appended to the field's path.
// Indexes in messages count from 1, as people do.
func (p at) item(i int) at {
	p.field += "[" + strconv.Itoa(i+1) + "]"
	return p
}

// entry is one key of a mapping, with its place and its value.
type entry struct {
	key   string
	at    at
	value *yaml.Node
}

// place returns the place of the value of an entry.
func (e *entry) place() at { return e.at.here(e.value) }

// mapping returns the entries of n in file order. Keys that are not plain text
// and repeated keys are reported and left out. With a non-nil known, so are
// keys that are not in it.
func mapping(p at, n *yaml.Node, known []string, errs *collector) []*entry {
	if n.Kind != yaml.MappingNode {
		hint := "write it as key: value"
		if len(known) > 0 && len(known) <= yamlfile.MaxListed {
			hint = "fields: " + strings.Join(known, ", ")
		}
		errs.addf(p.here(n), hint, "must be a mapping, not %s", yamlfile.KindName(n))
		return nil
	}
	out := make([]*entry, 0, len(n.Content)/2)
	seen := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			errs.addf(p.here(k), "", "a key must be text, not %s", yamlfile.KindName(k))
			continue
		}
		if first, dup := seen[k.Value]; dup {
			errs.addf(p.here(k), "keep one of the two", "%s is given twice, first in line %d", yamlfile.Quote(k.Value),
				first.Line)
			continue
		}
		seen[k.Value] = k
		if known != nil && !slices.Contains(known, k.Value) {
			errs.addf(p.here(k), yamlfile.DidYouMean(k.Value, known), "unknown field %s", yamlfile.Quote(k.Value))
			continue
		}
		out = append(out, &entry{k.Value, p.under(k.Value).here(k), v})
	}
	return out
}

// key is a key of a mapping that describes a T, with the parser of its value.
type key[T any] struct {
	name    string
	parse   func(to *T, p at, n *yaml.Node, errs *collector)
	missing string // the hint if a mapping does not have it; "": it may be left out
}

// needed returns k as a key that every mapping must have.
func (k key[T]) needed(hint string) key[T] {
	k.missing = hint
	return k
}

// keys are the keys of one kind of mapping, in the order of lists for people.
type keys[T any] []key[T]

// keyOf returns a key that is one value of a T.
func keyOf[T, V any](name string, of func(*T) *V, parse func(at, *yaml.Node, *collector) V) key[T] {
	return key[T]{name: name, parse: func(to *T, p at, n *yaml.Node, errs *collector) { *of(to) = parse(p, n, errs) }}
}

func (k keys[T]) names() []string {
	names := make([]string, len(k))
	for i := range k {
		names[i] = k[i].name
	}
	return names
}

// take parses the value of one of the keys into to.
func (k keys[T]) take(to *T, e *entry, errs *collector) {
	k[slices.IndexFunc(k, func(k key[T]) bool { return k.name == e.key })].parse(to, e.at, e.value, errs)
}

// read parses the mapping n into to, and returns the entries that it gives, by key.
func (k keys[T]) read(to *T, p at, n *yaml.Node, errs *collector) map[string]*entry {
	given := make(map[string]*entry, len(n.Content)/2)
	for _, e := range mapping(p, n, k.names(), errs) {
		given[e.key] = e
		k.take(to, e, errs)
	}
	for i := range k {
		if k[i].missing != "" && given[k[i].name] == nil && n.Kind == yaml.MappingNode {
			errs.add(p.here(n).under(k[i].name), "is missing", k[i].missing)
		}
	}
	return given
}

// readOr parses n into to: as the value of the key called only, or as a mapping. It returns what read does.
func (k keys[T]) readOr(only string, to *T, p at, n *yaml.Node, errs *collector) map[string]*entry {
	if n.Kind == yaml.MappingNode {
		return k.read(to, p, n, errs)
	}
	e := &entry{only, p, n}
	k.take(to, e, errs)
	return map[string]*entry{only: e}
}

// items returns the elements of the list n.
func items(p at, n *yaml.Node, errs *collector) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		errs.addf(p.here(n), "write it as [a, b]", "must be a list, not %s", yamlfile.KindName(n))
		return nil
	}
	return n.Content
}

// words returns the elements of the list n, which must be texts.
func words(p at, n *yaml.Node, errs *collector) []word {
	list := make([]word, 0, len(n.Content))
	for i, n := range items(p, n, errs) {
		at := p.item(i).here(n)
		if s, ok := text(at, n, errs); ok {
			list = append(list, word{s, at})
		}
	}
	return list
}

// text returns the value of n, which must be text.
func text(p at, n *yaml.Node, errs *collector) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		switch {
		case n.Kind != yaml.ScalarNode:
			errs.addf(p.here(n), "", "must be text, not %s", yamlfile.KindName(n))
		case n.ShortTag() == "!!null":
			errs.add(p.here(n), "is empty", "write a text, or remove the field")
		default:
			errs.addf(p.here(n), "quote it: '"+yamlfile.Clean(yamlfile.Clip(n.Value))+"'", "must be text, not %s",
				yamlfile.KindName(n))
		}
		return "", false
	}
	return n.Value, true
}

// parseBool returns the value of n, which must be true or false.
func parseBool(p at, n *yaml.Node, errs *collector) bool {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!bool" {
		return strings.EqualFold(n.Value, "true")
	}
	what := yamlfile.KindName(n)
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		what = yamlfile.Quote(n.Value)
	}
	errs.addf(p.here(n), "write true or false", "must be true or false, not %s", what)
	return false
}

// oneIn returns a parser of a value that must be one of names.
func oneIn[E interface {
	event.Disposition | event.Kind | event.Level | event.Severity | event.Status
}](names []string) func(at, *yaml.Node, *collector) E {
	return func(p at, n *yaml.Node, errs *collector) E {
		s, ok := text(p, n, errs)
		if ok && !slices.Contains(names, s) {
			errs.add(p.here(n), "unknown value "+yamlfile.Quote(s), yamlfile.DidYouMean(s, names))
			s = ""
		}
		v, _ := event.Parse[E](s)
		return v
	}
}
