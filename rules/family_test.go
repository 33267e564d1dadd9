package rules_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

// TestFamilies: a file that names families holds for the logs of these alone; without a family all files hold.
func TestFamilies(t *testing.T) {
	set, err := rules.Compile(
		rules.File{Name: "service.yaml", Data: []byte(`version: 1
families: [plain]
lists: {words: {append: true, items: [gone]}}
rules:
  - {id: a.lost, override: true, disposition: advisory}
defaults: {log: {error: blocking}}
game_code: ["Acme."]
`)},
		rules.File{Name: "mine.yaml", Data: []byte(`version: 1
rules:
  - {id: b.lost, override: true, disposition: advisory}
`)},
		rules.File{Name: "all.yaml", Data: []byte(`version: 1
lists: {words: [lost]}
rules:
  - {id: a.lost, when: 'contains_any(template, words)', disposition: blocking}
`)},
		rules.File{Name: "unity.yaml", Data: []byte(`version: 1
families: [unity]
rules:
  - {id: b.lost, when: 'template contains "torn"', disposition: blocking}
`)})
	require.NoError(t, err)
	for _, c := range []struct {
		family, text, want string
		code               int
	}{
		{"", "it is lost", "advisory a.lost", 1},
		{"", "it is gone", "advisory a.lost", 1},
		{"", "it is torn", "advisory b.lost", 1},
		{"", "else", "blocking default.log.error", 1},
		{"plain", "it is gone", "advisory a.lost", 1},
		{"plain", "it is torn", "blocking default.log.error", 1},
		{"unity", "it is lost", "blocking a.lost", 0},
		{"unity", "it is gone", "advisory default.log.error", 0},
		{"rimworld", "it is torn", "advisory b.lost", 0}, // a game on Unity
		{"json", "it is torn", "advisory default.log.error", 0},
	} {
		own := testkit.Must(set.For(c.family))
		o := own.NewEvaluator().Evaluate(&rules.Input{Template: c.text, Level: event.LevelError})
		assert.Equal(t, c.want, o.Decision.Disposition.String()+" "+o.Decision.Rule, "%q: %s", c.family, c.text)
		assert.Len(t, own.GameCode(), c.code, "%q", c.family)
		assert.Equal(t, set.Masking(), own.Masking(), "texts have the same ids in each family")
		assert.Equal(t, c.family == "", own.Hash() == set.Hash())
		back := testkit.Must(own.For(""))
		assert.Equal(t, set.Hash(), back.Hash())
	}
	_, err = set.For("rimwold")
	require.ErrorContains(t, err, `unknown family "rimwold": did you mean "rimworld"?`)
}

// TestFamiliesLeftOut: a file holds for all families but those that it names with a "-".
func TestFamiliesLeftOut(t *testing.T) {
	for list, want := range map[string][]string{
		"[-plain, -json]":   {"factorio", "ksp", "rimworld", "unity"},
		"[-unity]":          {"factorio", "json", "plain"},
		"[-unity, ksp]":     {"factorio", "json", "plain", "ksp"},
		"[unity, -ksp]":     {"unity", "rimworld"},
		"[json, -factorio]": {"json"},
	} {
		text := "version: 1\nfamilies: " + list + "\ngame_code: [Acme.]\n"
		set := testkit.Must(rules.Compile(rules.File{Data: []byte(text)}))
		var held []string
		for _, family := range []string{"factorio", "json", "ksp", "plain", "rimworld", "unity"} {
			if len(testkit.Must(set.For(family)).GameCode()) > 0 {
				held = append(held, family)
			}
		}
		assert.ElementsMatch(t, want, held, list)
	}
}

// TestLogsOfFamilies: each family has a healthy and a broken log; those of RimWorld and of crashes are captures.
func TestLogsOfFamilies(t *testing.T) {
	for _, name := range rules.Families {
		if name != "crash" && name != "rimworld" {
			assert.FileExists(t, "../testdata/families/"+name+"-healthy.log")
			assert.FileExists(t, "../testdata/families/"+name+"-broken.log")
		}
	}
}

// TestTextOfOtherFamilies: the texts of the rules of one family do not make a rule of it decide in another, where a
// level counts for what it is.
func TestTextOfOtherFamilies(t *testing.T) {
	set := rules.DefaultSet()
	texts := set.Test()
	require.NotEmpty(t, texts)
	for _, family := range rules.Families {
		own := testkit.Must(set.For(family))
		ev := own.NewEvaluator()
		for _, r := range texts {
			for _, level := range []event.Level{event.LevelUnknown, event.LevelFatal} {
				for _, phase := range []string{"", "play"} {
					o := ev.Evaluate(&rules.Input{Template: r.Template, Level: level, Phase: phase})
					if o.Rule != nil {
						assert.False(t, o.Rule.Disabled, "%s in %s: %s", o.Rule.ID, family, r.Text)
					}
				}
			}
		}
	}
	plain := testkit.Must(set.For("plain"))
	for _, text := range []string{"Tried to start", "Could not find the license server", "Unknown save format, data is not loaded"} {
		o := plain.NewEvaluator().Evaluate(&rules.Input{Template: text, Level: event.LevelFatal})
		assert.Equal(t, event.Blocking, o.Decision.Disposition, text)
	}
}

// TestEnginesAreNoMods: the name of an engine is no mod's in a log of any family.
func TestEnginesAreNoMods(t *testing.T) {
	set := rules.DefaultSet()
	for _, family := range rules.Families {
		own := testkit.Must(set.For(family))
		assert.Subset(t, own.GameCode(), []string{"Godot.", "UnityEngine.", "UnrealEngine."}, family)
	}
}

// TestWordsOfPrograms: no rule that holds for the logs of a program speaks of a game, of mods or of saves; the set of
// all families keeps the words of games.
func TestWordsOfPrograms(t *testing.T) {
	set := rules.DefaultSet()
	for _, family := range []string{"plain", "json"} {
		own := testkit.Must(set.For(family))
		for _, r := range own.Rules() {
			for _, text := range []string{r.Summary, r.Why, r.Advice, r.AdviceAtStart} {
				if !r.Disabled {
					assert.NotRegexp(t, `(?i)\b(games?|mods?|saved?|colony|texture|Unity|players?)\b`, text, r.ID)
				}
			}
		}
		in := rules.Input{Template: "System.InvalidOperationException: x", Frames: "at Acme.Press.Turn"}
		o := own.NewEvaluator().Evaluate(&in)
		assert.Equal(t, "Report it to the author of the program, with the log.", o.Advice)
	}
	assert.Contains(t, set.Rule("state.crashed").Summary, "the game crashed")
}

// TestProgramTexts: a rule's texts for programs replace its own in the logs of programs, unless an override
// gives a summary of its own.
func TestProgramTexts(t *testing.T) {
	file := func(name, text string) rules.File {
		return rules.File{Name: name, Data: []byte("version: 1\nrules:\n" + text)}
	}
	base := file("base.yaml", `  - id: a.lost
    when: 'template == "a"'
    disposition: advisory
    summary: the game is lost
    advice: "Wait[, or save]."
    program: {summary: the program is lost, advice: Wait.}
`)
	own := file("own.yaml", "  - {id: a.lost, override: true, summary: it is mine}\n")
	for _, c := range []struct {
		family, want, advice string
		files                []rules.File
	}{
		{"", "the game is lost", "Wait, or save.", []rules.File{base}},
		{"rimworld", "the game is lost", "Wait, or save.", []rules.File{base}},
		{"plain", "the program is lost", "Wait.", []rules.File{base}},
		{"plain", "it is mine", "Wait, or save.", []rules.File{own, base}},
	} {
		set := testkit.Must(rules.Compile(c.files...))
		set = testkit.Must(set.For(c.family))
		assert.Equal(t, c.want, set.Rule("a.lost").Summary)
		assert.Equal(t, c.advice, set.Rule("a.lost").Advice)
	}
	_, err := rules.Compile(file("f.yaml", "  - {id: a, when: 'template == \"a\"', disposition: ignore, program: {heading: x}}\n"))
	require.ErrorContains(t, err, `program: unknown field "heading"`)
}
