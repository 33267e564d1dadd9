package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/heedlog/heed"
)

// MaxSnapshot bounds, in bytes, the file that [Load] reads. The default Config
// needs a few million.
const MaxSnapshot = 1 << 30

// tempSnapshot is added to the name of a file that is being written.
const tempSnapshot = ".new"

// Save writes a snapshot of e to the file called path: after a crash, the file is
// the old one or the new one, and once Save has returned without an error it is
// the new one, as far as the disk keeps its word. Only one Save at a time may
// write to a path; a file of that name with ".new" is overwritten.
//
// When to save is told by [heed.Engine.Snapshot]: before anybody is told of what
// is newer than the last one. It costs the snapshot and its writing; the engine is
// locked for the former only.
func Save(path string, e *heed.Engine) error {
	if err := writeSnapshot(path, e.Snapshot(nil)); err != nil {
		return fmt.Errorf("store: snapshot: %w", err)
	}
	return nil
}

// writeSnapshot replaces the file called path.
func writeSnapshot(path string, data []byte) error {
	temp := path + tempSnapshot
	err := writeSynced(temp, data)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp) // it is of no use, nor is a second error
		return err
	}
	return syncDir(filepath.Dir(path))
}

func writeSynced(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncDir makes a rename in a directory last. Windows has no such call, and needs
// none.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Load returns the engine of the snapshot in the file called path, with the bounds
// of cfg, and true. It goes on in the snapshot's epoch, whatever cfg.Epoch says.
//
// Where there is no such file, or the snapshot is refused (see [heed.Restore]), Load
// returns a new engine and false; the error says why it was refused, and is nil
// where there was no file. Its epoch is cfg.Epoch, which must then never have been
// used before; where that is "", it is made of now, the time of the host's clock,
// to the nanosecond: such as 20260131T100000.123456789. The file stays as it is
// until the next [Save].
//
// The engine is nil only where cfg itself is refused.
func Load(path string, cfg heed.Config, now time.Time) (e *heed.Engine, restored bool, err error) {
	snapshot, err := readSnapshot(path)
	if err == nil {
		same := cfg
		same.Epoch = ""
		if e, err = heed.Restore(same, snapshot); err == nil {
			return e, true, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	} else {
		err = fmt.Errorf("store: %s: %w", path, err)
	}
	if cfg.Epoch == "" {
		cfg.Epoch = now.UTC().Format("20060102T150405.000000000")
	}
	e, refused := heed.New(cfg)
	if refused != nil {
		return nil, false, refused
	}
	return e, false, err
}

func readSnapshot(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > MaxSnapshot {
		return nil, fmt.Errorf("it has %d bytes, and no snapshot has more than %d", info.Size(), MaxSnapshot)
	}
	return os.ReadFile(path)
}
