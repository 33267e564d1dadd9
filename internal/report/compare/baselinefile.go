package compare

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
	p := func(format string, args ...any) { dst = fmt.Appendf(dst, format, args...) }
	p("# Known noise, written by \"heed baseline write\". A group is reported again when it exceeds its\n" +
		"# rate, when it becomes more urgent, and from its expiry day on. A \"note\" is kept when the file\n" +
		"# is updated; comments are not.\n")
	p("version: %d\n", baselineFormat)
	p("signatures: %d\n", b.Signatures)
	p("masking: \"%016x\"\n", b.Masking)
	p("rules: \"%016x\"\n", b.Rules)
	p("written: %s\n", b.Written)
	if b.Incomplete {
		p("incomplete: true\n")
	}
	if len(b.Entries) == 0 {
		p("entries: []\n")
		return dst
	}
	p("entries:\n")
	for i := range b.Entries {
		k := &b.Entries[i]
		p("  - id: \"%s\"\n", k.Signature.ID)
		p("    rule: %s\n", plain(k.Rule))
		p("    disposition: %s\n", k.Disposition)
		p("    seen: {count: %d, records: %d, runs: %d}  # %s in 1,000 records\n", k.Count, k.Records, k.Runs,
			strconv.FormatFloat(k.per1000(), 'g', 3, 64))
		p("    first: %s\n", k.First)
		p("    expires: %s\n", k.Expires)
		if k.Note != "" {
			p("    note: %s\n", yamlfile.DoubleQuoted(k.Note))
		}
		p("    template: ")
		dst = appendTemplate(dst, k.Templates[0], "      ")
		if len(k.Templates) > 1 {
			p("    forms:\n")
			for _, t := range k.Templates[1:] {
				p("      - ")
				dst = appendTemplate(dst, t, "        ")
			}
		}
		if k.Sample != "" {
			p("    sample: ")
			dst = appendTemplate(dst, k.Sample, "      ")
		}
	}
	return dst
}

// plain returns the id of a rule as it is, or in quotes if it is no plain word.
func plain(s string) string {
	if plainID.MatchString(s) {
		return s
	}
	return yamlfile.DoubleQuoted(s)
}

var plainID = regexp.MustCompile(`^[A-Za-z_][\w-]*\.[\w.-]*$`) // "null" is none

// appendTemplate appends a template as a block of its lines, or in quotes if it has characters that a reader could not
// see.
func appendTemplate(dst []byte, template, indent string) []byte {
	if !utf8.ValidString(template) {
		return fmt.Appendf(dst, "!!binary %q\n", base64.StdEncoding.EncodeToString([]byte(template)))
	}
	lines := strings.Split(template, "\n")
	single := len(lines) == 1 && !strings.ContainsAny(template, `"\`)
	if single || strings.HasPrefix(lines[0], " ") || slices.ContainsFunc(lines, func(l string) bool {
		return l == "" || text.Safe(l, 0) != l || strings.HasSuffix(l, " ")
	}) {
		return append(append(dst, yamlfile.DoubleQuoted(template)...), '\n')
	}
	dst = append(dst, "|-\n"...)
	for _, l := range lines {
		dst = append(append(append(dst, indent...), l...), '\n')
	}
	return dst
}

var language = yamlfile.Language{
	Name: "a baseline", Begins: "version: 1", Instead: "write the value itself", MaxBytes: MaxBaselineBytes, MaxDepth: 8,
	Binary: true,
}

// ParseBaseline reads the file of a baseline. An error names the file, the place and the field.
func ParseBaseline(file string, data []byte) (*Baseline, error) {
	p := &baselineParser{file: file}
	b := p.parse(data)
	if p.err != nil {
		return nil, p.err
	}
	return b, nil
}

// baselineParser reads nodes one by one, so that each error has a place. It keeps the first.
type baselineParser struct {
	file string
	err  error
}

func (p *baselineParser) fail(n *yaml.Node, field, format string, args ...any) {
	if p.err != nil {
		return
	}
	if field != "" {
		field += ": "
	}
	p.err = errors.New(yamlfile.Place(p.file, n.Line, n.Column) + field + fmt.Sprintf(format, args...))
}

func (p *baselineParser) parse(data []byte) *Baseline {
	root, problems := language.Read(data)
	if len(problems) > 0 {
		w := problems[0]
		p.fail(&yaml.Node{Line: w.Line, Column: w.Column}, "", "%s (%s)", w.Msg, w.Hint)
		return nil
	}
	b := &Baseline{file: p.file}
	top := p.mapping(root, "", []string{"version", "signatures", "masking", "rules", "written", "entries"},
		"mods", "incomplete") // files of earlier versions have a hash of mods
	if v := top.number("version", math.MaxInt32); v != baselineFormat {
		top.fail("version", "is %d, but this program reads %d: write the baseline again, or use the program that wrote it",
			v, baselineFormat)
	}
	b.Signatures = int(top.number("signatures", math.MaxInt32))
	b.Masking, b.Rules = top.hex("masking"), top.hex("rules")
	b.Written = top.date("written")
	if n := top.nodes["incomplete"]; n != nil && (n.Kind != yaml.ScalarNode || n.Decode(&b.Incomplete) != nil) {
		top.fail("incomplete", "want true or false, not %s", shown(n))
	}
	seen := map[signature.Signature]int{}
	for i, n := range top.list("entries", "groups") {
		field := fmt.Sprintf("entries[%d]", i)
		k := p.known(n, field)
		for _, t := range k.Templates {
			s := signature.Of([]byte(t))
			if first, ok := seen[s]; ok {
				p.fail(n, field, "has the same template as entries[%d]: remove one of them", first)
			}
			seen[s] = i
		}
		b.Entries = append(b.Entries, k)
	}
	return b
}

// known reads one entry.
func (p *baselineParser) known(n *yaml.Node, field string) (k Known) {
	m := p.mapping(n, field, []string{"id", "rule", "disposition", "seen", "first", "expires", "template"}, "note",
		"forms", "sample")
	k.Templates = []string{m.text("template")}
	k.Signature = signature.Of([]byte(k.Templates[0]))
	switch id, err := signature.ParseID(m.node("id").Value); {
	case err != nil:
		m.fail("id", "%s is not the id of a signature: want 16 hexadecimal digits in quotes", shown(m.node("id")))
	case id != k.Signature.ID:
		m.fail("id", "is %s, but the template has %s: one of them was changed; write the baseline again", id,
			k.Signature.ID)
	}
	k.Rule = m.text("rule")
	d, ok := event.Parse[event.Disposition](m.node("disposition").Value)
	if !ok || !d.Urgent() {
		m.fail("disposition", "is %s: want blocking or advisory", shown(m.node("disposition")))
	}
	k.Disposition = d
	seen := p.mapping(m.node("seen"), m.path+"seen", []string{"count", "records", "runs"})
	k.Records, k.Count = seen.number("records", math.MaxInt64), seen.number("count", math.MaxInt64)
	k.Runs = int(seen.number("runs", math.MaxInt32))
	if k.Count > k.Records {
		seen.fail("count", "is %d of %d records: want at most the number of records", k.Count, k.Records)
	}
	k.First, k.Expires = m.date("first"), m.date("expires")
	if m.has("note") {
		k.Note = m.text("note")
	}
	if m.has("sample") {
		k.Sample = m.text("sample")
	}
	if m.has("forms") {
		forms := m.list("forms", "templates")
		if len(forms) >= MaxForms {
			m.fail("forms", "has %d templates: want at most %d", len(forms), MaxForms-1)
		}
		for i, f := range forms {
			k.Templates = append(k.Templates, p.text(f, fmt.Sprintf("%sforms[%d]", m.path, i)))
		}
	}
	return k
}

// fields are the fields of a mapping. A field that is missing, which is an error already, is a node of no kind.
type fields struct {
	*baselineParser
	path  string // of the mapping, before the name of a field
	nodes map[string]*yaml.Node
}

// mapping returns the fields of a mapping, which must have all that are required
// and no others but the optional ones.
func (p *baselineParser) mapping(n *yaml.Node, field string, required []string, optional ...string) fields {
	m := fields{p, strings.TrimPrefix(field+".", "."), map[string]*yaml.Node{}}
	if n.Kind != yaml.MappingNode {
		p.fail(n, field, "want the fields %s, not %s", strings.Join(required, ", "), shown(n))
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case !slices.Contains(required, key.Value) && !slices.Contains(optional, key.Value):
			p.fail(key, field, "unknown field %q: the fields are %s", text.Safe(key.Value, 64),
				strings.Join(slices.Concat(required, optional), ", "))
		case m.has(key.Value):
			p.fail(key, m.path+key.Value, "is here twice: remove one")
		}
		m.nodes[key.Value] = value
	}
	for _, name := range required {
		if !m.has(name) {
			p.fail(n, field, "the field %q is missing", name)
		}
	}
	return m
}

func (m *fields) has(name string) bool { return m.nodes[name] != nil }

func (m *fields) node(name string) *yaml.Node { return cmp.Or(m.nodes[name], &yaml.Node{}) }

func (m *fields) fail(name, format string, args ...any) {
	m.baselineParser.fail(m.node(name), m.path+name, format, args...)
}

func (m *fields) text(name string) string { return m.baselineParser.text(m.node(name), m.path+name) }

func (m *fields) list(name, of string) []*yaml.Node {
	n := m.node(name)
	if n.Kind != yaml.SequenceNode {
		m.fail(name, "want a list of %s, not %s", of, shown(n))
	}
	return n.Content
}

func (p *baselineParser) text(n *yaml.Node, field string) string {
	var s string
	if n.Kind != yaml.ScalarNode || n.Decode(&s) != nil {
		p.fail(n, field, "want a text, not %s", shown(n))
	} else if s == "" {
		p.fail(n, field, "is empty: want a text")
	}
	return s
}

func (m *fields) number(name string, most uint64) uint64 {
	v, err := strconv.ParseUint(m.node(name).Value, 10, 64)
	m.scalar(name, err == nil && v >= 1 && v <= most, "a whole number from 1 to %d", most)
	return v
}

func (m *fields) hex(name string) uint64 {
	digits := m.node(name).Value
	v, err := strconv.ParseUint(digits, 16, 64)
	m.scalar(name, err == nil && len(digits) == 16, "16 hexadecimal digits in quotes")
	return v
}

func (m *fields) date(name string) date {
	d, err := time.Parse(time.DateOnly, m.node(name).Value)
	m.scalar(name, err == nil, "a day such as 2026-01-31")
	return dateOf(d)
}

// scalar fails if a field is not the value that is wanted.
func (m *fields) scalar(name string, ok bool, want string, args ...any) {
	if n := m.node(name); n.Kind != yaml.ScalarNode || !ok {
		m.fail(name, "is %s: want "+want, append([]any{shown(n)}, args...)...)
	}
}

// shown returns the kind or the value of a node, for an error.
func shown(n *yaml.Node) string {
	if n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode {
		return yamlfile.KindName(n)
	}
	return strconv.Quote(text.Safe(n.Value, 64))
}
