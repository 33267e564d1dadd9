package layout

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/heedlog/heed/internal/testkit"
)

// wordings are forms of sentences that hide their noun, with the most occurrences in 1,000 words.
var wordings = []struct {
	name string
	form *regexp.Regexp
	most float64
}{
	{"a clause in place of a noun", regexp.MustCompile(`\b(?:[Ww]hat|[Ww]hatever|[Ww]hoever|[Ww]hichever) ` +
		`(?:is|are|was|were|has|have|had|does|do|did|comes?|came|goes|went|follows?|happens?|happened|belongs?|holds?|` +
		`held|remains?|stays?|stands?|begins?|began|ends?|ended|differs?|varies|needs?|needed|makes?|made|takes?|took|` +
		`gives?|gave|reads?|writes?|wrote|changes?|changed|can|could|may|might|must|should|would|will|it|they|we|you|` +
		`an?|the|others?)\b`), 0.5},
	{"a pronoun with of or that", regexp.MustCompile(`\b(?:[Tt]hat of|[Tt]hose of|[Oo]nes? that|of which|the like)\b`), 0.5},
	{"an idiom", regexp.MustCompile(`\b(?:stands?|stood|goes on|went on|beside|behind|apart|alike|at hand|for want of|` +
		`all the same|tells?|told|takes? for|taken for|rides?|owed|meanwhile|anew)\b`), 0.5},
	{"a person without a name", regexp.MustCompile(`\b(?:[Nn]obody|[Ss]omebody|[Aa]nybody|[Ee]verybody|[Ww]hoever)\b`), 0.1},
}

var (
	proseWord = regexp.MustCompile(`[A-Za-z][A-Za-z'-]+`)
	blocks    = regexp.MustCompile("(?ms)^```.*?^```")
	quotation = regexp.MustCompile("`[^`]*`|(?m:^\\|.*$)")
)

// measured is a figure of a measurement. Commands print these: a document names the command, or shows its output in a
// block that a test writes.
var measured = regexp.MustCompile(`\d\s?(?:ns|µs|us|[kMG]B/s|MiB/s)\b|` +
	`\d\s?(?:times|×|%) (?:faster|slower|smaller|less|more)\b`)

// TestFigures finds figures of measurements in the prose of documents.
func TestFigures(t *testing.T) {
	for _, name := range tracked(t, ".md") {
		if strings.Contains(name, "testdata/") || strings.HasPrefix(name, "docs/decisions/") || name == "CHANGELOG.md" {
			continue // a decision and a change have the figures of their day
		}
		src := string(testkit.Must(os.ReadFile(filepath.Join(root, name))))
		for _, figure := range measured.FindAllString(blocks.ReplaceAllString(src, ""), -1) {
			t.Errorf("%s: %q is a figure of no command", name, figure)
		}
	}
}

// TestWords holds comments and documents to names of things.
func TestWords(t *testing.T) {
	var comments, documents strings.Builder
	for _, name := range tracked(t, ".go") {
		if strings.Contains(name, "testdata/") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := testkit.Must(parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil,
			parser.ParseComments|parser.SkipObjectResolution))
		for _, group := range file.Comments {
			comments.WriteString(strings.ReplaceAll(group.Text(), "\n", " ") + "\n")
		}
	}
	for _, name := range tracked(t, ".md") {
		if !strings.Contains(name, "testdata/") {
			src := testkit.Must(os.ReadFile(filepath.Join(root, name)))
			prose := quotation.ReplaceAllString(blocks.ReplaceAllString(string(src), ""), "X")
			documents.WriteString(strings.ReplaceAll(prose, "\n", " "))
		}
	}
	for kind, text := range map[string]string{"comments": comments.String(), "documents": documents.String()} {
		words := len(proseWord.FindAllString(text, -1))
		for _, w := range wordings {
			found := w.form.FindAllStringIndex(text, -1)
			if float64(1000*len(found)) <= w.most*float64(words) {
				continue
			}
			t.Errorf("%s: %s %d times in %d words, at most %v in 1,000:", kind, w.name, len(found), words, w.most)
			for _, at := range found[:min(10, len(found))] {
				t.Logf("... %s", text[max(0, at[0]-40):min(len(text), at[1]+40)])
			}
		}
	}
}
