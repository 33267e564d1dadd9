package session

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/statefile"
)

func TestFileRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "snapshot")
	_, err := statefile.ReadFile(path)
	require.ErrorIs(t, err, fs.ErrNotExist)
	for _, data := range [][]byte{{}, {0}, []byte("one"), make([]byte, 100_000)} {
		require.NoError(t, os.WriteFile(path+".tmp", []byte("left by a kill"), 0o644))
		require.NoError(t, statefile.WriteFile(path, data))
		got, err := statefile.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, data, got)
		require.NoFileExists(t, path+".tmp")
	}
	if runtime.GOOS != "windows" {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode())
	}
}

func TestFileTooLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Truncate(path, statefile.MaxFile+1)) // a hole, which takes no room
	_, err := statefile.ReadFile(path)
	require.ErrorContains(t, err, path+": has more than")
}

// TestFileIsRegular: a device or a pipe may have no end, and is not read.
func TestFileIsRegular(t *testing.T) {
	for _, path := range []string{os.DevNull, t.TempDir()} {
		_, err := statefile.ReadFile(path)
		require.ErrorContains(t, err, path+": is not a regular file")
	}
}

// TestFileFails: a file that cannot be replaced stays as it is, and nothing is left beside it.
func TestFileFails(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "folder")
	old := filepath.Join(folder, "old")
	require.NoError(t, os.Mkdir(folder, 0o700))
	require.NoError(t, os.WriteFile(old, []byte("old"), 0o600))
	require.Error(t, statefile.WriteFile(folder, []byte("new")))
	require.FileExists(t, old)
	require.NoFileExists(t, folder+".tmp")
	require.ErrorIs(t, statefile.WriteFile(filepath.Join(folder, "none", "file"), nil), fs.ErrNotExist)

	require.NoError(t, os.Mkdir(old+".tmp", 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(old+".tmp", "in the way"), nil, 0o600))
	require.ErrorIs(t, statefile.WriteFile(old, []byte("new")), fs.ErrExist)
	got, err := statefile.ReadFile(old)
	require.NoError(t, err)
	require.Equal(t, "old", string(got))
}

func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "one.lock")
	first, err := statefile.Lock(name)
	require.NoError(t, err)
	_, err = statefile.Lock(name)
	require.ErrorIs(t, err, statefile.ErrLocked)
	other, err := statefile.Lock(name + "2")
	require.NoError(t, err)
	require.NoError(t, other.Close())
	require.NoError(t, first.Close())
	again, err := statefile.Lock(name)
	require.NoError(t, err)
	require.NoError(t, again.Close())
	_, err = statefile.Lock(filepath.Join(name, "below a file"))
	require.Error(t, err)
	require.NotErrorIs(t, err, statefile.ErrLocked)
}
