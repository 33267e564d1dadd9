package session

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/statefile"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

const nowText = "20260131T090000.123456789"

// smallConfig makes snapshots of a few hundred bytes.
func smallConfig(t testing.TB) heed.Config {
	set, err := rules.Compile(rules.File{
		Name: "f.yaml",
		Data: []byte("version: 1\nrules:\n  - {id: broken, when: 'template startsWith \"Broken\"', disposition: " +
			"blocking}\n"),
	})
	require.NoError(t, err)
	return heed.Config{Rules: set, Epoch: nowText, Groups: signature.GrouperConfig{Signatures: 16, Columns: 8}}
}

func TestSaveAndloadSnapshot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "engine")
	cfg := smallConfig(t)
	e, _, restored, err := loadSnapshot(path, cfg)
	require.NoError(t, err, "no file is no error")
	require.False(t, restored)
	e.Log(event.Log{Message: "Broken"})
	a, _ := e.Current("")
	require.Equal(t, nowText+"-1", a.ID)
	require.NoError(t, statefile.WriteFile(path, e.Snapshot(nil)))

	cfg.Epoch = "another"
	e, _, restored, err = loadSnapshot(path, cfg)
	require.NoError(t, err)
	require.True(t, restored)
	require.True(t, e.Ack("", a.ID, 0).Acknowledged, "the epoch of the snapshot goes on")
	require.NoError(t, statefile.WriteFile(path, e.Snapshot(nil)), "it replaces the old one")
	e, _, _, err = loadSnapshot(path, cfg)
	require.NoError(t, err)
	require.True(t, e.Ack("", a.ID, 0).Already)

	files, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, files, 1, "nothing else is left behind")
}

// TestLoadUnreadable loads files of which nothing can be read: the engine is a new one in a new epoch, and the reason is
// returned.
func TestLoadUnreadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "engine")
	cfg := smallConfig(t)
	for _, data := range [][]byte{{}, []byte("something else")} {
		require.NoError(t, os.WriteFile(path, data, 0o600))
		e, _, restored, err := loadSnapshot(path, cfg)
		require.False(t, restored)
		require.ErrorContains(t, err, path)
		e.Log(event.Log{Message: "Broken"})
		a, _ := e.Current("")
		require.Equal(t, nowText+"-1", a.ID)
		left, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, data, left, "the file stays until it is saved again")
	}
}

// TestSaveKilled has the rests of a save that was killed beside the file: they do
// no harm.
func TestSaveKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "engine")
	cfg := smallConfig(t)
	e, _, _, err := loadSnapshot(path, cfg)
	require.NoError(t, err)
	require.NoError(t, statefile.WriteFile(path, e.Snapshot(nil)))
	require.NoError(t, os.WriteFile(path+".tmp", []byte("half of a"), 0o600))
	_, _, restored, err := loadSnapshot(path, cfg)
	require.NoError(t, err)
	require.True(t, restored)
	require.NoError(t, statefile.WriteFile(path, e.Snapshot(nil)))
	_, _, restored, err = loadSnapshot(path, cfg)
	require.NoError(t, err)
	require.True(t, restored)
}

func TestSaveFails(t *testing.T) {
	cfg := smallConfig(t)
	dir := t.TempDir()
	e, _, _, err := loadSnapshot(filepath.Join(dir, "engine"), cfg)
	require.NoError(t, err)
	require.ErrorContains(t, statefile.WriteFile(filepath.Join(dir, "no", "engine"), e.Snapshot(nil)), "statefile: ")

	// A directory stands where the file should be: what was written goes.
	taken := filepath.Join(dir, "taken")
	require.NoError(t, os.Mkdir(taken, 0o700))
	require.Error(t, statefile.WriteFile(taken, e.Snapshot(nil)))
	require.NoFileExists(t, taken+".tmp")
	_, _, restored, err := loadSnapshot(taken, cfg)
	require.False(t, restored)
	require.ErrorContains(t, err, taken)

	huge := filepath.Join(dir, "huge")
	require.NoError(t, os.WriteFile(huge, nil, 0o600))
	require.NoError(t, os.Truncate(huge, 2*statefile.MaxFile)) // a hole, which takes no room
	_, _, restored, err = loadSnapshot(huge, cfg)
	require.False(t, restored)
	require.ErrorContains(t, err, huge)

	cfg.Signatures = -1
	e, _, restored, err = loadSnapshot(filepath.Join(dir, "engine"), cfg)
	require.Nil(t, e)
	require.False(t, restored)
	require.ErrorContains(t, err, "Config.Signatures")
}
