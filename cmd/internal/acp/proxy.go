package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/heedlog/heed/agent/steer"
)

// The bounds of what is open at once: requests of each side and tool calls of a session, and sessions.
const (
	maxOpen     = 4096
	maxSessions = 1024
)

// maxRequest bounds the text of a prompt that the machine keeps, in bytes. The prompt itself is kept in memory.
const maxRequest = 64 << 10

// flushWait is how long Run waits, at its end, until what was queued is written.
const flushWait = 5 * time.Second

// DefaultUser is the author of the editor's prompts.
const DefaultUser = "user"

// ErrAgent is what Run returns, wrapped, when the agent ended.
var ErrAgent = errors.New("the agent has ended")

// Conversation is a steer.Machine with a lock, whose state is kept after each step.
type Conversation interface {
	// Do calls f with the machine, and keeps its state before what f returned is done: by act, in order, never two at
	// a time. It returns when the state is kept.
	Do(f func(m *steer.Machine, now time.Time) steer.Action)
}

// Config is what a proxy needs.
type Config struct {
	// Agent and Editor are the standard input and output of each, which Run closes at its end.
	Agent, Editor io.ReadWriteCloser
	// Left is told that the editor sends no more and that the agent has what was sent: the agent's input is to be closed,
	// and its output to end. Until then the editor gets what the agent writes. Without it, Run ends when the editor does.
	Left func()

	// Start makes the conversation of a session, with the ceiling of its machine. act does what the machine decides; it
	// does not wait, and may be called at once and by any goroutine. A session whose Start fails is not steered. Fresh
	// says that the agent has made it just now: what is kept of one with its id was another's.
	Start func(session string, fresh bool, ceiling steer.Ceiling, act func(steer.Action)) (Conversation, error)

	Framing steer.Framing
	// User is the author of the editor's prompts, as the machine's verifier knows it (default DefaultUser).
	User string
	// Game reports whether a tool call, with its title and all its update, goes to the game; nil for all.
	Game func(title string, call json.RawMessage) bool
	// PromptIdle lets messages begin turns where the editor has none. Else they wait for the editor's next prompt.
	PromptIdle bool
	Logger     *slog.Logger
}

// proxy is what the goroutine of Run knows.
type proxy struct {
	Config
	editor, agent *outbox

	steering bool // the agent has _session/steering
	foreign  bool // the version of the protocol is not known: a prompt may be answered before its turn ends
	sessions map[string]*session
	asked    map[string]*request            // open requests of the editor
	wanted   map[string]*want               // permissions that the agent has asked for
	answers  map[string]func(message, line) // what becomes of the answers to requests that the agent has
	ids      int

	// What was passed on without being understood, or dropped.
	invalid, unsteered, stray, swallowed int

	mu    sync.Mutex
	acts  []func()
	wake  chan struct{}
	ended bool  // no more is decided
	err   error // of writing; io.EOF for the editor
}

// request is one of the editor that is not answered.
type request struct {
	message
	session string // of its params
	prompt  *prompt
}

// want is a permission that the agent has asked for.
type want struct {
	id       jsontext.Value
	session  string
	answered bool // by the proxy
}

// Run passes messages on until the editor or the agent ends, or ctx does. It returns nil if the editor ended.
func Run(ctx context.Context, cfg Config) error {
	p := &proxy{
		Config: cfg, editor: newOutbox(cfg.Editor), agent: newOutbox(cfg.Agent),
		sessions: map[string]*session{}, asked: map[string]*request{}, wanted: map[string]*want{},
		answers: map[string]func(message, line){}, wake: make(chan struct{}, 1),
	}
	if p.User == "" {
		p.User = DefaultUser
	}
	if p.Game == nil {
		p.Game = func(string, json.RawMessage) bool { return true }
	}
	if p.Logger == nil {
		p.Logger = slog.New(slog.DiscardHandler)
	}
	done := make(chan struct{})
	fromEditor, fromAgent := make(chan line), make(chan line)
	go readLines("editor", cfg.Editor, maxLine, p.agent, fromEditor, done)
	go readLines("agent", cfg.Agent, maxLine, p.editor, fromAgent, done)
	go p.editor.run(func(error) { p.fail(io.EOF) })
	go p.agent.run(func(err error) { p.later(func() { p.fail(fmt.Errorf("acp: %w: %w", ErrAgent, err)) }) })

	err := p.loop(ctx, fromEditor, fromAgent)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	p.end(ctx)
	close(done)
	_, _ = cfg.Agent.Close(), cfg.Editor.Close() // all that could be written is
	return err
}

// loop handles one line or action at a time. It returns io.EOF when the editor has ended.
func (p *proxy) loop(ctx context.Context, fromEditor, fromAgent <-chan line) error {
	left := false
	for {
		if err := p.act(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.wake:
		case l := <-fromEditor:
			if l.err != nil && (p.Left == nil || !errors.Is(l.err, io.EOF)) {
				return l.err
			} else if l.err != nil {
				left = true
				p.leave(ctx)
				continue
			}
			p.fromEditor(l)
		case l := <-fromAgent:
			if l.err != nil && left {
				return io.EOF
			} else if errors.Is(l.err, io.EOF) {
				return fmt.Errorf("acp: %w", ErrAgent)
			} else if l.err != nil {
				return fmt.Errorf("acp: %w: %w", ErrAgent, l.err)
			}
			p.fromAgent(l)
		}
	}
}

// leave tells Left when what the editor sent is written.
func (p *proxy) leave(ctx context.Context) {
	p.stop()
	go func() {
		flush(ctx, p.agent)
		p.Left()
	}()
}

// stop ends what the proxy does of its own.
func (p *proxy) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended, p.acts = true, nil
}

// flush waits until all is written, but not for long.
func flush(ctx context.Context, boxes ...*outbox) {
	ctx, cancel := context.WithTimeout(ctx, flushWait)
	defer cancel()
	for _, o := range boxes {
		o.finish()
	}
	for _, o := range boxes {
		select {
		case <-o.done:
		case <-ctx.Done():
		}
	}
}

// end answers the editor's open requests, and waits until all is written.
func (p *proxy) end(ctx context.Context) {
	p.stop()
	for _, r := range p.asked {
		p.answer(r, failure(ErrAgent.Error()))
	}
	flush(ctx, p.editor, p.agent)
	p.Logger.Info("acp: ended", "sessions", len(p.sessions), "invalid lines", p.invalid, "not steered", p.unsteered,
		"answers without a request", p.stray, "late answers", p.swallowed)
}

// fail ends the loop.
func (p *proxy) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = cmp.Or(p.err, err)
	p.awake()
}

// later queues an action for the loop.
func (p *proxy) later(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.acts = append(p.acts, f)
		p.awake()
	}
}

func (p *proxy) awake() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// act does the actions that are queued, also those that they add.
func (p *proxy) act() error {
	for {
		p.mu.Lock()
		if p.err != nil || len(p.acts) == 0 {
			defer p.mu.Unlock()
			return p.err
		}
		f := p.acts[0]
		p.acts = p.acts[1:]
		p.mu.Unlock()
		f()
	}
}

// parse returns the message of a line, and counts one that is none.
func (p *proxy) parse(l line) message {
	var m message
	if !read(l.text, &m) {
		p.invalid++
		return message{}
	}
	return m
}

// fromEditor handles a line of the editor.
func (p *proxy) fromEditor(l line) {
	m := p.parse(l)
	var params promptParams
	if m.Method == methodPrompt || m.Method == methodCancel || m.Method == methodLoad || m.Method == methodResume {
		read(m.Params, &params)
	}
	s := p.sessions[params.SessionID]
	switch {
	case m.Method == "" && m.ID != nil:
		k := key(m.ID)
		w := p.wanted[k]
		delete(p.wanted, k)
		if w != nil && w.answered {
			p.swallowed++
			return
		}
	case m.Method == methodCancel && s != nil:
		s.stop()
	case m.Method == cancelRequest:
		if !p.canceled(m) {
			return
		}
	case m.ID != nil && m.Method != "":
		r := &request{message: m, session: params.SessionID}
		if k := key(m.ID); len(p.asked) >= maxOpen || p.asked[k] != nil {
			p.editor.write(message{ID: m.ID, Error: failure("too many requests are open, or one with this id").Error}.line())
			return
		} else {
			p.asked[k] = r
		}
		if m.Method == methodPrompt && s != nil {
			s.admit(r, params, l)
			return
		}
	}
	p.agent.write(l.text)
}

// canceled handles the editor's cancellation of a request, and reports whether the agent is to see it. That of a prompt
// is a person's stop; the agent may have its request under another id.
func (p *proxy) canceled(m message) bool {
	var params struct {
		ID jsontext.Value `json:"requestId"`
	}
	read(m.Params, &params)
	r := p.asked[key(params.ID)]
	if r == nil || r.prompt == nil {
		return true
	}
	s := p.sessions[r.session]
	own := s.turn != nil && s.turn.request == r
	s.stop()
	if !own {
		p.agent.write(message{Method: methodCancel, Params: write(promptParams{SessionID: s.id})}.line())
	}
	return own
}

// fromAgent handles a line of the agent.
func (p *proxy) fromAgent(l line) {
	m := p.parse(l)
	k := key(m.ID)
	if m.Method != "" || m.ID == nil {
		if p.heard(k, m) {
			p.editor.write(l.text)
		}
		return
	}
	r := p.asked[k]
	switch then := p.answers[k]; {
	case then != nil:
		delete(p.answers, k)
		then(m, l)
	case r != nil && r.prompt != nil, strings.HasPrefix(k, `"`+ownID):
		p.stray++ // it was answered, or the turn goes on
	default:
		delete(p.asked, k)
		p.editor.write(l.text)
		if r != nil {
			p.learn(r, m)
		}
	}
}

// heard takes note of a request or notification of the agent, and reports whether the editor is to see it.
func (p *proxy) heard(k string, m message) bool {
	var params updateParams
	if (m.Method == methodUpdate || m.Method == methodPermission) && !read(m.Params, &params) {
		return true
	}
	s := p.sessions[params.SessionID]
	switch {
	case s == nil:
	case m.Method == methodUpdate:
		s.update(params.Update)
	case m.ID == nil:
	case s.canceling && !s.stopped: // it was on its way
		p.agent.write(message{ID: m.ID, Result: permissionCanceled}.line())
		return false
	case len(p.wanted) >= maxOpen:
		p.unsteered++
	default:
		p.wanted[k] = &want{id: m.ID, session: s.id}
	}
	return true
}

// learn takes note of the answer to a request of the editor.
func (p *proxy) learn(r *request, m message) {
	if m.Result == nil {
		return
	}
	switch r.Method {
	case methodInitialize:
		var result initialized
		p.steering = read(m.Result, &result) && result.Meta.Steering.Supported
		p.foreign = result.Version > protocolVersion
	case methodNew, methodLoad, methodResume, methodFork:
		id := r.session
		var result promptParams
		if read(m.Result, &result) && result.SessionID != "" {
			id = result.SessionID
		}
		p.start(id, r.Method == methodNew || r.Method == methodFork)
	}
}

// start makes a session. One that is known goes on.
func (p *proxy) start(id string, fresh bool) {
	if id == "" || p.sessions[id] != nil {
		return
	}
	if p.foreign || len(p.sessions) >= maxSessions {
		p.unsteered++
		return
	}
	s := &session{proxy: p, id: id, blocks: map[uint64][]jsontext.Value{}, calls: map[string]bool{}}
	conversation, err := p.Start(id, fresh, s.ceiling(), func(a steer.Action) { p.later(func() { s.act(a) }) })
	if err != nil {
		p.unsteered++
		p.Logger.Error("acp: the session is not steered", "session", id, "error", err)
		return
	}
	s.conversation = conversation
	p.sessions[id] = s
}

// ask sends a request of the proxy to the agent.
func (p *proxy) ask(method string, params promptParams, then func(message, line)) {
	for {
		p.ids++
		id := newID(p.ids)
		if k := key(id); p.asked[k] == nil {
			p.answers[k] = then
			p.agent.write(message{ID: id, Method: method, Params: write(params)}.line())
			return
		}
	}
}

// answer answers a request of the editor.
func (p *proxy) answer(r *request, m message) {
	delete(p.asked, key(r.ID))
	p.editor.write(message{ID: r.ID, Result: m.Result, Error: m.Error}.line())
}
