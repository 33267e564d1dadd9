package agent

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/accept/stage"
	"github.com/heedlog/heed/cmd/internal/accept/steering"
	"github.com/heedlog/heed/internal/testkit"
)

// TestMain makes the test binary the agent or the server that heed starts in TestEachWay.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[2] == "-role" {
		if err := steering.Run(os.Args[2:], os.Stdout, os.Stderr); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestEachWay lets an agent work with each way of delivery: every incident reaches the model.
func TestEachWay(t *testing.T) {
	testkit.Full(t, "builds and starts heed")
	heed := testkit.Must(stage.Heed("", t.TempDir(), os.Stderr))
	for _, name := range []string{"wrap", "hook", "mcp", "acp"} {
		var out strings.Builder
		require.NoError(t, steering.Run([]string{"-heed", heed, "-only", name, "-incidents", "3"}, &out, os.Stderr), name)
		require.Regexp(t, `(?m)^ *`+name+` +3 `, out.String())
	}
}
