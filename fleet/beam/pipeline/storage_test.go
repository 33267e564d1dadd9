package pipeline

import (
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"
	"github.com/fsouza/fake-gcs-server/fakestorage"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/fleet/intake"
	"github.com/heedlog/heed/fleet/population"
)

// TestStorage holds that logs in a bucket have the report of the same logs in a folder, byte for byte but for the paths
// of failures, and that the report goes into the bucket, with the credentials that the ecosystem reads.
func TestStorage(t *testing.T) {
	dir := folder(t)
	for name, serve := range map[string]func(t *testing.T){"s3": serveS3, "gs": serveGCS} {
		t.Run(name, func(t *testing.T) {
			serve(t)
			bucket := name + "://logs/"
			upload(t, dir, bucket)
			c := Config{intake.Config{Salt: []byte("salt"), K: 3, Player: `.*/(player\d+)/`, Split: "1.5"}, 3}
			c.Patterns[population.Neither] = []string{bucket + "**"}
			c.JSON, c.HTML = name+"://out/fleet.json", name+"://out/fleet.html"
			require.NoError(t, c.Validate())
			p, s := beam.NewPipelineWithRoot()
			Build(s, c)
			require.NoError(t, beamx.Run(t.Context(), p))

			c.Patterns[population.Neither] = []string{dir}
			want := must(c.Report(t.Context()))
			system := must(filesystem.New(t.Context(), bucket))
			got := must(filesystem.Read(t.Context(), system, c.JSON))
			page := must(filesystem.Read(t.Context(), system, c.HTML))
			local := strings.NewReplacer(bucket, filepath.ToSlash(dir)+"/")
			sameLines(t, string(want.JSON()), local.Replace(string(got)))
			sameLines(t, string(want.HTML()), local.Replace(string(page)))
		})
	}
}

// sameLines fails at the first line that differs: all of a report would be long.
func sameLines(t *testing.T, want, got string) {
	t.Helper()
	wanted, lines := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(wanted), len(lines)) {
		require.Equal(t, wanted[i], lines[i], "line %d", i+1)
	}
	require.Len(t, lines, len(wanted))
}

// upload writes the files of a folder to a bucket.
func upload(t *testing.T, dir, bucket string) {
	t.Helper()
	system := must(filesystem.New(t.Context(), bucket))
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		out := must(system.OpenWrite(t.Context(), bucket+name))
		must(out.Write(must(os.ReadFile(filepath.Join(dir, name)))))
		return out.Close()
	}))
}

func serveS3(t *testing.T) {
	backend := s3mem.New()
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	for _, bucket := range []string{"logs", "out"} {
		require.NoError(t, backend.CreateBucket(bucket))
	}
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
}

func serveGCS(t *testing.T) {
	server := must(fakestorage.NewServerWithOptions(fakestorage.Options{NoListener: true, PublicHost: "127.0.0.1"}))
	listening := httptest.NewServer(server.HTTPHandler())
	t.Cleanup(listening.Close)
	for _, bucket := range []string{"logs", "out"} {
		server.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: bucket})
	}
	t.Setenv("STORAGE_EMULATOR_HOST", listening.Listener.Addr().String())
}
