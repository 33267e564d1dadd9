package rules

import (
	"bytes"
	"embed"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	wording "github.com/heedlog/heed/internal/text"
)

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
