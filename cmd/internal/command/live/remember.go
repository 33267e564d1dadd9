package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/cmd/internal/command"
	"github.com/heedlog/heed/cmd/internal/history"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/report/replay"
	"github.com/heedlog/heed/internal/report/summary"
)

// keepEvery bounds how much of a session is lost if its heed is killed; it is shorter in tests.
var keepEvery = time.Second

// keepAgain is how long heed waits after an error of the history; it is shorter in tests.
var keepAgain = time.Minute

// keepWait bounds how long heed waits for another process at the history. A summary that was not written is written
// later, unless heed ends.
const keepWait = 2 * time.Second

// maxOpened bounds the items that wait for facts from the history, maxEnded the runs that wait to be kept.
const (
	maxOpened = 64
	maxEnded  = 16
)

// keeper remembers a session as it runs. The database is written and read by keep and close alone, without the lock, so
// that a slow disk, or another process at the same file, delays no entry.
type keeper struct {
	h       *host
	history *history.History // nil: it could not be opened
	path    string           // of its file, "" for the usual one
	news    chan struct{}    // has one if something is to be written

	mu     sync.Mutex
	there  bool     // the log was there before heed
	run    *gameRun // nil before the first entry
	ended  []kept   // runs that ended since the history was written last
	opened []string // items for which the history was not asked yet

	unwritten bool // the latest write failed; of keep and close
}

// gameRun is a game from its beginning to its end, as its log shows them.
type gameRun struct {
	replay  *report.Replay
	scrub   *report.Scrubber
	bytes   *logBytes
	began   capture.Environment
	mods    report.Environment // those that were listed
	lines   int
	there   bool // its log was before heed: when it began is not known
	begun   bool // something was observed but restarts
	changed bool // since it was summarized

	// For who writes the history.
	id        int64 // 0 while nothing was kept
	forgotten bool  // a person had it forgotten
}

// kept is the part of a run that the history keeps.
type kept struct {
	*gameRun
	summary *summary.Session
	at      time.Time
	running bool
}

// openHistory opens the history if sessions are to be remembered, and starts to keep this one. A history that cannot be
// opened is reported, and keeps no game from starting.
func (h *host) openHistory() error {
	f := &h.flags.remember
	if !f.Remember || f.History == command.HistoryOff {
		return nil
	}
	k := &keeper{h: h, path: f.History, news: make(chan struct{}, 1)}
	k.opens()
	if h.follower != nil && !h.source.follow.NewRun {
		info, err := os.Stat(h.follower.Status().Path)
		k.there = err == nil && info.Size() > 0
	}
	h.keeper = k
	h.session.OnObserved(k.observe)
	h.session.OnUpdates(k.updates)
	h.closers = append(h.closers, k.close)
	return nil
}

// opens opens the history unless it is open, and reports whether it is.
func (k *keeper) opens() bool {
	if k.history != nil {
		return true
	}
	path, err := files.History(k.path, k.h.Getenv)
	if err == nil {
		k.history, err = k.h.program.openHistory(context.Background(), path) // that it is whole is not of the command alone
	}
	if err != nil {
		k.lost(fmt.Errorf("nothing is remembered: %w", err))
	}
	return err == nil
}

// lost reports that the session is not remembered.
func (k *keeper) lost(err error) {
	k.unwritten = true
	k.h.lost("history.stopped", err)
}

// begin begins a run.
func (k *keeper) begin() {
	r := &gameRun{
		scrub: command.OwnScrubber(k.h.Getenv, false), bytes: &logBytes{hasher: summary.NewHasher()},
		there: k.there,
	}
	k.there = false
	if k.h.follower != nil {
		r.bytes.path = k.h.follower.Status().Path
		r.bytes.name = r.bytes.path
		r.bytes.open()
	}
	r.replay = report.New((&replay.Replay{Engine: k.h.session.Engine()}).Report(r.bytes.path, r.scrub))
	k.run = r
}

// observe takes an entry.
func (k *keeper) observe(rec *capture.Record, o *heed.Outcome) {
	k.mu.Lock()
	defer k.mu.Unlock()
	restarted := rec.Kind == event.KindNotice && rec.Status == event.StatusRestarted
	if k.run == nil || restarted && k.run.begun {
		k.end()
		k.begin()
	}
	k.run.changed, k.run.begun = true, k.run.begun || !restarted
	k.run.learn(rec)
	if o.Seq > 0 { // else it is in the state from before a restart
		k.run.replay.Observe(rec, o)
	}
	k.notify()
}

// learn notes the facts of a record about the game and its log.
func (r *gameRun) learn(rec *capture.Record) {
	r.lines = max(r.lines, rec.EndLine)
	r.began.Observe(rec)
	if rec.IsLog() {
		r.bytes.open()
	}
	if list := rec.Mods; list != nil {
		mods := list.AppendTo(r.mods.Mods)
		r.mods.Mods = mods[:min(len(mods), summary.MaxMods)]
		r.mods.MoreMods += list.Omitted + len(mods) - len(r.mods.Mods)
	}
}

// updates takes changes of attention.
func (k *keeper) updates(all []heed.Update) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range all {
		if k.run != nil {
			k.run.replay.Update(&all[i])
			k.run.changed = true
			k.notify()
		}
		if all[i].Kind == coalesce.Opened && len(k.opened) < maxOpened {
			k.opened = append(k.opened, all[i].Item.ID)
		}
	}
}

// keep writes news at once, and with a pause of keepEvery between two writes.
func (k *keeper) keep(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-k.news:
			k.write()
		}
		pause := keepEvery
		if k.unwritten {
			pause = keepAgain
			k.notify()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// notify wakes keep.
func (k *keeper) notify() {
	select {
	case k.news <- struct{}{}:
	default:
	}
}

// close keeps the session as an ended one.
func (k *keeper) close() error {
	k.mu.Lock()
	k.end()
	k.run = nil
	k.mu.Unlock()
	k.write()
	if k.history == nil {
		return nil
	}
	return k.history.Close()
}

// end ends the run.
func (k *keeper) end() {
	if k.run == nil {
		return
	}
	k.run.bytes.ended()
	if len(k.ended) < maxEnded {
		k.ended = append(k.ended, k.summarize(false))
	} else {
		k.h.log.Error("a run of the game is not remembered: too many ended within a second")
	}
	k.run.bytes.close()
}

// summarize returns the summary of the run.
func (k *keeper) summarize(running bool) kept {
	engine, r := k.h.session.Engine(), k.run
	end := report.End{Stats: engine.Stats(), Open: engine.Open(nil), Environment: r.mods, Lines: r.lines}
	end.Environment.Facts = r.began.Facts()
	if k.h.follower != nil && r.bytes.digested == 0 { // a file that has just begun is reported after that
		r.bytes.part = k.h.follower.Status().Skipped > 0
		end.Headless = r.bytes.part && !k.h.source.follow.NewRun // else the earlier lines are of an earlier run
	}
	r.replay.End(end)
	r.changed = false
	s := replay.Summarize(r.replay, r.scrub, k.h.session.Rules(), r.bytes.log())
	if r.there {
		s.Began = time.Time{}
	}
	return kept{r, s, r.bytes.written(k.h.Now()), running}
}

// write writes news to the history, and adds its facts to the items that opened.
func (k *keeper) write() {
	if !k.opens() {
		return
	}
	k.mu.Lock()
	all, opened := slices.Clone(k.ended), k.opened
	if k.run != nil && k.run.changed {
		all = append(all, k.summarize(true))
	}
	k.mu.Unlock()
	for i := range all {
		err := k.put(&all[i])
		k.mu.Lock()
		if err != nil {
			all[len(all)-1].changed = true // it is written again, if it runs
		} else if !all[i].running {
			k.ended = k.ended[1:]
		}
		k.mu.Unlock()
		if err != nil {
			k.lost(notRemembered(err))
			return
		}
	}
	if len(all) == 0 {
		return
	}
	if k.unwritten {
		k.unwritten = false
		k.h.lost("history.stopped", nil)
	}
	k.mu.Lock()
	k.opened = k.opened[len(opened):]
	k.mu.Unlock()
	k.know(opened, all[len(all)-1].summary)
}

func notRemembered(err error) error { return fmt.Errorf("the session is not remembered: %w", err) }

// put writes a run to the history.
func (k *keeper) put(r *kept) (err error) {
	ctx := context.Background()
	switch {
	case r.forgotten:
	case r.id == 0:
		if r.id, err = k.history.Remember(ctx, r.summary, r.at, true); err != nil || r.running {
			break
		}
		fallthrough
	default:
		err = k.history.Update(ctx, r.id, r.summary, r.at, r.running)
		if errors.Is(err, history.ErrUnknown) {
			r.forgotten, err = true, nil
		}
	}
	return err
}

// know adds the facts of the history to items.
func (k *keeper) know(opened []string, s *summary.Session) {
	engine := k.h.session.Engine()
	for _, id := range opened {
		a, ok := engine.Item(id)
		if !ok || len(a.Sample) == 0 {
			continue
		}
		known, err := k.history.Known(context.Background(), s, engine.Group(a.Sample[0].Signature).ID)
		if err != nil {
			k.lost(notRemembered(err))
			return
		}
		engine.Know(id, known)
	}
}

// logBytes identifies a log that grows.
type logBytes struct {
	name     string
	path     string // where it is opened; "" for nowhere
	part     bool   // its beginning was not read: the session is one of its own
	file     *os.File
	hasher   *summary.Hasher
	digested int64
}

// open opens the log, which may not be there yet.
func (b *logBytes) open() {
	if b.file == nil && b.path != "" {
		b.file, _ = os.Open(b.path) // without it the session is one of its own
	}
}

// log returns the log as long as it is now.
func (b *logBytes) log() summary.Log {
	if b.open(); b.file != nil && !b.part {
		n, _ := io.Copy(b.hasher, b.file) // what cannot be read now may be later
		b.digested += n
	}
	return b.hasher.Log(b.name)
}

// written returns when the log was written last, or now if that is not known.
func (b *logBytes) written(now time.Time) time.Time {
	if b.file != nil {
		if info, err := b.file.Stat(); err == nil && info.ModTime().Before(now) {
			return info.ModTime()
		}
	}
	return now
}

// ended ends the log. If another run began in its file, the file now belongs to that run. A renamed file still belongs
// to this one.
func (b *logBytes) ended() {
	if b.file == nil {
		b.path = "" // it may be another's by now
		return
	}
	mine, err := b.file.Stat()
	if now, nowErr := os.Stat(b.path); err == nil && nowErr == nil && os.SameFile(mine, now) && mine.Size() < b.digested {
		b.close()
		b.path = ""
	}
}

func (b *logBytes) close() {
	if b.file != nil {
		_ = b.file.Close() // only read from
		b.file = nil
	}
}
