package live

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/store"
)

// disk keeps the engine's state in a file. What must be there is there before it is
// told: an item's id before anybody hears of it, an acknowledgement before it is
// answered. All else is saved now and then.
type disk struct {
	path string
	s    *Session

	mu    sync.Mutex
	known map[string]struct{} // items that were open at the latest snapshot
	open  []heed.Attention    // reused

	saves   atomic.Uint64
	saved   atomic.Uint64 // received by the engine before the latest snapshot
	failed  atomic.Uint64
	refused error
	errMu   sync.Mutex
	err     error // of the latest save
	at      time.Time
}

func (d *disk) init(s *Session, refused error) {
	d.path, d.s, d.refused = s.cfg.Snapshot, s, refused
	if s.restored {
		d.note()
	}
}

// note notes which items a snapshot has that is taken from now on, or was just
// restored. An item that was open once and is no longer was told then.
func (d *disk) note() {
	d.open = d.s.engine.Open(d.open[:0])
	d.known = make(map[string]struct{}, len(d.open))
	for i := range d.open {
		d.known[d.open[i].ID] = struct{}{}
	}
}

// keep returns when the item called id is on disk, or cannot be: what fails is
// logged and shown in the status, and holds nobody back.
func (d *disk) keep(id string) {
	if d.path == "" || id == "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.known[id]; !ok {
		d.saveLocked()
	}
}

// save writes a snapshot.
func (d *disk) save() {
	if d.path == "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.saveLocked()
}

func (d *disk) saveLocked() {
	d.note()
	seq := d.s.engine.Latest().Seq
	err := store.Save(d.path, d.s.engine)
	d.errMu.Lock()
	defer d.errMu.Unlock()
	switch {
	case err != nil:
		d.failed.Add(1)
		if d.err == nil {
			d.s.log.Error("the snapshot cannot be written: ids will not hold over a restart", "file", d.path, "error", err)
		}
	default:
		if d.err != nil {
			d.s.log.Info("the snapshot is written again", "file", d.path)
		}
		d.saves.Add(1)
		d.saved.Store(seq)
		d.at = d.s.now()
	}
	d.err = err
}

// saveNowAndThen saves what need not be on disk at once.
func (s *Session) saveNowAndThen(ctx context.Context) {
	t := time.NewTicker(s.cfg.SnapshotEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if s.engine.Latest().Seq != s.disk.saved.Load() {
				s.disk.save()
			}
		}
	}
}
