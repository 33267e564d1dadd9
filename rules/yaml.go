package rules

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// parseYAML reads the one document of src. On failure it has reported why and
// returns nil.
func parseYAML(src *source, data []byte, errs *collector) *yaml.Node {
	top := at{src: src}
	switch {
	case len(data) > MaxFileBytes:
		errs.addf(top, "split it into several files", "the file has %d bytes, more than the %d allowed", len(data),
			MaxFileBytes)
		return nil
	case strings.TrimSpace(src.text) == "":
		errs.add(top, "the file is empty", `a rule file begins with "version: 1"`)
		return nil
	}
	if line, col, what, ok := src.firstBad(); !ok {
		hint := `write it as an escape in double quotes, such as "\x1b"`
		if what != "control character" {
			hint = "save the file as UTF-8"
		}
		errs.add(at{src: src, line: line, col: col}, what, hint)
		return nil
	}

	doc, rest, err := decode(src.text)
	if err != nil {
		line, msg := yamlProblem(err)
		p := at{src: src, line: line}
		if line > 0 {
			p.col = len(src.line(line)) - len(strings.TrimLeft(src.line(line), " \t")) + 1
		}
		if q, found := openQuote(src); found {
			errs.add(q, "YAML: the text in single quotes ends here",
				"write a single quote in it twice: ''; or write >- and the text below it, without quotes")
			return nil
		}
		errs.add(p, clean(msg), yamlHint(msg))
		return nil
	}
	switch {
	case doc == nil || len(doc.Content) == 0:
		errs.add(top, "the file contains only comments", `a rule file begins with "version: 1"`)
		return nil
	case rest != nil:
		errs.add(at{src: src, line: rest.Line, col: rest.Column}, "a second YAML document",
			`a rule file is one document: remove the "---" or split the file`)
		return nil
	}
	root := doc.Content[0]
	if !checkTree(src, root, errs) {
		return nil
	}
	return root
}

// decode returns the first document of text and, when there is one, the second.
// The YAML reader is known to panic on some malformed input; that must not
// reach the caller, to whom a rule file is input.
func decode(text string) (doc, rest *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML reader failed: %v", r)
		}
	}()
	dec := yaml.NewDecoder(strings.NewReader(text))
	doc = new(yaml.Node)
	if err = dec.Decode(doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil, nil
		}
		return nil, nil, err
	}
	next := new(yaml.Node)
	switch err = dec.Decode(next); {
	case errors.Is(err, io.EOF):
		return doc, nil, nil
	case err != nil:
		return nil, nil, err
	}
	return doc, next, nil
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// yamlProblem splits an error of the YAML reader into line and message.
func yamlProblem(err error) (line int, msg string) {
	msg = err.Error()
	m := yamlLine.FindStringSubmatch(msg)
	line, _ = strconv.Atoi(m[1])
	return line, "YAML: " + msg[len(m[0]):]
}

// yamlHint returns what is usually behind an error of the YAML reader.
func yamlHint(msg string) string {
	switch {
	case strings.Contains(msg, "mapping values are not allowed"):
		return `put text that contains ": " in quotes`
	case strings.Contains(msg, "cannot start any token") &&
		strings.Contains(msg, `'\t'`), strings.Contains(msg, "tab character"):
		return "indent with spaces, not tabs"
	case strings.Contains(msg, "cannot start any token"), strings.Contains(msg, "did not find expected key"),
		strings.Contains(msg, "did not find expected"):
		return "put expressions and texts in single quotes, and align fields of one rule in one column"
	case strings.Contains(msg, "quoted scalar"):
		return "a quote is not closed; inside single quotes, write a quote twice"
	case strings.Contains(msg, "unknown anchor"):
		return "aliases are not part of the rule language; use a list or a macro"
	case strings.Contains(msg, "escape character"):
		return `in double quotes a backslash is written \\; single quotes take it as it is`
	}
	return ""
}

// checkTree refuses what YAML allows and the rule language does not: aliases
// and anchors (a small file could stand for a huge one), tags, and deep nesting.
func checkTree(src *source, root *yaml.Node, errs *collector) bool {
	ok := true
	var walk func(n *yaml.Node, depth int)
	walk = func(n *yaml.Node, depth int) {
		p := at{src: src, line: n.Line, col: n.Column}
		switch {
		case n.Kind == yaml.AliasNode:
			errs.addf(p, "aliases are not part of the rule language; use a list or a macro", "YAML alias *%s", clean(n.Value))
			ok = false
			return
		case n.Anchor != "":
			errs.addf(p, "aliases are not part of the rule language; use a list or a macro", "YAML anchor &%s", clean(n.Anchor))
			ok = false
		case n.Style&yaml.TaggedStyle != 0:
			errs.addf(p, "remove the tag; quote a value that must be text", "YAML tag %s", clean(n.Tag))
			ok = false
		case depth > maxDepth:
			errs.addf(p, "", "nested more than %d levels deep", maxDepth)
			ok = false
			return
		}
		for _, c := range n.Content {
			walk(c, depth+1)
		}
	}
	walk(root, 1)
	return ok
}

// kindName names what a node is, for messages.
func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		switch n.ShortTag() {
		case "!!null":
			return "nothing"
		case "!!bool":
			return "a boolean"
		case "!!int", "!!float":
			return "a number"
		case "!!timestamp":
			return "a date"
		}
		return "text"
	}
	return "something else"
}

// here returns the place of node n, keeping the rule and field of p.
func (p at) here(n *yaml.Node) at {
	p.line, p.col = n.Line, n.Column
	return p
}

// under returns the same place with key, which may be anything, appended to the
// field's path.
func (p at) under(key string) at {
	key = clean(clip(key))
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

// entry is one key of a mapping with its value.
type entry struct {
	key   string
	name  *yaml.Node // the key's node
	value *yaml.Node
}

// mapping returns the entries of n in file order. Keys that are not plain text
// and repeated keys are reported and left out. With a non-nil known, so are
// keys that are not in it.
func mapping(p at, n *yaml.Node, known []string, errs *collector) []entry {
	if n.Kind != yaml.MappingNode {
		hint := "write it as key: value"
		if len(known) > 0 && len(known) <= maxListed {
			hint = "fields: " + strings.Join(known, ", ")
		}
		errs.addf(p.here(n), hint, "must be a mapping, not %s", kindName(n))
		return nil
	}
	out := make([]entry, 0, len(n.Content)/2)
	seen := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			errs.addf(p.here(k), "", "a key must be text, not %s", kindName(k))
			continue
		}
		if first, dup := seen[k.Value]; dup {
			errs.addf(p.here(k), "keep one of the two", "%s is given twice, first in line %d", quote(k.Value), first.Line)
			continue
		}
		seen[k.Value] = k
		if known != nil && !slices.Contains(known, k.Value) {
			errs.addf(p.here(k), didYouMean(k.Value, known), "unknown field %s", quote(k.Value))
			continue
		}
		out = append(out, entry{k.Value, k, v})
	}
	return out
}

// items returns the elements of the list n.
func items(p at, n *yaml.Node, errs *collector) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		errs.addf(p.here(n), "write it as [a, b]", "must be a list, not %s", kindName(n))
		return nil
	}
	return n.Content
}

// words returns the elements of the list n, which must be texts.
func words(p at, n *yaml.Node, errs *collector) []word {
	var list []word
	for i, n := range items(p, n, errs) {
		if s, ok := text(p.item(i), n, errs); ok {
			list = append(list, word{s, p.item(i).here(n)})
		}
	}
	return list
}

// text returns the value of n, which must be text.
func text(p at, n *yaml.Node, errs *collector) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		switch {
		case n.Kind != yaml.ScalarNode:
			errs.addf(p.here(n), "", "must be text, not %s", kindName(n))
		case n.ShortTag() == "!!null":
			errs.add(p.here(n), "is empty", "write a text, or remove the field")
		default:
			errs.addf(p.here(n), "quote it: '"+clean(clip(n.Value))+"'", "must be text, not %s", kindName(n))
		}
		return "", false
	}
	return n.Value, true
}

// boolean returns the value of n, which must be true or false.
func boolean(p at, n *yaml.Node, errs *collector) (v, ok bool) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!bool" {
		return strings.EqualFold(n.Value, "true"), true
	}
	what := kindName(n)
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		what = quote(n.Value)
	}
	errs.addf(p.here(n), "write true or false", "must be true or false, not %s", what)
	return false, false
}

// oneOf returns the value of n, which must be one of names.
func oneOf(p at, n *yaml.Node, names []string, errs *collector) (string, bool) {
	s, ok := text(p, n, errs)
	if !ok {
		return "", false
	}
	if !slices.Contains(names, s) {
		errs.add(p.here(n), "unknown value "+quote(s), didYouMean(s, names))
		return "", false
	}
	return s, true
}

var (
	beginsQuote = regexp.MustCompile(`(?:[:,-]\s+|[\[{]\s*)'`)
	ruleIDLine  = regexp.MustCompile(`(?:^|[\s{,])id:\s*["']?([a-z0-9._-]+)`)
)

// openQuote returns the first place of a file that YAML refuses where a text in
// single quotes ends too early, at a quote within it. The YAML reader reports a line
// some way off.
func openQuote(src *source) (p at, found bool) {
	p.src = src
	for i, line := range src.lines {
		if line != "" && !strings.ContainsRune(" \t#-", rune(line[0])) {
			p.rule = "" // another part of the file
		}
		if m := ruleIDLine.FindStringSubmatch(line); m != nil && validID(m[1]) {
			p.rule = m[1]
		}
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for from := 0; ; {
			m := beginsQuote.FindStringIndex(line[from:])
			if m == nil {
				break
			}
			end := quoteEnd(line, from+m[1])
			if end < 0 {
				break // it may go on in the next line
			}
			if rest := strings.TrimLeft(line[end:], " \t"); rest != "" && !strings.ContainsRune(",]}:#", rune(rest[0])) {
				p.line, p.col = i+1, utf8.RuneCountInString(line[:end])
				return p, true
			}
			from = end
		}
	}
	return p, false
}

// quoteEnd returns where the text in single quotes that goes on at from has
// ended, or -1 where it does not in this line.
func quoteEnd(line string, from int) int {
	for i := from; i < len(line); i++ {
		if line[i] != '\'' {
			continue
		}
		if i+1 == len(line) || line[i+1] != '\'' {
			return i + 1
		}
		i++
	}
	return -1
}
