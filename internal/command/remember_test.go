package command

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/history"
	"github.com/heedlog/heed/summary"
)

// TestIdentify: a log is the session that another heed has kept of it, though it kept more while the log was read.
func TestIdentify(t *testing.T) {
	dir := t.TempDir()
	h, err := history.Open(t.Context(), history.Config{Path: filepath.Join(dir, "h.db"), Now: time.Now})
	require.NoError(t, err)
	defer h.Close() //nolint:errcheck // the test has ended
	hashed := func(text string, lengths ...uint64) summary.Log {
		hasher := summary.NewHasher(lengths)
		_, _ = hasher.Write([]byte(text))
		return hasher.Log("a.log")
	}
	running := &summary.Session{Version: summary.Version, Log: hashed("Loading\n")}
	id, err := h.Remember(t.Context(), running, time.Now(), true)
	require.NoError(t, err)
	m := &memory{History: h}
	lengths, err := h.Lengths(t.Context())
	require.NoError(t, err)
	whole := "Loading\nBoom\nBang\n"
	log := hashed(whole, lengths...)
	running.Log = hashed("Loading\nBoom\n")
	require.NoError(t, h.Update(t.Context(), id, running, time.Now(), true))

	name := filepath.Join(dir, "a.log")
	require.Equal(t, log, m.identify(t.Context(), name, log), "it cannot be read again")
	require.NoError(t, os.WriteFile(name, []byte("another\nBoom\nBang\n"), 0o600))
	require.Equal(t, log, m.identify(t.Context(), name, log), "it is another by now")
	require.NoError(t, os.WriteFile(name, []byte(whole+"more\n"), 0o600))
	read := &summary.Session{Version: summary.Version, Log: m.identify(t.Context(), name, log)}
	require.True(t, read.Log.Same(&running.Log))
	again, err := h.Remember(t.Context(), read, time.Now(), false)
	require.NoError(t, err)
	require.Equal(t, id, again)
}
