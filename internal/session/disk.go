package session

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heedlog/heed"
)

// disk keeps the engine's state in a file. What must be there is there before it is
// told: an item's id before anybody hears of it, an acknowledgement before it is
// answered. All else is saved now and then.
type disk struct {
	path string
	s    *Session

	known atomic.Pointer[map[string]struct{}] // items that were open at the latest snapshot
	saved atomic.Uint64                       // entries that are in it

	mu   sync.Mutex       // of the file
	open []heed.Attention // reused

	refused error // why the file that was there was not restored

	stateMu sync.Mutex
	saves   uint64
	failed  uint64
	err     error // of the latest save
	at      time.Time
}

func (d *disk) init(s *Session, refused error) {
	d.path, d.s, d.refused = s.cfg.Snapshot, s, refused
	d.known.Store(&map[string]struct{}{})
	if s.restored {
		d.known.Store(d.note())
	}
}

// note returns the items that a snapshot has which is taken from now on, or was
// just restored. One that was open once and is no longer was told then.
func (d *disk) note() *map[string]struct{} {
	d.open = d.s.engine.Open(d.open[:0])
	known := make(map[string]struct{}, len(d.open))
	for i := range d.open {
		known[d.open[i].ID] = struct{}{}
	}
	return &known
}

// has reports whether the item called id needs no snapshot to be told of.
func (d *disk) has(id string) bool {
	_, ok := (*d.known.Load())[id]
	return ok
}

// keep returns when the item called id is on disk, or cannot be: what fails is
// logged and shown in the status, and holds nobody back.
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

// upTo returns when the entry with a sequence number is on disk, and all before
// it, or cannot be.
func (d *disk) upTo(seq uint64) {
	if d.path == "" || d.saved.Load() >= seq {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.saved.Load() < seq {
		d.saveLocked()
	}
}

// saveLocked writes a snapshot. Where that fails, what it has counts as told all the
// same: it is tried again when something else is to be told, and now and then.
func (d *disk) saveLocked() {
	known := d.note()
	seq := d.s.engine.Latest().Seq
	err := saveSnapshot(d.path, d.s.engine)
	d.known.Store(known)
	d.stateMu.Lock()
	defer d.stateMu.Unlock()
	if err != nil {
		d.failed++
		if d.err == nil {
			d.s.log.Error("the snapshot cannot be written: ids will not hold over a restart", "file", d.path, "error", err)
		}
	} else {
		if d.err != nil {
			d.s.log.Info("the snapshot is written again", "file", d.path)
		}
		d.saves++
		d.saved.Store(seq)
		d.at = d.s.now()
	}
	d.err = err
}

// saveNowAndThen saves what need not be on disk at once.
func (s *Session) saveNowAndThen(ctx context.Context) {
	every(ctx, s.cfg.SnapshotEvery, func() { s.disk.upTo(s.engine.Latest().Seq) })
}
