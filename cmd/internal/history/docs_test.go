package history_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/history"
	"github.com/heedlog/heed/internal/testkit"
)

// TestDocumentedSQL runs the statements of docs/history.md, and holds the columns that it lists to the views.
func TestDocumentedSQL(t *testing.T) {
	page := testkit.Must(os.ReadFile("../../../docs/history.md"))
	h := open(t, history.Config{})
	remember(t, h, session(1, "broken", mods("Core"), 1), day(1))
	statements := regexp.MustCompile(`(?m)^sqlite3 -readonly history.db ['"](.*)['"]$`).FindAllStringSubmatch(string(page), -1)
	require.Len(t, statements, 4)
	for _, s := range statements {
		rows, err := h.DB().Query(s[1])
		require.NoError(t, err, s[1])
		for rows.Next() {
		}
		require.NoError(t, rows.Close())
		require.NoError(t, rows.Err(), s[1])
	}
	listed := map[string][]string{}
	views := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (`id`|`game`|`session`)(.*) \\|$")
	for _, row := range views.FindAllStringSubmatch(string(page), -1) {
		for _, column := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(row[2]+row[3], -1) {
			listed[row[1]] = append(listed[row[1]], column[1])
		}
	}
	require.Len(t, listed, 4)
	for view, want := range listed {
		rows := testkit.Must(h.DB().Query("SELECT * FROM " + view))
		columns := testkit.Must(rows.Columns())
		require.Equal(t, want, columns, view)
		require.True(t, rows.Next(), view)
		require.NoError(t, rows.Close())
	}
}
