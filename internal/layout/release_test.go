package layout

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/heedlog/heed/internal/testkit"
)

// releaseConfig is the part of tools/.goreleaser.yaml that the test checks.
type releaseConfig struct {
	Version int
	Before  struct{ Hooks []string }
	Builds  []struct {
		ID, Main, Binary                                    string
		Env, GOOS, GOARCH, GOAMD64, GOARM64, Flags, LDFlags []string
		ModTimestamp                                        string `yaml:"mod_timestamp"`
	}
	Archives []releaseArchive
	NFPMs    []struct {
		IDs      []string
		MTime    string
		Contents []struct {
			Src      string
			FileInfo releaseFileInfo `yaml:"file_info"`
		}
	}
	Casks []struct {
		Name                    string
		IDs, Binaries, Manpages []string
		Completions             map[string]string
	} `yaml:"homebrew_casks"`
	Scoops []any
	Images []struct {
		IDs        []string
		Dockerfile string
		ExtraFiles []string `yaml:"extra_files"`
	} `yaml:"dockers_v2"`
	Checksum struct{ Algorithm string }
}

type releaseArchive struct {
	ID         string
	Meta       bool
	IDs        []string
	BuildsInfo releaseFileInfo `yaml:"builds_info"`
	Files      []struct {
		Src  string
		Info releaseFileInfo
	}
}

type releaseFileInfo struct {
	Owner, Group string
	Mode         uint32
	MTime        string
}

// setting returns the words that .ci/release sets a variable to.
func setting(t *testing.T, script, pattern string) []string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^`+pattern+`$`).FindAllStringSubmatch(script, -1)
	require.Len(t, found, 1, "lines of .ci/release like %s", pattern)
	return strings.Fields(found[0][1])
}

// TestRelease holds tools/.goreleaser.yaml to the programs below cmd, and to
// .ci/release, which tries the same build where there is nothing but Go.
func TestRelease(t *testing.T) {
	text := testkit.Must(os.ReadFile(filepath.Join(root, "tools", ".goreleaser.yaml")))
	var config releaseConfig
	require.NoError(t, yaml.Unmarshal(text, &config))
	require.Equal(t, 2, config.Version)

	text = testkit.Must(os.ReadFile(filepath.Join(root, ".ci", "release")))
	script := string(text)
	programs := setting(t, script, `programs=\((.*)\)`)
	platforms := setting(t, script, `platforms=\((.*)\)`)
	flags := setting(t, script, `flags=\((.*)\)`)
	ldflags := setting(t, script, `ldflags='(.*)'`)
	env := setting(t, script, `export (CGO_ENABLED.*)`)
	levels := setting(t, script, `export (GOAMD64.*)`)

	mains := testkit.Must(filepath.Glob(filepath.Join(root, "cmd", "*", "main.go")))
	var commands []string
	for _, main := range mains {
		if name := filepath.Base(filepath.Dir(main)); name != "heed-web" { // it needs the source tree, and makes a page
			commands = append(commands, name)
		}
	}
	require.ElementsMatch(t, commands, programs, "programs below cmd")

	var built []string
	for _, b := range config.Builds {
		built = append(built, b.ID)
		require.Equal(t, b.ID, b.Binary)
		require.Equal(t, "./cmd/"+b.ID, b.Main)
		var pairs []string
		for _, goos := range b.GOOS {
			for _, goarch := range b.GOARCH {
				pairs = append(pairs, goos+"/"+goarch)
			}
		}
		require.Len(t, pairs, 6, b.ID)
		require.ElementsMatch(t, platforms, pairs, b.ID)
		require.Equal(t, flags, b.Flags, b.ID)
		require.Equal(t, ldflags, strings.Fields(strings.Join(b.LDFlags, " ")), b.ID)
		require.ElementsMatch(t, env, b.Env, b.ID)
		require.ElementsMatch(t, levels,
			[]string{"GOAMD64=" + strings.Join(b.GOAMD64, ","), "GOARM64=" + strings.Join(b.GOARM64, ",")}, b.ID)
		require.Equal(t, "{{ .CommitTimestamp }}", b.ModTimestamp, "%s: a time of its own is not reproducible", b.ID)
	}
	require.ElementsMatch(t, programs, built)

	archived := []string{}
	for _, archive := range config.Archives {
		archived = append(archived, archive.IDs...)
		packed := checkArchive(t, &config, &archive)
		require.Equal(t, archive.ID == "heed", slices.Contains(packed, "extras/players.md"), "%s: for players", archive.ID)
		if !archive.Meta {
			require.Subset(t, packed, []string{"LICENSE", "extras/THIRD_PARTY_NOTICES.txt"}, archive.ID)
			require.Equal(t, uint32(0o755), archive.BuildsInfo.Mode)
			require.Equal(t, "{{ .CommitDate }}", archive.BuildsInfo.MTime)
		}
	}
	require.ElementsMatch(t, programs, archived, "each program is in one archive")

	for _, p := range config.NFPMs {
		require.ElementsMatch(t, programs, p.IDs)
		require.Equal(t, "{{ .CommitDate }}", p.MTime)
		for _, c := range p.Contents {
			checkSource(t, &config, c.Src)
			require.Equal(t, uint32(0o644), c.FileInfo.Mode, c.Src)
		}
	}
	for _, c := range config.Casks {
		require.Equal(t, config.Archives[0].ID, c.IDs[0], c.Name)
		require.ElementsMatch(t, config.Archives[0].IDs, c.Binaries)
		for _, path := range append(c.Manpages, slices.Collect(maps.Values(c.Completions))...) {
			require.True(t, strings.HasPrefix(path, "heed_#{version}_#{os}_#{arch}/"), "%s: archives wrap in a folder", path)
		}
	}
	require.NotEmpty(t, config.Scoops)
	require.Equal(t, "sha256", config.Checksum.Algorithm)

	// The images: the version of Beam is the version of the fleet's module.
	require.Len(t, config.Images, 2)
	for _, image := range config.Images {
		require.ElementsMatch(t, programs, image.IDs)
		checkSource(t, &config, image.ExtraFiles...)
		text = testkit.Must(os.ReadFile(filepath.Join(root, image.Dockerfile)))
		for _, name := range append(image.ExtraFiles, programs...) {
			require.Contains(t, string(text), name, image.Dockerfile)
		}
	}
	base := regexp.MustCompile(`(?m)^FROM apache/beam_go_sdk:(\S+) AS fleet$`).FindSubmatch(text)
	require.NotNil(t, base)
	text = testkit.Must(os.ReadFile(filepath.Join(root, "fleet", "beam", "go.mod")))
	require.Contains(t, string(text), "github.com/apache/beam/sdks/v2 v"+string(base[1])+"\n")
}

// checkArchive holds the files of an archive to the tree, and returns them.
func checkArchive(t *testing.T, config *releaseConfig, archive *releaseArchive) (packed []string) {
	t.Helper()
	for _, f := range archive.Files {
		packed = append(packed, f.Src)
		require.Equal(t, "{{ .CommitDate }}", f.Info.MTime, f.Src)
		if strings.HasPrefix(f.Src, "tools/packaging/") {
			require.Equal(t, archive.BuildsInfo, f.Info, "%s: a program", f.Src)
			link := testkit.Must(os.Readlink(filepath.Join(root, "tools", "packaging", "linux", "heed-page")))
			require.Equal(t, "heed", link, "which is beside it in the archive")
			continue
		}
		if !archive.Meta { // whose files have modes of their own
			require.Equal(t, uint32(0o644), f.Info.Mode, f.Src)
		}
		checkSource(t, config, f.Src)
	}
	return packed
}

// checkSource holds that files of a release are in the tree, or written by a hook.
func checkSource(t *testing.T, config *releaseConfig, sources ...string) {
	t.Helper()
	for _, source := range sources {
		switch {
		case source == "extras/rimworld/heed":
			require.Contains(t, config.Before.Hooks, "bash .ci/release mod extras/rimworld/heed", source)
		case strings.HasPrefix(source, "extras/"):
			require.Contains(t, config.Before.Hooks, "bash .ci/release extras extras", source)
		default:
			files := testkit.Must(filepath.Glob(filepath.Join(root, source)))
			require.NotEmpty(t, files, source)
			require.NotRegexp(t, `^docs/[^/]*$`, source, "of the documents players.md alone")
		}
	}
}

var usedAction = regexp.MustCompile(`(?m)^\s*(?:- )?uses: ([^\s@.]+)@(\S+)$`)

// TestActions: workflows, and the examples in pages, use one version of an action.
func TestActions(t *testing.T) {
	var files []string
	for _, pattern := range []string{".github/workflows/*.yml", "action.yml", "docs/*.md", "*.md"} {
		found := testkit.Must(filepath.Glob(filepath.Join(root, pattern)))
		files = append(files, found...)
	}
	version, where := map[string]string{}, map[string]string{}
	for _, file := range files {
		data := testkit.Must(os.ReadFile(file))
		for _, m := range usedAction.FindAllStringSubmatch(string(data), -1) {
			action := m[1]
			if version[action] == "" {
				version[action], where[action] = m[2], file
			}
			require.Equal(t, version[action], m[2], "%s in %s and %s", action, where[action], file)
		}
	}
	require.NotEmpty(t, version["actions/checkout"])
}

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
