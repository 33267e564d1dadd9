package proxy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/gate"
	"github.com/heedlog/heed/live"
)

// DefaultModWait is how long a bridge's welcome waits for the mod: less than the half
// minute for which bridges wait for a welcome.
const DefaultModWait = 20 * time.Second

// Config sets up a [Proxy]. Session, Outer and Logger are required.
type Config struct {
	// Session has the engine that decides.
	Session *live.Session

	// Handed is how bridges connect (Outer), and where the mod listens (Inner): an
	// empty address where there is none.
	Handed Handed

	// Dedup is that of the Session's log, see [Feed]. nil: there is no log.
	Dedup *Dedup

	// NoAttention leaves attention to the mod, and holds no call back. Operations
	// and diagnostics remain.
	NoAttention bool

	// ObserveOnly shows attention, and holds no call back.
	ObserveOnly bool

	// Allow and FailOpen are the gate's.
	Allow    []string
	FailOpen bool

	// Tools are heed's own.
	Tools Tools

	// ModWait is how long a welcome waits for the mod at most. A bridge that was
	// welcomed without it is disconnected when the mod answers, so that it comes again
	// and asks for the mod's tools: bridges do that once for a connection. 0 waits for
	// nothing.
	ModWait time.Duration

	// Version is that of the program.
	Version string

	// Observer names clients that are no agents, by what they call themselves: one
	// that looks on is not the agent who arrives. Optional.
	Observer string

	Now    func() time.Time // default time.Now
	Logger *slog.Logger
}

// Proxy is a server for bridges and a client of the mod. Make one with [New].
type Proxy struct {
	cfg    Config
	log    *slog.Logger
	server *gabp.Server
	plane  *gabp.Plane // nil without attention
	source *source
	gate   *gate.Gate
	mod    *mod
	intake *intake

	calls    atomic.Uint64
	inFlight atomic.Int64 // calls that the mod executes
	lost     atomic.Uint64
	odd      atomic.Uint64 // answers of the mod that were passed on unread
	gone     chan struct{} // closed when no mod will come any more
	goneOnce sync.Once
	arrival  sync.Once   // of the first agent
	taken    chan string // attention ids to acknowledge to the mod

	earlyMu sync.Mutex
	early   map[*gabp.ServerSession]struct{} // welcomed without the mod
}

// New returns a proxy for cfg.
func New(cfg Config) (*Proxy, error) {
	if cfg.Session == nil || cfg.Logger == nil {
		return nil, errors.New("proxy: Config.Session and Config.Logger are required")
	}
	if cfg.Tools == nil {
		cfg.Tools = none{}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Dedup == nil {
		cfg.Dedup = NewDedup()
	}
	p := &Proxy{
		cfg: cfg, log: cfg.Logger, mod: newMod(cfg.Handed.Inner, cfg.Logger),
		gone: make(chan struct{}), taken: make(chan string, 1),
		early: map[*gabp.ServerSession]struct{}{},
	}
	p.mod.onEvent, p.mod.onUp, p.mod.onDown = p.onEvent, p.onUp, p.onDown
	s := cfg.Session
	p.intake = newIntake(cfg.Dedup,
		func(l event.Log) { s.Log(l) }, func(o event.Operation) { s.Operation(o) }, cfg.Now)
	if err := p.serving(); err != nil {
		return nil, err
	}
	p.source = &source{Recorder: s.Source(), proxy: p, begun: map[string]string{}}
	var err error
	p.gate, err = gate.New(gate.Config{Source: p.source, Allow: cfg.Allow, FailOpen: cfg.FailOpen, Timeout: gateTimeout})
	return p, err
}

// gateTimeout bounds a look of the gate. Bridges wait for a call for half a minute
// at least, so that there is time to look twice.
const gateTimeout = 4 * time.Second

// serving makes the server and what it serves.
func (p *Proxy) serving() (err error) {
	mux := gabp.NewMux()
	mux.HandleFunc(gabp.MethodToolsList, p.listTools)
	mux.HandleFunc(gabp.MethodToolsCall, p.callTool)
	mux.HandleFunc(gabp.MethodResourcesList, p.listResources)
	mux.HandleFunc(gabp.MethodResourcesRead, p.readResource)
	mux.Fallback(gabp.HandlerFunc(p.forward))
	if !p.cfg.NoAttention {
		p.plane, err = gabp.NewPlane(gabp.PlaneConfig{
			Source: p.cfg.Session, ObserveOnly: p.cfg.ObserveOnly, Before: p.sync,
			Publish: func(channel, key string, payload any, sent func(*gabp.ServerSession)) error {
				return p.server.PublishFunc(channel, key, payload, sent)
			},
		})
		if err != nil {
			return err
		}
		p.plane.Register(mux)
		p.cfg.Session.OnUpdates(p.plane.Pump)
	}
	version := cmp.Or(p.cfg.Version, "0")
	p.server, err = gabp.NewServer(gabp.ServerConfig{
		Token: p.cfg.Handed.Outer.Token, AgentID: cmp.Or(p.cfg.Handed.Outer.GameID, "heed"),
		App:          gabp.App{Name: cmp.Or(p.cfg.Handed.Outer.GameID, "heed"), Version: version},
		ServerInfo:   &gabp.Info{Name: "heed", Version: version},
		Capabilities: p.capabilities, Handler: mux, Welcome: p.welcome, Closed: p.ended, LaxNames: true, Logger: p.log,
		// Mods take their time; whoever waits less gives up by itself.
		Limits: gabp.Limits{RequestTimeout: serverTimeout, MessageSize: modLimits.MessageSize, StringBytes: modLimits.StringBytes},
	})
	return err
}

// serverTimeout bounds a request of a bridge.
const serverTimeout = 30 * time.Minute

// Serve serves bridges that come to l, and keeps the connection to the mod, until
// ctx is done or the listener fails. It may be called once.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if p.mod.addr != "" {
		wg.Go(func() { p.mod.run(ctx) })
		wg.Go(func() { p.takeOver(ctx) })
	}
	return p.server.Serve(ctx, l)
}

// NoMod says that no mod will come any more, such as when the game has ended: no
// welcome waits for it.
func (p *Proxy) NoMod() { p.goneOnce.Do(func() { close(p.gone) }) }

// Current answers attention/current, as bridges are answered.
func (p *Proxy) Current(ctx context.Context, viewer string) gabp.CurrentResult {
	if p.plane == nil {
		return gabp.CurrentResult{}
	}
	return p.plane.Current(ctx, viewer)
}

// Server returns the counts of the bridges' side.
func (p *Proxy) Server() gabp.ServerStats { return p.server.Stats() }

// Connected reports whether the mod is there.
func (p *Proxy) Connected() bool { return p.mod.current() != nil }

// Lost returns how many events of the mod were lost since they were not taken in
// in time.
func (p *Proxy) Lost() uint64 { return p.lost.Load() }

// Untaken returns how many answers of the mod were not as the protocol has them, and
// were passed on as they came.
func (p *Proxy) Untaken() uint64 { return p.odd.Load() }

// Limits returns the bounds that were hit between the mod and the bridges.
func (p *Proxy) Limits() []live.Limit {
	var hit []live.Limit
	for _, l := range []live.Limit{
		{Name: "mod.events", Count: p.lost.Load(), Means: "an event of the mod came faster than it could be taken in: what it told is known from the log at most"},
		{Name: "mod.answers", Count: p.odd.Load(), Means: "an answer of the mod was not as the protocol has it: it was passed on as it came, and heed does not know what it says"},
		{Name: "bridge.events", Count: p.server.Stats().GaveWay, Means: "an event of the mod was not passed on to a bridge that did not keep up, which sees a hole in the numbers"},
	} {
		if l.Count > 0 {
			hit = append(hit, l)
		}
	}
	return hit
}

// capabilities says what bridges may ask for beyond what is served here.
func (p *Proxy) capabilities() gabp.Capabilities {
	var c gabp.Capabilities
	if p.plane != nil {
		c.Events = p.plane.Channels()
	}
	for _, r := range p.cfg.Tools.Resources() {
		c.Resources = append(c.Resources, r.URI)
	}
	w, ok := p.mod.welcome()
	if !ok {
		return c
	}
	theirs := w.Capabilities
	if p.plane != nil {
		ours := func(name string) bool { return strings.HasPrefix(name, "attention/") }
		theirs.Events = slices.DeleteFunc(slices.Clone(theirs.Events), ours)
		theirs.Methods = slices.DeleteFunc(slices.Clone(theirs.Methods), ours)
	}
	c.Events = union(theirs.Events, c.Events)
	c.Resources = union(theirs.Resources, c.Resources)
	c.Methods = theirs.Methods
	c.Extensions = theirs.Extensions
	return c
}

// union returns the elements of both, in their order, each once.
func union(a, b []string) []string {
	out := make([]string, 0, len(a)+len(b))
	for _, s := range slices.Concat(a, b) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// welcome waits for the mod and then says what it said.
func (p *Proxy) welcome(ctx context.Context, session *gabp.ServerSession, w *gabp.Welcome) error {
	if !p.looksOn(session) {
		p.awaitMod(ctx)
		if ctx.Err() != nil { // it is over: nobody has arrived, and nobody is to come again
			return ctx.Err()
		}
		p.arrive(ctx, session)
	}
	theirs, ok := p.modFor(session)
	if !ok {
		return nil
	}
	if theirs.AgentID != "" {
		w.AgentID = theirs.AgentID
	}
	if theirs.App.Name != "" && theirs.App.Version != "" {
		w.App = theirs.App
	}
	w.ServerInfo = theirs.ServerInfo
	w.SchemaVersion = cmp.Or(theirs.SchemaVersion, w.SchemaVersion)
	w.Observed = p.cfg.Handed.observed(theirs.Observed)
	limits := w.Capabilities.Limits
	caps := p.capabilities()
	caps.Methods = union(caps.Methods, w.Capabilities.Methods) // the server's own
	caps.Limits = lesser(limits, theirs.Capabilities.Limits)
	w.Capabilities = caps
	return nil
}

// arrive tells the engine once that an agent has come: what was open before and does
// not hold any more is no reason to stop it. A bridge that comes again is no arrival,
// and neither is any after heed itself came again: the agent knows what was open.
func (p *Proxy) arrive(ctx context.Context, session *gabp.ServerSession) {
	p.arrival.Do(func() {
		if p.plane == nil || p.cfg.Session.Status().Restored {
			return
		}
		if err := p.sync(ctx); err != nil {
			p.log.Warn("what the log said before the agent came is not all known", "error", err)
			return
		}
		p.cfg.Session.Attach(session.Viewer())
	})
}

// looksOn reports whether a session is no agent's.
func (p *Proxy) looksOn(session *gabp.ServerSession) bool {
	client := session.Hello().ClientInfo
	return client != nil && client.Name != "" && client.Name == p.cfg.Observer
}

// modFor returns what the mod said of itself. Where it said nothing yet, it notes that
// the session is welcomed without it.
func (p *Proxy) modFor(session *gabp.ServerSession) (gabp.Welcome, bool) {
	p.earlyMu.Lock()
	defer p.earlyMu.Unlock()
	theirs, ok := p.mod.welcome()
	if !ok && p.mod.addr != "" && !p.looksOn(session) {
		p.early[session] = struct{}{}
	}
	return theirs, ok
}

// callBack disconnects the bridges that were welcomed without the mod.
func (p *Proxy) callBack() {
	p.earlyMu.Lock()
	defer p.earlyMu.Unlock()
	for session := range p.early {
		p.log.Info("a bridge is to come again, for the mod's tools", "bridge", session.Viewer())
		session.Close()
	}
	clear(p.early)
}

// ended forgets a session that is over.
func (p *Proxy) ended(session *gabp.ServerSession) {
	p.earlyMu.Lock()
	defer p.earlyMu.Unlock()
	delete(p.early, session)
}

func (p *Proxy) awaitMod(ctx context.Context) {
	if p.mod.addr == "" {
		return
	}
	timer := time.NewTimer(p.cfg.ModWait)
	defer timer.Stop()
	select {
	case <-p.mod.first:
	case <-p.gone:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// lesser returns the lesser of each limit. A zero is none.
func lesser(a, b *gabp.WireLimits) *gabp.WireLimits {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	least := func(x, y int) int {
		if x <= 0 || y <= 0 {
			return max(x, y)
		}
		return min(x, y)
	}
	return &gabp.WireLimits{
		MaxMessageSize:        least(a.MaxMessageSize, b.MaxMessageSize),
		MaxConcurrentRequests: least(a.MaxConcurrentRequests, b.MaxConcurrentRequests),
		RequestTimeout:        least(a.RequestTimeout, b.RequestTimeout),
	}
}

// forward gives a request to the mod, and its answer back, byte for byte.
func (p *Proxy) forward(ctx context.Context, r *gabp.Request) (any, error) {
	client := p.mod.current()
	if client == nil {
		return nil, gabp.Errorf(gabp.CodeMethodNotFound, "method not found: %s (no mod is connected)", r.Method)
	}
	result, err := client.CallRaw(ctx, r.Method, r.Params)
	if v := p.untaken(err); v != nil {
		return nil, v
	}
	if err != nil {
		return nil, p.modError(ctx, err)
	}
	return result, nil
}

// untaken returns the answer of the mod that err is, where it is one that is not as the
// protocol has it, and counts it. The bridge is given it as it came: it may take what heed does
// not, and would have got it without heed.
func (p *Proxy) untaken(err error) *gabp.Verbatim {
	v, ok := errors.AsType[*gabp.Verbatim](err)
	if !ok {
		return nil
	}
	p.odd.Add(1)
	return v
}

// unknown is the data of an error by which nobody can tell whether a request was
// executed: neither that it was nor that it was not.
type unknown struct {
	Outcome string `json:"outcome"`
}

// modError is what a bridge is told of an error of a call to the mod: the mod's own
// words, or what happened to the connection. Then nobody knows whether the request was
// executed, and the data say so.
func (p *Proxy) modError(ctx context.Context, err error) *gabp.Error {
	if e, ok := errors.AsType[*gabp.Error](err); ok {
		return e
	}
	if errors.Is(ctx.Err(), context.Canceled) { // nobody reads this answer, but the journal keeps it
		return gabp.Errorf(gabp.CodeToolFailed, "the bridge went away before the game's mod had answered; whether the request was executed is not known").WithData(unknown{"unknown"})
	}
	if errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		return gabp.Errorf(gabp.CodeToolTimeout, "the game's mod did not answer in time; whether the request was executed is not known").WithData(unknown{"unknown"})
	}
	return gabp.Errorf(gabp.CodeToolFailed, "the connection to the game's mod was lost; whether the request was executed is not known").WithData(unknown{"unknown"})
}

func (p *Proxy) onUp(again bool) {
	defer p.callBack()
	w, _ := p.mod.welcome()
	p.intake.connected(w.Capabilities.Events)
	if again {
		p.cfg.Session.State(event.State{Status: event.StatusConnected, Detail: "the mod answers again"})
	}
}

func (p *Proxy) onDown(err error) {
	p.log.Info("the connection to the mod ended", "error", err)
	select {
	case <-p.gone: // the game has ended, and says so itself
	default:
		p.cfg.Session.State(event.State{Status: event.StatusDisconnected, Detail: "the connection to the mod was lost"})
	}
}

// onEvent takes in what the mod tells, and passes it on.
func (p *Proxy) onEvent(e gabp.Event) {
	if e.Lost > 0 {
		p.lost.Add(e.Lost)
		p.log.Warn("events of the mod were lost: they came faster than they can be taken in", "lost", e.Lost)
	}
	switch {
	case p.plane != nil && strings.HasPrefix(e.Channel, "attention/"):
		if id := p.intake.takeAttention(e.Payload); id != "" {
			select {
			case p.taken <- id:
			default: // one is being acknowledged; what is open then comes again with its answer
			}
		}
		return
	case isLogChannel(e.Channel):
		p.intake.takeLog(e.Payload)
	case isOperationChannel(e.Channel) && p.inFlight.Load() == 0:
		p.intake.takeOperation(e.Payload)
	}
	var err error
	if strings.HasPrefix(e.Channel, "attention/") { // the mod's own, which is left to it
		err = p.server.Publish(e.Channel, "", e.Payload)
	} else {
		err = p.server.Pass(e.Channel, p.mod.missed(&e), e.Payload)
	}
	if err != nil {
		p.log.Warn("an event of the mod cannot be passed on", "channel", e.Channel, "error", err)
	}
}

// takeOver acknowledges to the mod what was taken in of its attention, so that it
// does not gather what nobody looks at.
func (p *Proxy) takeOver(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-p.taken:
			p.acknowledge(ctx, id)
		}
	}
}

func (p *Proxy) acknowledge(ctx context.Context, id string) {
	client := p.mod.current()
	if client == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var answer struct {
		Current json.RawMessage `json:"currentAttention"`
	}
	if err := client.Call(ctx, gabp.MethodAttentionAck, gabp.AckParams{AttentionID: id}, &answer); err != nil {
		p.log.Debug("the mod's attention could not be acknowledged", "error", err)
		return
	}
	// The next event of an item that is still open acknowledges it.
	if next := words(memberOf(answer.Current, "attentionId")); next != "" && next != id {
		select {
		case p.taken <- next:
		default:
		}
	}
}

// source is the session as the gate sees it.
type source struct {
	gate.Recorder
	proxy *Proxy

	mu    sync.Mutex
	begun map[string]string // call → operation, from Check until the call is taken
}

// Current implements [gate.Source]. What cannot be seen is the plane's item, so that
// the gate and attention/current agree, and there is something to acknowledge.
func (s *source) Current(ctx context.Context, viewer string) (heed.Attention, bool, error) {
	p := s.proxy
	if p.cfg.NoAttention {
		return heed.Attention{}, false, gate.ErrNoAttention
	}
	if client := p.mod.current(); client != nil {
		p.hear(ctx, client)
	}
	a, open, err := s.Recorder.Current(ctx, viewer)
	if p.cfg.ObserveOnly {
		a.Blocking = false
		return a, open, nil
	}
	if err == nil || p.cfg.FailOpen {
		return a, open, err
	}
	current := p.plane.Current(ctx, viewer).Attention
	if current == nil {
		return heed.Attention{}, false, nil // acknowledged: go on all the same
	}
	if a, ok := p.cfg.Session.Item(current.AttentionID); ok {
		return a, true, nil
	}
	return heed.Attention{
		ID: current.AttentionID, State: current.State, Severity: event.SeverityError, Blocking: current.Blocking,
		StateInvalidated: current.StateInvalidated, Summary: current.Summary,
	}, true, nil
}

// Begin implements [gate.Recorder].
func (s *source) Begin(call gate.Call) gate.Running {
	running := s.Recorder.Begin(call)
	if r, ok := running.(interface{ ID() string }); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.begun[call.ID] = r.ID()
	}
	return running
}

// operation returns the operation that a call has become, and forgets it.
func (s *source) operation(call string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.begun[call]
	delete(s.begun, call)
	return id
}

// callTool answers tools/call.
func (p *Proxy) callTool(ctx context.Context, r *gabp.Request) (any, error) {
	call, err := gabp.ParseToolCall(r.Params)
	if err != nil {
		return nil, err
	}
	viewer := r.Session.Viewer()
	if result, known, err := p.cfg.Tools.Call(ctx, viewer, call); known {
		return result, err
	}
	client := p.mod.current()
	if client == nil {
		return nil, p.noMod(ctx, viewer, call.Name)
	}
	id := strconv.FormatUint(p.calls.Add(1), 10)
	d := p.gate.Check(ctx, gate.Call{ID: id, Tool: call.Name, Tags: p.mod.tagsOf(call.Name), Viewer: viewer})
	if !d.Allowed {
		return nil, refusal(&d)
	}
	operation := p.source.operation(id)
	p.inFlight.Add(1)
	result, err := client.CallRaw(ctx, r.Method, r.Params)
	p.hear(ctx, client)
	p.inFlight.Add(-1)

	o := p.outcome(ctx, result, err)
	// What the mod said of its own operation is of this call.
	if o.theirs != "" && operation != "" {
		p.cfg.Session.Operation(event.Operation{ID: o.theirs, Parent: operation})
	}
	// The bridge may be gone; what came of the call is to be known all the same.
	done, cancel := context.WithTimeout(context.WithoutCancel(ctx), gateTimeout)
	defer cancel()
	res := p.gate.Done(done, d, o.status, o.text)
	switch {
	case o.verbatim != nil: // there is no place in it for an item, which holds the next call back
		return nil, o.verbatim
	case res.Related != nil && p.plane != nil:
	case o.failure != nil:
		return nil, o.failure
	default:
		return result, nil
	}
	item := gabp.Project(*res.Related)
	if p.cfg.ObserveOnly {
		item = item.Advisory()
	}
	if o.failure != nil {
		data := o.failure.Data
		if _, answered := errors.AsType[*gabp.Error](err); answered {
			data = amend(data, item)
		} else {
			data = join(data, append([]byte(`"attention":`), encode(item)...))
		}
		return nil, &gabp.Error{Code: o.failure.Code, Message: o.failure.Message, Data: data}
	}
	return amend(result, item), nil
}

// outcome is how a call ended that the mod was given.
type outcome struct {
	status event.Status
	text   string // of what did not complete, or is odd
	theirs string // the mod's own operation

	failure  *gabp.Error    // what the bridge is answered, where that is an error
	verbatim *gabp.Verbatim // the same, where it is not as the protocol has it
}

// outcome returns what an answer of the mod, or the lack of one, says of a call.
func (p *Proxy) outcome(ctx context.Context, result json.RawMessage, err error) outcome {
	o := outcome{status: event.StatusCompleted}
	if o.verbatim = p.untaken(err); o.verbatim != nil {
		if o.verbatim.Failed {
			o.status = event.StatusFailed
		}
		o.text = "the mod's answer is not as the protocol has it, and was passed on as it came: " + o.verbatim.Err.Message
		return o
	}
	if err != nil {
		o.failure = p.modError(ctx, err)
		o.status, o.text = p.failed(ctx, err), o.failure.Message
		return o
	}
	var bad bool
	if bad, o.text, o.theirs = inBand(result); bad {
		o.status = event.StatusFailed
	}
	return o
}

// hearTimeout bounds how long an answer waits for what the mod told before it.
const hearTimeout = 500 * time.Millisecond

// hear takes in what the mod has told so far.
func (p *Proxy) hear(ctx context.Context, client *gabp.Client) {
	ctx, cancel := context.WithTimeout(ctx, hearTimeout)
	defer cancel()
	if err := client.Handled(ctx); err != nil {
		p.log.Debug("not all that the mod told was taken in in time", "error", err)
	}
}

// sync takes in everything that is there: what the mod told, and the log.
func (p *Proxy) sync(ctx context.Context) error {
	if client := p.mod.current(); client != nil {
		p.hear(ctx, client)
	}
	return p.cfg.Session.Sync(ctx)
}

// failed says how a call ended that has no result.
func (p *Proxy) failed(ctx context.Context, err error) event.Status {
	e, refused := errors.AsType[*gabp.Error](err)
	switch {
	case refused && (e.Code == gabp.CodeToolTimeout || e.Code == gabp.CodeTimeout):
		return event.StatusTimedOut
	case refused:
		return event.StatusFailed
	case errors.Is(ctx.Err(), context.Canceled):
		return event.StatusCancelled // the bridge has gone
	}
	return event.StatusTimedOut // nobody knows how it ended
}

// blocked is the data of the error that a refused call is answered with.
type blocked struct {
	Executed  bool            `json:"executed"` // false
	Status    string          `json:"status"`   // "blocked_by_attention", or "no_mod"
	Tool      string          `json:"tool"`
	Attention *gabp.Attention `json:"attention,omitempty"`
	Next      []string        `json:"next"` // what to do, in order
}

func refusal(d *gate.Decision) *gabp.Error {
	data := blocked{Status: "blocked_by_attention", Tool: d.Call.Tool}
	if d.Attention != nil {
		item := gabp.Project(*d.Attention)
		data.Attention = &item
		data.Next = steps(d.Attention.ID, d.Call.Tool)
	} else {
		data.Next = []string{"look at the game's state", "call " + d.Call.Tool + " again"}
	}
	return gabp.Errorf(gabp.CodeToolUnavailable, "%s", d.Refusal).WithData(data)
}

func steps(id, tool string) []string {
	return []string{
		"read the item and what it points at; tools tagged diagnostics can be called",
		"acknowledge " + id + " with attention/ack",
		"read the game's state again where stateInvalidated is true",
		"call " + tool + " again if it is still wanted",
	}
}

// noMod refuses a call that there is nobody to execute.
func (p *Proxy) noMod(ctx context.Context, viewer, tool string) *gabp.Error {
	data := blocked{Status: "no_mod", Tool: tool, Next: []string{"wait until the game's mod is connected", "list the tools anew"}}
	text := "not executed: no mod is connected that could execute " + tool
	if a, open, err := p.source.Current(ctx, viewer); err == nil && open {
		item := gabp.Project(a)
		data.Attention = &item
		text += "; " + a.Summary
	}
	return gabp.Errorf(gabp.CodeToolUnavailable, "%s", text).WithData(data)
}
