package main

import (
	"errors"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
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

// TestChanged compares the mutants that are left of a small file with lines that a diff names.
func TestChanged(t *testing.T) {
	for hunk, want := range map[string]int{
		"@@ -3 +3 @@":       15, // a line of f
		"@@ -13,0 +13,2 @@": 3,  // h, and the line after it
		"@@ -12 +12,2 @@":   18,
		"@@ -4,9 +3,0 @@":   15, // lines of f are deleted
		"@@ -13,9 +12,0 @@": 0,  // deleted between f and h
		"@@ -1 +1 @@":       0,
	} {
		all := small(t)
		name := all[0].file
		lines, err := changed([]byte("diff --git x x\n--- x\n+++ " + name + "\n" + hunk + " func x()\n+package p\n"))
		if err != nil || len(lines[name]) != 1 {
			t.Fatalf("%v, %v", lines, err)
		}
		if all = slices.DeleteFunc(all, func(m mutant) bool { return !m.within(lines[m.file]) }); len(all) != want {
			t.Errorf("%s: %d mutants, want %d", hunk, len(all), want)
		}
	}
	if lines, err := changed([]byte("--- x.go\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n")); err != nil || len(lines) != 0 {
		t.Errorf("of a deleted file: %v, %v", lines, err)
	}
}

// TestDiff lists the mutants of two packages that differ from a commit.
func TestDiff(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	git := func(arguments ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x", "-C", dir}, arguments...)...)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s", text)
		}
	}
	write("go.mod", "module m\n\ngo 1.26\n")
	for _, name := range []string{"a/a", "b/b", "c/c", "untested/d"} {
		write(name+".go", "package p\n\nfunc f() bool { return true }\n\nfunc g() bool { return false }\n")
		if !strings.HasPrefix(name, "untested") {
			write(name+"_test.go", "package p\n")
		}
	}
	git("init", "-q", "-b", "main")
	git("add", ".")
	git("commit", "-q", "-m", "x")
	for _, name := range []string{"a/a", "b/b", "untested/d"} {
		write(name+".go", "package p\n\nfunc f() bool { return true }\n\nfunc g() bool { return 1 > 0 }\n")
	}
	git("add", ".")
	cmd := exec.Command("go", "run", "./mutate", "-root", dir, "-diff", "main", "-list")
	cmd.Dir = ".."
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s", text)
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		place, _, _ := strings.Cut(line, " ")
		got = append(got, place)
	}
	if got = slices.Compact(got); !slices.Equal(got, []string{"a/a.go:5:", "b/b.go:5:"}) {
		t.Errorf("%q of\n%s", got, text)
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
