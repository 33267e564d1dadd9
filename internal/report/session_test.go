package report

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// TestSession holds that a summary counts each group once, whatever was decided about its entries, and that it has
// nothing private though the replay itself was not scrubbed.
func TestSession(t *testing.T) {
	learn := &Scrubber{}
	r := newReplay(t, Config{
		Learn: learn,
		Template: func(s signature.Signature) (string, bool) {
			return map[signature.ID]string{1: "cannot read maria's <s>", 2: "fine", 3: "cannot read maria's <n>"}[s.ID], true
		},
		Group: func(s signature.Signature) signature.Signature {
			if s.ID == 3 {
				s.ID = 1
			}
			return s
		},
		Blame: func(*event.Entry) []heed.Suspect { return []heed.Suspect{{Mod: "maria's mod", Score: 60}} },
		Mod:   func(string) (heed.Mod, bool) { return heed.Mod{PackageID: "a.mod"}, true },
	})
	at := time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC)
	observe := func(line int, id signature.ID, d event.Disposition) {
		o := outcome(id, d, "some.rule")
		o.Phase = "playing"
		r.Observe(&capture.Record{
			Entry: event.Entry{
				Time: at.Add(time.Duration(line) * time.Minute), Message: `cannot read C:\Users\maria\x`,
			},
			StartLine: line, EndLine: line,
		}, o)
	}
	observe(5, 2, event.Ignore)
	observe(7, 1, event.Advisory)
	observe(9, 3, event.Blocking)
	observe(11, 3, event.Blocking)
	r.Update(opened("0-1", event.Blocking, 9))
	r.End(End{Layout: "plain", Lines: 20, Environment: Environment{
		Facts: capture.Facts{Game: "Game 1 of maria", Arguments: "-x"},
		Mods:  []capture.ListedMod{listed("A", "a.mod", "1.2")},
	}})
	s := r.Session(learn)
	require.NoError(t, s.Validate())
	data, err := json.Marshal(s)
	require.NoError(t, err)
	require.NotContains(t, string(data), "maria")
	require.Equal(t, at.Add(5*time.Minute), s.Began)
	require.Equal(t, at.Add(11*time.Minute), s.Ended)
	require.Empty(t, s.Facts.Arguments)
	require.Len(t, s.Mods, 1)
	require.True(t, s.Broken())
	require.Len(t, s.Groups, 2)
	g := s.Groups[0]
	require.Equal(t, []any{signature.ID(1), event.Blocking, uint64(3), uint64(7), uint64(11), "playing", "a.mod"},
		[]any{g.Signature, g.Disposition, g.Count, g.First, g.Last, g.Phase, g.Blame[0].PackageID})
	require.Equal(t, []signature.ID{3}, g.Members)
	require.Contains(t, g.Template, "cannot read")
	require.Contains(t, string(JSON(nil, r.Document(0))), "maria", "the replay itself shows all")
}

// TestCutNames holds that no part of a name stays in a summary where a text is cut within it.
func TestCutNames(t *testing.T) {
	for _, limit := range []int{maxSays, maxSummaryTemplate} {
		for cut := range 20 {
			learn := &Scrubber{}
			text := strings.Repeat("x", limit-30+cut) + ` C:\Users\zacharias\x is not there`
			r := newReplay(t, Config{Learn: learn, Template: func(signature.Signature) (string, bool) { return text, true }})
			r.Observe(&capture.Record{Entry: event.Entry{Message: text}, StartLine: 1, EndLine: 1},
				outcome(1, event.Blocking, "some.rule"))
			r.End(End{Layout: "plain", Lines: 1})
			data, err := json.Marshal(r.Session(learn))
			require.NoError(t, err)
			require.NotContains(t, string(data), "zac", cut)
		}
	}
}

// TestCanonical holds that a summary has the whole template of an urgent group that shows another, where that is not
// private and not too long.
func TestCanonical(t *testing.T) {
	long := strings.Repeat("long ", 100)
	templates := []string{
		"", long, long + "not urgent", "the disk one is full", "the disk two is full", long + `C:\Users\maria\x`,
		strings.Repeat(long, 9),
	}
	learn := &Scrubber{}
	r := newReplay(t, Config{
		Learn:    learn,
		Template: func(s signature.Signature) (string, bool) { return templates[s.ID], true },
		Group: func(s signature.Signature) signature.Signature {
			if s.ID == 4 {
				s.ID, s.Check = 3, 3
			}
			return s
		},
	})
	for id := range templates[1:] {
		d := event.Advisory
		if id+1 == 2 {
			d = event.Ignore
		}
		r.Observe(&capture.Record{StartLine: id + 1, EndLine: id + 1}, outcome(signature.ID(id+1), d, "some.rule"))
	}
	r.End(End{Layout: "plain", Lines: 20})
	whole := map[signature.ID]string{}
	for _, g := range r.Session(learn).Groups {
		whole[g.Signature] = g.Canonical
		require.NotEqual(t, g.Template, g.Canonical)
	}
	require.Equal(t, map[signature.ID]string{1: long, 2: "", 3: "the disk one is full", 5: "", 6: ""}, whole)
}

// TestHistoryInEachForm holds that what earlier sessions show stands with the problem, as harmless as all text.
func TestHistoryInEachForm(t *testing.T) {
	s := newScript(t)
	s.config.History = func(group signature.ID) string {
		require.Equal(t, signature.ID(1), group)
		return "new since 12 November\x1b[31m <b>"
	}
	d := s.play(t, "1 error\n1 end").Document(0)
	text := string(Text(nil, d, TextOptions{}))
	require.Contains(t, text, "    history new since 12 November")
	require.NotContains(t, text, "\x1b")
	require.Contains(t, string(Markdown(nil, d)), "  - history: `new since 12 November")
	require.Contains(t, string(JSON(nil, d)), `"history":"new since 12 November`)
	page := string(HTML(nil, d))
	require.Contains(t, page, "<b>Earlier sessions</b> new since 12 November")
	require.NotContains(t, page, "November\x1b[31m <b>")
}

// sentences returns the English sentences of the first screen and of the page: the texts that the code and the page ask
// a language for, and those that they choose from tables.
func sentences(t *testing.T) []string {
	found := []string{
		"%s at line %d", "%s since line %d", "problem", "the worst", "the most frequent", "the first", "at", "since", headlessSentence, completeTo, "ignored",
		"%d problem", "%d problems", "%d small problem", "%d small problems", "the mod at fault", text.Advice("the mod at fault"),
		asWorst, asMost, asFirst, asAlso, asCause, event.Blocking.String(), event.Advisory.String(),
	}
	for _, state := range states {
		if state.title != "" {
			found = append(found, state.title)
		}
	}
	found = slices.AppendSeq(found, maps.Values(kindWords))
	for _, program := range []bool{false, true} {
		for _, blocks := range []bool{false, true} {
			found = append(found, text.DefaultAdvice(blocks, program))
		}
	}
	for _, reason := range crashReasons {
		found = append(found, reason.says)
	}
	for k := blame.Frame; k <= blame.Patch; k++ {
		found = append(found, k.Describe())
	}
	for s := event.SeverityInfo; s <= event.SeverityFatal; s++ {
		found = append(found, coalesce.Reported("a.rule", s), s.String())
	}
	for _, m := range regexp.MustCompile(`Say "([^"]+)"`).FindAllStringSubmatch(pageTemplate, -1) {
		found = append(found, m[1])
	}
	for _, kind := range []string{"was added", "were added", "was removed", "were removed", "changed their versions"} {
		found = append(found, "%s "+kind)
	}
	found = append(found, "%s went from %s to %s", "; %d of %d sessions since, 0 of %d before",
		"; %d of %d session since, 0 of %d before")
	var names []string
	for _, folder := range []string{".", "../../cmd/internal/history", "../cohort", "../text", "../files", "../../cmd/internal/command"} {
		in, err := filepath.Glob(folder + "/*.go")
		require.NoError(t, err)
		names = append(names, in...)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			call, _ := n.(*ast.CallExpr)
			if call == nil {
				return true
			}
			f, _ := call.Fun.(*ast.Ident)
			if method, ok := call.Fun.(*ast.SelectorExpr); ok {
				f = method.Sel
			}
			if f == nil || f.Name != "say" && f.Name != "Say" && f.Name != "one" {
				return true
			}
			for _, arg := range call.Args {
				if s, ok := arg.(*ast.BasicLit); ok && s.Kind == token.STRING {
					english, err := strconv.Unquote(s.Value)
					require.NoError(t, err)
					found = append(found, english)
				}
			}
			return true
		})
	}
	return found
}

// TestLanguages: each language has each sentence of the first screen and of the page, and no other.
func TestLanguages(t *testing.T) {
	known := sentences(t)
	set, err := rules.Compile(rules.Defaults()...)
	require.NoError(t, err)
	ofRules := map[string]bool{}
	for _, family := range []string{"", "plain"} {
		own, err := set.For(family)
		require.NoError(t, err)
		for _, r := range own.Rules() {
			for _, english := range []string{r.Summary, r.Advice, r.AdviceAtStart} {
				ofRules[english], ofRules[text.Advice(english)] = true, true
			}
		}
	}
	for _, language := range rules.Languages() {
		texts := rules.Texts(language)
		for _, english := range known {
			assert.NotEmpty(t, texts[english], "%s: %q", language, english)
		}
		for english := range texts {
			assert.True(t, ofRules[english] || slices.Contains(known, english), "%s: nothing asks for %q", language, english)
		}
		for _, label := range []string{"mod", "do", "history"} {
			assert.LessOrEqual(t, cells.StringWidth(texts[label]), labelIndent-5, "%s: %s", language, label)
		}
	}
}

// TestDocumentLanguage: the verdict is in the language that is asked for, and other documents of the replay stay
// English.
func TestDocumentLanguage(t *testing.T) {
	r := detailed(t)
	german := rules.Texts("de")
	d := r.Document(0, german)
	assert.Equal(t, german["Empty"], d.Summary.Verdict.Headline)
	assert.Contains(t, string(Text(nil, d, TextOptions{})), german["empty, no lines"])
	assert.Contains(t, string(HTML(nil, d)), `<html lang="de">`)
	assert.Equal(t, "Empty", r.Document(0).Summary.Verdict.Headline)
}
