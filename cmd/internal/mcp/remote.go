package mcp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heedlog/heed/cmd/internal/jsonrpc"
	"github.com/heedlog/heed/internal/framing"
)

// Remote is a server over Streamable HTTP, as a stream of lines: written lines go to the server, and its are read. Each
// request is answered, with an error if the server cannot be reached. A session that the server does not know any
// more begins again. Make one with [Dial].
type Remote struct {
	*io.PipeReader // the lines of the server
	to             *io.PipeWriter

	url, token string
	log        *slog.Logger
	client     *http.Client
	ctx        context.Context
	end        context.CancelFunc
	under      sync.WaitGroup // requests that will have an answer
	mirrored   mirrored

	renewing sync.Mutex
	session  atomic.Pointer[remoteSession] // nil while there is none
	inited   atomic.Pointer[message]       // the client's notification after initialize, which ends the session's stream
	open     sync.Map                      // requests of versions without sessions, each a *message by the key of its id
}

// remoteSession is a session that the server has begun. The id is "" if the server gave none.
type remoteSession struct {
	id, version string
	hello       *message // the client's initialize
}

// The bounds of repetition.
const (
	remoteRetries = 5
	remoteDelay   = time.Second
	remoteMost    = 30 * time.Second // between two, and for a message without an answer
)

// Dial returns the server at a valid URL, which gets a token unless it is "". Nothing is sent yet.
func Dial(url, token string, log *slog.Logger) *Remote {
	r := &Remote{
		url: url, token: token, log: log, mirrored: newMirrored(),
		client: &http.Client{
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // with the token
		},
	}
	r.ctx, r.end = context.WithCancel(context.Background())
	r.PipeReader, r.to = io.Pipe()
	return r
}

// Write sends a line to the server. It returns when a request was sent, and when another message was taken.
func (r *Remote) Write(line []byte) (int, error) {
	m, _ := readMessage(line, false) // the proxy has read it
	switch {
	case m.asks():
		r.begin(m)
	case m.method == "notifications/cancelled" && r.cancels(m):
	default:
		ctx, cancel := context.WithTimeout(r.ctx, remoteMost)
		defer cancel()
		r.notify(ctx, m)
	}
	return len(line), nil
}

// begin sends a request, whose answer comes later.
func (r *Remote) begin(m *message) {
	ctx, cancel := context.WithCancel(r.ctx)
	sent, wrote := context.WithCancel(ctx)
	trace := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { wrote() }}
	if m.method == "initialize" {
		r.forget()
	}
	if m.end = cancel; m.version != "" {
		r.open.Store(m.key(), m)
	}
	ask := func() {
		defer cancel()
		r.ask(httptrace.WithClientTrace(ctx, trace), m, sent)
		r.open.CompareAndDelete(m.key(), m) // the client may have used the id again
	}
	if m.method == "subscriptions/listen" { // which has no answer while it is of use
		go ask()
	} else {
		r.under.Go(ask)
	}
	<-sent.Done()
}

// notify sends a message without an answer.
func (r *Remote) notify(ctx context.Context, m *message) {
	resp, err := r.post(ctx, m)
	if err != nil {
		r.log.Warn("a message did not reach the server", "method", m.method, "error", err)
		return
	}
	_ = resp.Body.Close()
	if m.method == "notifications/initialized" {
		ctx, m.end = context.WithCancel(r.ctx)
		if before := r.inited.Swap(m); before != nil {
			before.end()
		}
		go r.events(ctx, nil, nil)
	}
}

// Finish lets the open requests have their answers within a time, and ends the session and the lines of the server.
func (r *Remote) Finish(within time.Duration) {
	defer time.AfterFunc(within, r.end).Stop()
	r.under.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if s := r.session.Load(); s != nil && s.id != "" {
		if resp, err := r.do(ctx, http.MethodDelete, nil, nil); err == nil {
			_ = resp.Body.Close()
		}
	}
	r.end()
	_ = r.to.Close()
}

// forget forgets the session and ends its stream. It returns the client's notification that followed its beginning.
func (r *Remote) forget() (inited *message) {
	r.session.Store(nil)
	if inited = r.inited.Swap(nil); inited != nil {
		inited.end()
	}
	return inited
}

// cancels ends a request of a version that has no notification for that. It returns false for another.
func (r *Remote) cancels(m *message) bool {
	request, known := r.open.LoadAndDelete(keyOf(m.params.get("requestId")))
	if known {
		request.(*message).end()
	}
	return known
}

// do sends an HTTP request with the headers of the session, and with others.
func (r *Remote) do(
	ctx context.Context, method string, body []byte, headers map[string]string,
) (*http.Response, error) {
	req, _ := http.NewRequestWithContext(ctx, method, r.url, bytes.NewReader(body)) // the URL is valid
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	if s := r.session.Load(); s != nil && headers[headerVersion] == "" { // else the version has no sessions
		req.Header.Set(headerSession, s.id)
		req.Header.Set(headerVersion, s.version)
	}
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	maps.DeleteFunc(req.Header, func(_ string, values []string) bool { return values[0] == "" })
	return r.client.Do(req)
}

func (r *Remote) post(ctx context.Context, m *message) (*http.Response, error) {
	headers := map[string]string{"Accept": typeJSON + ", " + typeEvents, "Content-Type": typeJSON}
	for name, value := range m.headers(r.mirrored) {
		headers[name] = headerValue(plainText(value))
	}
	return r.do(ctx, http.MethodPost, m.line, headers)
}

// ask sends a request, and passes its answer on.
func (r *Remote) ask(ctx context.Context, m *message, sent context.Context) {
	resp, err := r.post(ctx, m)
	if err == nil && resp.StatusCode == http.StatusNotFound && m.version == "" && r.renew(ctx, resp) {
		resp, err = r.post(ctx, m)
	}
	if err != nil {
		said := fmt.Errorf("the server cannot be reached, and did nothing: %w", err)
		if sent.Err() != nil {
			said = fmt.Errorf("the server did not answer: %w"+outcomeUnknown, err)
		}
		r.fail(ctx, m, said)
		return
	}
	if resp.StatusCode == http.StatusOK && ofType(resp.Header, "Content-Type", typeEvents) {
		r.events(ctx, m, resp)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := readBody(resp.Body)
	switch got, ok := readMessage(body, false); {
	case err != nil:
		r.fail(ctx, m, err)
	case ok && (got.get("result") != nil || got.get("error") != nil):
		if got.id == nil { // of an error of the transport
			got.id = m.id
			got.set(m.id, "id")
		}
		r.pass(m, resp, got)
	default:
		r.fail(ctx, m, fmt.Errorf("the server answered HTTP %d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
	}
}

// pass gives the client a line of the server. It reports whether it answers m.
func (r *Remote) pass(m *message, resp *http.Response, got *message) bool {
	answers := m != nil && got.method == "" && got.key() == m.key()
	switch result := got.inner("result"); {
	case !answers:
	case m.method == "initialize" && got.get("result") != nil:
		r.session.Store(&remoteSession{resp.Header.Get(headerSession), result.text("protocolVersion"), m})
	case m.method == "tools/list" && m.version != "" && result.get("tools") != nil:
		got.set(learn(r.mirrored, list(result.get("tools")), func(tool string, why error) {
			r.log.Warn("a tool of the server is left out, as the protocol requires", "tool", tool, "because", why)
		}), "result", "tools")
	}
	if m == nil || !m.again {
		_, _ = r.to.Write(got.line)
	}
	return answers
}

// fail answers a request with an error, unless it was canceled.
func (r *Remote) fail(ctx context.Context, m *message, err error) {
	code := jsonrpc.CodeInternal
	if _, long := errors.AsType[*framing.LongError](err); long {
		code, err = jsonrpc.CodeTooLarge, fmt.Errorf("%w; the call was executed", err)
	}
	if !m.again && (ctx.Err() == nil || r.ctx.Err() != nil) {
		_, _ = r.to.Write(refuse(m.id, code, "heed: "+err.Error()))
	}
}

// events passes the events of a response on until the answer to m; for nil, the events of the session, from another
// request. A stream that breaks off is taken up where it was, if its events have ids.
func (r *Remote) events(ctx context.Context, m *message, resp *http.Response) {
	last, delay, answered, err := "", remoteDelay, false, error(nil)
	for n := 0; ; n++ {
		if resp != nil {
			err = readEvents(resp.Body, func(e sse) bool {
				last, n = cmp.Or(e.id, last), 0
				delay = min(cmp.Or(e.retry, delay), remoteMost)
				if got, ok := readMessage(e.data, false); ok {
					answered = r.pass(m, resp, got)
				}
				return !answered
			})
			_ = resp.Body.Close()
		}
		switch {
		case answered || ctx.Err() != nil:
			return
		case m != nil && (last == "" || n == remoteRetries):
			r.fail(ctx, m, fmt.Errorf("the stream of the answer broke off: %w"+outcomeUnknown, err))
			return
		case m != nil || n > 0:
			select {
			case <-ctx.Done():
				return
			case <-time.After(min(delay<<min(n, remoteRetries), remoteMost)):
			}
		}
		resp, err = r.do(ctx, http.MethodGet, nil, map[string]string{"Accept": typeEvents, headerLast: last})
		if err == nil && (resp.StatusCode != http.StatusOK || !ofType(resp.Header, "Content-Type", typeEvents)) {
			_ = resp.Body.Close()
			if m == nil && resp.StatusCode/100 == 4 { // this server has none
				return
			}
			resp, err = nil, fmt.Errorf("HTTP %d", resp.StatusCode)
		}
	}
}

// renew begins the session of a response again, which the server does not know any more. It returns false if it was
// never begun, or cannot be.
func (r *Remote) renew(ctx context.Context, resp *http.Response) bool {
	r.renewing.Lock()
	defer r.renewing.Unlock()
	s := r.session.Load()
	if s == nil || s.id == "" || s.id != resp.Request.Header.Get(headerSession) { // another request has begun it
		return s != nil && s.id != ""
	}
	inited := r.forget()
	_ = resp.Body.Close()
	again := *s.hello
	again.again = true
	r.ask(ctx, &again, ctx)
	begun := r.session.Load() != nil
	if begun && inited != nil {
		r.notify(ctx, inited)
	}
	r.log.Info("the server does not know its session any more", "begun again", begun)
	return begun
}
