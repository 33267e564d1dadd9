package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// span holds lines of a file, both ends included.
type span struct{ first, last int }

// candidates returns the mutants of a package, or of the tested packages that differ from the commit diff. If diff is
// given, they are of declarations with changed lines.
func candidates(ctx context.Context, dirs []string, diff, only string) (all []mutant, err error) {
	var lines map[string][]span
	if diff != "" {
		if lines, err = differing(ctx, diff); err != nil {
			return nil, err
		}
	}
	if len(dirs) == 0 {
		for name := range lines {
			dirs = append(dirs, path.Dir(name))
		}
		slices.Sort(dirs)
	}
	for _, dir := range slices.Compact(dirs) {
		found, err := mutants(filepath.Clean(dir), only)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if diff != "" {
		all = slices.DeleteFunc(all, func(m mutant) bool { return !m.within(lines[m.file]) })
	}
	return all, nil
}

// differing returns the changed lines of the files of tested packages, by the file's name from the current folder:
// between the commit that ref and HEAD have in common and the tree. Files of other systems are left out.
func differing(ctx context.Context, ref string) (map[string][]span, error) {
	diff, err := exec.CommandContext(ctx, "git", "diff", "--merge-base", "-U0", "--no-color", "--no-ext-diff", "--no-prefix",
		"--relative", ref, "--", "*.go").Output()
	if err != nil {
		return nil, fmt.Errorf("git diff %s: %w", ref, stderr(err))
	}
	lines, err := changed(diff)
	if err != nil {
		return nil, err
	}
	list, err := exec.CommandContext(ctx, "go", "list", "-f", `{{if or .TestGoFiles .XTestGoFiles}}{{range .GoFiles}}`+
		`{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{end}}`, "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", stderr(err))
	}
	tested := strings.Split(filepath.FromSlash(string(list)), "\n")
	for name := range lines {
		full, err := filepath.Abs(name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(tested, full) {
			delete(lines, name)
		}
	}
	return lines, nil
}

// stderr returns the text that a failed program wrote, or its error if it wrote none.
func stderr(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return errors.New(string(bytes.TrimSpace(exit.Stderr)))
	}
	return err
}

var hunk = regexp.MustCompile(`(?m)^(?:\+\+\+ (.+)|@@ -\S+ \+(\d+)(?:,(\d+))? @@.*)$`)

// changed returns the lines that a diff without context changes, by file. Lines deleted after line n are the empty span
// from n to n-1.
func changed(diff []byte) (map[string][]span, error) {
	lines, name := map[string][]span{}, ""
	for _, m := range hunk.FindAllSubmatch(diff, -1) {
		if m[1] != nil {
			name = string(m[1])
			continue
		}
		first, err := strconv.Atoi(string(m[2]))
		count := 1
		if len(m[3]) > 0 && err == nil {
			count, err = strconv.Atoi(string(m[3]))
		}
		if err != nil {
			return nil, err
		}
		if name != "/dev/null" {
			lines[name] = append(lines[name], span{first, first + count - 1})
		}
	}
	return lines, nil
}

// within reports whether lines of m's declaration are changed. Deleted lines were in the declaration if they followed
// one of its lines except the last.
func (m *mutant) within(lines []span) bool {
	return slices.ContainsFunc(lines, func(s span) bool {
		if s.last < s.first {
			return m.decl.first <= s.first && s.first < m.decl.last
		}
		return m.decl.first <= s.last && s.first <= m.decl.last
	})
}
