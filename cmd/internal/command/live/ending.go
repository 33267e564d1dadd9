package live

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/proc"
	"github.com/heedlog/heed/event"
)

// ending is how a game that heed started comes to its end: asked for by a signal to heed, or not. It is used by one
// goroutine.
type ending struct {
	h       *host
	game    *proc.Process
	output  *output
	signals <-chan os.Signal
	before  uint64 // number of the latest entry when the game was started

	asked  bool        // a signal asked heed to end the game
	passed []os.Signal // others that were passed on
	told   bool        // a waiting bridge learned that no mod comes
	known  bool        // the end was reported
}

// watch waits for the end of the game and all that it started, or of the server, and reports it as soon as it is known.
// Signals are passed to the game; it is killed when it does not end in time.
func (e *ending) watch(ctx context.Context, served <-chan error) error {
	defer e.report()
	for exited := e.game.Exited(); ; {
		select {
		case <-exited:
			exited = nil
			e.drain(ctx) // a signal to the whole tree ends the game before heed has received its own
			if !e.wanted() {
				e.report()
			}
		case <-e.game.Done():
			e.drain(ctx)
			return nil
		case err := <-served:
			e.game.Kill()
			<-e.game.Done()
			return cmp.Or(err, errors.New("heed's server ended"))
		case <-ctx.Done():
			e.asked = true
			e.game.Kill()
			<-e.game.Done()
			return nil
		case sig := <-e.signals:
			e.signal(ctx, sig)
		}
	}
}

// drain handles the signals that have come so far.
func (e *ending) drain(ctx context.Context) {
	for {
		select {
		case sig := <-e.signals:
			e.signal(ctx, sig)
		default:
			return
		}
	}
}

// signal passes a signal on. The second that asks the game to end kills it.
func (e *ending) signal(ctx context.Context, sig os.Signal) {
	e.h.log.Info("passing on a signal", "signal", sig.String())
	switch {
	case !slices.Contains(stops, sig):
		if !slices.Contains(e.passed, sig) {
			e.passed = append(e.passed, sig)
		}
		if err := pass(e.game, sig); err != nil {
			e.h.log.Debug("the signal was not passed on", "error", err)
		}
	case e.asked: // no more patience
		e.game.Kill()
	default:
		e.asked = true
		go e.game.Stop(ctx, sig)
	}
}

// wanted reports whether the game's end came by a signal through heed. An end by another way, such as a task manager,
// cannot be distinguished from a kill for lack of memory, and is a crash.
func (e *ending) wanted() bool {
	return e.asked || slices.Contains(e.passed, e.game.Exit().Signal)
}

// report records the end of the game once, after its output, and answers the bridges that wait for its mod.
func (e *ending) report() {
	if e.known {
		return
	}
	e.known = true
	exit := e.game.Exit()
	e.output.wait(e.h.hurry, tailGrace)
	if err := e.h.session.Sync(e.h.hurry); err != nil {
		e.h.log.Warn("the end of the game's log could not be read", "error", err)
	}
	said := "the game " + exit.String()
	written := e.output.tail()
	if !e.wanted() && exit.Code != 0 {
		e.h.session.Observe(event.State{Status: event.StatusExited, Detail: detail(said, written)}.Entry())
	}
	e.told = e.h.proxy.Ended(bridge.Ending{Text: said, Code: exit.Code, Output: append(e.logged(), written...)})
}

// detail returns the recorded text for the end of a game, with its last lines.
func detail(said string, written []bridge.Output) string {
	if len(written) == 0 {
		return said
	}
	var b strings.Builder
	b.WriteString(said + "; it wrote last:")
	for _, o := range written {
		b.WriteString("\n" + o.From + ": " + o.Text)
	}
	return b.String()
}

// lookBack is how many entries are looked at for the last lines of the log.
const lookBack = 200

// logged returns the last lines that the game logged.
func (e *ending) logged() []bridge.Output {
	engine := e.h.session.Engine()
	latest := engine.Latest().Seq
	from := max(e.before, latest-min(latest, lookBack))
	page := engine.Read(heed.Cursor{Seq: from}, lookBack, heed.Filter{Kinds: []event.Kind{event.KindLog}})
	var text strings.Builder
	for i := range page.Records {
		text.WriteString(page.Records[i].Message + "\n")
	}
	return lastLines("log", text.String())
}

// linger keeps serving for d, so that bridges can read why the game is gone. A signal that would have ended the game
// ends the wait.
func (e *ending) linger(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return
		case sig := <-e.signals:
			if slices.Contains(stops, sig) || slices.Contains(hangups, sig) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
