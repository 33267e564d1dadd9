package acp

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/heedlog/heed/agent/steer"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/jsonrpc"
)

// The bounds of open tool calls of a session, and of sessions.
const (
	maxCalls    = 4096
	maxSessions = 1024
)

// maxRequest bounds the text of a prompt that the machine keeps, in bytes. The prompt itself is kept in memory.
const maxRequest = 64 << 10

// Conversation is a steer.Machine with a lock, whose state is kept after each step.
type Conversation interface {
	// Do calls f with the machine, and keeps its state before what f returned is done: by act, in order, never two at
	// a time. It returns when the state is kept.
	Do(f func(m *steer.Machine, now time.Time) steer.Action)
	// Report reports the start or the end of a call of the game, and gives the machine the verdict.
	Report(ctx context.Context, call bridge.Call) error
}

// Config sets up a proxy.
type Config struct {
	// Agent and Editor are the standard input and output of each, which Run closes at its end.
	Agent, Editor io.ReadWriteCloser
	// Left: see [jsonrpc.Between].
	Left func()

	// Start makes the conversation of a session, with the ceiling of its machine. act carries out an action; it does not
	// wait, and may be called at once and by any goroutine. fresh reports that the agent has made the session just now: a
	// kept state with its id is of another session.
	Start func(session string, fresh bool, ceiling steer.Ceiling, act func(steer.Action)) Conversation

	// Game reports whether a tool call with this title and of this kind goes to the game.
	Game func(title, kind string) bool
	// PromptIdle lets messages begin turns where the editor has none. Else they wait for the editor's next prompt.
	PromptIdle bool
	Logger     *slog.Logger
	// Note shows the person one line. Optional.
	Note func(format string, args ...any)
}

// proxy passes lines on, and handles one line or action at a time.
type proxy struct {
	Config
	editor, agent *jsonrpc.Peer

	mu       sync.Mutex // held while a line or an action is handled
	steering bool       // the agent has _session/steering
	foreign  bool       // the version of the protocol is not known
	sessions map[string]*session
	asked    jsonrpc.Open[*request]              // requests of the editor
	wanted   jsonrpc.Open[*want]                 // permissions that the agent has asked for
	answers  jsonrpc.Open[func(message, []byte)] // handlers of the answers to the proxy's own requests
	ids      int

	// The numbers of lines that were passed on without being understood, or dropped.
	invalid, unsteered, stray, swallowed int

	queue sync.Mutex // guards acts and ended
	acts  []func()
	ended bool // no more is decided
}

// request is one of the editor that is not answered.
type request struct {
	jsonrpc.Message
	session string // of its params

	steered bool // it is a prompt; all else is about prompts
	params  promptParams
	line    []byte
	message uint64 // number of its message
	carried bool   // the agent has it
}

// topic is the topic of the message of a prompt.
func (r *request) topic() string { return "prompt " + strconv.FormatUint(r.message, 10) }

// want is a permission that the agent has asked for.
type want struct {
	id       jsontext.Value
	session  string
	answered bool // by the proxy
}

// Run passes messages on until the editor or the agent ends, or ctx does. It returns nil if the editor ended, and
// [jsonrpc.ErrProgram] if the agent did.
func Run(ctx context.Context, cfg Config) error {
	p := &proxy{
		Config: cfg, editor: jsonrpc.NewPeer(cfg.Editor), agent: jsonrpc.NewPeer(cfg.Agent),
		sessions: map[string]*session{}, asked: jsonrpc.Open[*request]{}, wanted: jsonrpc.Open[*want]{},
		answers: jsonrpc.Open[func(message, []byte)]{},
	}
	between := jsonrpc.Between{
		Client: p.editor, Program: p.agent, Settle: p.stop, Left: p.Left, Ended: func() { p.do(p.end) },
		FromClient:  func(line []byte) { p.do(func() { p.fromEditor(line) }) },
		FromProgram: func(line []byte) { p.do(func() { p.fromAgent(line) }) },
	}
	err := between.Run(ctx)
	_, _ = cfg.Agent.Close(), cfg.Editor.Close() // all that could be written is
	return err
}

// stop ends the actions of the proxy.
func (p *proxy) stop() {
	p.queue.Lock()
	defer p.queue.Unlock()
	p.ended, p.acts = true, nil
}

// end answers the editor's open requests.
func (p *proxy) end() {
	p.stop()
	for _, r := range p.asked {
		p.answer(r, jsonrpc.Failure(nil, jsonrpc.CodeInternal, "the agent has ended"))
	}
	p.Logger.Info("acp: ended", "sessions", len(p.sessions),
		"invalid lines", uint64(p.invalid)+p.editor.Dropped.Load()+p.agent.Dropped.Load(), "not steered", p.unsteered,
		"answers without a request", p.stray, "late answers", p.swallowed)
}

// later queues an action.
func (p *proxy) later(f func()) {
	p.queue.Lock()
	defer p.queue.Unlock()
	if !p.ended {
		p.acts = append(p.acts, f)
		go p.do(func() {})
	}
}

// do calls the queued actions, f, and the actions that f queues.
func (p *proxy) do(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.act()
	f()
	p.act()
}

// act does the actions that are queued, also those that they add.
func (p *proxy) act() {
	for {
		p.queue.Lock()
		if len(p.acts) == 0 {
			p.queue.Unlock()
			return
		}
		f := p.acts[0]
		p.acts = p.acts[1:]
		p.queue.Unlock()
		f()
	}
}

// parse returns the message of a line, and counts lines that are no message.
func (p *proxy) parse(line []byte) (m message) {
	if !jsonrpc.Read(line, &m) {
		p.invalid++
		return message{}
	}
	return m
}

// fromEditor handles a line of the editor.
func (p *proxy) fromEditor(line []byte) {
	m := p.parse(line)
	var params promptParams
	jsonrpc.Read(m.Params, &params)
	s := p.sessions[params.SessionID]
	switch {
	case m.Method == "" && m.ID != nil:
		if w, known := p.wanted.Take(m.ID); known && w.answered {
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
		r := &request{Message: m, session: params.SessionID, steered: m.Method == methodPrompt && s != nil}
		if !p.asked.Add(m.ID, r) {
			p.editor.Write(jsonrpc.Failure(m.ID, jsonrpc.CodeInternal, "too many requests are open, or one with this id").Line())
			return
		}
		if r.steered {
			r.params, r.line = params, line
			s.take(r)
			return
		}
	}
	p.agent.Write(line)
}

// canceled handles the editor's cancellation of a request, and reports whether the agent is to see it. A person stops a
// prompt so; the agent may have its request under another id.
func (p *proxy) canceled(m message) bool {
	var params struct {
		ID jsontext.Value `json:"requestId"`
	}
	jsonrpc.Read(m.Params, &params)
	r := p.asked[jsonrpc.Key(params.ID)]
	if r == nil || !r.steered {
		p.asked.Take(params.ID) // the agent need not answer it
		return true
	}
	s := p.sessions[r.session]
	own := s.turn != nil && s.turn.request == r
	s.stop()
	if !own {
		p.agent.Write(message{Method: methodCancel, Params: write(promptParams{SessionID: s.id})}.Line())
	}
	return own
}

// fromAgent handles a line of the agent.
func (p *proxy) fromAgent(line []byte) {
	m := p.parse(line)
	if m.Method != "" || m.ID == nil {
		if p.heard(m) {
			p.editor.Write(line)
		}
		return
	}
	if then, known := p.answers.Take(m.ID); known {
		then(m, line)
		return
	}
	k := jsonrpc.Key(m.ID)
	r := p.asked[k]
	if r != nil && r.steered || r == nil && strings.HasPrefix(k, `"`+ownID) {
		p.stray++ // it was answered, or the turn continues
		return
	}
	delete(p.asked, k)
	p.editor.Write(line)
	if r != nil {
		p.learn(r, m)
	}
}

// heard takes note of a request or notification of the agent, and reports whether the editor is to see it.
func (p *proxy) heard(m message) bool {
	var params updateParams
	if (m.Method == methodUpdate || m.Method == methodPermission) && !jsonrpc.Read(m.Params, &params) {
		return true
	}
	s := p.sessions[params.SessionID]
	switch {
	case s == nil:
	case m.Method == methodUpdate:
		s.update(params.Update)
	case m.ID == nil:
	case s.turn != nil && s.turn.ending == byProxy: // it was on its way
		p.agent.Write(message{ID: m.ID, Result: permissionCanceled}.Line())
		return false
	default:
		delete(p.wanted, jsonrpc.Key(m.ID)) // of a request that the agent asks twice, the latest counts
		if !p.wanted.Add(m.ID, &want{id: m.ID, session: s.id}) {
			p.unsteered++
		}
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
		p.steering = jsonrpc.Read(m.Result, &result) && result.Meta.Steering.Supported
		p.foreign = result.Version > latestVersion
		if p.foreign && p.Note != nil {
			p.Note("this agent speaks version %d of the Agent Client Protocol, heed %d: it is not steered",
				result.Version, latestVersion)
		}
	case methodNew, methodLoad, methodResume, methodFork:
		id := r.session
		var result promptParams
		if jsonrpc.Read(m.Result, &result) && result.SessionID != "" {
			id = result.SessionID
		}
		p.start(id, r.Method == methodNew || r.Method == methodFork)
	}
}

// start makes a session, unless it is known.
func (p *proxy) start(id string, fresh bool) {
	if id == "" || p.sessions[id] != nil {
		return
	}
	if p.foreign || len(p.sessions) >= maxSessions {
		p.unsteered++
		return
	}
	s := &session{proxy: p, id: id, blocks: map[uint64][]jsontext.Value{}}
	s.conversation = p.Start(id, fresh, s.ceiling(), func(a steer.Action) { p.later(func() { s.act(a) }) })
	p.sessions[id] = s
}

// ask sends a request of the proxy to the agent.
func (p *proxy) ask(method string, params promptParams, then func(message, []byte)) {
	p.ids++
	id := write(ownID + strconv.Itoa(p.ids))
	if p.asked[jsonrpc.Key(id)] != nil { // the editor has such ids, too
		p.ask(method, params, then)
		return
	}
	p.answers[jsonrpc.Key(id)] = then
	p.agent.Write(message{ID: id, Method: method, Params: write(params)}.Line())
}

// answer answers a request of the editor.
func (p *proxy) answer(r *request, m message) {
	p.asked.Take(r.ID)
	p.editor.Write(message{ID: r.ID, Result: m.Result, Error: m.Error}.Line())
}
