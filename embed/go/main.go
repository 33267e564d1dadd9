// Program farm is a Go host to start from: its tools and a resource are served over GABP, and heed is in it. With
// arguments it is a bridge that calls the host.
//
//	export GABP_SERVER_PORT=8642 GABP_TOKEN=$(openssl rand -hex 32)
//	farm &
//	farm field/sow '{"field":3}'
//	farm read farm://fields
//	farm ack 1
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/embed/hostlog"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/gabp/gate"
	"github.com/heedlog/heed/rules"
)

// The host decides which texts block: one rule for each text after which an agent must look first.
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	bridge, err := gabp.FindBridge(os.Getenv, "farm") // a bridge sets the environment of a host that it starts
	switch {
	case err != nil:
	case len(os.Args) > 1:
		err = ask(ctx, bridge, os.Args[1:], os.Stdout)
	default:
		var listener net.Listener
		if listener, err = gabp.Listen(ctx, bridge.Address); err == nil {
			err = run(ctx, listener, bridge.Token, "farm.heed")
		}
	}
	if err != nil {
		log.Fatal(err)
	}
}

// run serves the tools until ctx is done. stateFile keeps the knowledge of heed between two runs.
func run(ctx context.Context, listener net.Listener, token, stateFile string) error {
	engine, err := open(stateFile)
	if err != nil {
		return err
	}
	engine.StateRead()              // tools with the tag read-only report further reads
	hostlog.SetDefault(engine, nil) // slog and log go on writing where they did
	r := &reporter{engine: engine, attention: &gabp.Attention{Engine: engine}, stateFile: stateFile}
	server, err := newServer(r, token)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var running sync.WaitGroup
	running.Go(func() { r.drain(ctx) })
	err = server.Serve(ctx, listener) // returns once the calls in progress have ended
	stop()
	running.Wait()
	r.report()
	return errors.Join(err, r.save())
}

// open returns an engine that continues from the end of the last run, or a new one.
func open(stateFile string) (*heed.Engine, error) {
	own := rules.File{Name: "farm.yaml", Data: []byte(ownRules), Today: time.Now().UTC().Format(time.DateOnly)}
	set, err := rules.Compile(append([]rules.File{own}, rules.Defaults()...)...)
	if err != nil {
		return nil, err
	}
	if state, err := os.ReadFile(stateFile); err == nil {
		engine, err := heed.Restore(heed.Config{Rules: set, Family: "plain"}, state)
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
	return heed.New(heed.Config{Rules: set, Family: "plain", Epoch: strconv.FormatInt(time.Now().UnixNano(), 36)})
}

// reporter passes updates to bridges and to a person. It saves them first, for the case that the program is killed.
type reporter struct {
	mu        sync.Mutex
	engine    *heed.Engine
	attention *gabp.Attention
	stateFile string
}

// save replaces the file, so that it is never half written.
func (r *reporter) save() error {
	if err := os.WriteFile(r.stateFile+".new", r.engine.Snapshot(nil), 0o600); err != nil {
		return err
	}
	return os.Rename(r.stateFile+".new", r.stateFile)
}

// drain passes on updates. It also passes the time to the engine, which has no clock.
func (r *reporter) drain(ctx context.Context) {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			r.engine.Advance(now)
			r.report()
		}
	}
}

// report passes on the updates that there are. It does not log: heed would read its lines.
func (r *reporter) report() {
	r.mu.Lock()
	defer r.mu.Unlock()
	updates := r.engine.Updates(nil)
	if len(updates) > 0 {
		if err := r.save(); err != nil {
			fmt.Fprintln(os.Stderr, "heed:", err)
		}
	}
	for _, u := range updates {
		fmt.Fprintln(os.Stderr, "heed:", u.Kind, u.Item.ID, u.Item.Summary)
	}
	r.attention.Pump(updates)
}

// newServer returns a server of the tools, a resource and the items of heed.
func newServer(r *reporter, token string) (*gabp.Server, error) {
	g, err := gate.New(gate.Config{Source: gate.Engine(r.engine, time.Now)})
	if err != nil {
		return nil, err
	}
	f := &farm{gate: g, reporter: r}
	tools, resources := &gabp.Tools{Around: f.around}, new(gabp.Resources)
	err = errors.Join(
		gabp.AddTool(tools, gabp.Tool{Name: "field/sow", Description: "Sows wheat."}, f.sow),
		gabp.AddTool(tools, gabp.Tool{Name: "field/flood", Description: "Floods a field."}, f.flood),
		gabp.AddTool(tools, gabp.Tool{Name: "field/read", Description: "Reads a crop.", Tags: []string{"read-only"}}, f.read),
		resources.Add(gabp.Resource{URI: "farm://fields", Description: "The crop of each field."}, f.fields),
	)
	if err != nil {
		return nil, err
	}
	mux := new(gabp.Mux)
	server, err := gabp.NewServer(gabp.ServerConfig{
		Token: token, AgentID: "farm", App: gabp.App{Name: "Farm", Version: "1"}, Mux: mux,
	})
	if err != nil {
		return nil, err
	}
	r.attention.Publish = server.Publish // for events, too
	r.attention.Register(mux)
	tools.Register(mux)
	resources.Register(mux)
	return server, nil
}

// farm is the program itself.
type farm struct {
	gate     *gate.Gate
	reporter *reporter
	mu       sync.Mutex
	crops    [10]string
}

// The schemas of the tools are made of these types.
type (
	place struct {
		Field int `json:"field" minimum:"0" jsonschema:"The number of the field."`
	}
	answer struct {
		Crop    string `json:"crop"`
		Verdict string `json:"verdict,omitempty" jsonschema:"What the log shows of the call."`
	}
)

// around runs a tool, unless something holds it back. Its answer has the verdict of heed. An item that an answer names
// is saved before.
func (f *farm) around(ctx context.Context, c *gabp.Call, tool func() (any, error)) (any, error) {
	defer f.reporter.report()
	d := f.gate.Check(ctx, gate.Call{ID: c.ID, Tool: c.Tool.Name, Tags: c.Tool.Tags, Consumer: c.Session.Consumer})
	if !d.Allowed {
		return nil, gabp.Errorf(gabp.CodeToolUnavailable, "%s", d.Refusal) // the tool must not run
	}
	status, text := event.StatusCompleted, ""
	result, err := guard(c.ID, tool)
	if err != nil {
		status, text = event.StatusFailed, err.Error()
	}
	done := f.gate.Done(ctx, d, status, text)
	if a, ok := result.(*answer); ok && err == nil {
		a.Verdict = done.Verdict.Text
	}
	return result, err
}

// guard runs a tool, and logs a panic. The attribute operation says for sure which call a record belongs to.
func guard(id string, tool func() (any, error)) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			slog.Error(fmt.Sprintf("panic recovered: %v\n%s", r, debug.Stack()), "operation", id)
			err = gabp.Errorf(gabp.CodeToolFailed, "the tool panicked")
		}
	}()
	return tool()
}

func (f *farm) sow(_ context.Context, c *gabp.Call, at place) (*answer, error) {
	slog.Info("sown", "field", at.Field, "operation", c.ID)
	return f.plant(at, "wheat"), nil
}

func (f *farm) flood(_ context.Context, c *gabp.Call, at place) (*answer, error) {
	slog.Error("field lost", "field", at.Field, "operation", c.ID)
	return f.plant(at, ""), nil
}

func (f *farm) plant(at place, crop string) *answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.crops[at.Field] = crop // panics if the field does not exist
	return &answer{Crop: crop}
}

func (f *farm) read(_ context.Context, _ *gabp.Call, at place) (*answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &answer{Crop: f.crops[at.Field]}, nil
}

func (f *farm) fields(context.Context, *gabp.Request) (gabp.ResourceContent, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return gabp.ResourceContent{Content: f.crops, MIMEType: "application/json"}, nil
}

// ask is the bridge: it calls a tool, reads a resource or acknowledges an item. Its gate asks the host before each call
// and does not send a call that is held back. The gate of the host holds back the bridges that do not ask.
func ask(ctx context.Context, bridge gabp.Bridge, args []string, out io.Writer) error {
	if len(args) != 2 {
		return errors.New("want a tool and its arguments, or read and a URI, or ack and an item, by its id or its number")
	}
	client, err := gabp.Dial(ctx, bridge.Address, gabp.ClientConfig{Token: bridge.Token, Name: "farmer"})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	source := gate.Remote(client, client.Welcome().Capabilities.Methods)
	g, err := gate.New(gate.Config{Source: source, Allow: []string{"field/read"}})
	if err != nil {
		return err
	}
	var result json.RawMessage
	switch args[0] {
	case "ack":
		res, err := g.Ack(ctx, "", args[1], 0)
		switch {
		case err != nil:
		case !res.Acknowledged:
			err = fmt.Errorf("no item %s; the current one is %s", args[1], cmp.Or(res.Current.ID, "none"))
		default:
			_, err = fmt.Fprintln(out, "acknowledged:", res.Acknowledged)
		}
		return err
	case "read":
		err = client.Call(ctx, gabp.MethodResourcesRead, map[string]string{"uri": args[1]}, &result)
	default:
		d := g.Check(ctx, gate.Call{Tool: args[0]})
		if !d.Allowed {
			return errors.New(d.Refusal)
		}
		result, err = client.CallTool(ctx, args[0], json.RawMessage(args[1]))
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", result)
	return err
}
