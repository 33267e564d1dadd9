package layout

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/heedlog/heed/internal/testkit"
)

// action is action.yml.
type action struct {
	Name, Description, Author string
	Branding                  map[string]string
	Inputs                    map[string]struct {
		Description, Default string
		Required             bool
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []struct {
			Name, ID, If, Shell, Run string
			Env                      map[string]string
		}
	}
}

// runner runs the steps of action.yml as GitHub's runner does, with a stand-in for the program gh.
type runner struct {
	action
	dir      string            // the workspace
	values   map[string]string // of expressions, but for inputs and outputs
	event    string
	releases string // folder of a release's files
}

// newRunner returns a runner whose newest release is a build of classify-replay.
func newRunner(t *testing.T) *runner {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for gh is a script")
	}
	r := &runner{dir: t.TempDir(), releases: t.TempDir(), event: "pull_request"}
	text := testkit.Must(os.ReadFile(filepath.Join(root, "action.yml")))
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&r.action))
	require.Equal(t, "composite", r.Runs.Using)

	text = testkit.Must(os.ReadFile(testkit.Program(t, "classify-replay")))
	name := "classify-replay_1.4.0_" + runtime.GOOS + "_" + runtime.GOARCH
	archive := testkit.Must(os.Create(filepath.Join(r.releases, name+".tar.gz")))
	zipped := gzip.NewWriter(archive)
	packed := tar.NewWriter(zipped)
	header := tar.Header{Name: name + "/classify-replay", Mode: 0o755, Size: int64(len(text))}
	require.NoError(t, packed.WriteHeader(&header))
	_, err := packed.Write(text)
	require.NoError(t, errors.Join(err, packed.Close(), zipped.Close(), archive.Close()))
	text = testkit.Must(os.ReadFile(archive.Name()))
	r.write(t, filepath.Join(r.releases, "SHA256SUMS"), fmt.Sprintf("%x  other.zip\n%x  %s.tar.gz\n",
		sha256.Sum256(nil), sha256.Sum256(text), name))

	log := testkit.Must(os.ReadFile(filepath.Join(root, "testdata", "captures", "upload-1.4.txt")))
	r.write(t, filepath.Join(r.dir, "Player.log"), string(log))
	r.write(t, filepath.Join(r.dir, "bin", "gh"), `#!/usr/bin/env bash
set -eu
printf '%s\n' "$*" >>"$GH_CALLS"
case "$1 $2" in
'release list') printf 'v1.4.0\n' ;;
'release download')
	while [ "$1" != --dir ]; do shift; done
	cp "$GH_RELEASE"/* "$2" ;;
'api --paginate') cat "$GH_COMMENTS" ;;
'api --method')
	[ -z "${GH_REFUSES:-}" ] || { echo 'Resource not accessible by integration' >&2; exit 1; }
	while [ "$1" != -F ]; do shift; done
	cat "${2#body=@}" >"$GH_BODY" ;;
esac
`)
	require.NoError(t, os.Chmod(filepath.Join(r.dir, "bin", "gh"), 0o700))
	r.write(t, filepath.Join(r.dir, "comments"), "")
	r.values = map[string]string{
		"github.token": "secret", "github.action_ref": "v1", "github.repository": "a/b", "github.event.number": "7",
		"runner.os":   map[string]string{"linux": "Linux", "darwin": "macOS"}[runtime.GOOS],
		"runner.arch": map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH],
	}
	return r
}

func (r *runner) write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
}

func (r *runner) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(t, err)
	}
	return string(text)
}

var expression = regexp.MustCompile(`\$\{\{ (.*?) \}\}`)

// run runs the steps with inputs, and returns what they print and the error of the first that fails.
func (r *runner) run(t *testing.T, inputs map[string]string, env ...string) (said string, failed error) {
	t.Helper()
	values := maps.Clone(r.values)
	for name, input := range r.Inputs {
		values["inputs."+name] = input.Default
	}
	for name, value := range inputs {
		require.Contains(t, r.Inputs, name)
		values["inputs."+name] = value
	}
	resolve := func(text string) string {
		return expression.ReplaceAllStringFunc(text, func(found string) string {
			value, known := values[expression.FindStringSubmatch(found)[1]]
			require.True(t, known, "no value for %s", found)
			return value
		})
	}
	for name, value := range values {
		values[name] = resolve(value)
	}
	temp := t.TempDir()
	for _, name := range []string{"summary", "calls", "body"} {
		r.write(t, filepath.Join(r.dir, name), "")
	}
	for _, step := range r.Runs.Steps {
		require.NotContains(t, step.Run, "${{", "%s: text of a log or a branch in a script is a program", step.Name)
		if step.If != "" {
			want := "inputs.comment == 'true' && github.event_name == 'pull_request'"
			require.Equal(t, want, step.If, "a condition that this test cannot read")
			if values["inputs.comment"] != "true" || r.event != "pull_request" {
				continue
			}
		}
		require.Equal(t, "bash", step.Shell, step.Name)
		output := filepath.Join(temp, "output")
		r.write(t, output, "")
		cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		cmd.Dir = r.dir
		cmd.Env = append([]string{
			"PATH=" + filepath.Join(r.dir, "bin") + string(filepath.ListSeparator) + os.Getenv("PATH"), "HOME=" + temp,
			"RUNNER_TEMP=" + temp, "GITHUB_OUTPUT=" + output, "GITHUB_STEP_SUMMARY=" + filepath.Join(r.dir, "summary"),
			"GH_CALLS=" + filepath.Join(r.dir, "calls"), "GH_RELEASE=" + r.releases, "GH_BODY=" + filepath.Join(r.dir, "body"),
			"GH_COMMENTS=" + filepath.Join(r.dir, "comments"),
		}, env...)
		for name, value := range step.Env {
			cmd.Env = append(cmd.Env, name+"="+resolve(value))
		}
		text, err := cmd.CombinedOutput()
		said += string(text)
		if err != nil {
			return said, fmt.Errorf("%s: %w", step.Name, err)
		}
		written := testkit.Must(os.ReadFile(output))
		for line := range strings.Lines(string(written)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			values["steps."+step.ID+".outputs."+name] = value
		}
	}
	for _, output := range r.Outputs {
		resolve(output.Value)
	}
	return said, nil
}

// TestAction runs the steps of action.yml in bash, with a release of this tree and a stand-in for gh.
func TestAction(t *testing.T) {
	testkit.Full(t, "a program is built, and started twenty times")
	r := newRunner(t)
	require.Contains(t, r.Inputs, "log")
	require.True(t, r.Inputs["log"].Required)

	// Without a baseline: a log that blocks fails.
	said, err := r.run(t, map[string]string{"log": "Player.log"})
	require.ErrorContains(t, err, "exit status 1", said)
	require.Contains(t, r.read(t, "summary"), "# ")
	require.Contains(t, r.read(t, "calls"), "release download v1.4.0 --repo heedlog/heed")
	require.NotContains(t, r.read(t, "calls"), "api")

	// With its own baseline it passes.
	program := filepath.Join(r.dir, "classify-replay")
	unpack := exec.Command("bash", "-c", `tar -xzf "$0"/*.tar.gz -C "$1" --strip-components=1`, r.releases, r.dir)
	require.NoError(t, unpack.Run())
	write := exec.Command(program, "baseline", "write", "Player.log")
	write.Dir = r.dir
	text, err := write.CombinedOutput()
	require.NoError(t, err, "%s", text)
	for _, name := range []string{"one", "two"} {
		r.write(t, filepath.Join(r.dir, name+".yaml"), "version: 1\n")
	}
	inputs := map[string]string{
		"log": "Player.log", "baseline": "heed-baseline.yaml", "sarif": "out/heed.sarif", "comment": "true",
		"fail-on": "new, blind", "rules": "one.yaml\ntwo.yaml\n", "version": "v1.4.0",
	}
	said, err = r.run(t, inputs)
	require.NoError(t, err, said)
	require.NotContains(t, r.read(t, "calls"), "release list")
	require.Contains(t, r.read(t, "calls"), "api --method POST repos/a/b/issues/7/comments ")
	require.True(t, strings.HasPrefix(r.read(t, "body"), "<!-- heed -->\n"), r.read(t, "body"))
	require.Contains(t, r.read(t, "body"), r.read(t, "summary"))
	var sarif struct {
		Runs []struct{ Results []any }
	}
	require.NoError(t, json.Unmarshal([]byte(r.read(t, "out/heed.sarif")), &sarif))
	require.Len(t, sarif.Runs, 1)
	require.Empty(t, sarif.Runs[0].Results)

	// One line more is new. The comment there is changes, and SARIF has the finding.
	r.write(t, filepath.Join(r.dir, "Player.log"), r.read(t, "Player.log")+
		"\nNullReferenceException: Object reference not set to an instance of an object\n"+
		"  at Quarry.Digger.Tick () [0x00000] in <0>:0 \n  at Verse.TickList.Tick () [0x00000] in <0>:0 \n")
	r.write(t, filepath.Join(r.dir, "comments"), "4711\n4712\n")
	said, err = r.run(t, inputs)
	require.ErrorContains(t, err, "exit status 1", said)
	require.Contains(t, r.read(t, "calls"), "api --method PATCH repos/a/b/issues/comments/4711 ")
	require.NoError(t, json.Unmarshal([]byte(r.read(t, "out/heed.sarif")), &sarif))
	require.NotEmpty(t, sarif.Runs[0].Results)

	// The fault of another mod passes, and a log without its last line fails.
	inputs["fail-on-mod"] = "Doors\nWalls\n"
	said, err = r.run(t, inputs)
	require.NoError(t, err, said)
	inputs["last-line"] = "tests finished"
	said, err = r.run(t, inputs)
	require.ErrorContains(t, err, "exit status 1", said)
	delete(inputs, "last-line")
	delete(inputs, "fail-on-mod")

	// A token that may not write costs the comment alone, and a push has none.
	said, err = r.run(t, inputs, "GH_REFUSES=1")
	require.ErrorContains(t, err, "exit status 1")
	require.Contains(t, said, "::warning::")
	r.event = "push"
	_, err = r.run(t, inputs)
	require.ErrorContains(t, err, "exit status 1")
	require.NotContains(t, r.read(t, "calls"), "api")

	// A missing log is an error of its own, and names of files are no options or commands.
	inputs["log"] = "none.log"
	said, err = r.run(t, inputs)
	require.ErrorContains(t, err, "exit status ")
	require.Contains(t, said, "none.log")
	require.Contains(t, r.read(t, "summary"), "no report")
	require.Contains(t, r.read(t, "summary"), "none.log")
	require.NoError(t, os.Rename(filepath.Join(r.dir, "Player.log"), filepath.Join(r.dir, "--$(touch owned) 1.log")))
	inputs["log"], inputs["fail-on"] = "--$(touch owned) 1.log", "never"
	said, err = r.run(t, inputs)
	require.NoError(t, err, said)
	require.NoFileExists(t, filepath.Join(r.dir, "owned"))

	// Another archive than the one in SHA256SUMS is not run.
	r.write(t, filepath.Join(r.releases, "SHA256SUMS"), fmt.Sprintf("%x  classify-replay_1.4.0_%s_%s.tar.gz\n",
		sha256.Sum256(nil), runtime.GOOS, runtime.GOARCH))
	_, err = r.run(t, inputs)
	require.ErrorContains(t, err, "exit status ")
}

// TestPreCommit runs each hook of .pre-commit-hooks.yaml on files that its pattern matches.
func TestPreCommit(t *testing.T) {
	testkit.Full(t, "programs are built, and started")
	text := testkit.Must(os.ReadFile(filepath.Join(root, ".pre-commit-hooks.yaml")))
	var hooks []struct {
		ID, Name, Description, Entry, Language, Files string
		Args                                          []string
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&hooks))
	require.NotEmpty(t, hooks)
	for _, hook := range hooks {
		require.Equal(t, "golang", hook.Language, hook.ID)
		matching := 0
		for _, name := range tracked(t, ".yaml") {
			if regexp.MustCompile(hook.Files).MatchString(name) {
				matching++
			}
		}
		require.NotZero(t, matching, "files of %s", hook.ID)
		arguments := append(strings.Fields(hook.Entry), hook.Args...)
		program := arguments[0]
		run := func(files ...string) error {
			cmd := exec.Command("go", append(append([]string{"run", "./cmd/" + program}, arguments[1:]...), files...)...)
			cmd.Dir = root
			text, err := cmd.CombinedOutput()
			t.Logf("%s", text)
			return err
		}
		require.NoError(t, run("rules/default/01-unity.yaml"), hook.ID)
		broken := filepath.Join(t.TempDir(), "broken.yaml")
		require.NoError(t, os.WriteFile(broken, []byte("rules:\n  - name: x\n    when: 1 +\n"), 0o600))
		require.Error(t, run(broken), hook.ID)
	}
}

// TestDependabot holds .github/dependabot.yml to the modules and the container image of the tree.
func TestDependabot(t *testing.T) {
	text := testkit.Must(os.ReadFile(filepath.Join(root, ".github", "dependabot.yml")))
	var config struct {
		Updates []struct {
			Ecosystem   string `yaml:"package-ecosystem"`
			Directories []string
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &config))
	got := map[string][]string{}
	for _, update := range config.Updates {
		got[update.Ecosystem] = append(got[update.Ecosystem], update.Directories...)
	}
	want := map[string][]string{"github-actions": {"/"}}
	for ecosystem, name := range map[string]string{"gomod": "go.mod", "docker": "Dockerfile"} {
		for _, file := range tracked(t, name) {
			if filepath.Base(file) == name && !strings.Contains(file, "testdata/") {
				want[ecosystem] = append(want[ecosystem], strings.TrimSuffix("/"+filepath.ToSlash(filepath.Dir(file)), "/."))
			}
		}
	}
	for i, dir := range want["gomod"] {
		if dir == "" {
			want["gomod"][i] = "/"
		}
	}
	for ecosystem, dirs := range want {
		require.ElementsMatch(t, dirs, got[ecosystem], ecosystem)
	}
}
