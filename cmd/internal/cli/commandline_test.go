package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQuote(t *testing.T) {
	for _, c := range []struct{ arg, posix, windows string }{
		{"known.yaml", "known.yaml", "known.yaml"},
		{"/a-b/c_d@1.yaml", "/a-b/c_d@1.yaml", `"/a-b/c_d@1.yaml"`},
		{`C:\logs\k.yaml`, `'C:\logs\k.yaml'`, `C:\logs\k.yaml`},
		{"", "''", `""`},
		{"my file.yaml", "'my file.yaml'", `"my file.yaml"`},
		{"it's $HOME;rm", `'it'\''s $HOME;rm'`, `"it's $HOME;rm"`},
		{"~/k.yaml", "'~/k.yaml'", `"~/k.yaml"`},
		{"ä*.yaml", "'ä*.yaml'", `"ä*.yaml"`},
	} {
		require.Equal(t, c.posix, quote(c.arg, false))
		require.Equal(t, c.windows, quote(c.arg, true))
	}
	require.Equal(t, CommandLine("heed", "rules"), "heed rules")
}
