package statefile_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/statefile"
)

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
