package pipeline

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/fleet/intake"
	"github.com/heedlog/heed/fleet/population"
)

// TestProcess holds that workers in processes of their own, which Beam's boot starts, make the report of one process.
// Prism starts boot as the job servers of Flink and Spark do, except that it quotes the id.
func TestProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("boot starts workers on Linux")
	}
	tools := t.TempDir()
	boot, wrapper := filepath.Join(tools, "boot"), filepath.Join(tools, "wrapper")
	out, err := exec.Command("go", "build", "-o", boot, "github.com/apache/beam/sdks/v2/go/container").CombinedOutput()
	require.NoError(t, err, string(out))
	require.NoError(t, os.WriteFile(wrapper, fmt.Appendf(nil, `#!/bin/sh
id=${1#"--id='"}; shift
cd %s && exec %s --id="${id%%"'"}" --semi_persist_dir=$PWD "$@" # boot leaves pipeline_options.json where it starts
`, tools, boot), 0o700))
	self := must(os.Executable()) // is the worker, too
	for option, value := range map[*string]string{
		jobopts.EnvironmentType: "PROCESS", jobopts.EnvironmentConfig: `{"command":` + strconv.Quote(wrapper) + `}`,
		jobopts.WorkerBinary: self,
	} {
		before := *option
		*option = value
		t.Cleanup(func() { *option = before })
	}
	dir := folder(t)
	c := Config{intake.Config{Salt: []byte("salt"), K: 3, Player: `.*/(player\d+)/`}, 3}
	c.Patterns[population.Neither] = []string{dir}
	written.Store(nil)
	text, html := run(t, c)
	require.Nil(t, Written(), "this process wrote the report")
	want := must(c.Report(t.Context()))
	require.Equal(t, string(want.JSON()), text)
	require.Equal(t, string(want.HTML()), html)
}
