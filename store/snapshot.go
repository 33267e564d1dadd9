package store

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/heedlog/heed"
)

// What a file with a snapshot is marked with. The snapshot has a version of its
// own.
const (
	snapshotKind    = "snapshot"
	snapshotVersion = 1
)

// Save writes a snapshot of e to the file called path, as [WriteFile] does. Only
// one Save at a time may write to a path.
//
// When to save is told by [heed.Engine.Snapshot]: before anybody is told of what
// is newer than the last one. It costs the snapshot and its writing; the engine is
// locked for the former only.
func Save(path string, e *heed.Engine) error {
	return WriteFile(path, snapshotKind, snapshotVersion, e.Snapshot(nil))
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
	snapshot, err := ReadFile(path, snapshotKind, snapshotVersion)
	if err == nil {
		same := cfg
		same.Epoch = ""
		if e, err = heed.Restore(same, snapshot); err == nil {
			return e, true, nil
		}
		err = fmt.Errorf("store: %s: %w", path, err)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
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
