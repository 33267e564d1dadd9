package live

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVersion: in one line, with what a report of a bug needs.
func TestVersion(t *testing.T) {
	var out, errs bytes.Buffer
	require.Equal(t, exitOK, run(t.Context(), []string{"--version"}, strings.NewReader(""), &out, &errs))
	require.Regexp(t, `^heed \S+ \(.*go1\S*, \w+/\w+\)\n$`, out.String())
	require.Empty(t, errs.String())
}
