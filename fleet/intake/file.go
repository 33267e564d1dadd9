package intake

import (
	"archive/tar"
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/unpack"
	"github.com/heedlog/heed/rules"
)

// Found is a log, or why there is none.
type Found struct {
	Path    string           // of the file; of a log in an archive the path in it follows
	Session *summary.Session // nil where nothing could be read
	Err     error            // why it was not read, or not to its end
}

// The bounds of an archive: archives of a community have less. Entries of a zip may overlap, or be packed twice. A
// small file then unpacks to millions of times its size, and a worker would be busy for weeks.
const (
	maxMembers  = 1 << 20   // logs
	maxUnpacked = 256 << 30 // bytes
	maxRatio    = 200       // times its size
	freeBytes   = 16 << 20  // of any size
)

// Read reads the file with a name and calls found with each log in it. Of an archive (.zip, .tar, also compressed) it
// reads the files with names of logs. opened is the content of the file; a zip that is not on this machine's disk is
// copied there.
func Read(set *rules.Set, name string, opened io.Reader, found func(Found)) {
	if !IsArchive(name) {
		s, err := summarize(set, path.Base(name), opened, nil)
		found(Found{name, s, err})
		return
	}
	a := &archive{set, name, found, maxMembers, unpacking(freeBytes)}
	a.readAll(opened)
}

// readAll reads all logs of the archive.
func (a *archive) readAll(opened io.Reader) {
	read := a.readTar
	if isZip(a.name) {
		read = a.readZip
	}
	err := read(opened)
	if err == nil && a.logs == maxMembers {
		err = errNoLog
	}
	if err != nil {
		a.found(Found{Path: a.name, Err: err})
	}
}

// IsArchive reports whether a file is an archive by its name.
func IsArchive(name string) bool {
	name = strings.ToLower(name)
	unpacked := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	return isZip(name) || strings.HasSuffix(name, ".tgz") || strings.HasSuffix(unpacked, ".tar")
}

func isZip(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".zip") }

// wanted reports whether a file of an archive is to be read. The folder of macOS has no files that were put there.
func wanted(name string) bool {
	return files.MayBeLog(name) && !strings.HasPrefix(path.Base(name), ".") && !strings.HasPrefix(name, "__MACOSX/")
}

// archive is an open archive, with the rest of its limits.
type archive struct {
	set   *rules.Set
	name  string
	found func(Found)
	logs  int // that may still be read
	bytes limit
}

// unpacking returns the limit of unpacked bytes of an archive, before any of it was read: free of any size.
func unpacking(free int64) limit {
	err := fmt.Errorf("unpacks to more than %d times its size, or %d bytes", maxRatio, int64(maxUnpacked))
	return limit{free, maxUnpacked - free, err}
}

var errNoLog, errEncrypted = errors.New("has no log in it"), errors.New("is encrypted")

// read reads a log. Its error ends the whole archive.
func (a *archive) read(name string, open func() (io.ReadCloser, error)) error {
	if a.logs == 0 {
		return fmt.Errorf("has more than %d logs", maxMembers)
	}
	a.logs--
	in, err := open()
	if err != nil {
		a.found(Found{Path: member(a.name, name), Err: err})
		return nil
	}
	s, err := summarize(a.set, path.Base(name), in, &a.bytes)
	_ = in.Close() // only read from
	a.found(Found{member(a.name, name), s, err})
	if a.bytes.left < 0 {
		return a.bytes.err
	}
	return nil
}

func (a *archive) readTar(opened io.Reader) error {
	within := unpacking(freeBytes) // other files are unpacked too, to get past them
	stream, _, err := unpack.Layer(io.TeeReader(opened, &granted{&within, &a.bytes}))
	if err != nil {
		return err
	}
	members := tar.NewReader(within.reader(stream))
	for {
		header, err := members.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg || !wanted(header.Name) {
			continue
		}
		err = a.read(header.Name, func() (io.ReadCloser, error) { return io.NopCloser(members), nil })
		if err != nil {
			return err
		}
	}
}

func (a *archive) readZip(opened io.Reader) error {
	file, ok := opened.(*os.File)
	if !ok {
		var err error
		if file, err = os.CreateTemp("", "heed-*.zip"); err != nil {
			return err
		}
		defer func() { _, _ = file.Close(), os.Remove(file.Name()) }() // of no further use
		if _, err := io.Copy(file, opened); err != nil {
			return err
		}
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	a.bytes.allow(info.Size())
	members, err := zip.NewReader(file, info.Size())
	if err != nil {
		return err
	}
	for _, f := range members.File {
		if !f.Mode().IsRegular() || !wanted(f.Name) {
			continue
		}
		err := a.read(f.Name, func() (io.ReadCloser, error) {
			if f.Flags&1 != 0 {
				return nil, errEncrypted
			}
			return f.Open()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// member names a file of an archive as if the archive were a folder, from which nothing leads out.
func member(archive, name string) string {
	return strings.TrimSuffix(archive, "/") + path.Clean("/"+strings.ReplaceAll(name, `\`, "/"))
}
