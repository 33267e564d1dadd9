package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/statefile"
)

// disk keeps the engine's state in a file. An item's id is in it before the item is reported, an acknowledgement before
// it is answered. Everything else is saved periodically.
type disk struct {
	path string
	s    *Session

	known atomic.Pointer[map[string]struct{}] // items that were open at the latest snapshot
	saved atomic.Uint64                       // entries that are in it

	mu   sync.Mutex  // of the file
	open []heed.Item // reused

	stateMu sync.Mutex
	state   SnapshotStatus
}

func (d *disk) init(s *Session, refused error) {
	d.path, d.s, d.state.File = s.cfg.Snapshot, s, s.cfg.Snapshot
	if refused != nil {
		d.state.Refused = refused.Error()
	}
	d.known.Store(&map[string]struct{}{})
	if s.restored {
		d.known.Store(d.openItems())
	}
}

// openItems returns the items that are in a snapshot that is made from now on, or was just restored. One that was open
// before and is not any more was saved then.
func (d *disk) openItems() *map[string]struct{} {
	d.open = d.s.engine.Open(d.open[:0])
	known := make(map[string]struct{}, len(d.open))
	for i := range d.open {
		known[d.open[i].ID] = struct{}{}
	}
	return &known
}

// has reports whether the item called id is in a snapshot.
func (d *disk) has(id string) bool {
	_, ok := (*d.known.Load())[id]
	return ok
}

// keep returns when the item called id is on disk, or cannot be: a failure is logged and shown in the status, and
// blocks nobody.
func (d *disk) keep(id string) {
	if d.path == "" || id == "" || d.has(id) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.has(id) {
		d.saveLocked()
	}
}

// through returns when the entry with a sequence number is on disk, and all before it, or cannot be.
func (d *disk) through(seq uint64) {
	if d.path == "" || d.saved.Load() >= seq {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.saved.Load() < seq {
		d.saveLocked()
	}
}

// saveLocked writes a snapshot. Where that fails, its items count as saved all the same: the next save is due when
// another item is reported, and periodically.
func (d *disk) saveLocked() {
	d.s.ordered.Lock()
	known, seq, at, encode := d.openItems(), d.s.engine.Latest().Seq, d.s.at, d.s.engine.Freeze()
	d.s.ordered.Unlock()
	err := statefile.WriteFile(d.path, appendPosition(encode(nil), &at))
	d.known.Store(known)
	d.stateMu.Lock()
	defer d.stateMu.Unlock()
	failed := d.state.Error != ""
	if d.state.Error = ""; err != nil {
		d.state.Failed++
		d.state.Error = err.Error()
		if !failed {
			d.s.log.Error("the snapshot cannot be written; ids will not survive a restart", "file", d.path, "error", err)
		}
	} else {
		if failed {
			d.s.log.Info("the snapshot can be written again", "file", d.path)
		}
		d.state.Saves++
		d.state.Saved = d.s.now()
		d.saved.Store(seq)
	}
}

// loadSnapshot returns the engine of the snapshot in the file called path, with the bounds of cfg, and true. The
// engine continues in the snapshot's epoch, whatever cfg.Epoch is. An error says why only the carry-over of the
// snapshot was restored (see [heed.Restore]).
//
// Without such a file, or if nothing of it can be read, it returns a new engine and false; the error is the reason, and
// nil without a file. The new engine's epoch is cfg.Epoch, which must never have been used before.
//
// The engine is nil only where cfg itself is refused.
func loadSnapshot(path string, cfg heed.Config) (e *heed.Engine, restored bool, err error) {
	snapshot, err := statefile.ReadFile(path)
	if err == nil {
		snapshot, _ = cutPosition(snapshot)
		same := cfg
		same.Epoch = ""
		if e, err = heed.Restore(same, snapshot); err == nil {
			return e, true, e.CarriedOver()
		}
		err = fmt.Errorf("%s cannot be read, and earlier ids are not valid: %w", path, err)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	e, refused := heed.New(cfg)
	if refused != nil {
		return nil, false, refused
	}
	return e, false, err
}

// appendPosition appends a line to a snapshot: how far the log was read that the state is of. Its checksum is of the
// snapshot, too, so that a state that is damaged has no position.
func appendPosition(snapshot []byte, at *follow.Position) []byte {
	if at.File == "" {
		return snapshot
	}
	record, err := json.Marshal(at)
	if err != nil {
		panic("BUG: session: plain data does not marshal: " + err.Error())
	}
	return fmt.Appendf(snapshot, "log %016x %s\n", xxhash.Sum64(append(snapshot, record...)), record)
}

// cutPosition returns a snapshot without its position, and that.
func cutPosition(data []byte) (snapshot []byte, at follow.Position) {
	i := bytes.LastIndex(data, []byte("\nlog ")) + 1
	if i == 0 {
		return data, at
	}
	snapshot = data[:i:i]
	sum, record, _ := bytes.Cut(bytes.TrimSpace(data[i+len("log "):]), []byte(" "))
	if string(sum) != fmt.Sprintf("%016x", xxhash.Sum64(append(snapshot, record...))) || json.Unmarshal(record, &at) != nil {
		return snapshot, follow.Position{}
	}
	return snapshot, at
}

// Position returns how far the log was read that the state in a snapshot file is of, the zero value if that is not
// known: for [follow.Config].
func Position(snapshot string) follow.Position {
	data, err := statefile.ReadFile(snapshot)
	if err != nil {
		return follow.Position{}
	}
	_, at := cutPosition(data)
	return at
}
