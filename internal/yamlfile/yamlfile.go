// Package yamlfile reads YAML files that people write, for languages that are stricter than YAML: one document without
// aliases, anchors and tags, of bounded size and depth. [Keys] describe a mapping, and a [Value] is a node with the
// path of its field. A problem has a place and a hint, and texts of errors are safe to print.
package yamlfile

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	texts "github.com/heedlog/heed/internal/text"
)

// Problem is one thing that is wrong with a file.
type Problem struct {
	Line, Column int    // counting from 1, 0 where unknown; columns in characters
	Msg          string // the problem
	Hint         string // the cure; may be empty
}

// In returns the problem of a field in a file: file:line:column, the field, the problem and the cure.
func (p Problem) In(file, field string) string {
	says := Place(file, p.Line, p.Column) + strings.TrimPrefix(field+": ", ": ") + p.Msg
	if p.Hint != "" {
		says += " (" + p.Hint + ")"
	}
	return says
}

// Language describes the files of a language.
type Language struct {
	Name     string // "a rule file"
	Begins   string // how such a file begins; "": it may be empty
	Instead  string // replacement of an alias
	MaxBytes int
	MaxDepth int  // of nested collections
	Binary   bool // values may be !!binary
}

// Read returns the root of the only document of a file, or why there is none: neither if the file is empty and may be
// so. It accepts a byte order mark.
func (l *Language) Read(data []byte) (*yaml.Node, []Problem) {
	one := func(p Problem) (*yaml.Node, []Problem) { return nil, []Problem{p} }
	if len(data) > l.MaxBytes {
		return one(Problem{
			Msg:  fmt.Sprintf("the file has %d bytes, more than the %d allowed", len(data), l.MaxBytes),
			Hint: "split it into several files",
		})
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	empty := func(msg string) (*yaml.Node, []Problem) {
		if l.Begins == "" {
			return nil, nil
		}
		return one(Problem{Msg: msg, Hint: l.Name + ` begins with "` + l.Begins + `"`})
	}
	if strings.TrimSpace(text) == "" {
		return empty("the file is empty")
	}
	if p, bad := firstBad(text); bad {
		return one(p)
	}
	docs, err := decode(text)
	if err != nil {
		return one(l.syntax(text, err))
	}
	switch {
	case len(docs) == 0 || len(docs[0].Content) == 0:
		return empty("the file contains only comments")
	case len(docs) > 1:
		return one(Problem{
			docs[1].Line, docs[1].Column, "a second YAML document",
			l.Name + ` is one document: remove the "---" or split the file`,
		})
	}
	root := docs[0].Content[0]
	if problems := l.tree(root, 1, nil); len(problems) > 0 {
		return nil, problems
	}
	return root, nil
}

// decode returns the first two documents of text, or fewer. The YAML reader is known to panic on some malformed input.
func decode(text string) (docs []*yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML reader failed: %v", r)
		}
	}()
	for dec := yaml.NewDecoder(strings.NewReader(text)); len(docs) < 2; {
		n := new(yaml.Node)
		if err := dec.Decode(n); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		docs = append(docs, n)
	}
	return docs, nil
}

// firstBad returns the first character that YAML does not allow. The YAML reader would refuse such text too, but
// without its place.
func firstBad(text string) (p Problem, bad bool) {
	line, col := 1, 1
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			return Problem{line, col, "not valid UTF-8", "save the file as UTF-8"}, true
		case !printable(r):
			return Problem{line, col, "control character", `write it as an escape in double quotes, such as "\x1b"`}, true
		}
		i += n
		col++
		if r == '\n' {
			line, col = line+1, 1
		}
	}
	return Problem{}, false
}

// printable reports whether YAML 1.2 allows r in a file without an escape.
func printable(r rune) bool {
	switch {
	case r == '\t' || r == '\n' || r == '\r' || r == 0x85:
		return true
	case r >= 0x20 && r <= 0x7e, r >= 0xa0 && r <= 0xd7ff, r >= 0xe000 && r <= 0xfffd && r != 0xfeff:
		return true
	}
	return r >= 0x10000 && r <= 0x10ffff
}

// yamlLine matches the line that an error of the YAML reader may begin with.
var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// syntax returns the problem that caused an error of the YAML reader.
func (l *Language) syntax(text string, err error) Problem {
	m := yamlLine.FindStringSubmatch(err.Error())
	line, _ := strconv.Atoi(m[1])
	p := Problem{Line: line, Column: min(line, 1), Msg: "YAML: " + err.Error()[len(m[0]):]}
	p.Hint, p.Msg = l.syntaxHint(p.Msg), Clean(p.Msg)
	if lines := strings.Split(text, "\n"); line > 0 && line <= len(lines) {
		p.Column += len(lines[line-1]) - len(strings.TrimLeft(lines[line-1], " \t"))
	}
	return p
}

// syntaxHint returns the usual cause of an error of the YAML reader.
func (l *Language) syntaxHint(msg string) string {
	has := func(part string) bool { return strings.Contains(msg, part) }
	switch {
	case has("mapping values are not allowed"):
		return `put text that contains ": " in quotes`
	case has("cannot start any token") && has(`'\t'`), has("tab character"):
		return "indent with spaces, not tabs"
	case has("cannot start any token"), has("did not find expected"):
		return "put texts in single quotes, and a single quote in them twice; align fields of one mapping in one column"
	case has("quoted scalar"):
		return "a quote is not closed; inside single quotes, write a quote twice"
	case has("unknown anchor"):
		return l.Instead
	case has("escape character"):
		return `in double quotes a backslash is written \\; single quotes take it as it is`
	}
	return ""
}

// tree appends problems for the YAML below n that the language forbids: aliases and anchors (a small file could expand
// to a huge one), tags, and deep nesting.
func (l *Language) tree(n *yaml.Node, depth int, to []Problem) []Problem {
	add := func(hint, format string, args ...any) {
		to = append(to, Problem{n.Line, n.Column, fmt.Sprintf(format, args...), hint})
	}
	switch {
	case n.Kind == yaml.AliasNode:
		add(l.Instead, "YAML alias *%s", Clean(n.Value))
		return to
	case n.Anchor != "":
		add(l.Instead, "YAML anchor &%s", Clean(n.Anchor))
	case n.Style&yaml.TaggedStyle != 0 && (!l.Binary || n.Tag != "!!binary"):
		add("remove the tag; quote a value that must be text", "YAML tag %s", Clean(n.Tag))
	case depth > l.MaxDepth:
		add("", "nested more than %d levels deep", l.MaxDepth)
		return to
	}
	for _, c := range n.Content {
		to = l.tree(c, depth+1, to)
	}
	return to
}

// KindName names the kind of a node, for messages.
func KindName(n *yaml.Node) string {
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

// maxQuoted bounds the quote of a file in a message, in bytes: enough to recognize it, not enough to drown the message.
const maxQuoted = 80

// Quote returns s in double quotes with everything escaped that could disturb a terminal or a log, cut.
func Quote(s string) string { return strconv.Quote(Clip(s)) }

// DoubleQuoted returns s, which is valid UTF-8, as a whole in double quotes, as both YAML and conditions of rules read
// it. It escapes characters that act on a terminal.
func DoubleQuoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case strconv.IsPrint(r) && texts.Safe(string(r), 0) == string(r):
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Clip returns s, cut as [Quote] does.
func Clip(s string) string { return texts.Clip(s, maxQuoted) }

// Clean returns s with every character escaped that could disturb a terminal or a log, cut to three times the length of
// [Quote], for text that already quotes itself.
func Clean(s string) string { return texts.Safe(texts.Clip(s, 3*maxQuoted), 0) }

// ValidName reports whether s may name something: lower-case letters, digits, full stops, _ and -, at most limit bytes.
func ValidName(s string, limit int) bool {
	return s != "" && len(s) <= limit && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789._-") == ""
}

// Place returns a place with a colon and a space: "f.yaml:12:9: ". It leaves out "" and 0.
func Place(file string, line, column int) string {
	switch {
	case file == "":
		return ""
	case line == 0:
		return Clean(file) + ": "
	case column == 0:
		return fmt.Sprintf("%s:%d: ", Clean(file), line)
	}
	return fmt.Sprintf("%s:%d:%d: ", Clean(file), line, column)
}

// Each returns the errors one by one, as [errors.Join] has them.
func Each[E error](errs []E) []error {
	out := make([]error, len(errs))
	for i, err := range errs {
		out[i] = err
	}
	return out
}

// MaxListed is how many names a hint lists at most.
const MaxListed = 21

// DidYouMean returns the hint for a name that is none of names: the nearest one, or else, when they are few enough to
// read, all of them.
func DidYouMean(s string, names []string) string {
	if n := texts.Nearest(s, names); n != "" {
		return `did you mean "` + n + `"?`
	}
	if len(names) > 0 && len(names) <= MaxListed {
		return "known: " + strings.Join(names, ", ")
	}
	return ""
}
