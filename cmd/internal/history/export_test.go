package history

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// DB is for tests that look into the file, or limit it.
func (h *History) DB() *sql.DB { return h.db.DB }

func (h *History) Path() string { return h.config.Path }

// TestRowThatCannotBeRead: nothing of it is found, as after an interrupt between two rows.
func TestRowThatCannotBeRead(t *testing.T) {
	h, err := Open(t.Context(), Config{Path: filepath.Join(t.TempDir(), "history.db"), Now: time.Now})
	require.NoError(t, err)
	defer h.Close() //nolint:errcheck // a test
	var counts map[int64]int64
	var numbers []int64
	require.Error(t, h.read(t.Context(), func(t *tx) { counts = byNumber[int64](t, `SELECT 'no number', 1`) }))
	require.Error(t, h.read(t.Context(), func(t *tx) { numbers = t.numbers(`SELECT 'no number'`) }))
	require.Empty(t, counts)
	require.Empty(t, numbers)
}
