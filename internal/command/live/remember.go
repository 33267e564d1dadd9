package live

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/history"
	"github.com/heedlog/heed/internal/command"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/session"
	"github.com/heedlog/heed/report"
	"github.com/heedlog/heed/summary"
)

// keepEvery is how much of a session is lost where its heed is killed.
const keepEvery = time.Second

// maxOpened bounds the items that wait for what the history knows of them.
const maxOpened = 64

// keeper remembers a session as it runs.
type keeper struct {
	history *history.History
	log     *slog.Logger
	now     func() time.Time

	mu       sync.Mutex
	session  *session.Session // nil while that begins: what it says then is of no game
	follower *follow.Follower // nil without a log
	lengths  []uint64
	replay   *report.Replay
	scrub    *report.Scrubber
	record   *capture.Record // that is observed
	bytes    *logBytes
	id       int64    // in the history; 0 while nothing was kept
	opened   []string // items of which the history was not asked yet
	changed  bool
	warned   bool
}

// newKeeper opens the history where what is followed is to be remembered, and returns nil where it is not. A game is
// followed all the same.
func (p *program) newKeeper(f *command.RememberFlags, log *slog.Logger) *keeper {
	if !f.Remember || f.History == command.HistoryOff {
		return nil
	}
	path, err := f.History, error(nil)
	if path == "" {
		path, err = files.History(p.Getenv)
	}
	k := &keeper{log: log, now: p.Now}
	ctx := context.Background() // it is not of the command alone that the history is whole
	if err == nil {
		k.history, err = command.OpenHistory(ctx, p.Program, path)
	}
	if err == nil {
		k.lengths, err = k.history.Lengths(ctx)
	}
	if err != nil {
		p.Note("nothing is remembered: %v", err)
		return nil
	}
	return k
}

// attach lets the keeper remember what comes from now on.
func (k *keeper) attach(s *session.Session, f *follow.Follower) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.session, k.follower = s, f
	s.OnUpdates(k.updates)
}

// begin begins a session.
func (k *keeper) begin() error {
	engine := k.session.Engine()
	k.scrub = &report.Scrubber{}
	path := ""
	if k.follower != nil {
		path = k.follower.Status().Path
	}
	var err error
	k.replay, err = report.New(report.Config{
		File: path, Template: engine.Template, Group: engine.Group, Mod: engine.Mod, Scrub: k.scrub,
		Rule:  command.RuleTexts(k.session.Rules()),
		Blame: func() []heed.Suspect { return engine.Blame(&k.record.Entry) },
	})
	k.bytes.close()
	k.bytes, k.id, k.changed = &logBytes{path: path, hasher: summary.NewHasher(k.lengths)}, 0, false
	return err
}

// observe takes an entry.
func (k *keeper) observe(rec *capture.Record, o *heed.Outcome) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.session == nil {
		return
	}
	if rec.Kind == event.KindNotice && rec.Status == event.StatusRestarted && k.changed || k.replay == nil {
		if k.replay != nil {
			k.keep(false)
		}
		if err := k.begin(); err != nil {
			k.warn(err)
			return
		}
	}
	k.record, k.changed = rec, true
	k.replay.Observe(rec, o)
}

// updates takes changes of attention.
func (k *keeper) updates(all []heed.Update) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range all {
		if k.replay != nil {
			k.replay.Update(&all[i])
		}
		if all[i].Kind == coalesce.Opened && len(k.opened) < maxOpened {
			k.opened = append(k.opened, all[i].Attention.ID)
		}
	}
}

// run keeps what is new every second.
func (k *keeper) run(ctx context.Context) error {
	ticks := time.NewTicker(keepEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
			k.mu.Lock()
			if k.changed {
				k.tell(k.keep(true))
			}
			k.mu.Unlock()
		}
	}
}

// close keeps the session as one that has ended.
func (k *keeper) close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.replay != nil {
		k.keep(false)
		k.bytes.close()
	}
	return k.history.Close()
}

// tell lets the items that opened say what the history knows of them.
func (k *keeper) tell(s *summary.Session) {
	engine := k.session.Engine()
	for _, id := range k.opened {
		a, ok := engine.Item(id)
		if !ok || len(a.Sample) == 0 {
			continue
		}
		known, err := command.Known(context.Background(), k.history, s, engine.Group(a.Sample[0].Signature).ID)
		if err != nil {
			k.warn(err)
			break
		}
		engine.Know(id, known)
	}
	k.opened = k.opened[:0]
}

// keep keeps what is known of the session, and returns that.
func (k *keeper) keep(running bool) *summary.Session {
	engine := k.session.Engine()
	end := report.End{
		Stats: engine.Stats(), Open: engine.Open(nil),
		Environment: report.Environment{Facts: k.session.Environment(), Mods: k.session.Mods()},
	}
	if k.follower != nil {
		end.Lines = int(k.follower.Status().Lines)
	}
	k.replay.End(end)
	s := command.Summarize(k.replay, k.scrub, k.session.Rules(), k.bytes.log())
	ctx, err := context.Background(), error(nil)
	if k.id != 0 {
		err = k.history.Update(ctx, k.id, s, k.now(), running)
	}
	if k.id == 0 || errors.Is(err, history.ErrUnknown) { // a person had it forgotten
		k.id, err = k.history.Remember(ctx, s, k.now(), running)
	}
	k.changed = false
	if err != nil {
		k.warn(err)
	}
	return s
}

// warn logs once that a session is not remembered.
func (k *keeper) warn(err error) {
	if !k.warned {
		k.warned = true
		k.log.Error("the session is not remembered", "error", err)
	}
}

// logBytes identifies a log that grows.
type logBytes struct {
	path   string
	file   *os.File
	hasher *summary.Hasher
}

// log returns the log as long as it is now.
func (b *logBytes) log() summary.Log {
	if b.file == nil && b.path != "" {
		b.file, _ = os.Open(b.path) // without it the session is one of its own
	}
	if b.file != nil {
		_, _ = io.Copy(b.hasher, b.file)
	}
	return b.hasher.Log(b.path)
}

func (b *logBytes) close() {
	if b != nil && b.file != nil {
		_ = b.file.Close() // only read from
	}
}
