package briefing

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

func write(t *testing.T, name, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
}

// roots opens folders.
func roots(t *testing.T, dirs ...string) []*os.Root {
	t.Helper()
	var out []*os.Root
	for _, dir := range dirs {
		root := testkit.Must(os.OpenRoot(dir))
		t.Cleanup(func() { _ = root.Close() })
		out = append(out, root)
	}
	return out
}

func TestFileRead(t *testing.T) {
	dir := t.TempDir()
	root, second := filepath.Join(dir, "root"), filepath.Join(dir, "second")
	write(t, filepath.Join(dir, "secret.txt"), "secret")
	write(t, filepath.Join(root, "notes", "a.md"), "\ufeffone\r\n\n[file b] three\n")
	write(t, filepath.Join(root, "long.txt"), strings.Repeat("0123456789\n", 10))
	write(t, filepath.Join(root, "line.txt"), strings.Repeat("é", 50))
	write(t, filepath.Join(root, "empty"), "")
	write(t, filepath.Join(root, "binary"), "\x00ELF")
	write(t, filepath.Join(second, "notes", "a.md"), "not this one")
	write(t, filepath.Join(second, "b.md"), "this one")
	links := map[string]string{"within": "notes/a.md", "out": "../secret.txt", "absolute": filepath.Join(dir, "secret.txt")}
	linked := true
	for name, to := range links {
		linked = os.Symlink(filepath.FromSlash(to), filepath.Join(root, name)) == nil && linked
	}
	for _, c := range []struct {
		name, path string
		size       int64
		want, warn string // of what is shown; a warning has this
		link       bool
	}{
		{"text", "notes/a.md", 100, "[file notes/a.md#1-3] lines of a file, 24 bytes\n> one\n> \n> [file b] three\n", "", false},
		{"of its size", "long.txt", 110, "", "", false},
		{"larger", "long.txt", 30, "[file long.txt#1-2] the first lines of a file, 22 of 110 bytes\n" +
			"> 0123456789\n> 0123456789\n", "", false},
		{"one line", "line.txt", 5, "[file line.txt#1-1] the first lines of a file, 4 of 100 bytes\n> éé\n", "", false},
		{"empty", "empty", 5, "[file empty] empty\n", "", false},
		{"another root", "b.md", 100, "[file b.md#1-1] lines of a file, 8 bytes\n> this one\n", "", false},
		{"missing", "gone\n.md", 100, "", `file gone\n.md: not found below`, false},
		{"folder", "notes", 100, "", "file notes: is no regular file", false},
		{"no text", "binary", 100, "", "file binary: is no text", false},
		{"parent", "../secret.txt", 100, "", "escapes", false},
		{"parent behind a folder", "notes/../../secret.txt", 100, "", "escapes", false},
		{"absolute", filepath.Join(dir, "secret.txt"), 100, "", "escapes", false},
		{"a NUL", "a\x00b", 100, "", `file a\x00b: `, false},
		{"link within", "within", 100, "[file within#1-3] lines of a file, 24 bytes\n> one\n> \n> [file b] three\n", "", true},
		{"link out", "out", 100, "", "escapes", true},
		{"absolute link", "absolute", 100, "", "escapes", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.link && !linked {
				t.Skip("no symbolic links here")
			}
			found, err := readFiles(t.Context(), roots(t, root, second), &FileRead{
				Paths: []string{c.path}, MaxSizeBytes: c.size,
			})
			require.NoError(t, err)
			if c.warn != "" {
				require.Empty(t, found.Fragments)
				require.Len(t, found.Warnings, 1)
				require.Contains(t, found.Warnings[0], c.warn)
				require.NotContains(t, found.Warnings[0], dir+string(filepath.Separator)+"root", "where the roots are")
				return
			}
			require.Empty(t, found.Warnings)
			require.Len(t, found.Fragments, 1)
			f := found.Fragments[0]
			render(&f, &Tokens{})
			require.Equal(t, strings.Contains(f.Content, "the first lines"), found.More)
			if c.want != "" {
				require.Equal(t, c.want, f.Content)
			}
		})
	}
	t.Run("stopped", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := readFiles(ctx, roots(t, root), &FileRead{Paths: []string{"notes/a.md"}, MaxSizeBytes: 1})
		require.ErrorIs(t, err, context.Canceled)
	})
}
