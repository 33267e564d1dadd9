package statefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
)

// Errors of files. Returned errors wrap one of these where it applies, and name the file.
var (
	// ErrForeign is the error of a file that is not heed's, or of another kind.
	ErrForeign = errors.New("not the expected kind of file")
	// ErrVersion is the error of a whole file of a version that this program does not read.
	ErrVersion = errors.New("unknown version")
	// ErrDamaged is the error of a file that is torn or was changed.
	ErrDamaged = errors.New("damaged")
	// ErrTooLarge is the error of a payload larger than [MaxFile].
	ErrTooLarge = errors.New("too large")
)

// VersionError says which version a whole file has. It wraps [ErrVersion].
type VersionError struct {
	Path     string
	Is, Want uint32
}

// Error implements error.
func (e *VersionError) Error() string {
	return fmt.Sprintf("statefile: %s: %v: it is of version %d, this program reads version %d", e.Path, ErrVersion, e.Is,
		e.Want)
}

// Unwrap returns [ErrVersion].
func (e *VersionError) Unwrap() error { return ErrVersion }

// MaxFile bounds the payload of a file, in bytes: far above the snapshot of an engine with default bounds.
const MaxFile = 256 << 20

// The header of a file: magic, kind padded with zeros, version, length of the
// payload, checksum of the payload, checksum of all before. Numbers are
// little-endian, checksums CRC-32C.
const (
	fileMagic  = "heedfile"
	maxKind    = 16
	fileHeader = len(fileMagic) + maxKind + 4 + 8 + 4 + 4
)

// tempSuffix marks an incomplete file. One that a kill left behind is replaced by the next WriteFile.
const tempSuffix = ".tmp"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// WriteFile replaces the file at path, or makes it, with a payload of a kind (1 to 16 bytes, such as "snapshot") and
// version that are the caller's to choose. When it returns nil the new file is durable; after an error or a kill,
// either the old file is unchanged or the new one is whole.
//
// It writes beside path, to a name that ends in ".tmp", and allocates nothing of
// the payload's size. Two calls for one path must not run at the same time. The
// file's permissions are 0600.
func WriteFile(path, kind string, version uint32, payload []byte) error {
	return writeFile(osFS{}, path, kind, version, payload)
}

func writeFile(fs filesystem, path, kind string, version uint32, payload []byte) error {
	if len(kind) == 0 || len(kind) > maxKind {
		return fmt.Errorf("statefile: %s: kind %q must have 1 to %d bytes", path, kind, maxKind)
	}
	if len(payload) > MaxFile {
		return fmt.Errorf("statefile: %s: %w: %d bytes, the most is %d", path, ErrTooLarge, len(payload), MaxFile)
	}
	temp := path + tempSuffix
	if err := writeWhole(fs, temp, fileHead(kind, version, payload), payload); err != nil {
		_ = fs.remove(temp)
		return fmt.Errorf("statefile: %w", err)
	}
	if err := fs.rename(temp, path); err != nil {
		_ = fs.remove(temp)
		return fmt.Errorf("statefile: %w", err)
	}
	if err := fs.syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("statefile: %w", err)
	}
	return nil
}

// writeWhole makes a new file of the parts, durable but for its name.
func writeWhole(fs filesystem, name string, parts ...[]byte) error {
	_ = fs.remove(name) // left by a kill; where it cannot be removed, create fails
	f, err := fs.create(name)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if _, err := f.Write(p); err != nil {
			_ = f.Close()
			return err
		}
	}
	if err := f.Sync(); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

func fileHead(kind string, version uint32, payload []byte) []byte {
	b := make([]byte, 0, fileHeader)
	b = append(b, fileMagic...)
	b = append(b, kind...)
	b = b[:len(fileMagic)+maxKind]
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(payload)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(payload, castagnoli))
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// ReadFile returns the payload that [WriteFile] put at path, whole, or an error:
// one that wraps [ErrForeign], [ErrVersion], [ErrDamaged] or [ErrTooLarge], or
// that of the file system, such as [io/fs.ErrNotExist]. It allocates no more
// than the file's size, and nothing for a file whose header is not right.
func ReadFile(path, kind string, version uint32) ([]byte, error) {
	return readFile(osFS{}, path, kind, version)
}

func readFile(fs filesystem, path, kind string, version uint32) ([]byte, error) {
	f, size, err := fs.open(path)
	if err != nil {
		return nil, fmt.Errorf("statefile: %w", err)
	}
	defer func() { _ = f.Close() }()
	fail := func(what error, format string, args ...any) ([]byte, error) {
		return nil, fmt.Errorf("statefile: %s: %w: "+format, append([]any{path, what}, args...)...)
	}

	head := make([]byte, fileHeader)
	got := head[:min(int64(fileHeader), size)]
	if n, err := f.ReadAt(got, 0); n < len(got) {
		return nil, fmt.Errorf("statefile: %s: %w", path, err)
	}
	if n := min(len(got), len(fileMagic)); string(got[:n]) != fileMagic[:n] {
		return fail(ErrForeign, "it does not begin with %q", fileMagic)
	}
	if len(got) < fileHeader {
		return fail(ErrDamaged, "it has %d bytes, less than its header", size)
	}
	sum := head[fileHeader-4:]
	if crc32.Checksum(head[:fileHeader-4], castagnoli) != binary.LittleEndian.Uint32(sum) {
		return fail(ErrDamaged, "the checksum of its header is wrong")
	}
	rest := head[len(fileMagic):]
	if is := string(bytes.TrimRight(rest[:maxKind], "\x00")); is != kind {
		return fail(ErrForeign, "it is a %q, not a %q", is, kind)
	}
	rest = rest[maxKind:]
	if is := binary.LittleEndian.Uint32(rest); is != version {
		return nil, &VersionError{Path: path, Is: is, Want: version}
	}
	length := binary.LittleEndian.Uint64(rest[4:])
	if length > MaxFile {
		return fail(ErrTooLarge, "%d bytes, the most is %d", length, MaxFile)
	}
	if want := int64(fileHeader) + int64(length); size != want {
		return fail(ErrDamaged, "it has %d bytes, its header says %d", size, want)
	}
	payload := make([]byte, length)
	if n, err := f.ReadAt(payload, int64(fileHeader)); n < len(payload) {
		return nil, fmt.Errorf("statefile: %s: %w", path, err)
	}
	if crc32.Checksum(payload, castagnoli) != binary.LittleEndian.Uint32(rest[12:]) {
		return fail(ErrDamaged, "the checksum of its payload is wrong")
	}
	return payload, nil
}
