package pipeline

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/fleet/beam/prism"
	"github.com/heedlog/heed/fleet/intake"
	"github.com/heedlog/heed/fleet/population"
)

func TestMain(m *testing.M) {
	log.LogLevel = "warn"
	flag.Parse()
	EndWithBoot()
	beam.Init()
	os.Exit(tests(m))
}

func tests(m *testing.M) int {
	dir := must(os.MkdirTemp("", "heed-"))
	defer func() { _ = os.RemoveAll(dir) }()
	_ = os.Setenv("TMPDIR", dir) // Beam leaves files behind
	must(prism.Start(context.Background()))
	return m.Run()
}

// must is testkit.Must, whose package has a flag that Beam has, too.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

const captures = "../../../testdata/captures"

// folder fills a folder with logs of several players, in all forms, and with files that are no logs.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, data []byte) {
		name = filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, data, 0o644))
	}
	names := must(filepath.Glob(captures + "/*.*"))
	var zipped, tarred, packed bytes.Buffer
	z, tw := zip.NewWriter(&zipped), tar.NewWriter(&tarred)
	for i := range 50 {
		data := must(os.ReadFile(names[i%len(names)]))
		data = append(data, fmt.Sprintf("\nNullReferenceException: secretword%d at Acme.Press.Tick ()\n", i/2)...)
		name := fmt.Sprintf("player%d/%d.log", i%11, i)
		switch i % 6 {
		case 0:
			packed.Reset()
			w := gzip.NewWriter(&packed)
			_, _ = w.Write(data)
			require.NoError(t, w.Close())
			write(name+".gz", packed.Bytes())
		case 1:
			w := must(zstd.NewWriter(nil))
			write(name+".zst", w.EncodeAll(data, nil))
		case 2:
			w := must(z.Create(name))
			_, _ = w.Write(data)
		case 3:
			header := &tar.Header{Name: name, Mode: 0o600, Size: int64(len(data)), Typeflag: tar.TypeReg}
			require.NoError(t, tw.WriteHeader(header))
			_, _ = tw.Write(data)
		default:
			write(name, data)
		}
		if i%6 > 3 && !strings.Contains(names[i%len(names)], "crash") { // which has no longer copy
			write(fmt.Sprintf("player%d/earlier/%d.log", i%11, i), data[:len(data)*2/3])
		}
		if i == 12 {
			write("player1/cut.log.gz", packed.Bytes()[:packed.Len()/2])
			write("player1/copy.log.gz", packed.Bytes())
		}
	}
	require.NoError(t, z.Close())
	require.NoError(t, tw.Close())
	write("all.zip", zipped.Bytes())
	write("all.tar", tarred.Bytes())
	write("player2/broken.zip", zipped.Bytes()[:zipped.Len()/2])
	write("player2/broken.tar", tarred.Bytes()[:tarred.Len()/2])
	var bomb bytes.Buffer
	z = zip.NewWriter(&bomb)
	w := must(z.Create("bomb.log"))
	_, _ = w.Write(bytes.Repeat(append(bytes.Repeat([]byte("a"), 1<<16), '\n'), 600)) // to a thousandth
	require.NoError(t, z.Close())
	write("player4/bomb.zip", bomb.Bytes())
	write("player3/binary.log", []byte("\x7fELF\x02\x01\x01\x00\x00\x03\x00\x3e\x00\x01\x00"))
	write("player3/empty.log", nil)
	return dir
}

func run(t *testing.T, c Config) (text, html string) {
	t.Helper()
	out := t.TempDir()
	c.JSON, c.HTML = filepath.Join(out, "a", "fleet.json"), filepath.Join(out, "fleet.html")
	require.NoError(t, c.Validate())
	p, s := beam.NewPipelineWithRoot()
	Build(s, c)
	require.NoError(t, beamx.Run(context.Background(), p))
	data := must(os.ReadFile(c.JSON))
	page := must(os.ReadFile(c.HTML))
	return string(data), string(page)
}

// TestPipeline holds the pipeline to what one process makes of the same files, byte for byte.
func TestPipeline(t *testing.T) {
	dir := folder(t)
	// The player is the same in all copies of a log: which copy counts depends on the name of the folder.
	c := Config{intake.Config{Salt: []byte("salt"), K: 3, Player: `.*/(player\d+)/`, Split: "1.5"}, 3}
	c.Patterns[population.Neither] = []string{dir, dir + "/*/*.log"}
	text, html := run(t, c)

	report := must(c.Report(t.Context())) // of heed fleet
	require.Equal(t, string(report.JSON()), text)
	require.Equal(t, string(report.HTML()), html)

	require.Equal(t, uint64(11), report.Players)
	require.Equal(t, uint64(52), report.Logs, "of the shorter copies, the one that is cut before 4 KiB")
	require.NotZero(t, report.Compared.Tested)
	var bad []string
	for _, f := range report.Failures {
		name := must(filepath.Rel(dir, f.Path))
		bad = append(bad, filepath.ToSlash(name)+": "+f.Error)
	}
	all := strings.Join(bad, "\n")
	for _, want := range []string{
		"player1/cut.log.gz: ", "player2/broken.zip: ", "player2/broken.tar", "player3/binary.log: is not a text file",
		"player3/empty.log: is empty", "player4/bomb.zip: unpacks to more than 200 times its size",
	} {
		require.Contains(t, all, want)
	}
	require.Len(t, bad, 8, "an archive that ends early, and the log where it does: "+all)
	require.NotContains(t, html, "secretword", "two players have such a word")
	counted, _, _ := strings.Cut(text, `"failures"`) // with paths, which are the operator's
	require.NotRegexp(t, `secretword|player\d`, counted)
}

// TestPlayers holds that the first folder below what patterns name is the player, in each population the same, and that
// a log is in each population that it is found in.
func TestPlayers(t *testing.T) {
	t.Chdir(t.TempDir())
	for i, name := range []string{
		"october/a/x.log", "november/a/x.log", "november/a/crash-1/y.log", "november/a/crash-2/y.log", "november/b/z.log",
		"november/1.log", "november/2.log",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, fmt.Appendf(nil, "log %d\n", max(i, 1)), 0o600))
	}
	c := Config{Config: intake.Config{Salt: []byte("salt"), K: 1}}
	c.Patterns = [3][]string{{"./october/"}, {"october", "october/*/*.log"}, {"november/"}}
	out, _ := run(t, c)
	var r population.Report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Equal(t, []uint64{3, 6, 1, 1, 3},
		[]uint64{r.Players, r.Logs, r.Copies, r.Compared.BeforePlayers, r.Compared.AfterPlayers})
}

// TestNothing: an archive without a log gives a report of nothing, and a folder or pattern without a file is an error.
func TestNothing(t *testing.T) {
	c := Config{Config: intake.Config{Salt: []byte("salt"), K: 5}}
	dir, later := t.TempDir(), t.TempDir()
	var empty bytes.Buffer
	require.NoError(t, zip.NewWriter(&empty).Close())
	require.NoError(t, os.WriteFile(dir+"/empty.zip", empty.Bytes(), 0o600))
	require.NoError(t, os.WriteFile(later+"/empty.zip", empty.Bytes(), 0o600))
	c.Patterns[population.Before], c.Patterns[population.After] = []string{dir}, []string{later}
	text, _ := run(t, c)
	require.Contains(t, text, `"players": 0,`)
	c.Patterns[population.After] = []string{dir + "/*.log"}
	c.JSON = filepath.Join(dir, "x.json")
	p, s := beam.NewPipelineWithRoot()
	Build(s, c)
	require.ErrorContains(t, beamx.Run(context.Background(), p), "no file matches")
}
