package session

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/internal/statefile"
)

// The kind and version of a file that holds a snapshot. The snapshot has a version of its own.
const (
	snapshotKind    = "snapshot"
	snapshotVersion = 1
)

// saveSnapshot writes a snapshot of e to the file called path. The engine is locked only while the snapshot is made.
// Calls for one path must not overlap.
func saveSnapshot(path string, e *heed.Engine) error {
	return statefile.WriteFile(path, snapshotKind, snapshotVersion, e.Snapshot(nil))
}

// loadSnapshot returns the engine of the snapshot in the file called path, with the bounds of cfg, and true. The
// engine continues in the snapshot's epoch, whatever cfg.Epoch is.
//
// Where there is no such file, or the snapshot is refused (see [heed.Restore]), it returns a new engine and false; the
// error is the reason of the refusal, and nil where there was no file. The new engine's epoch is cfg.Epoch, which must
// never have been used before; where that is "", it is now to the nanosecond, such as 20260131T100000.123456789. The
// file stays as it is until it is saved again.
//
// The engine is nil only where cfg itself is refused.
func loadSnapshot(path string, cfg heed.Config, now time.Time) (e *heed.Engine, restored bool, err error) {
	snapshot, err := statefile.ReadFile(path, snapshotKind, snapshotVersion)
	if err == nil {
		same := cfg
		same.Epoch = ""
		if e, err = heed.Restore(same, snapshot); err == nil {
			return e, true, nil
		}
		err = fmt.Errorf("snapshot %s: %w", path, err)
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
