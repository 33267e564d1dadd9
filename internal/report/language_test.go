package report

import (
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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/rules"
)

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
