package rules

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	wording "github.com/heedlog/heed/internal/text"
)

// Bounds of a rule set. A set beyond any of them does not compile. They are far
// above what people write by hand, and low enough that the worst file costs
// seconds: of twenty kinds of 4 MiB made to be slow, the slowest took three to
// seven on a shared core.
const (
	MaxFileBytes   = 4 << 20  // of one file
	maxFiles       = 256      // in one set
	maxRules       = 10_000   // in one set
	maxDepth       = 16       // of nested YAML collections; the language needs 5
	maxExpression  = 16 << 10 // bytes of one expression as written
	maxNesting     = 64       // brackets within brackets in one expression
	maxExpandedSet = 1 << 20  // parts of all expressions after macros are expanded
	maxLists       = 1000     // in one set
	maxListItems   = 100_000  // in all lists of a set
	maxMacros      = 1000     // in one set
	maxExceptions  = 64       // of one rule
	maxEscalations = 256      // rules with escalate in one set
	maxTagsPerRule = 16       // tags of one rule
	maxTags        = 64       // different tags in one set
	maxTests       = 50_000   // inline tests in one set
	maxErrors      = 1000     // reported at once
)

const (
	maxName    = 64  // bytes of a list's, macro's, tag's or phase's name
	maxID      = 128 // bytes of a rule's id
	maxSummary = 220 // bytes of a summary: one line of an attention item
)

// File is the text of one rule file. Name is used in errors only; reading the
// file is the caller's business, since this package does no I/O.
type File struct {
	Name string
	Data []byte // not retained and not changed by Compile

	// Today is the day, such as 2026-01-31, by which rules with an earlier "until" have ended; "" ends none.
	Today string
}

//go:embed default/*.yaml
var embedded embed.FS

// defaults are the embedded files, read once.
var defaults = func() []File {
	entries, err := embedded.ReadDir("default")
	files := make([]File, len(entries))
	for i, e := range entries {
		files[i].Name = path.Join("default", e.Name())
		files[i].Data, err = embedded.ReadFile(files[i].Name)
	}
	if err != nil {
		panic("BUG: rules: embedded files: " + err.Error())
	}
	return files
}()

// Defaults returns the rule files that are built into heed, sorted by name; most hold for some families of logs
// alone, see [Set.For]. The data is the caller's to change. Give them
// to [Compile] after the user's own files, so that those match first.
func Defaults() []File {
	files := slices.Clone(defaults)
	for i := range files {
		files[i].Data = bytes.Clone(files[i].Data)
	}
	return files
}

// isDefault reports whether f is one of [Defaults], unchanged.
func isDefault(f File) bool {
	return slices.ContainsFunc(defaults, func(d File) bool { return d.Name == f.Name && bytes.Equal(d.Data, f.Data) })
}

// withoutTests returns the text of a default file with empty lines in place of the tests of its rules.
func withoutTests(data []byte) []byte {
	out := make([]byte, 0, len(data))
	isTest := false
	for line := range bytes.Lines(data) {
		isTest = string(line) == "    tests:\n" || isTest && bytes.HasPrefix(line, []byte("      "))
		if isTest {
			line = []byte("\n")
		}
		out = append(out, line...)
	}
	return out
}

// source is the text of a file. A set keeps it, for places in it.
type source struct {
	index int
	name  string
	today string

	text string // without a byte order mark
}

func newSource(index int, f File) *source {
	s := &source{index: index, name: cmp.Or(f.Name, "rules"), today: f.Today}
	if len(f.Data) <= MaxFileBytes {
		s.text = strings.TrimPrefix(string(f.Data), "\ufeff")
	}
	return s
}

// from returns the text from a line and a column on, both counted from 1; "" if there is none.
func (s *source) from(line, col int) string {
	rest, found := s.text, line > 0
	for ; line > 1 && found; line-- {
		_, rest, found = strings.Cut(rest, "\n")
	}
	for i := range rest {
		if col--; col == 0 && found {
			return rest[i:]
		}
	}
	return ""
}

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 7, which editors know best) of a rule
// file. Editors complete and check with it while a file is written; [Compile]
// checks more, and does not use it. No file that compiles is refused by it. The
// bytes are the caller's.
func Schema() []byte { return slices.Clone(schema) }

// locate returns the line and column in src of the character with the given
// offset (in characters) in the value of the scalar n.
//
// YAML keeps the position of a scalar, not of its characters, and its value
// differs from its source text: quotes, escapes, indentation, folded lines. So
// value and source are walked side by side. A white space character of the
// value matches one of the source; before any other character the source
// may hold more of it. Where the two cannot be matched, as at an escape in double
// quotes, the answer is the beginning of the scalar.
func locate(src *source, n *yaml.Node, offset int) (line, col int) {
	line, col = n.Line, n.Column
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		line, col = line+1, 1 // the text begins below the "|" or ">"
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		col++
	}
	rest := src.from(line, col)
	peek := func() rune {
		r, _ := utf8.DecodeRuneInString(rest)
		return r
	}
	next := func() {
		r, size := utf8.DecodeRuneInString(rest)
		rest, col = rest[size:], col+1
		if r == '\n' {
			line, col = line+1, 1
		}
	}
	i := 0
	for _, want := range n.Value {
		if !unicode.IsSpace(want) {
			for unicode.IsSpace(peek()) {
				next()
			}
			if peek() != want || rest == "" {
				return n.Line, n.Column
			}
		}
		if i == offset {
			break
		}
		if i++; unicode.IsSpace(want) != unicode.IsSpace(peek()) {
			continue
		}
		next()
		if n.Style&yaml.SingleQuotedStyle != 0 && want == '\'' {
			next()
		}
	}
	return line, col
}

//go:embed default/text/*.yaml
var embeddedTexts embed.FS

// Languages returns the languages other than English in which [Texts] has the texts of the default rules, such as
// "de", sorted.
func Languages() (names []string) {
	entries, _ := embeddedTexts.ReadDir("default/text") // which is embedded
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Texts returns the texts of a language by the English ones: summaries and advice of the default rules, and sentences
// of reports. It returns nil for English, and for a language that is not among [Languages].
func Texts(language string) map[string]string {
	name := "default/text/" + language + ".yaml"
	data, err := embeddedTexts.ReadFile(name)
	if err != nil {
		return nil
	}
	texts, err := parseTexts(name, data)
	if err != nil {
		panic("BUG: rules: embedded texts: " + err.Error())
	}
	return texts
}

// textsOf are the texts of a rule in a language, "" where it has none or an earlier rule has the same.
type textsOf struct {
	Summary, Advice string
	Program         struct{ Summary, Advice string }
}

// faulty is how advice names a mod. Reports have other words where they do not know it.
const faulty = "the mod at fault"

// parseTexts reads the file of a language.
func parseTexts(name string, data []byte) (map[string]string, error) {
	var file struct {
		Sentences map[string]string
		Rules     map[string]textsOf
	}
	from := yaml.NewDecoder(bytes.NewReader(data))
	from.KnownFields(true)
	if err := from.Decode(&file); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	texts := file.Sentences
	unknown := strings.NewReplacer(texts[faulty], texts[wording.Advice(faulty)])
	for i, f := range Defaults() {
		for _, r := range parseFile(newSource(i, f), withoutTests(f.Data), &collector{}).rules {
			own, program := file.Rules[r.rule.ID], r.rule.program
			delete(file.Rules, r.rule.ID)
			for _, pair := range [][2]string{
				{r.rule.Summary, own.Summary},
				{r.advice, own.Advice},
				{program.summary, own.Program.Summary},
				{program.advice, own.Program.Advice},
			} {
				if pair[1] != "" {
					english, atStart := adviceOf(pair[0])
					own, ownAtStart := adviceOf(pair[1])
					texts[wording.Advice(english)], texts[wording.Advice(atStart)] = unknown.Replace(own), unknown.Replace(ownAtStart)
					texts[english], texts[atStart] = own, ownAtStart
				}
			}
		}
	}
	for id := range file.Rules {
		before, _, _ := bytes.Cut(data, []byte("\n  "+id+":"))
		line := bytes.Count(before, []byte("\n")) + 2
		return nil, fmt.Errorf("%s: line %d: rules.%s: no default rule has this id", name, line, id)
	}
	return texts, nil
}
