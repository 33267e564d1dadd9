package compare

import (
	"bytes"
	_ "embed" // for the form of the file
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/yamlfile"
	"github.com/heedlog/heed/signature"
)

// The form of the file, and its bounds.
const (
	baselineFormat = 1

	// MaxBaselineBytes bounds the file of a baseline that is read: known noise that
	// takes more was never reviewed.
	MaxBaselineBytes = 16 << 20
	// MaxForms bounds the templates of a group that are kept.
	MaxForms = 16
)

// Append appends the baseline as YAML: entries by id, templates line by line, so that a change reads well in a review.
// Characters that could mislead a reader of the file (controls, marks that turn the reading direction) are written as
// escapes.
func (b *Baseline) Append(dst []byte) []byte {
	out := bytes.NewBuffer(dst)
	if err := written().Execute(out, b); err != nil {
		panic("BUG: compare: " + err.Error())
	}
	return out.Bytes()
}

//go:embed baseline.yaml
var baselineText string

// written is the template of the file.
var written = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("baseline").Funcs(template.FuncMap{
		"format": func() int { return baselineFormat },
		"plain":  plain, "quoted": yamlfile.DoubleQuoted, "text": textOf,
		"rate": func(k *Known) string { return strconv.FormatFloat(k.per1000(), 'g', 3, 64) },
	}).Parse(baselineText))
})

// plain returns the id of a rule as it is, or in quotes if it is no plain word.
func plain(s string) string {
	if plainID().MatchString(s) {
		return s
	}
	return yamlfile.DoubleQuoted(s)
}

var plainID = text.Lazy(`^[A-Za-z_][\w-]*\.[\w.-]*$`) // "null" is none

// textOf returns a template as a block of its lines with an indent, or in quotes if it has characters that a reader
// could not see.
func textOf(indent, template string) string {
	if !utf8.ValidString(template) {
		return fmt.Sprintf("!!binary %q", base64.StdEncoding.EncodeToString([]byte(template)))
	}
	lines := strings.Split(template, "\n")
	single := len(lines) == 1 && !strings.ContainsAny(template, `"\`)
	if single || strings.HasPrefix(lines[0], " ") || slices.ContainsFunc(lines, func(l string) bool {
		return l == "" || text.Safe(l, 0) != l || strings.HasSuffix(l, " ")
	}) {
		return yamlfile.DoubleQuoted(template)
	}
	return "|-\n" + indent + strings.Join(lines, "\n"+indent)
}

var language = yamlfile.Language{
	Name: "a baseline", Begins: "version: 1", Instead: "write the value itself", MaxBytes: MaxBaselineBytes, MaxDepth: 8,
	Binary: true,
}

// ParseBaseline reads the file of a baseline. An error names the file, the place and the field.
func ParseBaseline(file string, data []byte) (*Baseline, error) {
	root, problems := language.Read(data)
	v := value{node: root, file: file, err: new(error)}
	if len(problems) > 0 {
		w := problems[0]
		v.node = &yaml.Node{Line: w.Line, Column: w.Column}
		v.fail("%s (%s)", w.Msg, w.Hint)
		return nil, *v.err
	}
	b := v.baseline()
	if *v.err != nil {
		return nil, *v.err
	}
	return b, nil
}

// value is a node, so that each error has a place. An optional field that is missing has no node, a required one, which
// is an error already, a node of no kind.
type value struct {
	node *yaml.Node
	path string // of its field
	file string
	err  *error // the first of the file
}

// at returns the value of another node.
func (v value) at(n *yaml.Node, path string) value {
	v.node, v.path = n, path
	return v
}

func (v value) fail(format string, args ...any) {
	if *v.err != nil {
		return
	}
	field := strings.TrimPrefix(v.path+": ", ": ")
	*v.err = errors.New(yamlfile.Place(v.file, v.node.Line, v.node.Column) + field + fmt.Sprintf(format, args...))
}

func (v value) baseline() *Baseline {
	b := &Baseline{file: v.file}
	top := v.mapping([]string{"version", "signatures", "masking", "rules", "written", "entries"},
		"mods", "incomplete") // files of earlier versions have a hash of mods
	if n := top["version"].number(math.MaxInt32); n != baselineFormat {
		top["version"].fail("is %d, but this program reads %d: write the baseline again, or use the program that wrote it",
			n, baselineFormat)
	}
	b.Signatures = int(top["signatures"].number(math.MaxInt32))
	b.Masking, b.Rules = top["masking"].hex(), top["rules"].hex()
	b.Written = top["written"].date()
	if n := top["incomplete"].node; n != nil && (n.Kind != yaml.ScalarNode || n.Decode(&b.Incomplete) != nil) {
		top["incomplete"].fail("want true or false, not %s", shown(n))
	}
	seen := map[signature.Signature]int{}
	for i, entry := range top["entries"].list("groups") {
		k := entry.known()
		for _, t := range k.Templates {
			s := signature.Of([]byte(t))
			if first, ok := seen[s]; ok {
				entry.fail("has the same template as entries[%d]: remove one of them", first)
			}
			seen[s] = i
		}
		b.Entries = append(b.Entries, k)
	}
	return b
}

// known reads one entry.
func (v value) known() (k Known) {
	m := v.mapping([]string{"id", "rule", "disposition", "seen", "first", "expires", "template"}, "note", "forms", "sample")
	k.Templates = []string{m["template"].text()}
	k.Signature = signature.Of([]byte(k.Templates[0]))
	switch id, err := signature.ParseID(m["id"].node.Value); {
	case err != nil:
		m["id"].fail("%s is not the id of a signature: want 16 hexadecimal digits in quotes", shown(m["id"].node))
	case id != k.Signature.ID:
		m["id"].fail("is %s, but the template has %s: one of them was changed; write the baseline again", id, k.Signature.ID)
	}
	k.Rule = m["rule"].text()
	k.Disposition, _ = event.Parse[event.Disposition](m["disposition"].node.Value)
	if !k.Disposition.Urgent() { // of a word that is none either
		m["disposition"].fail("is %s: want blocking or advisory", shown(m["disposition"].node))
	}
	seen := m["seen"].mapping([]string{"count", "records", "runs"})
	k.Records, k.Count = seen["records"].number(math.MaxInt64), seen["count"].number(math.MaxInt64)
	k.Runs = int(seen["runs"].number(math.MaxInt32))
	if k.Count > k.Records {
		seen["count"].fail("is %d of %d records: want at most the number of records", k.Count, k.Records)
	}
	k.First, k.Expires = m["first"].date(), m["expires"].date()
	k.Note, k.Sample = m["note"].text(), m["sample"].text()
	for _, form := range m["forms"].list("templates") {
		k.Templates = append(k.Templates, form.text())
	}
	if n := len(k.Templates); n > MaxForms {
		m["forms"].fail("has %d templates: want at most %d", n-1, MaxForms-1)
	}
	return k
}

// mapping returns the fields of a mapping, which must have all that are required and no others but the optional ones.
func (v value) mapping(required []string, optional ...string) map[string]value {
	m, prefix := map[string]value{}, strings.TrimPrefix(v.path+".", ".")
	if v.node.Kind != yaml.MappingNode {
		v.fail("want the fields %s, not %s", strings.Join(required, ", "), shown(v.node))
	}
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		key := v.node.Content[i]
		_, twice := m[key.Value]
		switch {
		case !slices.Contains(required, key.Value) && !slices.Contains(optional, key.Value):
			v.at(key, v.path).fail("unknown field %q: the fields are %s", text.Safe(key.Value, 64),
				strings.Join(slices.Concat(required, optional), ", "))
		case twice:
			v.at(key, prefix+key.Value).fail("is here twice: remove one")
		}
		m[key.Value] = v.at(v.node.Content[i+1], prefix+key.Value)
	}
	for _, name := range required {
		if _, ok := m[name]; !ok {
			v.fail("the field %q is missing", name)
			m[name] = v.at(&yaml.Node{}, prefix+name)
		}
	}
	return m
}

func (v value) list(of string) (all []value) {
	if v.node == nil {
		return nil
	}
	if v.node.Kind != yaml.SequenceNode {
		v.fail("want a list of %s, not %s", of, shown(v.node))
	}
	for i, n := range v.node.Content {
		all = append(all, v.at(n, fmt.Sprintf("%s[%d]", v.path, i)))
	}
	return all
}

func (v value) text() (s string) {
	switch {
	case v.node == nil:
	case v.node.Kind != yaml.ScalarNode || v.node.Decode(&s) != nil:
		v.fail("want a text, not %s", shown(v.node))
	case s == "":
		v.fail("is empty: want a text")
	}
	return s
}

func (v value) number(most uint64) uint64 {
	n, err := strconv.ParseUint(v.node.Value, 10, 64)
	v.scalar(err == nil && n >= 1 && n <= most, "a whole number from 1 to %d", most)
	return n
}

func (v value) hex() uint64 {
	n, err := strconv.ParseUint(v.node.Value, 16, 64)
	v.scalar(err == nil && len(v.node.Value) == 16, "16 hexadecimal digits in quotes")
	return n
}

func (v value) date() date {
	d, err := time.Parse(time.DateOnly, v.node.Value)
	v.scalar(err == nil, "a day such as 2026-01-31")
	return dateOf(d)
}

// scalar fails, unless the value is as wanted.
func (v value) scalar(ok bool, want string, args ...any) {
	if v.node.Kind != yaml.ScalarNode || !ok {
		v.fail("is %s: want "+want, append([]any{shown(v.node)}, args...)...)
	}
}

// shown returns the kind or the value of a node, for an error.
func shown(n *yaml.Node) string {
	if n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode {
		return yamlfile.KindName(n)
	}
	return strconv.Quote(text.Safe(n.Value, 64))
}
