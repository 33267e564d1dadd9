package history_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/history"
	"github.com/heedlog/heed/internal/testkit"
)

// TestEarlierVersions: a file of each version, as sqlite3 dumped it, becomes one of this version with all that it had.
func TestEarlierVersions(t *testing.T) {
	schema := func(h *history.History) (all []string) {
		rows := testkit.Must(h.DB().Query("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name <> 'sqlite_sequence' ORDER BY name"))
		for rows.Next() {
			var text string
			require.NoError(t, rows.Scan(&text))
			all = append(all, text)
		}
		require.NoError(t, errors.Join(rows.Err(), rows.Close()))
		return all
	}
	dumps := testkit.Must(filepath.Glob("testdata/version*.sql"))
	require.NotEmpty(t, dumps)
	for _, dump := range dumps {
		path := filepath.Join(t.TempDir(), "history.db")
		text := testkit.Must(os.ReadFile(dump))
		raw := testkit.Must(sql.Open("sqlite", path))
		_, err := raw.Exec(string(text))
		require.NoError(t, errors.Join(err, raw.Close()))
		h := open(t, history.Config{Path: path})
		require.Equal(t, schema(open(t, history.Config{})), schema(h))
		_, sum, err := h.Session(t.Context(), 1)
		require.NoError(t, err)
		want := session(1, "healthy", mods("Core"), 1)
		want.Complete, want.Signatures = sum.Complete, 2 // which versions differ in
		require.Equal(t, want, sum)
		groups := testkit.Must(h.Groups(t.Context(), 3))
		require.Len(t, groups, 1)
		require.Equal(t, "New was added", groups[0].First.Changes.String())
		require.EqualValues(t, 3, remember(t, h, session(3, "healthy", nil, 4), day(3)))
	}
}
