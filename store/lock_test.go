package store_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/store"
)

func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "one.lock")
	first, err := store.Lock(name)
	require.NoError(t, err)
	_, err = store.Lock(name)
	require.ErrorIs(t, err, store.ErrLocked)
	other, err := store.Lock(name + "2")
	require.NoError(t, err)
	require.NoError(t, other.Close())
	require.NoError(t, first.Close())
	again, err := store.Lock(name)
	require.NoError(t, err)
	require.NoError(t, again.Close())
	_, err = store.Lock(filepath.Join(name, "below a file"))
	require.Error(t, err)
	require.NotErrorIs(t, err, store.ErrLocked)
}
