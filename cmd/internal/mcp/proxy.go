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

	"github.com/heedlog/heed/agent/steer"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/deliver"
	"github.com/heedlog/heed/cmd/internal/jsonrpc"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/cmd/internal/way"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
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
	waiting        chan struct{} // a place for each call that waits
	before         chan struct{} // closed once the latest call was passed on or held back; of the reading goroutine

	mu         sync.Mutex
	under      int                 // pieces of work outside of the goroutines that read lines
	worked     sync.Cond           // under is less, of mu
	pending    jsonrpc.Open[*call] // requests of the client that the server has, and subscriptions
	known      map[string][]string // tags of the server's tools that have some
	lacks      map[string]bool     // capabilities that the server does not have
	greeted    bool                // the server answered initialize
	subscribed []string            // heed's resources by requests of their own, of versions before typedSince

	suspended *lru.Cache[sum, gate.Decision] // of calls that wait for the client's input
	tasks     *lru.Cache[string, *task]

	began sync.Once
	typed atomic.Bool   // initialize agreed on typedSince or later
	odd   atomic.Uint64 // lines of the server that are no message
}

// call is a request of the client.
type call struct {
	id     json.RawMessage
	method string
	typed  bool // of typedSince or later

	request  sum           // of the tool and its arguments
	decision gate.Decision // of a tools/call that the server has
	sent     bool
	canceled bool

	task string // the id of the task that a request is about

	uris    []string // heed's resources that a subscription asks for
	watches bool     // it was acknowledged
}

// sum identifies a call among those that wait for the client's input.
type sum = [sha256.Size]byte

// The bounds of calls that wait to be passed on or for the client's input, and of tools with known tags.
const (
	maxWaiting = 256
	maxTools   = 4096
)

// New returns a proxy, which gets the updates of the session.
func New(cfg Config) *Proxy {
	suspended, _ := lru.New[sum, gate.Decision](maxWaiting) // the errors are about another size
	tasks, _ := lru.New[string, *task](maxWaiting)
	p := &Proxy{
		cfg: cfg, gate: cfg.Bridge.Gate(), tools: cfg.Bridge.Diagnostics(),
		client: jsonrpc.NewPeer(cfg.Client), server: jsonrpc.NewPeer(cfg.Server),
		waiting: make(chan struct{}, maxWaiting), pending: jsonrpc.Open[*call]{}, known: map[string][]string{},
		lacks: map[string]bool{}, suspended: suspended, tasks: tasks,
	}
	p.worked.L = &p.mu
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
		Client: p.client, Program: p.server, Settle: p.settle, Left: p.cfg.Left,
		FromClient: lines(p.fromClient), FromProgram: lines(p.fromServer),
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

// work runs f beside the goroutines that read lines. One may call it while another settles: no [sync.WaitGroup] does.
func (p *Proxy) work(f func()) {
	p.mu.Lock()
	p.under++
	p.mu.Unlock()
	go func() {
		f()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.under--
		p.worked.Broadcast()
	}()
}

// settle waits until no work is under way.
func (p *Proxy) settle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.under > 0 {
		p.worked.Wait()
	}
}

// Odd returns how many lines were no messages: passed on as they came, or too long to be.
func (p *Proxy) Odd() uint64 { return p.odd.Load() + p.client.Dropped.Load() + p.server.Dropped.Load() }

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
		canceled := p.notified(m)
		p.server.Write(line)
		if canceled != nil { // before the next call is checked: its effects are not known
			p.gate.Done(ctx, canceled.decision, event.StatusCancelled, "")
		}
		return
	}
	c := &call{id: m.id, method: m.method, typed: m.version >= typedSince || m.version == "" && p.typed.Load()}
	if c.typed { // any request may be the first of its client
		p.arrive(ctx)
	}
	switch {
	case c.method == "tools/call":
		p.callTool(ctx, c, line, m.params)
		return
	case c.method == "subscriptions/listen":
		p.listen(c, m)
		return
	case strings.HasPrefix(c.method, "tasks/"):
		c.task = m.params.text("taskId")
	}
	own, result, refused := p.own(ctx, c, m.params)
	switch {
	case refused != "":
		p.reply(refuse(c.id, jsonrpc.CodeInvalidParams, refused))
	case own:
		p.reply(c.answer(result))
	case !p.expect(c):
		p.reply(refuse(c.id, jsonrpc.CodeInternal, "heed: too many requests wait for an answer, or two have this id"))
	default:
		p.server.Write(line)
	}
}

// arrive records once that the agent has arrived.
func (p *Proxy) arrive(ctx context.Context) {
	p.began.Do(func() { p.cfg.Bridge.Arrive(ctx, Consumer) })
}

// expect records a request. It returns false if the request cannot be passed on.
func (p *Proxy) expect(c *call) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pending.Add(jsontext.Value(c.id), c)
}

// goesOn keeps a call that its result does not end, and returns false for any other result. Such a result asks the
// client for input, after which one request continues the call and passes the gate, or it names a task.
func (p *Proxy) goesOn(c *call, result object) bool {
	switch id := taskOf(result); {
	case c.typed && result.text("resultType") == "input_required":
		p.suspended.Add(c.with(result), c.decision)
	case id != "":
		p.tasks.Add(id, &task{call: c})
	default:
		return false
	}
	return true
}

// comesAgain reports whether a result asks for no input and gives no state, as a busy server does: the client repeats
// the call, which nothing connects with c.
func (c *call) comesAgain(result object) bool {
	return c.typed && result.text("resultType") == "input_required" && result.get("requestState") == nil &&
		len(result.inner("inputRequests")) == 0
}

// resume gives c the decision of the suspended call that it continues, and returns false if there is none.
func (p *Proxy) resume(c *call, params object) bool {
	if params.get("inputResponses") == nil && params.get("requestState") == nil {
		return false
	}
	suspended := c.with(params)
	c.decision, _ = p.suspended.Get(suspended)
	return p.suspended.Remove(suspended)
}

// with returns the sum of c and the state that the server wants back with the client's input.
func (c *call) with(from object) sum {
	return sha256.Sum256(append(c.request[:], from.text("requestState")...))
}

// notified takes a notification of the client. It returns the call that ends with it, nil for none.
func (p *Proxy) notified(m *message) *call {
	if m.method != "notifications/cancelled" {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	id := keyOf(m.params.get("requestId"))
	c := p.pending[id]
	if c == nil {
		return nil
	}
	if c.canceled = true; c.sent || c.method != "tools/call" { // a server need not answer it
		delete(p.pending, id)
	}
	if !c.sent {
		return nil
	}
	return c
}

// own answers requests for heed's own resources, and requests that the server cannot answer. refused is the reason of
// an error.
func (p *Proxy) own(ctx context.Context, c *call, params object) (own bool, result any, refused string) {
	method := c.method
	lacking := func(capability string) bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.lacks[capability]
	}
	uri := params.text("uri")
	ours := strings.HasPrefix(uri, bridge.ResourceBase)
	switch method {
	case "tools/list", "resources/list", "resources/templates/list":
		capability, _, _ := strings.Cut(method, "/")
		return lacking(capability), p.ownList(method), ""
	case "resources/subscribe", "resources/unsubscribe":
		if c.typed {
			return false, nil, ""
		}
		if ours && !p.subscribe(uri, method == "resources/subscribe") {
			return true, nil, "heed: too many subscriptions"
		}
	case "resources/read":
		content, known, err := p.tools.Read(ctx, Consumer, uri)
		switch {
		case err != nil:
			return true, nil, err.Error()
		case known:
			return true, map[string]any{"contents": []any{map[string]any{
				"uri": uri, "mimeType": content.MIMEType, "text": string(encode(content.Content)),
			}}}, ""
		}
	default:
		return false, nil, ""
	}
	if !ours && lacking("resources") {
		return true, nil, "no such resource: " + uri
	}
	return ours, struct{}{}, ""
}

// callTool lets a call pass the gate. It does not wait: calls may overlap.
func (p *Proxy) callTool(ctx context.Context, c *call, line []byte, params object) {
	if !params.exact("name", "arguments") {
		p.reply(refuse(c.id, jsonrpc.CodeInvalidParams, "heed: params has a member whose name differs by case"))
		return
	}
	tool, arguments := params.text("name"), params.get("arguments")
	select {
	case p.waiting <- struct{}{}:
	default:
		p.reply(refuse(c.id, jsonrpc.CodeInternal, "heed: too many calls wait to be passed on"))
		return
	}
	if !p.expect(c) {
		<-p.waiting
		p.reply(refuse(c.id, jsonrpc.CodeInvalid, "heed: too many requests wait for an answer, or two have this id"))
		return
	}
	c.request = sha256.Sum256(encode([]any{tool, arguments}))
	if !p.resume(c, params) {
		p.confirm() // the model has read the results before
	}
	p.mu.Lock()
	tags := p.known[tool]
	p.mu.Unlock()
	before, after := p.before, make(chan struct{})
	p.before = after
	turn := sync.OnceFunc(func() { // calls reach the server in their order
		if before != nil {
			<-before
		}
	})
	p.work(func() {
		defer func() { <-p.waiting }()
		if name, ours := ownTool(tool); ours {
			turn()
			close(after) // the server does not get it
			p.finish(c.id)
			p.reply(c.answer(p.callOwn(ctx, name, arguments)))
			return
		}
		defer close(after)
		defer turn()
		d := c.decision
		if !d.Allowed { // else c continues a call
			d = p.gate.Check(ctx, gate.Call{ID: string(c.id), Tool: tool, Tags: tags, Consumer: Consumer})
		}
		if d.Allowed {
			turn() // until then the client may cancel it
		}
		p.mu.Lock()
		canceled := c.canceled
		c.decision, c.sent = d, d.Allowed && !canceled
		p.mu.Unlock()
		switch {
		case canceled: // it had no effect
			p.finish(c.id)
			p.gate.Done(ctx, d, event.StatusFailed, "the client canceled it before it was passed on")
		case !d.Allowed:
			p.finish(c.id)
			p.reply(c.answer(textResult(p.refusal(ctx, &d), true)))
		default:
			p.server.Write(line)
		}
	})
}

// reply writes a line of heed's own to the client. It waits while the client does not read.
func (p *Proxy) reply(line []byte) {
	p.client.Room()
	p.client.Write(line)
}

// finish returns the request with an id, nil for an unknown one, and forgets it.
func (p *Proxy) finish(id json.RawMessage) *call {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, _ := p.pending.Take(jsontext.Value(id))
	return c
}

// newsWithin bounds a look for news. A result does not wait longer for it.
const newsWithin = 2 * time.Second

// refusal returns the text in place of the result of a call that was held back.
func (p *Proxy) refusal(ctx context.Context, d *gate.Decision) string {
	return p.news(ctx, func(ctx context.Context) (string, error) {
		return p.talk.Refuse(ctx, d.Attention, d.Why, d.Call.Tool)
	})
}

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
		later(func() { p.changed(ctx, m) })
		return
	case !ok || m.method != "" || m.id == nil:
		p.client.Write(line)
		return
	}
	c := p.finish(m.id)
	switch {
	case c != nil && c.sent && c.comesAgain(m.inner("result")):
		later(func() { p.end(ctx, c, event.StatusCompleted, "") })
	case c == nil || c.sent && p.goesOn(c, m.inner("result")):
		p.client.Write(line)
	case c.sent:
		later(func() { p.called(ctx, c, m) })
	case c.task != "":
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
	said := "heed: the server ended before it answered"
	if p.cfg.Exit != nil && len(open) > 0 {
		if how := p.cfg.Exit(); how != "" {
			said += " (" + how + ")"
		}
	}
	for _, id := range slices.Sorted(maps.Keys(open)) {
		c := open[id]
		line := refuse(c.id, jsonrpc.CodeInternal, said+"; the outcome is unknown")
		switch {
		case c.sent:
			m, _ := readMessage(line, false)
			p.called(ctx, c, m)
			line = m.line
		case c.method == "subscriptions/listen":
			line = c.answer(map[string]any{"_meta": c.meta()})
		}
		p.reply(line)
	}
}

// called adds the outcome and the news to the answer to a call.
func (p *Proxy) called(ctx context.Context, c *call, m *message) {
	status, text := ended(m.object)
	p.inform(ctx, m, p.end(ctx, c, status, text))
}

// ended returns how a call ended, by its answer.
func ended(msg object) (status event.Status, text string) {
	result, failed := msg.inner("result"), msg.inner("error")
	switch {
	case string(failed.get("code")) == "-32003": // [jsonrpc.CodeTooLarge]: it was executed
	case msg.get("result") == nil:
		return event.StatusFailed, failed.text("message")
	case string(result.get("isError")) == "true":
		return event.StatusFailed, contentText(result)
	}
	return event.StatusCompleted, ""
}

// end ends the operation of a call. It returns its outcome, "" for a clean one.
func (p *Proxy) end(ctx context.Context, c *call, status event.Status, text string) string {
	res := p.gate.Done(context.WithoutCancel(ctx), c.decision, status, text)
	if v := res.Verdict; v.Outcome != "" && v.Outcome != coalesce.Clean {
		return "Outcome of this call: " + v.Outcome + ". " + v.Text
	}
	return ""
}

// inform adds an outcome and the news to the answer of a call.
func (p *Proxy) inform(ctx context.Context, m *message, told string) {
	if p.add(ctx, &m.object, told) {
		m.line = append(encode(m.object), '\n')
	}
}

// add adds an outcome and the news to an object with the answer of a call. It returns false if there are none.
func (p *Proxy) add(ctx context.Context, msg *object, told string) bool {
	news := p.news(ctx, p.talk.Offer)
	text := strings.TrimSpace(told + "\n\n" + news)
	if text == "" {
		return false
	}
	if msg.get("result") == nil {
		failed := msg.inner("error")
		failed.set("message", failed.text("message")+"\n\n"+text)
		msg.set("error", failed)
		return true
	}
	result := msg.inner("result")
	if blocks := list(result.get("content")); blocks != nil || result.get("content") == nil {
		result.set("content", append([]json.RawMessage{encode(textBlock(text))}, blocks...))
	}
	if structured, ok := parse(result.get("structuredContent"), false); ok && structured.get(member) == nil {
		structured.set(member, text)
		result.set("structuredContent", structured)
	}
	msg.set("result", result)
	return true
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
