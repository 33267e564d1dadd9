package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMutants compares all mutants of a small file.
func TestMutants(t *testing.T) {
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
