// Program farm is a Go host to start from: its tools are called over HTTP, and heed is
// in it.
//
//	curl -X POST localhost:8642/call/field/sow
//	curl -X POST localhost:8642/ack/ID
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gate"
	"github.com/heedlog/heed/hostlog"
	"github.com/heedlog/heed/rules"
)

// What blocks is for the host to say: a rule for each text after which nobody should go on before they looked.
const ownRules = `
version: 1
rules:
  - id: farm.field_lost
    when: template startsWith "field lost"
    disposition: blocking
    invalidates: true
    summary: a field was lost
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	listener, err := net.Listen("tcp", "localhost:8642")
	if err != nil {
		log.Fatal(err)
	}
	if err := run(ctx, listener, "farm.heed"); err != nil {
		log.Fatal(err)
	}
}

// run serves the tools until ctx is done. What heed knows is in stateFile between two runs.
func run(ctx context.Context, listener net.Listener, stateFile string) error {
	engine, err := open(stateFile)
	if err != nil {
		return err
	}
	hostlog.SetDefault(engine, nil) // slog and log go on writing where they did
	g, err := gate.New(gate.Config{Source: gate.Engine(engine, time.Now), Allow: []string{"field/read"}})
	if err != nil {
		return err
	}
	f := &farm{gate: g, started: strconv.FormatInt(time.Now().UnixNano(), 36)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /call/{tool...}", f.call)
	mux.HandleFunc("POST /ack/{id}", f.ack)
	server := http.Server{Handler: mux}

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var running sync.WaitGroup
	running.Go(func() { drain(ctx, engine) })
	running.Go(func() {
		<-ctx.Done()
		_ = server.Shutdown(context.Background()) // once the calls in progress have ended
	})
	err = server.Serve(listener)
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	stop()
	running.Wait()
	tell(engine)
	return errors.Join(err, save(engine, stateFile))
}

// open returns an engine that goes on where the last run ended, or a new one.
func open(stateFile string) (*heed.Engine, error) {
	own := rules.File{Name: "farm.yaml", Data: []byte(ownRules)}
	set, err := rules.Compile(append([]rules.File{own}, rules.Generic()...)...)
	if err != nil {
		return nil, err
	}
	if state, err := os.ReadFile(stateFile); err == nil {
		engine, err := heed.Restore(heed.Config{Rules: set}, state)
		if err == nil {
			if why := engine.CarriedOver(); why != nil {
				slog.Warn("heed", "err", why)
			}
			engine.BeginRun(time.Now())
			return engine, nil
		}
		slog.Warn("heed knows nothing of the last run", "err", err)
	}
	// The epoch makes ids of items unique over runs.
	return heed.New(heed.Config{Rules: set, Epoch: strconv.FormatInt(time.Now().UnixNano(), 36)})
}

// save replaces the file, so that it is never half written.
func save(engine *heed.Engine, stateFile string) error {
	if err := os.WriteFile(stateFile+".new", engine.Snapshot(nil), 0o600); err != nil {
		return err
	}
	return os.Rename(stateFile+".new", stateFile)
}

// drain tells of what changed. It also passes the time to the engine, which has no clock.
func drain(ctx context.Context, engine *heed.Engine) {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			engine.Advance(now)
			tell(engine)
		}
	}
}

// tell is where updates go to an agent or to a person. It does not log: heed would read what it said.
func tell(engine *heed.Engine) {
	for _, u := range engine.Updates(nil) {
		fmt.Fprintln(os.Stderr, "heed:", u.Kind, u.Attention.ID, u.Attention.Summary)
	}
}

type farm struct {
	gate    *gate.Gate
	started string // in ids of calls, so that none is given twice over runs
	calls   atomic.Uint64
}

// call runs a tool, unless something holds it back, and answers with what came of it.
func (f *farm) call(w http.ResponseWriter, r *http.Request) {
	id := fmt.Sprintf("%s-%d", f.started, f.calls.Add(1))
	d := f.gate.Check(r.Context(), gate.Call{ID: id, Tool: r.PathValue("tool"), Consumer: "agent"})
	if !d.Allowed {
		http.Error(w, d.Refusal, http.StatusConflict) // the tool must not run
		return
	}
	status, text := event.StatusCompleted, ""
	if err := execute(d.Call.Tool, slog.With("operation", id)); err != nil {
		status, text = event.StatusFailed, err.Error()
	}
	done := f.gate.Done(r.Context(), d, status, text)
	_, _ = fmt.Fprintf(w, "%s. %s\n%s", status, done.Verdict.Text, text)
}

// ack acknowledges an item, after which calls go on.
func (f *farm) ack(w http.ResponseWriter, r *http.Request) {
	res, err := f.gate.Ack(r.Context(), "agent", r.PathValue("id"), 0)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = fmt.Fprintln(w, "acknowledged:", res.Acknowledged)
}

// execute is the program itself. The operation of its logger says for sure which call a record belongs to.
func execute(tool string, logger *slog.Logger) (err error) {
	defer func() {
		if r := recover(); r != nil {
			logger.Error(fmt.Sprintf("panic recovered: %v\n%s", r, debug.Stack()))
			err = errors.New("the tool panicked")
		}
	}()
	switch tool {
	case "field/sow":
		logger.Info("sown")
	case "field/flood":
		logger.Error("field lost", "field", 7)
	case "field/read":
	default:
		panic("no tool " + tool)
	}
	return nil
}
