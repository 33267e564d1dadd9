//go:build unix

package briefing

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestFileReadPipe: a pipe that nobody writes holds nobody up.
func TestFileReadPipe(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	query := &FileRead{Paths: []string{"pipe", "gone"}, MaxSizeBytes: 1}
	found := testkit.Must(readFiles(t.Context(), roots(t, dir), query))
	require.Equal(t, []string{
		"file pipe: is no regular file", "file gone: not found below the folders that may be read",
	}, found.Warnings)
}
