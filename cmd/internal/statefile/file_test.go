package statefile

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFileRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "snapshot")
	_, err := ReadFile(path)
	require.ErrorIs(t, err, fs.ErrNotExist)
	for _, data := range [][]byte{{}, {0}, []byte("one"), make([]byte, 100_000)} {
		require.NoError(t, os.WriteFile(path+tempSuffix, []byte("left by a kill"), 0o644))
		require.NoError(t, WriteFile(path, data))
		got, err := ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, data, got)
		require.NoFileExists(t, path+tempSuffix)
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
	require.NoError(t, os.Truncate(path, MaxFile+1)) // a hole, which takes no room
	_, err := ReadFile(path)
	require.ErrorContains(t, err, path+": has more than")
}

// TestFileIsRegular: a device or a pipe may have no end, and is not read.
func TestFileIsRegular(t *testing.T) {
	for _, path := range []string{os.DevNull, t.TempDir()} {
		_, err := ReadFile(path)
		require.ErrorContains(t, err, path+": is not a regular file")
	}
}

// TestFileIsOldOrNew lets each step of a WriteFile fail, be killed, or be the
// last before the power goes, with a write torn at every byte.
func TestFileIsOldOrNew(t *testing.T) {
	old, replacement := []byte("the old payload"), []byte("the new payload, which is longer")
	for step := 0; ; step++ {
		done := false
		for torn := range 1 + len(replacement) {
			for _, why := range []error{errKilled, os.ErrPermission} {
				for _, power := range []bool{false, true} {
					disk := newFaultFS()
					require.NoError(t, writeFile(disk, "d/f", old))
					at := 0
					disk.fault = func(_ string, n int) (int, error) {
						if at++; at-1 == step {
							return min(n, torn), why
						}
						return n, nil
					}
					err := writeFile(disk, "d/f", replacement)
					done = err == nil && at <= step
					disk.restart(power, func(n int) int { return min(n, torn) })
					require.Contains(t, disk.files, "d/f", "step %d, %d bytes", step, torn)
					got := disk.files["d/f"].data
					if err == nil {
						require.Equal(t, replacement, got)
					} else {
						require.Contains(t, [][]byte{old, replacement}, got)
					}
					require.NoError(t, writeFile(disk, "d/f", replacement), "what is left behind is in nobody's way")
				}
			}
		}
		if done {
			require.Greater(t, step, 5)
			return
		}
	}
}
