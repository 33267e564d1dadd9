package files

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

func TestRules(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		return path
	}
	b, a := write("b.yml", []byte("b")), write("a.yaml", []byte("a"))
	write("notes.txt", nil)
	day := time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
	files := testkit.Must(AllRules([]string{b, dir}, day))
	require.Equal(t, []rules.File{
		{Name: b, Data: []byte("b"), Today: "2026-01-31"},
		{Name: a, Data: []byte("a"), Today: "2026-01-31"},
		{Name: b, Data: []byte("b"), Today: "2026-01-31"},
	}, files)

	_, err := AllRules([]string{t.TempDir()}, day)
	require.ErrorContains(t, err, "has no *.yaml or *.yml")
	_, err = AllRules([]string{filepath.Join(dir, "absent.yaml")}, day)
	require.ErrorContains(t, err, "absent.yaml: no such file or folder")
	whole := write("whole.yaml", bytes.Repeat([]byte("#"), rules.MaxFileBytes))
	testkit.Must(AllRules([]string{whole}, day))
	_, err = AllRules([]string{write("long.yaml", bytes.Repeat([]byte("#"), rules.MaxFileBytes+1))}, day)
	require.ErrorContains(t, err, "long.yaml: has more than 4194304 bytes, the limit: split it into several files")
}
