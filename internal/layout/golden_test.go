package layout

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// failing is a test that keeps its failure.
type failing struct {
	testing.TB
	failure string
}

func (f *failing) Fatalf(format string, args ...any) { f.failure = fmt.Sprintf(format, args...) }

// TestGoldenPrintsTheDifference: a page that is stale by one line fails with the lines around that line.
func TestGoldenPrintsTheDifference(t *testing.T) {
	page := strings.Repeat("a line\n", 500) + "an old line\n" + strings.Repeat("another line\n", 500)
	file := filepath.Join(t.TempDir(), "pages", "page.md")
	t.Setenv("HEED_UPDATE", "1")
	testkit.Golden(t, file, page)
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, page, string(written))

	if t.Setenv("HEED_UPDATE", ""); testkit.Updating() {
		t.Skip("run with -update, which writes every golden file")
	}
	testkit.Golden(t, file, page)
	tb := &failing{TB: t}
	testkit.Golden(tb, file, strings.Replace(page, "an old", "a new", 1))
	require.Contains(t, tb.failure, "\n-an old line\n+a new line\n")
	require.Less(t, strings.Count(tb.failure, "\n"), 15, tb.failure)
}
