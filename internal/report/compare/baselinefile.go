package compare

import (
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
	if b.Mods != 0 {
		p("mods: \"%016x\"\n", b.Mods)
	}
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

// baselineParser reads nodes one by one, so that each error has a place. It keeps
// the first.
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
		"mods", "incomplete")
	if p.err != nil {
		return nil
	}
	if v := p.number(top["version"], "version", math.MaxInt32); p.err == nil && v != baselineFormat {
		p.fail(top["version"], "version",
			"is %d, but this program reads %d: write the baseline again, or use the program that wrote it", v, baselineFormat)
	}
	b.Signatures = int(p.number(top["signatures"], "signatures", math.MaxInt32))
	b.Masking = p.hex(top["masking"], "masking")
	b.Rules = p.hex(top["rules"], "rules")
	if n := top["mods"]; n != nil {
		b.Mods = p.hex(n, "mods")
	}
	b.Written = p.date(top["written"], "written")
	if n := top["incomplete"]; n != nil {
		if n.Kind != yaml.ScalarNode || n.Decode(&b.Incomplete) != nil {
			p.fail(n, "incomplete", "want true or false, not %s", shown(n))
		}
	}
	entries := top["entries"]
	if entries.Kind != yaml.SequenceNode {
		p.fail(entries, "entries", "want a list of groups, not %s", shown(entries))
	}
	seen := map[signature.Signature]int{}
	for i, n := range entries.Content {
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
func (p *baselineParser) known(n *yaml.Node, field string) Known {
	var k Known
	m := p.mapping(n, field, []string{"id", "rule", "disposition", "seen", "first", "expires", "template"}, "note",
		"forms", "sample")
	if p.err != nil {
		return k
	}
	at := func(name string) string { return field + "." + name }
	text := p.text(m["template"], at("template"))
	k.Templates = []string{text}
	k.Signature = signature.Of([]byte(text))
	id, err := signature.ParseID(m["id"].Value)
	switch {
	case err != nil:
		p.fail(m["id"], at("id"), "%s is not the id of a signature: want 16 hexadecimal digits in quotes", shown(m["id"]))
	case p.err == nil && id != k.Signature.ID:
		p.fail(m["id"], at("id"),
			"is %s, but the template has %s: one of them was changed; write the baseline again", id, k.Signature.ID)
	}
	k.Rule = p.text(m["rule"], at("rule"))
	d, ok := event.Parse[event.Disposition](m["disposition"].Value)
	if !ok || !d.Urgent() {
		p.fail(m["disposition"], at("disposition"), "is %s: want blocking or advisory", shown(m["disposition"]))
	}
	k.Disposition = d
	seen := p.mapping(m["seen"], at("seen"), []string{"count", "records", "runs"})
	if p.err != nil {
		return k
	}
	k.Records = p.number(seen["records"], at("seen.records"), math.MaxInt64)
	k.Count = p.number(seen["count"], at("seen.count"), math.MaxInt64)
	k.Runs = int(p.number(seen["runs"], at("seen.runs"), math.MaxInt32))
	if p.err == nil && k.Count > k.Records {
		p.fail(seen["count"], at("seen.count"), "is %d of %d records: want at most the number of records", k.Count, k.Records)
	}
	k.First = p.date(m["first"], at("first"))
	k.Expires = p.date(m["expires"], at("expires"))
	if n := m["note"]; n != nil {
		k.Note = p.text(n, at("note"))
	}
	if n := m["sample"]; n != nil {
		k.Sample = p.text(n, at("sample"))
	}
	if n := m["forms"]; n != nil {
		if n.Kind != yaml.SequenceNode {
			p.fail(n, at("forms"), "want a list of templates, not %s", shown(n))
		}
		if len(n.Content) >= MaxForms {
			p.fail(n, at("forms"), "has %d templates: want at most %d", len(n.Content), MaxForms-1)
		}
		for i, f := range n.Content {
			k.Templates = append(k.Templates, p.text(f, fmt.Sprintf("%s[%d]", at("forms"), i)))
		}
	}
	return k
}

// mapping returns the fields of a mapping, which must have all that are required
// and no others but the optional ones.
func (p *baselineParser) mapping(n *yaml.Node, field string, required []string,
	optional ...string,
) map[string]*yaml.Node {
	if p.err != nil {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		p.fail(n, field, "want the fields %s, not %s", strings.Join(required, ", "), shown(n))
		return nil
	}
	prefix := strings.TrimPrefix(field+".", ".")
	m := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case !slices.Contains(required, key.Value) && !slices.Contains(optional, key.Value):
			p.fail(key, field, "unknown field %q: the fields are %s", text.Safe(key.Value, 64),
				strings.Join(slices.Concat(required, optional), ", "))
		case m[key.Value] != nil:
			p.fail(key, prefix+key.Value, "is here twice: remove one")
		}
		m[key.Value] = value
	}
	for _, name := range required {
		if m[name] == nil {
			p.fail(n, field, "the field %q is missing", name)
		}
	}
	return m
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

func (p *baselineParser) number(n *yaml.Node, field string, most uint64) uint64 {
	v, err := strconv.ParseUint(n.Value, 10, 64)
	p.scalar(n, field, err == nil && v >= 1 && v <= most, "a whole number from 1 to %d", most)
	return v
}

func (p *baselineParser) hex(n *yaml.Node, field string) uint64 {
	v, err := strconv.ParseUint(n.Value, 16, 64)
	p.scalar(n, field, err == nil && len(n.Value) == 16, "16 hexadecimal digits in quotes")
	return v
}

func (p *baselineParser) date(n *yaml.Node, field string) date {
	d, err := time.Parse(time.DateOnly, n.Value)
	p.scalar(n, field, err == nil, "a day such as 2026-01-31")
	return dateOf(d)
}

// scalar fails where a node is not the value that is wanted.
func (p *baselineParser) scalar(n *yaml.Node, field string, ok bool, want string, args ...any) {
	if n.Kind != yaml.ScalarNode || !ok {
		p.fail(n, field, "is %s: want "+want, append([]any{shown(n)}, args...)...)
	}
}

// shown returns the kind or the value of a node, for an error.
func shown(n *yaml.Node) string {
	if n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode {
		return yamlfile.KindName(n)
	}
	return strconv.Quote(text.Safe(n.Value, 64))
}
