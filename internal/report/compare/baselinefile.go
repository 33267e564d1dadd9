package compare

import (
	_ "embed" // for the form of the file
	"encoding/base64"
	"errors"
	"fmt"
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
	return append(dst, text.Rendered(written(), b)...)
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
	b, first := &Baseline{file: file}, &firstProblem{file: file}
	if root, ok := language.Open(data, first); ok {
		baselineFields.Read(b, root)
	}
	if first.err != nil {
		return nil, first.err
	}
	return b, nil
}

// firstProblem keeps the first problem of a file.
type firstProblem struct {
	file string
	err  error
}

// Report implements [yamlfile.Owner].
func (f *firstProblem) Report(field string, p yamlfile.Problem) {
	if f.err == nil {
		f.err = errors.New(p.In(f.file, field))
	}
}

// again is the hint for a file without a field.
const again = "write the baseline again"

var baselineFields = yamlfile.Keys[Baseline]{
	{Name: "version", Missing: again, Parse: func(_ *Baseline, v yamlfile.Value) {
		if n := numberIn[int](v); n != baselineFormat {
			v.Fail(again+", or use the program that wrote it", "is %d, but this program reads %d", n, baselineFormat)
		}
	}},
	yamlfile.KeyOf("signatures", func(b *Baseline) *int { return &b.Signatures }, numberIn[int]).Needed(again),
	yamlfile.KeyOf("masking", func(b *Baseline) *uint64 { return &b.Masking }, hashIn).Needed(again),
	yamlfile.KeyOf("rules", func(b *Baseline) *uint64 { return &b.Rules }, hashIn).Needed(again),
	yamlfile.KeyOf("written", func(b *Baseline) *date { return &b.Written }, dayIn).Needed(again),
	yamlfile.KeyOf("entries", func(b *Baseline) *[]Known { return &b.Entries }, entriesIn).Needed(again),
	yamlfile.KeyOf("incomplete", func(b *Baseline) *bool { return &b.Incomplete }, yamlfile.Value.Bool),
}

var knownFields = yamlfile.Keys[Known]{
	yamlfile.KeyOf("id", func(k *Known) *signature.ID { return &k.Signature.ID }, idIn).Needed(again),
	yamlfile.KeyOf("rule", func(k *Known) *string { return &k.Rule }, textIn).Needed(again),
	yamlfile.KeyOf("disposition", func(k *Known) *event.Disposition { return &k.Disposition }, urgentIn).Needed(again),
	{Name: "seen", Missing: again, Parse: func(k *Known, v yamlfile.Value) {
		if given := seenFields.Read(k, v); k.Count > k.Records {
			given["count"].Value.Fail("want at most the number of records", "is %d of %d records", k.Count, k.Records)
		}
	}},
	yamlfile.KeyOf("first", func(k *Known) *date { return &k.First }, dayIn).Needed(again),
	yamlfile.KeyOf("expires", func(k *Known) *date { return &k.Expires }, dayIn).Needed(again),
	{Name: "template", Missing: again, Parse: func(k *Known, v yamlfile.Value) {
		k.Templates = slices.Insert(k.Templates, 0, textIn(v))
	}},
	yamlfile.KeyOf("note", func(k *Known) *string { return &k.Note }, textIn),
	{Name: "forms", Parse: func(k *Known, v yamlfile.Value) {
		for _, form := range v.Items() {
			k.Templates = append(k.Templates, textIn(form))
		}
		if n := len(v.Content); n >= MaxForms {
			v.Fail(fmt.Sprintf("want at most %d", MaxForms-1), "has %d templates", n)
		}
	}},
	yamlfile.KeyOf("sample", func(k *Known) *string { return &k.Sample }, textIn),
}

var seenFields = yamlfile.Keys[Known]{
	yamlfile.KeyOf("count", func(k *Known) *uint64 { return &k.Count }, numberIn[uint64]).Needed(again),
	yamlfile.KeyOf("records", func(k *Known) *uint64 { return &k.Records }, numberIn[uint64]).Needed(again),
	yamlfile.KeyOf("runs", func(k *Known) *int { return &k.Runs }, numberIn[int]).Needed(again),
}

// entriesIn reads the groups.
func entriesIn(v yamlfile.Value) (all []Known) {
	seen := map[signature.Signature]int{}
	for i, item := range v.Items() {
		var k Known
		given := knownFields.Read(&k, item)
		for n, t := range k.Templates {
			s := signature.Of([]byte(t))
			if first, ok := seen[s]; ok {
				item.Fail("remove one of them", "has the same template as entries[%d]", first)
			}
			seen[s] = i + 1
			if own := given["id"]; n == 0 && own != nil && s.ID != k.Signature.ID {
				own.Value.Fail("one of them was changed; "+again, "is %s, but the template has %s", k.Signature.ID, s.ID)
			}
			if n == 0 {
				k.Signature = s
			}
		}
		all = append(all, k)
	}
	return all
}

// textIn reads a text that is not empty, with or without quotes.
func textIn(v yamlfile.Value) (s string) {
	want(v, v.Kind == yaml.ScalarNode && v.Decode(&s) == nil && s != "", "a text")
	return s
}

// numberIn reads a whole number from 1 on.
func numberIn[N int | uint64](v yamlfile.Value) N {
	n, err := strconv.ParseUint(v.Value, 10, 63)
	want(v, err == nil && n >= 1 && uint64(N(n)) == n, "a whole number from 1 on")
	return N(n)
}

func hashIn(v yamlfile.Value) uint64 {
	n, err := strconv.ParseUint(v.Value, 16, 64)
	want(v, err == nil && len(v.Value) == 16, "16 hexadecimal digits in quotes")
	return n
}

func idIn(v yamlfile.Value) signature.ID {
	id, err := signature.ParseID(v.Value)
	want(v, err == nil, "the id of a signature: 16 hexadecimal digits in quotes")
	return id
}

func dayIn(v yamlfile.Value) date {
	d, err := time.Parse(time.DateOnly, v.Value)
	want(v, err == nil, "a day such as 2026-01-31")
	return dateOf(d)
}

func urgentIn(v yamlfile.Value) event.Disposition {
	d, _ := event.Parse[event.Disposition](v.Value)
	want(v, d.Urgent(), "blocking or advisory")
	return d
}

// want reports a value that is not as wanted.
func want(v yamlfile.Value, ok bool, form string) {
	if v.Kind != yaml.ScalarNode || !ok {
		v.Fail("want "+form, "is %s", v.Shown())
	}
}
