package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPrograms asks for what the programs are really built of.
func TestPrograms(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	list := exec.Command("go", "list", "-deps", "./cmd/heed")
	list.Dir = "../.."
	list.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64")
	said, err := list.CombinedOutput()
	if err != nil && bytes.Contains(said, []byte("module lookup disabled by GOPROXY=off")) {
		t.Skipf("modules of Windows programs are not in the module cache: run go mod download: %s", said)
	}
	require.NoError(t, err, "%s", said)
	goroot, err := command("", nil, "env", "GOROOT")
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(strings.TrimSpace(string(goroot)), "LICENSE")); err != nil {
		t.Skip("this Go was packed without its license")
	}
	var out bytes.Buffer
	require.NoError(t, run(&out, "../..", []string{"linux/amd64", "darwin/arm64", "windows/amd64"}))
	text := out.String()

	require.Regexp(t, `(?m)^Go go\S+ LICENSE$`, text)
	require.Regexp(t, `(?m)^github.com/spf13/cobra v\S+ LICENSE.txt$`, text)
	require.Regexp(t, `(?m)^github.com/inconshreveable/mousetrap v\S+ LICENSE$`, text, "linked for Windows only")
	require.Regexp(t, `(?m)^github.com/klauspost/compress v\S+ zstd/internal/xxhash/LICENSE.txt$`, text, "taken from elsewhere")
	require.Regexp(t, `(?m)^gopkg.in/yaml.v3 v\S+ NOTICE$`, text)
	require.NotContains(t, text, "\ngithub.com/heedlog/heed LICENSE\n", "heed's own")
	require.NotContains(t, text, "stretchr/testify", "only tests use it")

	// Nothing is there twice, and the same tree gives the same text.
	heads := regexp.MustCompile(`(?m)^={80}\n([^=]*)\n={80}$`).FindAllString(text, -1)
	seen := map[string]bool{}
	for _, head := range heads {
		require.False(t, seen[head], head)
		seen[head] = true
	}
	var again bytes.Buffer
	require.NoError(t, run(&again, "../..", []string{"windows/amd64", "linux/amd64", "darwin/arm64"}))
	require.Equal(t, text, again.String())
}

func TestCollect(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"mod/LICENSE":              "one\r\ntwo\r\n",
		"mod/notice.go":            "package mod",
		"mod/sub/COPYING.txt":      "other",
		"mod/sub/deep/x.go":        "package deep",
		"mod/beside/LICENSE":       "not asked for",
		"twin/LICENCE.md":          "one\ntwo",
		"bare/x.go":                "package bare",
		"heed/LICENSE":             "our own",
		"heed/page/x.go":           "package page",
		"heed/page/lib/LICENSE":    "of the library",
		"heed/page/lib/library.js": "",
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	at := func(elem ...string) string { return filepath.Join(append([]string{dir}, elem...)...) }
	mod := &module{Path: "example.org/mod", Version: "v1.0.0", Dir: at("mod")}
	heed := &module{Path: "example.org/heed", Dir: at("heed"), Main: true}

	found := licenses{}
	require.NoError(t, found.collect(listed{Dir: at("mod", "sub", "deep"), Module: mod}))
	require.NoError(t, found.collect(listed{Dir: at("mod"), Module: mod}))
	require.NoError(t, found.collect(listed{Dir: at("twin"), Module: &module{
		Path: "example.org/twin", Version: "v2.0.0",
		Dir: at("twin"),
	}}))
	require.NoError(t, found.collect(listed{Dir: at("heed"), Module: heed}))
	require.NoError(t, found.collect(listed{
		Dir: at("heed", "page"), EmbedFiles: []string{"lib/library.js"},
		Module: heed,
	}))
	var out bytes.Buffer
	require.NoError(t, found.write(&out))
	const rule = "================================================================================\n"
	require.Equal(t, "Code of others in these programs, with its licenses.\n"+
		"\n"+rule+"example.org/heed page/lib/LICENSE\n"+rule+"\nof the library\n"+
		"\n"+rule+"example.org/mod v1.0.0 LICENSE\nexample.org/twin v2.0.0 LICENCE.md\n"+rule+"\none\ntwo\n"+
		"\n"+rule+"example.org/mod v1.0.0 sub/COPYING.txt\n"+rule+"\nother\n", out.String())

	require.ErrorContains(t, found.collect(listed{Dir: at("mod")}), "in no module")
	require.NoError(t, found.collect(listed{Dir: at("bare"), Module: &module{
		Path: "example.org/bare", Version: "v3.0.0",
		Dir: at("bare"),
	}}))
	require.ErrorContains(t, found.write(&out), "example.org/bare v3.0.0: no license in "+at("bare"))
}

func TestUsage(t *testing.T) {
	require.ErrorContains(t, run(nil, "", nil), "name the platforms")
	require.ErrorContains(t, run(nil, "", []string{"linux"}), `platform "linux": want GOOS/GOARCH`)
}
