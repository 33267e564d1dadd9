package files

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

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
	files, err := AllRules([]string{b, dir})
	require.NoError(t, err)
	require.Equal(t, []rules.File{
		{Name: b, Data: []byte("b"), Today: Today()},
		{Name: a, Data: []byte("a"), Today: Today()},
		{Name: b, Data: []byte("b"), Today: Today()},
	}, files)

	_, err = AllRules([]string{t.TempDir()})
	require.ErrorContains(t, err, "has no *.yaml or *.yml")
	_, err = AllRules([]string{filepath.Join(dir, "absent.yaml")})
	require.ErrorContains(t, err, "absent.yaml: no such file or folder")
	whole := write("whole.yaml", bytes.Repeat([]byte("#"), rules.MaxFileBytes))
	_, err = AllRules([]string{whole})
	require.NoError(t, err)
	_, err = AllRules([]string{write("long.yaml", bytes.Repeat([]byte("#"), rules.MaxFileBytes+1))})
	require.ErrorContains(t, err, "long.yaml: has more than 4194304 bytes, the limit: split it into several files")
}
