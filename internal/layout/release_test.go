package layout

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// releaseConfig is tools/.goreleaser.yaml. A key that is missing here fails the test, so
// that a misspelled one is not silently without effect until a release is made.
type releaseConfig struct {
	Version     int    `yaml:"version"`
	ProjectName string `yaml:"project_name"`
	Before      struct {
		Hooks []string `yaml:"hooks"`
	} `yaml:"before"`
	Builds   []releaseBuild `yaml:"builds"`
	Archives []struct {
		IDs             []string `yaml:"ids"`
		Formats         []string `yaml:"formats"`
		FormatOverrides []struct {
			GOOS    string   `yaml:"goos"`
			Formats []string `yaml:"formats"`
		} `yaml:"format_overrides"`
		NameTemplate    string          `yaml:"name_template"`
		WrapInDirectory bool            `yaml:"wrap_in_directory"`
		BuildsInfo      releaseFileInfo `yaml:"builds_info"`
		Files           []struct {
			Src         string          `yaml:"src"`
			Dst         string          `yaml:"dst"`
			StripParent bool            `yaml:"strip_parent"`
			Info        releaseFileInfo `yaml:"info"`
		} `yaml:"files"`
	} `yaml:"archives"`
	Checksum struct {
		NameTemplate string `yaml:"name_template"`
		Algorithm    string `yaml:"algorithm"`
	} `yaml:"checksum"`
	Changelog struct {
		Disable bool `yaml:"disable"`
	} `yaml:"changelog"`
	Release struct {
		Draft      bool   `yaml:"draft"`
		Prerelease string `yaml:"prerelease"`
	} `yaml:"release"`
}

type releaseBuild struct {
	ID           string   `yaml:"id"`
	Main         string   `yaml:"main"`
	Binary       string   `yaml:"binary"`
	Env          []string `yaml:"env"`
	GOOS         []string `yaml:"goos"`
	GOARCH       []string `yaml:"goarch"`
	GOAMD64      []string `yaml:"goamd64"`
	GOARM64      []string `yaml:"goarm64"`
	Flags        []string `yaml:"flags"`
	LDFlags      []string `yaml:"ldflags"`
	ModTimestamp string   `yaml:"mod_timestamp"`
}

type releaseFileInfo struct {
	Owner string `yaml:"owner"`
	Group string `yaml:"group"`
	Mode  uint32 `yaml:"mode"`
	MTime string `yaml:"mtime"`
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
	text, err := os.ReadFile(filepath.Join(root, "tools", ".goreleaser.yaml"))
	require.NoError(t, err)
	var config releaseConfig
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&config))
	require.Equal(t, 2, config.Version)

	text, err = os.ReadFile(filepath.Join(root, ".ci", "release"))
	require.NoError(t, err)
	script := string(text)
	programs := setting(t, script, `programs=\((.*)\)`)
	platforms := setting(t, script, `platforms=\((.*)\)`)
	flags := setting(t, script, `flags=\((.*)\)`)
	ldflags := setting(t, script, `ldflags='(.*)'`)
	env := setting(t, script, `export (CGO_ENABLED.*)`)
	levels := setting(t, script, `export (GOAMD64.*)`)

	mains, err := filepath.Glob(filepath.Join(root, "cmd", "*", "main.go"))
	require.NoError(t, err)
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

	require.Len(t, config.Archives, 1)
	archive := config.Archives[0]
	require.ElementsMatch(t, programs, archive.IDs)
	require.Equal(t, uint32(0o755), archive.BuildsInfo.Mode)
	require.Equal(t, "{{ .CommitDate }}", archive.BuildsInfo.MTime)
	var packed []string
	for _, f := range archive.Files {
		packed = append(packed, f.Src)
		if strings.HasPrefix(f.Src, "tools/packaging/") {
			require.Equal(t, archive.BuildsInfo, f.Info, "%s: a program", f.Src)
			link, err := os.Readlink(filepath.Join(root, "tools", "packaging", "linux", "heed-page"))
			require.NoError(t, err)
			require.Equal(t, "heed", link, "which is beside it in the archive")
			continue
		}
		require.Equal(t, uint32(0o644), f.Info.Mode, f.Src)
		require.Equal(t, "{{ .CommitDate }}", f.Info.MTime, f.Src)
		if strings.HasPrefix(f.Src, "extras/") {
			require.Contains(t, config.Before.Hooks, "bash .ci/release extras extras", "nobody writes %s", f.Src)
			continue
		}
		files, err := filepath.Glob(filepath.Join(root, f.Src))
		require.NoError(t, err)
		require.NotEmpty(t, files, f.Src)
	}
	require.Subset(t, packed, []string{"LICENSE", "extras/THIRD_PARTY_NOTICES.txt"})
	require.Equal(t, "sha256", config.Checksum.Algorithm)
}

var usedAction = regexp.MustCompile(`(?m)^\s*(?:- )?uses: ([^\s@.]+)@(\S+)$`)

// TestActions: workflows, and the examples in pages, use one version of an action.
func TestActions(t *testing.T) {
	var files []string
	for _, pattern := range []string{".github/workflows/*.yml", "docs/*.md", "*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		files = append(files, found...)
	}
	version, where := map[string]string{}, map[string]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
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
