package intake

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/fleet/population"
	"github.com/heedlog/heed/internal/testkit"
)

// readFolder reads a folder on one goroutine.
func readFolder(t *testing.T, c Config, dir string) (logs []*population.Log, failures []population.Failure) {
	t.Helper()
	var names []string
	require.NoError(t, Match(dir, nil, func(name string) { names = append(names, name) }))
	slices.Reverse(names)
	return readFiles(t, c, names...)
}

func readFiles(t *testing.T, c Config, names ...string) (logs []*population.Log, failures []population.Failure) {
	t.Helper()
	read := &Reader{Player: c.Player, Salt: c.Salt, Split: c.Split, set: compiled()}
	require.NoError(t, read.Setup())
	for _, name := range names {
		read.Read(name, Source{}, func(name string) (io.ReadCloser, error) { return os.Open(name) },
			func(l *population.Log) { logs = append(logs, l) },
			func(f *population.Failure) { failures = append(failures, *f) })
	}
	return logs, failures
}

// TestRoot holds that a root is the folder in which all that patterns name is, and that a player is a folder in it.
func TestRoot(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"october", "november/a", "november/b"} {
		require.NoError(t, os.MkdirAll(name, 0o700))
	}
	require.NoError(t, os.WriteFile("all.zip", nil, 0o600))
	for want, patterns := range map[string][]string{
		"november/": {"november"}, "november/a/": {"november/a/*.log"}, "": {"*/a/*.log"}, "all.zip/": {"all.zip"},
		"gs://logs/": {"gs://logs/a/x.log", "gs://logs/b*"},
	} {
		require.Equal(t, want, Root(patterns))
	}
	require.Equal(t, "november/", Root([]string{"november/a", "november/b"}))
	require.Equal(t, "november/", Root([]string{"november/a/x.log", "november/b/z.log"}))
	require.Empty(t, Root([]string{"october", "november"}))
	require.Empty(t, Root([]string{"."}))
	require.NoError(t, os.WriteFile("october/all.zip", nil, 0o600))
	require.Equal(t, "october/all.zip/", Root([]string{"october"}), "alone, it is the folder")
	require.NoError(t, os.WriteFile("october/more.zip", nil, 0o600))
	require.Equal(t, "october/", Root([]string{"october"}))
	require.Equal(t, "/", Root([]string{"/x", "/y/*"}))
	read := &Reader{}
	require.Equal(t, "player7", read.playerIn("all.zip/player7/Player.log", len("all.zip/")))
	require.Equal(t, "all.zip", read.playerIn("logs/all.zip/player7/Player.log", len("logs/")))
}

func match(pattern string) error { return Match(pattern, nil, func(string) {}) }

// TestNoPlayer holds that all logs in whose paths no player is found are of one, and that each is named and counts.
func TestNoPlayer(t *testing.T) {
	dir := t.TempDir()
	for i := range 5 {
		require.NoError(t, os.WriteFile(fmt.Sprintf("%s/%d.log", dir, i), fmt.Appendf(nil, "log %d\n", i), 0o600))
	}
	for expression, want := range map[string]int{`/(player\d+)/`: 1, `/(x?)\d\.log`: 1, `/(\d)\.log`: 5} {
		c := Config{Salt: []byte("salt"), Player: expression}
		logs, failures := readFolder(t, c, dir)
		report := population.Sum(logs, failures, 1)
		require.Equal(t, []uint64{5, uint64(want)}, []uint64{report.Logs, report.Players}, expression)
		if want == 5 {
			require.Empty(t, report.Failures)
			continue
		}
		require.Len(t, report.Failures, 5)
		require.Equal(t, "no player in its path by --player", report.Failures[0].Error)
	}
}

// TestFolders holds that a link to a folder is the folder, and that what cannot be read is a failure by name.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(dir+"/logs", 0o700))
	require.NoError(t, os.WriteFile(dir+"/logs/a.log", []byte("a log\n"), 0o600))
	require.ErrorContains(t, match(dir+"/*.log"), "no file matches")
	require.NoError(t, match(dir))
	if err := os.Symlink(dir+"/logs", dir+"/link"); err != nil {
		t.Skip(err)
	}
	require.NoError(t, os.Symlink(dir+"/none.log", dir+"/logs/broken.log"))
	require.NoError(t, os.WriteFile(dir+"/linked", []byte("another log\n"), 0o600))
	require.NoError(t, os.Symlink(dir+"/linked", dir+"/logs/b.log"))
	logs, failures := readFolder(t, Config{Salt: []byte("salt")}, dir+"/link")
	require.Len(t, logs, 2)
	require.Len(t, failures, 1)
	require.Contains(t, failures[0].Path, "broken.log")
	require.NoError(t, os.Remove(dir+"/logs/broken.log"))
	require.NoError(t, os.Remove(dir+"/logs/b.log"))

	require.NoError(t, os.MkdirAll(dir+"/in/[1]/logs", 0o700))
	require.NoError(t, os.WriteFile(dir+"/in/[1]/logs/a.log", []byte("a log\n"), 0o600))
	require.NoError(t, os.Mkdir(dir+"/in/empty", 0o700))
	require.NoError(t, match(dir+"/in/[1]"))
	require.Equal(t, dir+"/in/[1]/", Root([]string{dir + "/in/[1]"}))
	require.ErrorContains(t, match(dir+"/**/a.log"), "at any depth")
	logs, failures = readFolder(t, Config{Salt: []byte("salt")}, dir+"/in/*")
	require.Len(t, logs, 1)
	empty := population.Failure{Path: dir + "/in/empty", Error: "no log in it, of 0 files and folders"}
	require.Equal(t, []population.Failure{empty}, failures)
	logs, failures = readFolder(t, Config{Salt: []byte("salt")}, dir+"/link")
	require.Len(t, logs, 1)
	require.Empty(t, failures)

	require.True(t, isInput(dir+"/logs", nil, os.ErrPermission))
	_, failures = readFiles(t, Config{Salt: []byte("salt")}, dir+"/logs", os.DevNull)
	require.Len(t, failures, 2)
	require.Equal(t, dir+"/logs", failures[0].Path)
	require.Contains(t, failures[0].Error, "no log in it, of 1 file or folder")
	require.Equal(t, population.Failure{Path: os.DevNull, Error: "is not a regular file"}, failures[1])
}

func TestValidate(t *testing.T) {
	t.Chdir(t.TempDir())
	good := Config{Patterns: [3][]string{{"x"}}, Salt: []byte("x"), K: 5, JSON: "x"}
	require.NoError(t, good.Validate())
	require.ErrorContains(t, good.Here(), "no file matches")
	require.NoError(t, (&Config{JSON: "x"}).Here())
	require.NoFileExists(t, "x")
	require.NoError(t, os.WriteFile("x", []byte("x"), 0o600))
	require.ErrorContains(t, (&Config{JSON: "new/x", HTML: "x"}).Here(), "new/x")
	require.NoDirExists(t, "new")
	require.NoError(t, os.WriteFile("a.log", []byte("a log\n"), 0o600))
	require.NoError(t, os.Link("a.log", "linked"))
	over := &Config{Patterns: [3][]string{{"."}}, JSON: "x", HTML: "linked"}
	require.EqualError(t, over.Here(), "--html linked is one of the logs, and would overwrite it")
	require.FileExists(t, "x")
	require.ErrorContains(t, (&Config{JSON: "x/x"}).Here(), "x")
	require.ErrorContains(t, (&Config{HTML: "."}).Here(), ".")
	for want, change := range map[string]func(c *Config){
		"no logs named": func(c *Config) { c.Patterns[0] = nil },
		"go together":   func(c *Config) { c.Patterns[population.After] = []string{"y"} },
		"same logs: ./y": func(c *Config) {
			c.Patterns[population.Before], c.Patterns[population.After] = []string{"z", "y"}, []string{"./y"}
		},
		"--split-version x": func(c *Config) { c.Split = "x" },
		"--k 0":             func(c *Config) { c.K = 0 },
		"same file":         func(c *Config) { c.HTML = "./x" },
		"no salt":           func(c *Config) { c.Salt = nil },
		"no report":         func(c *Config) { c.JSON = "" },
		"has 2 groups":      func(c *Config) { c.Player = "(a)(b)" },
		"missing closing )": func(c *Config) { c.Player = "(" },
	} {
		c := good
		change(&c)
		require.ErrorContains(t, c.Validate(), want)
	}
}

func TestOutcome(t *testing.T) {
	c := &Config{JSON: "a.json", HTML: "a.html", Patterns: [3][]string{{"logs/*/x.log"}}}
	r := &population.Report{Logs: 3, Players: 2, Failures: []population.Failure{{}}, MoreFailures: 1}
	require.Equal(t, "3 logs of 2 players read, 2 failures; the report is in a.json, a.html; a player is a folder in logs/",
		c.Outcome(r))
	r.Players, c.HTML = 1, ""
	require.Contains(t, c.Outcome(&population.Report{Logs: 1, Players: 1, MoreFailures: 1}),
		"1 log of 1 player read, 1 failure; ")
	require.Contains(t, c.Outcome(r), "in a.json; a player is a folder in logs/, so that all logs are of one: ")
	c.Player = "x"
	require.Regexp(t, "players are by --player$", c.Outcome(r))
	r.Failures = append(r.Failures, population.Failure{Path: "a.log", Error: errNoPlayer.Error()})
	require.Contains(t, c.Outcome(r), "players are by --player, which has no match in a.log")

	c.Split = "Rimworld 1.6"
	require.Contains(t, c.Outcome(r), "; --split-version Rimworld 1.6 compares nothing, with 0 players before and 0 after: "+
		"the logs are of no known version")
	r.Seen = []population.Counted{{Name: "RimWorld 1.5", Count: 10}, {Name: "Press 2", Count: 1}}
	r.Compared = &population.Comparison{BeforePlayers: 10}
	require.Contains(t, c.Outcome(r), "10 players before and 0 after: the logs are of RimWorld 1.5 (10 players), "+
		"Press 2 (1 player)")
	r.Compared.AfterPlayers = 1
	require.NotContains(t, c.Outcome(r), "compares nothing")
}

func TestProgress(t *testing.T) {
	require.Equal(t, "1 log with 0 MB read so far", progress(1, 5))
	require.Equal(t, "3 logs with 12 MB read so far", progress(3, 12_345_678))
}

// TestReportConcurrent holds that goroutines which read logs at the same time make the same report each time.
func TestReportConcurrent(t *testing.T) {
	dir := t.TempDir()
	for i := range 4 {
		folder := filepath.Join(dir, strconv.Itoa(i))
		require.NoError(t, os.Mkdir(folder, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "Player.log"), someLog(t), 0o600))
	}
	c := &Config{Patterns: [3][]string{{dir}}, Salt: []byte("x"), K: 1, set: compiled()}
	first := testkit.Must(c.Report(t.Context()))
	again := testkit.Must(c.Report(t.Context()))
	require.Equal(t, first, again)
}

// TestArchivesOfPlayers holds that each of several archives in a folder is read by its own folders if all its logs are
// in some, and is of one player otherwise.
func TestArchivesOfPlayers(t *testing.T) {
	for name, test := range map[string]struct {
		files   []string
		players int
	}{
		"folders":           {[]string{"anna/Player.log", "boris/a.log", "boris/2/b.log"}, 2},
		"in another folder": {[]string{"october/anna/Player.log", "october/boris/Player.log"}, 2},
		"one folder":        {[]string{"logs/Player.log", "logs/Player-prev.log"}, 1},
		"a log alone":       {[]string{"Player.log", "Crash_1/Player.log"}, 1},
	} {
		dir := t.TempDir()
		for _, folder := range []string{"/logs", "/logs/carla"} {
			require.NoError(t, os.Mkdir(dir+folder, 0o700))
		}
		require.NoError(t, os.WriteFile(dir+"/logs/dora.zip", zipped(t, "Player.log"), 0o600))
		require.NoError(t, os.WriteFile(dir+"/logs/carla/more.zip", zipped(t, "a/1.log", "b/1.log"), 0o600))
		for _, packed := range []struct {
			name string
			data []byte
		}{{"more.zip", zipped(t, test.files...)}, {"more.tar.gz", gzipped(t, tarred(t, test.files...))}} {
			file := dir + "/logs/" + packed.name
			require.NoError(t, os.WriteFile(file, packed.data, 0o600))
			c := Config{Salt: []byte("salt"), K: 1, set: compiled()}
			c.Patterns[population.Neither] = []string{dir + "/logs"}
			report := testkit.Must(c.Report(t.Context()))
			require.EqualValues(t, 2+test.players, report.Players, name)
			require.NoError(t, os.Remove(file))
		}
	}
}
