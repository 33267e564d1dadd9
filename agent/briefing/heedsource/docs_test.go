package heedsource

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestSourcesInDocs compares the table of sources with the code.
func TestSourcesInDocs(t *testing.T) {
	data := testkit.Must(os.ReadFile("../../../docs/briefing.md"))
	_, section, found := strings.Cut(string(data), "\n## What heed has\n")
	require.True(t, found)
	filters := map[string]string{}
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) == 5 {
			filters[strings.ReplaceAll(strings.TrimSpace(cells[1]), "`", "")] = cells[3]
		}
	}
	has := func(source string, names []string) {
		t.Helper()
		require.Contains(t, filters, source)
		require.Equal(t, len(names), strings.Count(filters[source], "`")/2, source)
		for _, name := range names {
			require.Contains(t, filters[source], "`"+name+"`", source)
		}
	}
	has("ledger of hot", filterNames)
	has("registry environment", nil)
}
