package statefile

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSetAsideWithoutLinks moves the file where it cannot have two names.
func TestSetAsideWithoutLinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	for _, want := range []string{path + ".v1", path + ".v1.2"} {
		require.NoError(t, WriteFile(path, "kind", 1, []byte(want)))
		aside, err := setAside(func(string, string) error { return errors.ErrUnsupported }, path, ".v1")
		require.NoError(t, err)
		require.Equal(t, want, aside)
		require.NoFileExists(t, path)
		kept, err := ReadFile(want, "kind", 1)
		require.NoError(t, err)
		require.Equal(t, want, string(kept))
	}
}

func TestSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	_, err := SetAside(path, ".v1")
	require.ErrorIs(t, err, os.ErrNotExist)
	for n, text := range []string{"first", "second", "third"} {
		require.NoError(t, WriteFile(path, "kind", 1, []byte(text)))
		want := path + ".v1"
		if n > 0 {
			want += "." + strconv.Itoa(n+1)
		}
		for range 2 { // again, as after a kill before the next save
			aside, err := SetAside(path, ".v1")
			require.NoError(t, err)
			require.Equal(t, want, aside)
		}
		require.NoError(t, WriteFile(path, "kind", 2, []byte("new")))
		kept, err := ReadFile(want, "kind", 1)
		require.NoError(t, err)
		require.Equal(t, text, string(kept))
	}
	_, err = ReadFile(path, "kind", 1)
	var other *VersionError
	require.ErrorAs(t, err, &other)
	require.ErrorIs(t, err, ErrVersion)
	require.EqualValues(t, 2, other.Is)
	require.ErrorContains(t, err, "it is of version 2, this program reads version 1")
}
