package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestMain makes the test binary the agent or the server that heed starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "-role" {
		if err := run(os.Args[1:], os.Stdout); err != nil {
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
	heed := filepath.Join(dir, "heed")
	out, err := exec.Command("go", "build", "-o", heed, "github.com/heedlog/heed/cmd/heed").CombinedOutput()
	require.NoError(t, err, string(out))
	for _, name := range adapters[1:] {
		r, err := try(name, heed, filepath.Join(dir, name), 3, 50*time.Millisecond)
		require.NoError(t, err, name)
		require.Len(t, r.after, 3, name)
	}
}
