package layout

import (
	"bytes"
	"errors"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// maxColumns is the width of a line; a tab is one column.
const maxColumns = 120

// tracked returns the files that git tracks and that end in suffix. It skips the
// test outside of a checkout.
func tracked(t *testing.T, suffix string) []string {
	t.Helper()
	cmd := exec.Command("git", "-c", "safe.directory=*", "ls-files", "-z", "--", "*"+suffix)
	cmd.Dir = root
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("no git checkout: ", err)
	}
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("the program git is missing: ", err)
	}
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// written returns the Go files that people write.
func written(t *testing.T) map[string][]byte {
	files := map[string][]byte{}
	for _, name := range tracked(t, ".go") {
		src := testkit.Must(os.ReadFile(filepath.Join(root, name)))
		if !bytes.HasPrefix(src, []byte("// Code generated")) {
			files[name] = src
		}
	}
	return files
}

// TestLineWidth holds Go to maxColumns, but for raw strings, outputs of examples, and lines half of
// which are literals, and prose to it, but for tables, code and links.
func TestLineWidth(t *testing.T) {
	for name, src := range written(t) {
		literals := literalLines(src)
		for i, line := range strings.Split(string(src), "\n") {
			output := strings.HasSuffix(name, "_test.go") && strings.HasPrefix(strings.TrimSpace(line), "// ")
			if n := utf8.RuneCountInString(line); n > maxColumns && !literals[i+1] && !output {
				t.Errorf("%s:%d: %d columns", name, i+1, n)
			}
		}
	}
	for _, name := range tracked(t, ".md") {
		if strings.Contains(name, "/testdata/") {
			continue
		}
		src := testkit.Must(os.ReadFile(filepath.Join(root, name)))
		code := false
		for i, line := range strings.Split(string(src), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				code = !code
			}
			free := code || strings.HasPrefix(strings.TrimSpace(line), "|") || strings.HasPrefix(line, "<!--") ||
				!strings.Contains(strings.TrimSpace(line), " ")
			if n := utf8.RuneCountInString(line); n > maxColumns && !free {
				t.Errorf("%s:%d: %d columns", name, i+1, n)
			}
		}
	}
}

// literalLines returns the lines on which a raw string stands, or string literals of
// more than half a line: samples of logs are not broken.
func literalLines(src []byte) map[int]bool {
	raw, width := map[int]bool{}, map[int]int{}
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, 0)
	for {
		pos, tok, literal := s.Scan()
		line := file.Line(pos)
		switch {
		case tok == token.EOF:
			for line, n := range width {
				raw[line] = raw[line] || n > maxColumns/2
			}
			return raw
		case tok != token.STRING:
		case literal[0] == '`':
			for i := range strings.Count(literal, "\n") + 1 {
				raw[line+i] = true
			}
		default:
			width[line] += len(literal)
		}
	}
}

// maxLines is the length of a Go file.
const maxLines = 600

// TestFileLength holds Go files, but for generated ones, to maxLines.
func TestFileLength(t *testing.T) {
	for name, src := range written(t) {
		if n := bytes.Count(src, []byte("\n")); n > maxLines {
			t.Errorf("%s: %d lines, the ceiling is %d", name, n, maxLines)
		}
	}
}

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
