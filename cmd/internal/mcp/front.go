package mcp

import (
	"bytes"
	"cmp"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/heedlog/heed/cmd/internal/jsonrpc"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/loopback"
	"github.com/heedlog/heed/internal/text"
)

// Front is a client over Streamable HTTP, as a stream of lines: posted messages are read, and a written line goes to
// the request that it belongs to. One session is open at a time, since a server has one client: another ends it. Since
// 2026-07-28 there are no sessions, and each request is of the one client. Make one with [NewFront].
type Front struct {
	token string
	far   bool // other machines may connect

	lines *io.PipeReader
	to    *io.PipeWriter

	mu      sync.Mutex
	session string
	open    map[string]*events // of requests without an answer, by their ids
	general *events            // of the session, for messages that belong to no request
	begun   int

	mirrored mirrored
}

// The bounds of a Front.
const (
	maxStreams = 256
	maxEvents  = 256 // that a client has not read of one stream

	firstWithin = 10 * time.Second // the answer is alone if it comes within this time
	keepAlive   = 20 * time.Second
)

// events are the messages for one request of a client, or for none.
type events struct {
	number  int           // of the requests and sessions so far
	of      *message      // the request
	next    chan outgoing // that are not written
	reading bool
}

// outgoing is a message, or the end of a session, which has none.
type outgoing struct {
	data []byte
	last bool
}

// NewFront returns a client. Each request must have the token, unless it is "". A request from a page of another site
// is refused, and a request for another host than this machine, too, if far is false.
func NewFront(token string, far bool) *Front {
	f := &Front{token: token, far: far, open: map[string]*events{}, mirrored: mirrored{}}
	f.lines, f.to = io.Pipe()
	return f
}

// Read reads the lines of the client.
func (f *Front) Read(b []byte) (int, error) { return f.lines.Read(b) }

// Close ends the lines of the client.
func (f *Front) Close() error { return f.lines.Close() }

// Write gives the client a line.
func (f *Front) Write(line []byte) (int, error) {
	m, _ := readMessage(line, false)
	f.mu.Lock()
	defer f.mu.Unlock()
	to := f.open[m.key()]
	switch of := m.params.inner("_meta").get(subscriptionID); {
	case m.method == "":
		if to != nil && to.of.method == "tools/list" {
			f.mirrored.learn(list(m.inner("result").get("tools")), func(string, error) {}) // which the client leaves out
		}
		delete(f.open, m.key())
	case of != nil:
		to = f.open[keyOf(of)]
	default:
		to = f.related(string(m.params.get("progressToken")))
	}
	if to != nil {
		to.add(m.line, m.method == "")
	}
	return len(line), nil
}

// related returns the events of the request that has a token; else the events of the session if they are read, or of
// the latest request, since the server names no request.
func (f *Front) related(token string) (to *events) {
	for _, e := range f.open {
		if token != "" && token == string(e.of.params.inner("_meta").get("progressToken")) {
			return e
		}
		if to == nil || e.number > to.number {
			to = e
		}
	}
	if f.general != nil && (to == nil || f.general.reading) {
		return f.general
	}
	return to
}

// add adds an event in place of the oldest one if there are too many, with the lock of the Front held.
func (e *events) add(data []byte, last bool) {
	if len(e.next) == maxEvents {
		select {
		case <-e.next:
		default: // it was written meanwhile
		}
	}
	e.next <- outgoing{bytes.TrimRight(data, "\n"), last}
}

// begin returns new events, with mu held.
func (f *Front) begin(of *message) *events {
	f.begun++
	return &events{number: f.begun, of: of, next: make(chan outgoing, maxEvents)}
}

// leave ends the session and its requests, with mu held. It returns the messages that cancel them.
func (f *Front) leave() (cancel [][]byte) {
	for _, e := range f.open {
		cancel = append(cancel, canceled(e.of.id))
		e.add(jsonrpc.Failure(jsontext.Value(e.of.id), jsonrpc.CodeInternal, "heed: the session has ended").Line(), true)
	}
	if f.general != nil {
		f.general.add(nil, true)
	}
	f.open, f.general, f.session = map[string]*events{}, nil, ""
	return cancel
}

func canceled(id json.RawMessage) []byte {
	return notification("notifications/cancelled", map[string]any{"requestId": id, "reason": "the client left"})
}

// ServeHTTP implements [http.Handler], for each path.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	given, bears := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case !f.local(r):
		http.Error(w, "heed: not for this host or from this origin", http.StatusForbidden)
	case f.token != "" && (!bears || subtle.ConstantTimeCompare([]byte(given), []byte(f.token)) != 1):
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "heed: not with the token", http.StatusUnauthorized)
	case r.Method == http.MethodPost:
		f.post(w, r)
	case r.Method == http.MethodGet, r.Method == http.MethodDelete:
		f.mu.Lock()
		defer f.mu.Unlock()
		switch status := f.inSession(r); {
		case f.session == "": // versions without sessions have no such methods
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "heed: no session", http.StatusMethodNotAllowed)
		case status != 0:
			http.Error(w, "heed: not of this session", status)
		case r.Method == http.MethodDelete:
			lines := f.leave()
			f.mu.Unlock()
			f.send(lines...)
			f.mu.Lock()
			w.WriteHeader(http.StatusNoContent)
		case f.general.reading:
			http.Error(w, "heed: this stream is open", http.StatusConflict)
		default:
			e := f.general
			e.reading = true // before another comes
			f.mu.Unlock()
			f.serve(w, r, e, false)
			f.mu.Lock()
			e.reading = false
		}
	default:
		http.Error(w, "heed: POST, GET or DELETE", http.StatusMethodNotAllowed)
	}
}

// local reports whether a request is for this machine and not from a page of another.
func (f *Front) local(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	from, err := url.Parse(origin)
	if err != nil || origin != "" && from.Host == "" {
		return false
	}
	if f.far {
		return origin == "" || from.Host == r.Host
	}
	return loopback.Is(r.Host) && (origin == "" || loopback.Is(from.Host))
}

// inSession returns 0 for a request of the open session, else the status of its answer. mu is held.
func (f *Front) inSession(r *http.Request) int {
	switch given := r.Header.Get(headerSession); {
	case given == "":
		return http.StatusBadRequest
	case given != f.session:
		return http.StatusNotFound
	case !versionForm().MatchString(r.Header.Get(headerVersion)):
		return http.StatusBadRequest
	}
	return 0
}

// versionForm is the form of a version, which earlier clients do not send.
var versionForm = text.Lazy(`^(\d{4}-\d\d-\d\d)?$`)

// codeHeader is the code of an error about headers that differ from the body.
const codeHeader = -32020

// post takes a message of the client.
func (f *Front) post(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r.Body)
	m, ok := readMessage(body, true)
	named := r.Header.Get(headerVersion)
	alone := m.version >= typedSince || named >= typedSince && versionForm().MatchString(named) // there is no session
	refused := func(status, code int, text string) {
		answer(w, status, jsonrpc.Failure(jsontext.Value(m.id), code, "heed: "+text).Line())
	}
	switch {
	case err != nil:
		refused(http.StatusRequestEntityTooLarge, jsonrpc.CodeInvalid, err.Error())
		return
	case !ok:
		refused(http.StatusBadRequest, jsonrpc.CodeParse, "not one JSON object with each name once")
		return
	case m.asks() && alone:
		if m.version == "" || m.params.inner("_meta").get(capabilitiesKey) == nil {
			refused(http.StatusBadRequest, jsonrpc.CodeInvalidParams, "params._meta has no version or no capabilities of the client")
			return
		}
		f.mu.Lock()
		body := m.headers(f.mirrored)
		f.mu.Unlock()
		for header, want := range body {
			if got, ok := headerText(r.Header.Get(header)); !ok || !agrees(got, want) {
				refused(http.StatusBadRequest, codeHeader, fmt.Sprintf("header %s is %q, the body has %s", header, got, want))
				return
			}
		}
	}
	f.mu.Lock()
	var left [][]byte
	begins := m.method == "initialize" && !alone
	if begins {
		left = f.leave()
		f.session = gabp.NewToken()
		f.general = f.begin(&message{})
		w.Header().Set(headerSession, f.session)
	} else if status := f.inSession(r); !alone && status != 0 {
		f.mu.Unlock()
		refused(status, jsonrpc.CodeInvalid, "not of the session that is open: initialize begins one")
		return
	}
	var e *events
	if m.asks() {
		key := m.key()
		if _, twice := f.open[key]; twice || len(f.open) >= maxStreams {
			f.mu.Unlock()
			refused(http.StatusBadRequest, jsonrpc.CodeInternal, "too many requests wait for an answer, or two have this id")
			return
		}
		e = f.begin(m)
		f.open[key] = e
	}
	f.mu.Unlock()
	f.send(append(left, m.line)...)
	if e == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if f.serve(w, r, e, begins || alone) || !alone { // of a session, a client that leaves cancels nothing
		return
	}
	f.mu.Lock()
	delete(f.open, m.key())
	f.mu.Unlock()
	f.send(canceled(m.id))
}

// send sends lines to the proxy.
func (f *Front) send(lines ...[]byte) {
	for _, line := range lines {
		_, _ = f.to.Write(line)
	}
}

// serve writes events until the last, or the client leaves. It returns true if the answer was written. An answer that
// comes soon and is the only event may be alone.
func (f *Front) serve(w http.ResponseWriter, r *http.Request, from *events, alone bool) bool {
	rc := http.NewResponseController(w)
	_, _ = rc.SetReadDeadline(time.Time{}), rc.SetWriteDeadline(time.Time{}) // the request is read; its stream may last
	begin := sync.OnceFunc(func() {
		alone = false
		h := w.Header()
		h.Set("Content-Type", typeEvents)
		h.Set("Cache-Control", "no-store")
		h.Set("X-Accel-Buffering", "no")
		_ = rc.Flush()
	})
	if !alone {
		begin()
	}
	for waits := firstWithin; ; waits = keepAlive {
		e, err := outgoing{}, error(nil)
		select {
		case e = <-from.next:
			if alone && e.last {
				answer(w, statusOf(e.data), e.data)
				return true
			}
			if e.data != nil {
				begin()
				_, err = fmt.Fprintf(w, "event: message\ndata: %s\n\n", e.data)
			}
		case <-r.Context().Done():
			return false
		case <-time.After(waits):
			begin()
			_, err = io.WriteString(w, ":\n\n")
		}
		if err = cmp.Or(err, rc.Flush()); err != nil || e.last {
			return err == nil
		}
	}
}

// answer writes a message alone.
func answer(w http.ResponseWriter, status int, line []byte) {
	w.Header().Set("Content-Type", typeJSON)
	w.WriteHeader(status)
	_, _ = w.Write(line)
}

// statusOf returns the status of an answer since 2026-07-28.
func statusOf(line []byte) int {
	msg, _ := parse(line, false)
	switch failed := msg.inner("error"); string(failed.get("code")) {
	case "-32601":
		return http.StatusNotFound
	case "-32020", "-32021", "-32022":
		return http.StatusBadRequest
	}
	return http.StatusOK
}
