package scrub_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/internal/text/scrub"
)

// TestKindsOfLines reads lines by classes: of each, the marked texts are private, and a line without any stays.
func TestKindsOfLines(t *testing.T) {
	for line := range strings.Lines(string(testkit.Must(os.ReadFile("testdata/kinds.txt")))) {
		line = strings.TrimSuffix(line, "\n")
		in := strings.NewReplacer("‹", "", "›", "").Replace(line)
		if strings.HasPrefix(line, "#") || in == line {
			require.Equal(t, line, scrub.Text(line))
			continue
		}
		for _, part := range strings.Split(line, "‹")[1:] {
			value, _, _ := strings.Cut(part, "›")
			require.NotContains(t, scrub.Text(in), value, line)
		}
	}
}
