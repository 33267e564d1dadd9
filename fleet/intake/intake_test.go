package intake

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

// compiled returns the default rules.
var compiled = sync.OnceValue(func() *rules.Set { return testkit.Must(rules.Compile(rules.Defaults()...)) })

func readAll(set *rules.Set, name string, opened io.Reader) (all []Found) {
	Read(set, name, opened, func(f Found) { all = append(all, f) })
	return all
}

func someLog(tb testing.TB) []byte {
	tb.Helper()
	data := testkit.Must(os.ReadFile("../../testdata/captures/cascade-1.6.log"))
	return append(data, "\nException at C:\\Users\\maria\\mod.dll: not found\n"...)
}

func zipped(tb testing.TB, names ...string) []byte {
	tb.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range names {
		w := testkit.Must(z.Create(name))
		_, _ = w.Write(someLog(tb))
	}
	require.NoError(tb, z.Close())
	return out.Bytes()
}

func tarred(tb testing.TB, names ...string) []byte {
	tb.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, name := range names {
		require.NoError(tb, w.WriteHeader(&tar.Header{
			Name: name, Mode: 0o600, Size: int64(len(someLog(tb))), Typeflag: tar.TypeReg,
		}))
		_, _ = w.Write(someLog(tb))
	}
	require.NoError(tb, w.Close())
	return out.Bytes()
}

func gzipped(tb testing.TB, data []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(data)
	require.NoError(tb, w.Close())
	return out.Bytes()
}

// TestForms holds that a log is the same log however it is packed, and that its summary has nothing private.
func TestForms(t *testing.T) {
	set := compiled()
	encoder := testkit.Must(zstd.NewWriter(nil))
	zipFile := filepath.Join(t.TempDir(), "a.zip")
	require.NoError(t, os.WriteFile(zipFile, zipped(t, "p/Player.log"), 0o600))
	onDisk := testkit.Must(os.Open(zipFile))
	defer func() { _ = onDisk.Close() }()
	want := readAll(set, "p/Player.log", bytes.NewReader(someLog(t)))[0].Session
	require.NotEmpty(t, want.Groups)
	require.NotEmpty(t, want.Mods)
	require.True(t, want.Complete)
	require.Positive(t, want.Lines)
	for name, in := range map[string]io.Reader{
		"Player.log.gz":  bytes.NewReader(gzipped(t, someLog(t))),
		"Player.log.zst": bytes.NewReader(encoder.EncodeAll(someLog(t), nil)),
		"a.zip":          onDisk,
		"b.zip":          bytes.NewReader(zipped(t, "p/Player.log", "p/notes.pdf", "p/.hidden.log", "__MACOSX/p/Player.log")),
		"a.tar":          bytes.NewReader(tarred(t, "p/Player.log", "p/picture.png")),
		"a.tar.gz":       bytes.NewReader(gzipped(t, tarred(t, "p/Player.log"))),
		"a.tgz":          bytes.NewReader(gzipped(t, tarred(t, "p/Player.log"))),
		"a.tar.zst":      bytes.NewReader(encoder.EncodeAll(tarred(t, "p/Player.log"), nil)),
	} {
		found := readAll(set, name, iotest.OneByteReader(in))
		if file, ok := in.(*os.File); ok {
			found = readAll(set, name, file)
		}
		require.Len(t, found, 1, name)
		require.NoError(t, found[0].Err, name)
		require.Equal(t, want.Log.Hash, found[0].Session.Log.Hash, name)
		require.Equal(t, want.Groups, found[0].Session.Groups, name)
		if IsArchive(name) {
			require.Equal(t, name+"/p/Player.log", found[0].Path)
		}
		text := testkit.Must(json.Marshal(found[0].Session))
		require.NotContains(t, string(text), "maria")
	}
}

// TestNoHome: the name of the user who runs the program is known without a path in a log.
func TestNoHome(t *testing.T) {
	t.Setenv("HOME", filepath.FromSlash("/srv/people/marijke"))
	t.Setenv("USERPROFILE", filepath.FromSlash("/srv/people/marijke"))
	log := append(someLog(t), "\nException: Marijke cannot write\n"...)
	text := testkit.Must(json.Marshal(readAll(compiled(), "Player.log", bytes.NewReader(log))[0].Session))
	require.NotContains(t, string(text), "Marijke")
	require.Contains(t, string(text), "cannot write")
}

// TestBad holds that what cannot be read is named, and that the logs before it in an archive are there.
func TestBad(t *testing.T) {
	set := compiled()
	packed := gzipped(t, someLog(t))
	two := tarred(t, "a.log", "../../b.log")
	for _, c := range []struct {
		name     string
		in       io.Reader
		sessions int
		want     string
	}{
		{"cut.log.gz", bytes.NewReader(packed[:len(packed)/2]), 1, "cut.log.gz: capture: after line"},
		{"wrong.log.gz", strings.NewReader("\x1f\x8bxxxxxxxxxxxxxxxxxxxxxx"), 0, "wrong.log.gz: gzip"},
		{"binary.log", strings.NewReader("\x7fELF\x02\x01\x01\x00\x00\x03\x00\x3e\x00\x01\x00"), 0, "is not a text file"},
		{"empty.log", strings.NewReader(""), 0, "empty.log: is empty"},
		{"empty.log.gz", bytes.NewReader(gzipped(t, nil)), 0, "is empty"},
		{"unread.log", iotest.ErrReader(errors.New("gone")), 0, "gone"},
		{"panics.log", panicking{}, 0, "panics.log: heed failed on it"},
		{"a.zip", strings.NewReader("no zip"), 0, "a.zip: zip"},
		{"a.zip", bytes.NewReader(zipped(t, "a.png")), 0, "a.zip: has no log in it"},
		{"a.tar", bytes.NewReader(tarred(t)), 0, "a.tar: has no log in it"},
		{"a.zip", bytes.NewReader(encrypted(t)), 0, "a.zip/a.log: is encrypted"},
		{"a.tar", bytes.NewReader(two[:len(two)*3/4]), 2, "a.tar/b.log: capture: after line"},
		{"a.tar.gz", strings.NewReader("no tar at all"), 0, "a.tar.gz: unexpected EOF"},
	} {
		sessions := 0
		var errs []string
		for _, f := range readAll(set, c.name, c.in) {
			if f.Session != nil {
				sessions++
			}
			if f.Err != nil {
				errs = append(errs, f.Path+": "+f.Err.Error())
			}
		}
		require.Contains(t, strings.Join(errs, "\n"), c.want, c.name)
		require.Equal(t, c.sessions, sessions, c.name)
	}
}

// encrypted returns a zip with a log that needs a password.
func encrypted(tb testing.TB) []byte {
	tb.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	testkit.Must(z.CreateRaw(&zip.FileHeader{Name: "a.log", Flags: 1}))
	require.NoError(tb, z.Close())
	return out.Bytes()
}

// TestBounds holds that an archive ends with an error at its bounds, exactly, and that what is no log is not counted.
func TestBounds(t *testing.T) {
	set := compiled()
	size := int64(len(someLog(t)))
	names := []string{"a.png", "b.png", "1.log", "c.png", "2.log", "3.log"}
	for _, c := range []struct {
		logs  int
		bytes int64
		found int
		want  string
	}{
		{3, 3 * size, 3, ""},
		{2, 3 * size, 2, "has more than"},
		{3, 3*size - 1, 3, "too much"}, // the last one is cut
		{3, size + size/2, 2, "too much"},
	} {
		for name, read := range map[string]func(*archive) error{
			"zip": func(a *archive) error { return a.readZip(bytes.NewReader(zipped(t, names...))) },
			"tar": func(a *archive) error { return a.readTar(bytes.NewReader(tarred(t, names...))) },
		} {
			found := 0
			a := &archive{set, "a", func(Found) { found++ }, maxMembers, unpacking(freeBytes)}
			a.logs, a.bytes = c.logs, limit{left: c.bytes, err: errors.New("too much")}
			err := read(a)
			if c.want == "" {
				require.NoError(t, err, name)
			} else {
				require.ErrorContains(t, err, c.want, name)
			}
			require.Equal(t, c.found, found, name)
		}
	}
}

// TestOverlap holds that entries of a zip that are the same bytes of the file are counted each time they are unpacked.
func TestOverlap(t *testing.T) {
	plain := zipped(t, "a.log")
	end := bytes.LastIndex(plain, []byte("PK\x05\x06"))
	start := int(binary.LittleEndian.Uint32(plain[end+16:]))
	const entries = 50
	data := append(slices.Clone(plain[:start]), bytes.Repeat(plain[start:end], entries)...)
	data = append(data, plain[end:]...)
	end = len(data) - (len(plain) - end)
	binary.LittleEndian.PutUint16(data[end+8:], entries)
	binary.LittleEndian.PutUint16(data[end+10:], entries)
	binary.LittleEndian.PutUint32(data[end+12:], uint32(end-start))
	found := 0
	a := &archive{compiled(), "a.zip", func(Found) { found++ }, maxMembers, unpacking(freeBytes)}
	a.bytes.left, a.bytes.more = 10*int64(len(someLog(t))), 0
	require.ErrorContains(t, a.readZip(bytes.NewReader(data)), "unpacks to more than")
	require.Equal(t, 11, found)
}

// TestRatio holds that an archive unpacks to 200 times its size at most, or to free bytes, in whichever form: in a log,
// in another file, in a log that is packed twice, in many small ones.
func TestRatio(t *testing.T) {
	const free = 1 << 20
	read := func(name string, data []byte) (all []Found) {
		a := &archive{compiled(), name, func(f Found) { all = append(all, f) }, maxMembers, unpacking(free)}
		a.readAll(bytes.NewReader(data))
		return all
	}
	line := strings.Repeat(strings.Repeat("a", 1023)+"\n", 1<<6)
	log := bytes.Repeat([]byte(line), 2*free/len(line))
	squeezed := func(data []byte) []byte { // to a thousandth
		var out bytes.Buffer
		w := testkit.Must(gzip.NewWriterLevel(&out, gzip.BestCompression))
		_, _ = w.Write(data)
		require.NoError(t, w.Close())
		return out.Bytes()
	}
	in := func(z *zip.Writer, name string, data []byte) {
		w := testkit.Must(z.Create(name))
		_, _ = w.Write(data)
	}
	for name, make := range map[string]func(z *zip.Writer, w *tar.Writer){
		"a log": func(z *zip.Writer, w *tar.Writer) { in(z, "a.log", log) },
		"twice": func(z *zip.Writer, w *tar.Writer) { in(z, "../../a.log.gz", squeezed(log)) },
		"many": func(z *zip.Writer, w *tar.Writer) {
			for n := range 32 {
				in(z, fmt.Sprint("../", n, ".log"), log[:free/4])
			}
		},
		"tar": func(z *zip.Writer, w *tar.Writer) {
			picture := bytes.Repeat([]byte(line), 2*freeBytes/len(line))
			header := &tar.Header{Name: "a.png", Mode: 0o600, Size: int64(len(picture)), Typeflag: tar.TypeReg}
			require.NoError(t, w.WriteHeader(header))
			_, _ = w.Write(picture)
		},
	} {
		var zipFile, tarFile bytes.Buffer
		z, w := zip.NewWriter(&zipFile), tar.NewWriter(&tarFile)
		z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
			return flate.NewWriter(w, flate.BestCompression)
		})
		make(z, w)
		require.NoError(t, errors.Join(z.Close(), w.Close()))
		file, data := "a.zip", zipFile.Bytes()
		if name == "tar" {
			file, data = "a.tar.gz", squeezed(tarFile.Bytes())
		}
		found := read(file, data)
		last := found[len(found)-1]
		require.Equal(t, file, last.Path, name)
		require.ErrorContains(t, last.Err, "unpacks to more than 200 times its size", name)
		for _, f := range found {
			require.NotContains(t, f.Path, "..", name)
		}
	}
	sound := bytes.Repeat([]byte(line), free/len(line))
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	in(z, "a.log", sound)
	require.NoError(t, z.Close())
	found := read("a.zip", out.Bytes())
	require.Len(t, found, 1)
	require.NoError(t, found[0].Err)
	require.EqualValues(t, 16<<20, unpacking(freeBytes).left)
	var l limit
	l.allow(1000)
	require.EqualValues(t, 0, l.left, "no more than there may be")
	l.more = 1000
	l.allow(4)
	l.allow(4)
	require.EqualValues(t, 1000, l.left)
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("maria's log") }

// FuzzRead: no file panics.
func FuzzRead(f *testing.F) {
	set := compiled()
	f.Add("a.zip", zipped(f, "a.log"))
	f.Add("a.tar", tarred(f, "a.log"))
	f.Add("a.tar.gz", gzipped(f, tarred(f, "a.log")))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		for _, found := range readAll(set, name, bytes.NewReader(data)) {
			if found.Err != nil {
				require.NotContains(t, found.Err.Error(), "heed failed")
			}
			if found.Session != nil {
				require.NoError(t, found.Session.Validate())
			}
		}
	})
}
