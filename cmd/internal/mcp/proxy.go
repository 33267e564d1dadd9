package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/steer"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/deliver"
	"github.com/heedlog/heed/cmd/internal/jsonrpc"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/cmd/internal/way"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
	"github.com/heedlog/heed/internal/text"
)

// Consumer is the name of the client's agent.
const Consumer = "mcp-agent"

// Config sets up a [Proxy]. All fields are required but BriefTokens.
type Config struct {
	Session *session.Session
	Bridge  *bridge.Proxy // its gate holds calls back, its tools and resources are added

	// BriefTokens is the budget of the brief about an item; with 0 the agent gets no text of the game.
	BriefTokens int

	// AllTools lists all of heed's tools, in place of the three that read a fault and acknowledge it. All are answered.
	AllTools bool

	Client, Server io.ReadWriter
	Left           func()        // see [jsonrpc.Between]
	Exit           func() string // returns how a server that has left ended, "" if that is not known. Optional.

	Now func() time.Time
	Log *slog.Logger
}

// Proxy is one client and one server. Make one with [New].
type Proxy struct {
	cfg   Config
	gate  *gate.Gate
	tools *bridge.Diagnostics
	talk  *deliver.Conversation

	client, server *jsonrpc.Peer
	waiting        chan struct{} // a place for each call that waits; the reading goroutine takes it
	before         chan struct{} // closed once the latest call was passed on or held back; of the reading goroutine
	settling       sync.Mutex

	mu         sync.Mutex
	working    *sync.WaitGroup     // work outside of the goroutines that read lines, which nothing waits for yet
	pending    jsonrpc.Open[*call] // requests of the client that the server has, and subscriptions
	known      map[string][]string // tags of the server's tools that have some
	subscribed []string            // heed's resources by requests of their own, of versions before typedSince

	lacks     sync.Map                          // capabilities that the server does not have, by name
	continued *lru.Cache[string, gate.Decision] // of calls that continue after their result: by their input or their task

	typed atomic.Bool   // initialize agreed on typedSince or later
	left  atomic.Bool   // the client sends no more
	odd   atomic.Uint64 // lines of the server that are no message
}

// call is a request of the client.
type call struct {
	id     json.RawMessage
	method string
	typed  bool // of typedSince or later

	request  [sha256.Size]byte // sum of the tool and its arguments
	decision gate.Decision     // which allows a call that the server has
	canceled bool              // before the server had it

	task string // the id of the task that a request is about

	uris    []string // heed's resources that a subscription asks for
	watches bool     // it was acknowledged
}

// waits reports whether the server does not have the call yet, with the lock of the proxy held.
func (c *call) waits() bool { return c.method == "tools/call" && !c.decision.Allowed }

// The bounds of calls that wait to be passed on or for heed's answer, and of tools with known tags. Twice as many calls
// may continue after their result.
const (
	maxWaiting = 256
	maxTools   = 4096
)

// New returns a proxy, which gets the updates of the session.
func New(cfg Config) *Proxy {
	continued, _ := lru.New[string, gate.Decision](2 * maxWaiting) // the error is about another size
	p := &Proxy{
		cfg: cfg, gate: cfg.Bridge.Gate(), tools: cfg.Bridge.Diagnostics(),
		client: jsonrpc.NewPeer(cfg.Client), server: jsonrpc.NewPeer(cfg.Server),
		waiting: make(chan struct{}, maxWaiting), before: make(chan struct{}), pending: jsonrpc.Open[*call]{},
		working: new(sync.WaitGroup), known: map[string][]string{}, continued: continued,
	}
	close(p.before)
	p.talk = deliver.New(deliver.Config{
		Heed: inProcess{p.tools}, Agent: Consumer, BriefTokens: cfg.BriefTokens, Now: cfg.Now, Log: cfg.Log,
		Way: way.Tools(shownName(bridge.ToolBrief), shownName(bridge.ToolAck), shownName(bridge.ToolEntries)),
	})
	p.begin()
	cfg.Session.OnUpdates(p.notify)
	return p
}

// begin begins a turn. It is the only one of a client: the protocol does not say when the model's turns begin and end.
func (p *Proxy) begin() {
	p.talk.Do(func(m *steer.Machine, _ time.Time) steer.Action {
		m.Begin(steer.Message{Author: deliver.User})
		return steer.Action{}
	})
}

// Run passes messages on until the server's output ends or ctx is done. The caller closes the streams.
func (p *Proxy) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// lines takes lines that are not empty, each with one line feed.
	lines := func(take func(context.Context, []byte)) func([]byte) {
		return func(line []byte) {
			if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
				take(ctx, append(line, '\n'))
			}
		}
	}
	between := jsonrpc.Between{
		Client: p.client, Program: p.server,
		Left: func() {
			p.left.Store(true)
			p.cfg.Left()
		},
		FromClient: lines(p.fromClient), FromProgram: lines(p.fromServer),
		Settle: p.settle,
		Ended: func() {
			if ctx.Err() == nil {
				p.unanswered(ctx)
			}
		},
	}
	err := between.Run(ctx)
	if err == jsonrpc.ErrProgram || errors.Is(err, context.Canceled) { //nolint:errorlint // alone, it is an end
		return nil
	}
	return err
}

// work runs f in a goroutine.
func (p *Proxy) work(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.working.Go(f)
}

// settle waits until the work is done that has begun. Other work may begin.
func (p *Proxy) settle() {
	p.settling.Lock()
	defer p.settling.Unlock()
	p.mu.Lock()
	begun := p.working
	p.working = new(sync.WaitGroup)
	p.mu.Unlock()
	begun.Wait()
}

// Odd returns how many lines were no messages: passed on as they came, or too long to be.
func (p *Proxy) Odd() uint64 { return p.odd.Load() + p.client.Dropped.Load() + p.server.Dropped.Load() }

// tooMany is the error of a request that cannot be recorded.
const tooMany = "heed: too many requests wait for an answer, or two have this id"

// fromClient takes a line of the client. What two readers could understand differently goes no further.
func (p *Proxy) fromClient(ctx context.Context, line []byte) {
	m, ok := readMessage(line, true)
	if !ok || bytes.ContainsRune(line, '\r') { // some readers end a line there
		p.reply(refuse(nil, jsonrpc.CodeParse, "heed: not one JSON object in one line with each name once"))
		return
	}
	switch {
	case m.method == "": // an answer
		p.server.Write(line)
		return
	case m.id == nil && m.method == "tools/call": // it has no answer, which could refuse it or report its end
		p.cfg.Log.Warn("a call of a tool without an id is not passed on")
		return
	case m.id == nil:
		d := p.canceled(m)
		p.server.Write(line)
		p.endWith(ctx, &d, event.StatusCancelled, "") // before the next call is checked: its effects are not known
		return
	}
	c := &call{id: m.id, method: m.method, task: m.params.text("taskId")}
	c.typed = m.version >= typedSince || m.version == "" && p.typed.Load()
	if c.typed { // any request may be the first of its client
		p.cfg.Bridge.Arrive(ctx, Consumer)
	}
	switch c.method {
	case "initialize":
		p.cfg.Log.Info("a client begins a session", "client", m.params.inner("clientInfo").text("name"))
	case "tools/call":
		p.callTool(ctx, c, line, m.params)
		return
	case "subscriptions/listen":
		p.listen(c, m)
		return
	}
	if own := p.own(ctx, c, m.params); own != nil {
		p.reply(own)
	} else if p.expect(c) {
		p.server.Write(line)
	} else {
		p.reply(refuse(c.id, jsonrpc.CodeInternal, tooMany))
	}
}

// expect records a request. It returns false if the request cannot be passed on.
func (p *Proxy) expect(c *call) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pending.Add(jsontext.Value(c.id), c)
}

// resume returns the decision about the call that c continues, the zero value if there is none.
func (p *Proxy) resume(c *call, params object) (d gate.Decision) {
	if params.get("inputResponses") != nil || params.get("requestState") != nil {
		d, _ = p.continued.Get(c.with(params))
		p.continued.Remove(c.with(params))
	}
	return d
}

// with returns the key of c and the state that the server wants back with the client's input.
func (c *call) with(from object) string {
	sum := sha256.Sum256(append(c.request[:], from.text("requestState")...))
	return string(sum[:])
}

// canceled takes a notification of the client. It returns the decision about a call that ends with it.
func (p *Proxy) canceled(m *message) (d gate.Decision) {
	if m.method != "notifications/cancelled" {
		return d
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	id := keyOf(m.params.get("requestId"))
	switch c := p.pending[id]; {
	case c == nil:
	case c.waits():
		c.canceled = true
	default: // a server need not answer it
		d = c.decision
		delete(p.pending, id)
	}
	return d
}

// own returns the answer to a request for heed's own resources, or to a request that the server cannot answer, nil for
// any other.
func (p *Proxy) own(ctx context.Context, c *call, params object) []byte {
	capability, _, _ := strings.Cut(c.method, "/")
	_, lacks := p.lacks.Load(capability)
	refused := func(why string) []byte { return refuse(c.id, jsonrpc.CodeInvalidParams, why) }
	uri := params.text("uri")
	ours := strings.HasPrefix(uri, bridge.ResourceBase)
	switch c.method {
	case "tools/list", "resources/list", "resources/templates/list":
		if lacks {
			return c.answer(p.ownList(c.method))
		}
		return nil
	case "resources/subscribe", "resources/unsubscribe":
		switch {
		case c.typed:
			return nil
		case ours && p.subscribe(uri, c.method == "resources/subscribe"):
			return c.answer(struct{}{})
		case ours:
			return refused("heed: too many subscriptions")
		}
	case "resources/read":
		content, known, err := p.tools.Read(ctx, Consumer, uri)
		switch {
		case err != nil:
			return refused(err.Error())
		case known:
			return c.answer(map[string]any{"contents": []any{map[string]any{
				"uri": uri, "mimeType": content.MIMEType, "text": string(encode(content.Content)),
			}}})
		}
	default:
		return nil
	}
	if lacks {
		return refused("no such resource: " + uri)
	}
	return nil
}

// callTool lets a call pass the gate. It does not wait: calls may overlap.
func (p *Proxy) callTool(ctx context.Context, c *call, line []byte, params object) {
	if !params.exact("name", "arguments") {
		p.reply(refuse(c.id, jsonrpc.CodeInvalidParams, "heed: params has a member whose name differs by case"))
		return
	}
	tool, arguments := params.text("name"), params.get("arguments")
	if len(p.waiting) == maxWaiting || !p.expect(c) {
		p.reply(refuse(c.id, jsonrpc.CodeInvalid, tooMany))
		return
	}
	c.request = sha256.Sum256(encode([]any{tool, arguments}))
	d := p.resume(c, params)
	if !d.Allowed {
		p.confirm() // the model has read the results before
	}
	p.mu.Lock()
	tags := p.known[tool]
	p.mu.Unlock()
	ours := ownTool(tool)
	before, after := p.before, make(chan struct{})
	if !ours { // the server gets it
		p.before = after
	}
	p.waiting <- struct{}{}
	p.work(func() {
		defer func() { <-p.waiting }()
		defer close(after)
		if !d.Allowed && !ours { // else c continues a call
			d = p.gate.Check(ctx, gate.Call{ID: string(c.id), Tool: tool, Tags: tags, Consumer: Consumer})
		}
		<-before // calls reach the server in their order; until then the client may cancel it
		p.mu.Lock()
		passes := d.Allowed && !c.canceled
		if passes {
			c.decision = d
		} else {
			p.pending.Take(jsontext.Value(c.id))
		}
		p.mu.Unlock()
		switch {
		case ours:
			p.reply(c.answer(p.callOwn(ctx, tool, arguments)))
		case passes:
			p.server.Write(line)
		case c.canceled: // it had no effect
			p.endWith(ctx, &d, event.StatusFailed, "the client canceled it before it was passed on")
		default:
			p.reply(c.answer(textResult(p.news(ctx, func(ctx context.Context) (string, error) {
				return p.talk.Refuse(ctx, way.Refusal{Tool: tool, Item: d.Attention, Why: d.Why})
			}), true)))
		}
	})
}

// reply writes a line of heed's own to the client. It waits while the client does not read.
func (p *Proxy) reply(line []byte) {
	p.client.Room()
	p.client.Write(line)
}

// newsWithin bounds a look for news. A result does not wait longer for it.
const newsWithin = 2 * time.Second

// news returns the text of f, and logs its error.
func (p *Proxy) news(ctx context.Context, f func(context.Context) (string, error)) string {
	ctx, cancel := context.WithTimeout(ctx, newsWithin)
	defer cancel()
	text, err := f(ctx)
	if err != nil {
		p.cfg.Log.Warn("the open items are not known", "error", err)
	}
	return text
}

// confirm records that the model has read the results before.
func (p *Proxy) confirm() {
	p.talk.Do(func(m *steer.Machine, _ time.Time) steer.Action {
		for _, msg := range deliver.Confirm(m) {
			if msg.Through > 0 {
				p.cfg.Session.Delivered(Consumer, msg.Topic, msg.Through)
			}
		}
		return steer.Action{}
	})
}

// fromServer takes a line of the server.
func (p *Proxy) fromServer(ctx context.Context, line []byte) {
	m, ok := readMessage(line, false)
	if m.line = line; !ok {
		p.odd.Add(1)
	}
	later := func(change func()) { // the log is read first
		p.work(func() {
			change()
			p.reply(m.line)
		})
	}
	switch {
	case m.method == "notifications/subscriptions/acknowledged":
		p.acknowledged(m)
		return
	case strings.HasPrefix(m.method, "notifications/tasks"):
		later(func() { p.state(ctx, m.params.text("taskId"), m, "params") })
		return
	case !ok || m.method != "" || m.id == nil:
		p.client.Write(line)
		return
	}
	p.mu.Lock()
	c := p.pending[m.key()]
	if c != nil && c.waits() { // the server answers a call that it does not have
		c = nil
	} else {
		delete(p.pending, m.key())
	}
	p.mu.Unlock()
	result := m.inner("result")
	called := c != nil && c.decision.Allowed
	asks := called && c.typed && result.text("resultType") == "input_required" // one request with it continues the call
	switch task := taskOf(result); {
	case c == nil:
		p.client.Write(line)
	case asks && result.get("requestState") == nil && len(result.inner("inputRequests")) == 0:
		// As a busy server does: the client repeats the call, which nothing connects with c.
		later(func() { p.endWith(ctx, &c.decision, event.StatusCompleted, "") })
	case asks:
		p.continued.Add(c.with(result), c.decision)
		p.client.Write(line)
	case called && task != "":
		p.continued.Add(taskKey(task), c.decision)
		p.client.Write(line)
	case called:
		later(func() { p.inform(ctx, m, p.end(ctx, &c.decision, m.object)) })
	case strings.HasPrefix(c.method, "tasks/"):
		later(func() { p.polled(ctx, c, m) })
	case len(c.uris) > 0 && !c.watches && m.get("result") == nil:
		p.watch(c) // heed has its own resources though the server has no subscriptions
	default:
		p.listed(ctx, c, m)
		p.client.Write(m.line)
	}
}

// unanswered answers, in order, the open requests of a server that has ended. Their effects are unknown.
func (p *Proxy) unanswered(ctx context.Context) {
	p.mu.Lock()
	open := p.pending
	p.pending = jsonrpc.Open[*call]{}
	p.mu.Unlock()
	said := "heed: the server ended"
	if p.cfg.Exit != nil && len(open) > 0 {
		if how := p.cfg.Exit(); how != "" {
			said += " (" + how + ")"
		}
	}
	said += " while the call ran"
	for _, id := range slices.Sorted(maps.Keys(open)) {
		c := open[id]
		m, _ := readMessage(refuse(c.id, jsonrpc.CodeInternal, said+outcomeUnknown), false)
		switch {
		case c.decision.Allowed:
			p.inform(ctx, m, p.end(ctx, &c.decision, m.object))
		case c.method == "subscriptions/listen":
			m.line = c.answer(map[string]any{"_meta": c.meta()})
		}
		p.reply(m.line)
	}
}

// outcomeUnknown ends heed's own answer to a call for which the server has given none.
const outcomeUnknown = "; whether it was executed is not known"

// end ends the operation of a call by its answer. It returns the outcome.
func (p *Proxy) end(ctx context.Context, d *gate.Decision, msg object) (outcome string) {
	result, failed := msg.inner("result"), msg.inner("error")
	switch {
	case string(failed.get("code")) == "-32003": // [jsonrpc.CodeTooLarge]: it was executed
	case msg.get("result") == nil:
		status, said := event.StatusFailed, failed.text("message")
		switch {
		case !strings.HasPrefix(said, "heed: ") || !strings.HasSuffix(said, outcomeUnknown):
		case p.left.Load():
			status = event.StatusCancelled
		default:
			status = event.StatusTimedOut
		}
		return p.endWith(ctx, d, status, said)
	case string(result.get("isError")) == "true":
		return p.endWith(ctx, d, event.StatusFailed, contentText(result))
	}
	return p.endWith(ctx, d, event.StatusCompleted, "")
}

// endWith ends the operation of a call, and returns its outcome, "" for a clean one. The first end counts.
func (p *Proxy) endWith(ctx context.Context, d *gate.Decision, status event.Status, why string) (outcome string) {
	res := p.gate.Done(context.WithoutCancel(ctx), *d, status, why)
	v := &res.Verdict
	if v.Outcome == "" || v.Outcome == coalesce.Clean {
		return ""
	}
	return "Outcome of this call: " + v.Outcome + ". " + v.Text + p.counted(res.Related)
}

// counted returns a line with the latest entry of an item that is open no more, which no message about it shows.
func (p *Proxy) counted(item *heed.Item) string {
	if item == nil || item.State == coalesce.Open || p.cfg.BriefTokens == 0 || item.LatestSequence == 0 {
		return ""
	}
	page := p.cfg.Session.Engine().Read(heed.Cursor{Seq: item.LatestSequence - 1}, 1, heed.Filter{})
	if len(page.Records) == 0 || page.Records[0].Seq != item.LatestSequence { // it is held no more
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimLeft(page.Records[0].Message, "\r\n"), "\n")
	return "\n" + steer.Quote + text.Safe(line, maxCounted)
}

// maxCounted bounds the text of such an entry, in characters.
const maxCounted = 300

// inform adds an outcome and the news to the answer to a call: m, or the member of m that has it.
func (p *Proxy) inform(ctx context.Context, m *message, outcome string, at ...string) {
	text := strings.TrimSpace(outcome + "\n\n" + p.news(ctx, p.talk.Offer))
	if text == "" {
		return
	}
	msg := m.object
	for _, member := range at {
		msg = msg.inner(member)
	}
	set := func(value any, path ...string) { m.set(value, slices.Concat(at, path)...) }
	if msg.get("result") == nil {
		set(msg.inner("error").text("message")+"\n\n"+text, "error", "message")
		return
	}
	result := msg.inner("result")
	if blocks := list(result.get("content")); blocks != nil || result.get("content") == nil {
		set(append([]json.RawMessage{encode(textBlock(text))}, blocks...), "result", "content")
	}
	if structured, ok := parse(result.get("structuredContent"), false); ok && structured.get(member) == nil {
		set(text, "result", "structuredContent", member)
	}
}

// contentText returns the first text of a result.
func contentText(result object) string {
	for _, raw := range list(result.get("content")) {
		block, _ := parse(raw, false)
		if text := block.text("text"); text != "" {
			return text
		}
	}
	return ""
}
