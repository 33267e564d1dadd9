package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
)

// After these times without a sign of life the game is frozen: with a call before the mod, without a call, and while
// the log reports a long load.
const (
	frozenInCall = 15 * time.Second
	frozenIdle   = time.Minute
	frozenBusy   = 5 * time.Minute

	// After these heed asks the mod for a sign of life, one question at a time.
	askInCall = 5 * time.Second
	askIdle   = 30 * time.Second

	lookEvery = 250 * time.Millisecond
)

// methodPing is asked of a mod that lists it.
const methodPing = "session/ping"

// savePhase is the phase of a game that saves, by its usual name, in which it may be silent.
const savePhase = "save"

// watch watches for signs of life of the game, and reports to the session when there are none and when there are some
// again. Answers to bridges and events of the mod are signs, and growth of the log. A silent game is asked, while a
// bridge is connected: an answer to that is a sign if no call waits; if one does, it shows that the mod lives,
// and not the game. A silence of any length is reported once, and once more if a call waits in it.
type watch struct {
	*Proxy

	now func() time.Time // time.Now, whose monotonic reading counts

	asking  atomic.Bool    // a question of heed's is before the mod
	asks    sync.WaitGroup // questions that have not ended
	replies atomic.Uint64  // to them, and to lists
	frozen  atomic.Bool    // it was reported

	// Used by run only. Times count while heed runs.
	signs   signs
	replied uint64        // replies so far
	quiet   time.Duration // since the latest sign of life or reply
	asked   time.Duration // of it, since heed's first question
	inCall  time.Duration // since the latest sign of life, with a call before the mod
	call    uint64        // the latest of those calls
	newCall time.Duration // of inCall, since that call
	told    uint64        // the latest call that was reported
	alive   bool          // the mod has replied within inCall
	deaf    bool          // in the reported silence the mod did not reply
}

// signs changes with each sign of life.
type signs struct {
	heard         uint64
	offset, bytes int64
}

// run watches until ctx is done or no mod will come any more.
func (w *watch) run(ctx context.Context) {
	defer w.asks.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w.frozen.Store(w.session.Status().Restored) // the restored state may be of a silent game
	tick := time.Tick(lookEvery)
	for last := w.now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-w.mod.expected.Done():
			return
		case <-tick:
		}
		// The time for which heed itself was stopped is no silence of the game's.
		now := w.now()
		w.look(ctx, min(now.Sub(last), 4*lookEvery))
		last = now
	}
}

// look looks for signs of life since the latest look, before which heed ran for a while.
func (w *watch) look(ctx context.Context, ran time.Duration) {
	st := w.session.Status()
	now := signs{heard: w.mod.heard.Load()}
	if st.Log != nil {
		now.offset, now.bytes = st.Log.Offset, st.Log.Size
	}
	before, waiting := w.call, w.mod.calls.waiting()
	w.call = waiting
	if now != w.signs {
		w.signs, w.replied, w.alive = now, w.replies.Load(), false
		w.rest()
		w.answers()
		return
	}
	if n := w.replies.Load(); n != w.replied {
		w.replied, w.alive = n, true
		w.quiet, w.asked = 0, 0
		if waiting == 0 || w.deaf {
			w.answers()
		}
	}
	if st.Engine.Busy {
		w.rest()
		return
	}
	w.quiet += ran
	w.inCall, w.newCall = w.inCall+ran, w.newCall+ran
	if before == 0 || waiting == 0 {
		w.inCall, w.alive = 0, false
	}
	if before != waiting {
		w.newCall = 0
	}
	client := w.mod.client.Load()
	mute := client == nil && w.mod.mute.Load()
	switch {
	case waiting == 0 && (w.agents.Load() == 0 || client == nil && !mute):
		w.asked = 0
		return
	case mute: // the question is its hello
		w.asked = max(w.asked+ran, askTimeout)
	case w.asked > 0 || w.asking.Load():
		w.asked += ran
	}
	if client != nil && (w.quiet >= askIdle || w.inCall >= askInCall && !w.alive) &&
		w.asking.CompareAndSwap(false, true) {
		w.asks.Go(func() { w.ask(ctx, client) })
	}
	if w.overdue(st.Engine.Phase) {
		w.report(mute, st.Log != nil)
	}
}

// rest expects nothing of the time so far.
func (w *watch) rest() { w.quiet, w.asked, w.inCall, w.newCall = 0, 0, 0, 0 }

// overdue reports whether a sign of life should have come.
func (w *watch) overdue(phase string) bool {
	inCall, idle := frozenInCall, frozenIdle
	if phase == savePhase || phase != "" && !started(phase) && !w.mod.came.Load() {
		inCall, idle = frozenBusy, frozenBusy
	}
	frozen := w.frozen.Load()
	if w.inCall >= inCall && w.call > w.told && (!frozen || w.newCall >= inCall) {
		return true
	}
	return !frozen && w.quiet >= idle && w.asked >= idle-askIdle
}

// report reports a silence.
func (w *watch) report(mute, hasLog bool) {
	silent := w.quiet
	var b strings.Builder
	if w.inCall > 0 {
		silent = w.inCall
		b.WriteString("a call waits, and ")
	}
	fmt.Fprintf(&b, "for %d s the mod has sent no answer and no event", int(silent.Seconds()))
	if hasLog {
		b.WriteString(", and the log has not grown")
	}
	switch {
	case mute:
		b.WriteString("; it accepts connections and answers no hello")
	case w.asked == 0:
		b.WriteString("; it answers what heed itself asks: the game hangs, or works on the call")
	default:
		fmt.Fprintf(&b, "; nor has it answered heed, which asked %d s ago", int(w.asked.Seconds()))
	}
	w.deaf, w.told = mute || w.asked > 0, max(w.told, w.call)
	w.frozen.Store(true)
	w.log.Warn("the game does not answer", "detail", b.String())
	w.session.Observe(event.State{Status: event.StatusStall, Detail: b.String()}.Entry())
}

// answers reports that a silent game answers again. It is called before the answer is processed.
func (w *watch) answers() {
	if w.frozen.CompareAndSwap(true, false) {
		w.session.Observe(event.State{Status: event.StatusRecovered, Detail: "the game answers again"}.Entry())
	}
}

// ask asks the mod for a sign of life. Any answer is one.
func (w *watch) ask(ctx context.Context, client *gabp.Client) {
	defer w.asking.Store(false)
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	method := gabp.MethodToolsList
	if slices.Contains(client.Welcome().Capabilities.Methods, methodPing) {
		method = methodPing
	}
	_, err := client.CallRaw(ctx, method, json.RawMessage(`{}`))
	w.reply(err)
	if !isAnswer(err) {
		w.log.Debug("the mod was asked for a sign of life", "error", err)
	}
}

// reply counts an answer of the mod, as far as the error is one, that its library may have given while the game hangs.
func (w *watch) reply(err error) {
	if isAnswer(err) {
		w.replies.Add(1)
	}
}
