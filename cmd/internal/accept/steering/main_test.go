package steering

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/accept/stage"
	"github.com/heedlog/heed/internal/testkit"
)

// TestMain makes the test binary the agent or the server that heed starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[2] == "-role" {
		if err := Run(os.Args[2:], os.Stdout, os.Stderr); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestEachWay lets an agent work with each way of delivery: every incident reaches the model.
func TestEachWay(t *testing.T) {
	testkit.Full(t, "builds and starts heed")
	dir := t.TempDir()
	heed := testkit.Must(stage.Heed("", dir, os.Stderr))
	for _, name := range adapters[1:] {
		r, err := try(name, heed, filepath.Join(dir, name), 3, 50*time.Millisecond)
		require.NoError(t, err, name)
		require.Len(t, r.after, 3, name)
	}
}
