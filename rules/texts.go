package rules

import (
	"embed"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	wording "github.com/heedlog/heed/internal/text"
)

//go:embed default/text/*.yaml
var embeddedTexts embed.FS

// Languages returns the languages other than English in which [Texts] has the texts of the default rules, such as
// "de", sorted.
func Languages() []string {
	entries, err := embeddedTexts.ReadDir("default/text")
	if err != nil {
		panic("BUG: rules: embedded texts: " + err.Error())
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".yaml")
	}
	return names
}

// Texts returns the texts of a language by the English ones: summaries and advice of the default rules, and sentences
// of reports. It returns nil for English, and for a language that is not among [Languages].
func Texts(language string) map[string]string {
	if !slices.Contains(Languages(), language) {
		return nil
	}
	name := path.Join("default/text", language+".yaml")
	data, err := embeddedTexts.ReadFile(name)
	var texts map[string]string
	if err == nil {
		texts, err = parseTexts(File{Name: name, Data: data})
	}
	if err != nil {
		panic("BUG: rules: embedded texts: " + err.Error())
	}
	return texts
}

// languageFile has the texts of a language: pairs of an English one and its own.
type languageFile struct {
	english   map[string]*ruleDecl // the default rules
	sentences map[string]string
	pairs     [][2]string
}

// ownTexts are the texts of a rule in a language, "" where it has none or an earlier rule has the same.
type ownTexts struct {
	summary, advice string
	program         *ownTexts
}

// ownFields returns the fields of texts: those about programs have no others in them.
func ownFields(fields ...key[ownTexts]) keys[ownTexts] {
	return append(keys[ownTexts]{
		keyOf("summary", func(t *ownTexts) *string { return &t.summary }, parseText),
		keyOf("advice", func(t *ownTexts) *string { return &t.advice }, parseText),
	}, fields...)
}

var languageFields = keys[languageFile]{
	{"sentences", func(f *languageFile, p at, n *yaml.Node, errs *collector) {
		for _, e := range mapping(p, n, nil, errs) {
			f.sentences[e.key], _ = text(p.under(e.key), e.value, errs)
		}
	}},
	{"rules", func(f *languageFile, p at, n *yaml.Node, errs *collector) {
		for _, e := range mapping(p, n, nil, errs) {
			rp, own := p.under(e.key), ownTexts{program: &ownTexts{}}
			d := f.english[e.key]
			if d == nil {
				errs.add(rp.here(e.name), "no default rule has this id", "")
				continue
			}
			ownFields(key[ownTexts]{"program", func(t *ownTexts, p at, n *yaml.Node, errs *collector) {
				ownFields().read(t.program, p, n, errs)
			}}).read(&own, rp, e.value, errs)
			f.pairs = append(f.pairs, [2]string{d.rule.Summary, own.summary}, [2]string{d.advice, own.advice},
				[2]string{d.rule.program.summary, own.program.summary}, [2]string{d.rule.program.advice, own.program.advice})
		}
	}},
}

// parseTexts reads the file of a language.
func parseTexts(file File) (map[string]string, error) {
	errs, f := &collector{}, languageFile{english: map[string]*ruleDecl{}, sentences: map[string]string{}}
	for i, d := range Defaults() {
		for _, r := range parseFile(newSource(i, d), d.Data, errs).rules {
			f.english[r.rule.ID] = r
		}
	}
	src := newSource(0, file)
	if root := parseYAML(src, file.Data, errs); root != nil {
		languageFields.read(&f, at{src: src}, root, errs)
	}
	// Reports name the mod at fault in other words where they do not know it.
	unknown := strings.NewReplacer(f.sentences[faulty], f.sentences[wording.Advice(faulty)])
	texts := f.sentences
	f.pairs = slices.DeleteFunc(f.pairs, func(pair [2]string) bool { return pair[0] == "" || pair[1] == "" })
	for _, pair := range f.pairs {
		english, atStart := adviceOf(pair[0])
		own, ownAtStart := adviceOf(pair[1])
		texts[wording.Advice(english)], texts[wording.Advice(atStart)] = unknown.Replace(own), unknown.Replace(ownAtStart)
		texts[english], texts[atStart] = own, ownAtStart
	}
	return texts, errs.err()
}

// faulty is how advice names a mod, which a report may not know.
const faulty = "the mod at fault"
