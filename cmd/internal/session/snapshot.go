package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/statefile"
	"github.com/heedlog/heed/event"
)

// disk keeps the engine's state in a file. An item's id is in it before the item is reported, an acknowledgement before
// it is answered. Everything else is saved periodically.
type disk struct {
	path string
	s    *Session

	items atomic.Uint64 // the number of the latest item in the latest snapshot
	saved atomic.Uint64 // entries that are in it

	mu sync.Mutex // of the file

	notes sync.Mutex    // of the file with the calls
	noted atomic.Uint64 // calls since the process began

	state atomic.Pointer[SnapshotStatus] // which the holder of mu replaces
}

func (d *disk) init(s *Session, refused error) {
	d.path, d.s = s.cfg.Snapshot, s
	state := &SnapshotStatus{File: d.path}
	if refused != nil {
		state.Refused = refused.Error()
	}
	d.state.Store(state)
	if s.restored {
		d.items.Store(s.engine.Stats().Coalesce.Number)
	}
}

// has reports whether the item called id is in a snapshot. Items have ascending numbers.
func (d *disk) has(id string) bool {
	n, err := strconv.ParseUint(ShortID(id, d.s.engine.Latest().Epoch), 10, 64)
	return err != nil || n <= d.items.Load()
}

// keep returns when the item called id is on disk, or cannot be: a failure is logged and shown in the status, and
// blocks no caller.
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

// saveLocked writes a snapshot. If that fails, its items count as saved, too: the next save is due when another item is
// reported, and periodically.
func (d *disk) saveLocked() {
	noted := d.noted.Load()
	d.s.ordered.Lock()
	stats, at, encode := d.s.engine.Stats(), d.s.at, d.s.engine.Freeze()
	d.s.ordered.Unlock()
	data := encode(nil)
	if at.File != "" {
		line, _ := json.Marshal(stored{at, xxhash.Sum64(data)}) // plain data
		data = append(append(data, line...), '\n')
	}
	err := statefile.WriteFile(d.path, data)
	d.items.Store(stats.Coalesce.Number)
	state := *d.state.Load()
	failed := state.Error != ""
	if state.Error = ""; err != nil {
		state.Failed++
		state.Error = err.Error()
		if !failed {
			d.s.log.Error("the snapshot cannot be written; ids will not survive a restart", "file", d.path, "error", err)
		}
	} else {
		if failed {
			d.s.log.Info("the snapshot can be written again", "file", d.path)
		}
		state.Saves++
		state.Saved = d.s.now()
		d.saved.Store(stats.Coalesce.Latest)
		d.forget(noted)
	}
	d.state.Store(&state)
}

// The notes are the calls that began or ended since the latest snapshot, in a file whose name ends in notesSuffix. They
// take at most maxNoted bytes; calls without room are in the next snapshot.
const (
	notesSuffix = ".calls"
	maxNoted    = 1 << 20
)

// note keeps until the next snapshot an event of a call, which the engine has.
func (d *disk) note(o event.Operation) {
	if d.path == "" {
		return
	}
	line, _ := json.Marshal(o) // plain data
	d.notes.Lock()
	defer d.notes.Unlock()
	d.noted.Add(1)
	f, err := os.OpenFile(d.path+notesSuffix, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return // the next snapshot has it
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.Size()+int64(len(line)) < maxNoted {
		_, _ = f.Write(slices.Concat([]byte("\n"), line, []byte("\n"))) // the line before may be torn
	}
}

// forget removes the notes if a snapshot on disk has them all: those that were counted before it. Else the next one
// removes them.
func (d *disk) forget(counted uint64) {
	d.notes.Lock()
	defer d.notes.Unlock()
	if d.noted.Load() == counted {
		_ = os.Remove(d.path + notesSuffix)
	}
}

// unsaved returns the events of calls in the notes, in order. The snapshot may have some of them.
func (d *disk) unsaved() (events []event.Operation) {
	data, _ := statefile.ReadFile(d.path + notesSuffix)
	for line := range bytes.Lines(data) {
		var o event.Operation
		if json.Unmarshal(line, &o) == nil { // else it is torn
			events = append(events, o)
		}
	}
	return events
}

// restore returns the engine of the snapshot, with the bounds of cfg, and sets the position in the log. The engine
// continues in the snapshot's epoch, whatever cfg.Epoch is. An error says why only the carry-over of the snapshot was
// restored (see [heed.Restore]).
//
// Without a snapshot, or if nothing of it can be read, it returns nil; the error is the reason, and nil without a file.
func (s *Session) restore(cfg heed.Config) (*heed.Engine, error) {
	path := s.cfg.Snapshot
	if path == "" {
		return nil, nil
	}
	snapshot, err := statefile.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	snapshot, s.at = split(snapshot)
	cfg.Epoch = ""
	e, err := heed.Restore(cfg, snapshot)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read, and earlier ids are not valid: %w", path, err)
	}
	return e, e.CarriedOver()
}

// stored is the last line of a snapshot file: how far the log was read that the state is of. Sum is the checksum of the
// lines before it, so that a damaged state has no position.
type stored struct {
	follow.Position
	Sum uint64 `json:"sum"`
}

// split returns the snapshot in a file, and the position in the log, the zero value if that is not known.
func split(file []byte) ([]byte, follow.Position) {
	lines := bytes.SplitAfterN(file, []byte("\n"), 3)
	last := lines[len(lines)-1]
	snapshot, at := file[:len(file)-len(last)], stored{}
	if len(lines) < 3 || len(last) == 0 {
		return file, at.Position
	}
	if json.Unmarshal(last, &at) != nil || at.Sum != xxhash.Sum64(snapshot) {
		at = stored{}
	}
	return snapshot, at.Position
}

// Position returns how far the log was read that the state in a snapshot file is of, the zero value if that is not
// known: for [follow.Config].
func Position(file string) follow.Position {
	data, _ := statefile.ReadFile(file)
	_, at := split(data)
	return at
}
