package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// write makes a file, and the folders above it.
func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// TestEffects holds each key to an effect, and so to the places where it is used: in a project's file, unless it is the
// user's alone, and in every other place. A path, and an answer for the user, are the user's alone.
func TestEffects(t *testing.T) {
	sample := map[Kind]string{
		Bool: "true", Number: "3", Duration: "3s", Text: "text", Texts: "text", Path: "here", Paths: "here",
	}
	var inProject []string
	for _, key := range Keys() {
		t.Run(key.Name, func(t *testing.T) {
			require.NotEmpty(t, key.Effect)
			require.True(t, key.userOnly() || key.Kind != Path && key.Kind != Paths && key.Kind != Text && key.Kind != Texts)
			value := sample[key.Kind]
			if value == "" {
				value = key.Values[0]
			}
			top := t.TempDir()
			project, user := filepath.Join(top, "p", ProjectFile), filepath.Join(top, "heed", "config.yaml")
			write(t, project, fmt.Sprintf("# mine\n%s: %s\n", key.Name, value))
			origin := func(src Sources) (Origin, []Error) {
				if src.Getenv == nil {
					src.Getenv = none
				}
				s := testkit.Must(Load(src))
				var ignored []Error
				for _, f := range s.Files {
					ignored = append(ignored, f.Ignored...)
				}
				return s.Value(key.Name).Origin, ignored
			}
			got, ignored := origin(Sources{Dir: filepath.Dir(project)})
			if !key.userOnly() {
				inProject = append(inProject, key.Name)
				require.Equal(t, Project, got)
				require.Empty(t, ignored)
			} else {
				require.Equal(t, Default, got)
				require.Len(t, ignored, 1)
				require.EqualError(t, ignored[0], fmt.Sprintf("%s:2:%d: %s is ignored in a project's file (it %s): use "+
					"--%[3]s, or name the file with --config if you trust it", project, len(key.Name)+3, key.Name, key.Effect))
			}

			got, ignored = origin(Sources{File: project})
			require.Equal(t, Named, got)
			require.Empty(t, ignored)

			got, _ = origin(Sources{Dir: filepath.Dir(project), Getenv: func(name string) string {
				return map[string]string{key.Variable(): value}[name]
			}})
			require.Equal(t, Environment, got)

			write(t, user, fmt.Sprintf("%s: %s\n", key.Name, value))
			got, _ = origin(Sources{UserDir: top})
			require.Equal(t, User, got)
		})
	}
	require.Equal(t, []string{
		"color", "journal", "linger", "max-message", "mod-wait", "settle", "top", "verbose", "width",
	}, inProject, "the keys whose Effect lets them count in a project's file")
}

// TestNamed: a file that is named is read in place of the project's, and must be there and right.
func TestNamed(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, ProjectFile), "top: many\nwidth: 200\n")
	write(t, filepath.Join(dir, "heed", "config.yaml"), "top: 1\nverbose: true\n")
	named := filepath.Join(dir, "ci", "named.yaml")
	write(t, named, "top: 3\nrules: mine.yaml\n")
	write(t, filepath.Join(dir, "bad.yaml"), "\n\nobserve-only: perhaps\n")
	for file, wrong := range map[string]string{
		named:                                  "",
		filepath.Join("~", "ci", "named.yaml"): "",
		filepath.Join(dir, "none.yaml"):        "none.yaml: cannot be read: ",
		dir:                                    ": cannot be read: is not a regular file",
		filepath.Join(dir, "bad.yaml"):         `bad.yaml:3:15: observe-only is "perhaps"`,
		filepath.Join(dir, ProjectFile):        `.heed.yaml:1:6: top is "many"`,
	} {
		s, err := Load(Sources{Dir: dir, UserDir: dir, Home: dir, File: file, Getenv: none})
		if wrong != "" {
			require.ErrorContains(t, err, wrong)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, "3", s.Value("top").String())
		require.Equal(t, Named, s.Value("top").Origin)
		require.Equal(t, []string{filepath.Join(dir, "ci", "mine.yaml")}, s.Value("rules").Items)
		require.Equal(t, Default, s.Value("width").Origin, "the project's file is not read")
		require.Equal(t, User, s.Value("verbose").Origin)
		require.Equal(t, settingsFile{Origin: Named, Path: named, Found: true}, s.Files[1])
	}
	_, err := Load(Sources{Getenv: none, File: filepath.Join("~", "x")})
	require.ErrorContains(t, err, "--config or HEED_CONFIG: config is ")
	require.ErrorContains(t, err, "but the home folder is not known")
}

// TestSearch is the table of the folders in which the project's file is looked for.
func TestSearch(t *testing.T) {
	for name, c := range map[string]struct {
		file, home, folder, text string // below the top; a folder with ".git"
		found                    bool
	}{
		"in the folder itself":             {file: "a/b/c", found: true},
		"in the nearest above":             {file: "a/b", found: true},
		"far above":                        {file: ".", found: true},
		"at home":                          {file: "a", home: "a", found: true},
		"above home":                       {file: ".", home: "a"},
		"home is the folder itself":        {file: "a/b", home: "a/b/c"},
		"home is elsewhere":                {file: ".", home: "other", found: true},
		"home is not there":                {file: ".", home: "nowhere", found: true},
		"at a repository's root":           {file: "a/b", folder: "a/b/.git", found: true},
		"above a repository's root":        {file: "a", folder: "a/b/.git"},
		"above a work tree":                {file: "a", text: "a/b/.git"},
		"the folder itself is one":         {file: "a/b", folder: "a/b/c/.git"},
		"a repository above the file":      {file: "a/b", folder: "a/.git", found: true},
		"a repository in another folder":   {file: "a", folder: "other/.git", found: true},
		"a repository's root above home":   {file: "a", home: "a", folder: ".git", found: true},
		"both a repository and the folder": {file: "a/b/c", folder: "a/b/c/.git", found: true},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			dir := filepath.Join(top, "a", "b", "c")
			require.NoError(t, os.MkdirAll(dir, 0o700))
			require.NoError(t, os.MkdirAll(filepath.Join(top, "other"), 0o700))
			require.NoError(t, os.MkdirAll(filepath.Join(top, c.folder), 0o700))
			if c.text != "" {
				write(t, filepath.Join(top, c.text), "gitdir: elsewhere\n")
			}
			file := filepath.Join(top, c.file, ProjectFile)
			write(t, file, "top: 3\n")
			src := Sources{Dir: dir, Getenv: none}
			if c.home != "" {
				src.Home = filepath.Join(top, c.home)
			}
			s := testkit.Must(Load(src))
			want := settingsFile{Origin: Project, Path: file, Found: true}
			if !c.found {
				want = settingsFile{Origin: Project, Path: filepath.Join(dir, ProjectFile)}
			}
			require.Equal(t, []settingsFile{want}, s.Files)
		})
	}
}
