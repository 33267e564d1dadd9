package layout

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	Builds   []releaseBuild   `yaml:"builds"`
	Archives []releaseArchive `yaml:"archives"`
	NFPMs    []struct {
		ID               string   `yaml:"id"`
		PackageName      string   `yaml:"package_name"`
		IDs              []string `yaml:"ids"`
		Formats          []string `yaml:"formats"`
		FileNameTemplate string   `yaml:"file_name_template"`
		Vendor           string   `yaml:"vendor"`
		Homepage         string   `yaml:"homepage"`
		Maintainer       string   `yaml:"maintainer"`
		Description      string   `yaml:"description"`
		License          string   `yaml:"license"`
		Section          string   `yaml:"section"`
		Bindir           string   `yaml:"bindir"`
		MTime            string   `yaml:"mtime"`
		Contents         []struct {
			Src      string          `yaml:"src"`
			Dst      string          `yaml:"dst"`
			FileInfo releaseFileInfo `yaml:"file_info"`
			Packager string          `yaml:"packager"`
		} `yaml:"contents"`
	} `yaml:"nfpms"`
	Casks []struct {
		releaseListing `yaml:",inline"`
		Binaries       []string          `yaml:"binaries"`
		CustomBlock    string            `yaml:"custom_block"`
		Completions    map[string]string `yaml:"completions"`
		Manpages       []string          `yaml:"manpages"`
		Hooks          struct {
			Post struct {
				Install string `yaml:"install"`
			} `yaml:"post"`
		} `yaml:"hooks"`
	} `yaml:"homebrew_casks"`
	Scoops []struct {
		releaseListing `yaml:",inline"`
		License        string `yaml:"license"`
	} `yaml:"scoops"`
	Images []struct {
		ID         string            `yaml:"id"`
		IDs        []string          `yaml:"ids"`
		Dockerfile string            `yaml:"dockerfile"`
		Images     []string          `yaml:"images"`
		Tags       []string          `yaml:"tags"`
		Platforms  []string          `yaml:"platforms"`
		ExtraFiles []string          `yaml:"extra_files"`
		Labels     map[string]string `yaml:"labels"`
		Flags      []string          `yaml:"flags"`
		SBOM       string            `yaml:"sbom"`
		Disable    string            `yaml:"disable"`
	} `yaml:"dockers_v2"`
	DockerDigest struct {
		NameTemplate string `yaml:"name_template"`
	} `yaml:"docker_digest"`
	SBOMs []struct {
		Artifacts string `yaml:"artifacts"`
	} `yaml:"sboms"`
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

type releaseArchive struct {
	ID              string   `yaml:"id"`
	Meta            bool     `yaml:"meta"`
	IDs             []string `yaml:"ids"`
	Formats         []string `yaml:"formats"`
	FormatOverrides []struct {
		GOOS    string   `yaml:"goos"`
		Formats []string `yaml:"formats"`
	} `yaml:"format_overrides"`
	NameTemplate    string          `yaml:"name_template"`
	WrapInDirectory string          `yaml:"wrap_in_directory"`
	BuildsInfo      releaseFileInfo `yaml:"builds_info"`
	Files           []struct {
		Src         string          `yaml:"src"`
		Dst         string          `yaml:"dst"`
		StripParent bool            `yaml:"strip_parent"`
		Info        releaseFileInfo `yaml:"info"`
	} `yaml:"files"`
}

// releaseListing is the common part of a cask and a manifest.
type releaseListing struct {
	Name        string   `yaml:"name"`
	IDs         []string `yaml:"ids"`
	Homepage    string   `yaml:"homepage"`
	Description string   `yaml:"description"`
	SkipUpload  string   `yaml:"skip_upload"`
	Repository  struct {
		Owner       string `yaml:"owner"`
		Name        string `yaml:"name"`
		Branch      string `yaml:"branch"`
		Token       string `yaml:"token"`
		PullRequest struct {
			Enabled bool `yaml:"enabled"`
		} `yaml:"pull_request"`
	} `yaml:"repository"`
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
		text, err = os.ReadFile(filepath.Join(root, image.Dockerfile))
		require.NoError(t, err)
		for _, name := range append(image.ExtraFiles, programs...) {
			require.Contains(t, string(text), name, image.Dockerfile)
		}
	}
	base := regexp.MustCompile(`(?m)^FROM apache/beam_go_sdk:(\S+) AS fleet$`).FindSubmatch(text)
	require.NotNil(t, base)
	text, err = os.ReadFile(filepath.Join(root, "fleet", "beam", "go.mod"))
	require.NoError(t, err)
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
			link, err := os.Readlink(filepath.Join(root, "tools", "packaging", "linux", "heed-page"))
			require.NoError(t, err)
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
			files, err := filepath.Glob(filepath.Join(root, source))
			require.NoError(t, err)
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
