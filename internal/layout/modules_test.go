package layout

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// requirement is a line of a go.mod that requires a module.
var requirement = regexp.MustCompile(`(?m)^(?:require )?\s*(\S+) (v\d\S*)(?: // indirect)?$`)

// requires returns the version of each module that the go.mod in dir requires.
func requires(t *testing.T, dir string) map[string]string {
	t.Helper()
	text := testkit.Must(os.ReadFile(filepath.Join(root, dir, "go.mod")))
	versions := map[string]string{}
	for _, m := range requirement.FindAllStringSubmatch(string(text), -1) {
		versions[m[1]] = m[2]
	}
	return versions
}

// older compares versions of a module by the numbers in them.
func older(a, b string) bool {
	numbers := func(version string) (all []int) {
		for _, digits := range regexp.MustCompile(`\d+`).FindAllString(version, 4) {
			n, err := strconv.Atoi(digits)
			if err != nil {
				n = 0
			}
			all = append(all, n)
		}
		return all
	}
	return slices.Compare(numbers(a), numbers(b)) < 0
}

// TestModulesAgree: a module that requires heed requires what heed does in no older version. Otherwise Go
// refuses to load it, which shows only where all its modules are in the module cache.
func TestModulesAgree(t *testing.T) {
	mine := requires(t, ".")
	require.NotEmpty(t, mine["github.com/stretchr/testify"])
	for _, dir := range []string{"bench/peers", "fleet/beam"} {
		theirs := requires(t, dir)
		require.NotEmpty(t, theirs["github.com/heedlog/heed"], dir)
		for module, version := range mine {
			if required := theirs[module]; required != "" && older(required, version) {
				t.Errorf("%s/go.mod requires %s %s, but heed %s: run \"go mod tidy\" there", dir, module, required, version)
			}
		}
	}
}

// TestModulesLoad runs the function of .ci/lint that checks whether a module loads: the check skips for a module that
// is not in the module cache, names the module, and fails for any other error.
func TestModulesLoad(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("the program bash is missing: ", err)
	}
	script := testkit.Must(os.ReadFile(filepath.Join(root, ".ci", "lint")))
	function := regexp.MustCompile(`(?ms)^loads\(\) \{\n.*?^\}\n`).FindString(string(script))
	require.NotEmpty(t, function, ".ci/lint has no function loads")

	// The go.mod of a module whose files are not in the cache, and what go.sum has of both.
	const missing = "module example.com/missing\n"
	inner := sha256.Sum256([]byte(missing))
	sum := sha256.Sum256(fmt.Appendf(nil, "%x  go.mod\n", inner))
	sums := fmt.Sprintf("example.com/missing v1.2.3 h1:%s=\nexample.com/missing v1.2.3/go.mod h1:%s\n",
		strings.Repeat("A", 43), base64.StdEncoding.EncodeToString(sum[:]))

	for _, c := range []struct {
		name, mod, source, says string
		cached, fails           bool
	}{
		{name: "whole", mod: "module m\n\ngo 1.26.0\n", source: "package m\n"},
		{
			name: "a module is missing", mod: "module m\n\ngo 1.26.0\n\nrequire example.com/missing v1.2.3\n",
			source: "package m\n\nimport _ \"example.com/missing\"\n", says: "skipped: example.com/missing@v1.2.3 is not in the module cache\n",
		},
		{
			name: "the files of a module are missing", mod: "module m\n\ngo 1.26.0\n\nrequire example.com/missing v1.2.3\n", cached: true,
			source: "package m\n\nimport _ \"example.com/missing\"\n", says: "skipped: example.com/missing@v1.2.3 is not in the module cache\n",
		},
		{name: "go.mod cannot be read", mod: "modul m\n", source: "package m\n", says: "unknown directive", fails: true},
		{name: "an import is not required", mod: "module m\n\ngo 1.26.0\n", source: "package m\n\nimport _ \"example.com/x\"\n", says: "cannot find module providing package", fails: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			put := func(name, text string) {
				name = filepath.Join(dir, name)
				require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
				require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
			}
			put("go.mod", c.mod)
			put("go.sum", sums)
			if c.cached {
				put("cache/cache/download/example.com/missing/@v/v1.2.3.mod", missing)
			}
			put("m.go", c.source)
			// As in .ci/lint: an error ends the script.
			cmd := exec.Command(bash, "-c", "set -euo pipefail\n"+function+"loads \"$1\"\n[ -n \"$missing\" ] || echo loads", "bash", dir)
			cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOSUMDB=off", "GOMODCACHE="+filepath.Join(dir, "cache"))
			out, err := cmd.CombinedOutput()
			said := string(out)
			require.Contains(t, said, c.says)
			if c.fails {
				require.Error(t, err, "%s", out)
				require.NotContains(t, said, "skipped")
				return
			}
			require.NoError(t, err, "%s", out)
			require.Equal(t, c.says == "", strings.HasSuffix(said, "loads\n"), fmt.Sprint(said))
		})
	}
}
