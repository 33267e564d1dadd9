package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestMutants compares all mutants of a small file.
func TestMutants(t *testing.T) {
	all := small(t)
	var got []string
	for _, m := range all {
		_, after, _ := strings.Cut(m.change(), "  =>  ")
		got = append(got, after)
	}
	want := []string{
		"if (true || a < 2) && !g() {",
		"if !(a < 2 && !g()) {",
		"if a <= 2 && !g() {",
		"if a < 3 && !g() {",
		"if a < 0 && !g() {",
		"if a < 2 && g() {",
		"if a < 2 && (true || !g()) {",
		"_ = func() { n += a }",
		"n -= a",
		"case false && (b == 0):",
		"case b != 0:",
		"case b == 1:",
		"{ var zero0 int; var zero1 error; if true { return zero0, zero1 }; return a - b, nil }",
		"return a + b, nil",
		"return 1, nil",
		"func h() { if true { return }; g(); g() }",
		"func h() { _ = func() { g() }; g() }",
		"func h() { g(); _ = func() { g() } }",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestBatch parses the file with all mutants of a small file in it.
func TestBatch(t *testing.T) {
	all := small(t)
	together := map[int]*mutant{}
	for i := range all {
		together[i] = &all[i]
	}
	files := batch(together)
	if len(files) != 2 {
		t.Fatalf("%d files, want that of the mutants and that of the choice", len(files))
	}
	for name, text := range files {
		if _, err := parser.ParseFile(token.NewFileSet(), name, text, parser.AllErrors); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
		for i := range all {
			if n := strings.Count(string(text), "mutantOn("+strconv.Quote(strconv.Itoa(i))+")"); n != 1 && name == all[i].file {
				t.Errorf("mutant %d is there %d times", i, n)
			}
		}
	}
}

// small returns the mutants of a small file.
func small(t *testing.T) []mutant {
	dir := t.TempDir()
	source := `package p
func f(a, b int, log interface{ Info() }) (n int, err error) {
	log.Info()
	if a < 2 && !g() {
		n += a
	}
	switch {
	case b == 0:
		return a - b, nil
	}
	return 0, nil
}
func h() { g(); g() }
`
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := mutants(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	return all
}
