package layout

import (
	"bytes"
	"errors"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
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
