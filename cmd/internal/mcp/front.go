package mcp

import (
	"cmp"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/heedlog/heed/cmd/internal/jsonrpc"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/loopback"
	"github.com/heedlog/heed/internal/text"
)

// Front is a client over Streamable HTTP, as a stream of lines: posted messages are read, and a written line goes to
// the request that it belongs to. One session is open at a time, since a server has one client: another ends it. Since
// 2026-07-28 there are no sessions, and each request is of the one client. Make one with [NewFront].
type Front struct {
	*io.PipeReader // the lines of the client
	to             *io.PipeWriter

	token    string
	far      bool // other machines may connect
	mirrored mirrored

	mu      sync.Mutex
	session string
	streams []*stream // of requests without an answer, the latest last; the first is of the session if there is one
}

// The bounds of a Front.
const (
	maxStreams = 256
	maxEvents  = 256 // that a client has not read of one stream

	firstWithin = 10 * time.Second // the answer is alone if it comes within this time
	keepAlive   = 20 * time.Second
)

// stream has the messages for one request of a client, or for none.
type stream struct {
	of      *message      // the request, without an id of the session
	next    chan *message // that are not written; an answer, or nil, is the last
	reading bool          // of the session
}

func newStream(of *message) *stream { return &stream{of: of, next: make(chan *message, maxEvents)} }

// NewFront returns a client. Each request must have the token, unless it is "". A request from a page of another site
// is refused, and a request for another host than this machine, too, if far is false.
func NewFront(token string, far bool) *Front {
	f := &Front{token: token, far: far, mirrored: newMirrored()}
	f.PipeReader, f.to = io.Pipe()
	return f
}

// Write gives the client a line.
func (f *Front) Write(line []byte) (int, error) {
	m, _ := readMessage(line, false)
	f.mu.Lock()
	defer f.mu.Unlock()
	to := f.streamOf(m)
	if to == nil {
		return len(line), nil
	}
	if m.method == "" {
		if to.of.method == "tools/list" {
			learn(f.mirrored, list(m.inner("result").get("tools")), func(string, error) {}) // which the client leaves out
		}
		f.end(to)
	}
	to.add(m)
	return len(line), nil
}

// request returns the stream of the request with an id, nil for an unknown one.
func (f *Front) request(id json.RawMessage) *stream {
	i := slices.IndexFunc(f.streams, func(s *stream) bool { return s.of.id != nil && s.of.key() == keyOf(id) })
	if i < 0 {
		return nil
	}
	return f.streams[i]
}

// streamOf returns the stream of a message: of the request that it answers, or whose subscription or token it names;
// else of the session if it is read, or of the latest request, since the server names no request.
func (f *Front) streamOf(m *message) *stream {
	of, token := m.params.inner("_meta").get(subscriptionID), string(m.params.get("progressToken"))
	switch {
	case m.method == "":
		return f.request(m.id)
	case of != nil:
		return f.request(of)
	case len(f.streams) == 0:
		return nil
	}
	for _, s := range f.streams {
		if token != "" && token == string(s.of.params.inner("_meta").get("progressToken")) {
			return s
		}
	}
	if f.streams[0].reading {
		return f.streams[0]
	}
	return f.streams[len(f.streams)-1]
}

// add adds a message in place of the oldest one if there are too many, with the lock of the Front held.
func (s *stream) add(m *message) {
	if len(s.next) == maxEvents {
		select {
		case <-s.next:
		default: // it was written since
		}
	}
	s.next <- m
}

// end forgets a stream, with mu held.
func (f *Front) end(of *stream) {
	f.streams = slices.DeleteFunc(f.streams, func(s *stream) bool { return s == of })
}

// leave ends the session and its requests, with mu held, and gives them the reason. It returns the messages that cancel
// them.
func (f *Front) leave(why string) (cancel [][]byte) {
	for _, s := range f.streams {
		var last *message
		if s.of.id != nil {
			last, _ = readMessage(refuse(s.of.id, jsonrpc.CodeInternal, "heed: "+why+outcomeUnknown), false)
			cancel = append(cancel, canceled(s.of.id))
		}
		s.add(last)
	}
	f.streams, f.session = nil, ""
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
			lines := f.leave("the session has ended")
			f.mu.Unlock()
			f.send(lines...)
			f.mu.Lock()
			w.WriteHeader(http.StatusNoContent)
		case f.streams[0].reading:
			http.Error(w, "heed: this stream is open", http.StatusConflict)
		default:
			own := f.streams[0]
			own.reading = true // before another comes
			f.mu.Unlock()
			f.serve(w, r, own, false)
			f.mu.Lock()
			own.reading = false
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
	case given != "" && given != f.session:
		return http.StatusNotFound
	case given == "", !versionForm().MatchString(r.Header.Get(headerVersion)):
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
	refused := func(status, code int, text string) { answer(w, status, refuse(m.id, code, "heed: "+text)) }
	switch {
	case err != nil:
		refused(http.StatusRequestEntityTooLarge, jsonrpc.CodeInvalid, err.Error())
		return
	case !ok:
		refused(http.StatusBadRequest, jsonrpc.CodeParse, "not one JSON object with each name once")
		return
	case !alone || !m.asks():
	case m.version == "" || m.params.inner("_meta").get(capabilitiesKey) == nil:
		refused(http.StatusBadRequest, jsonrpc.CodeInvalidParams, "params._meta has no version or no capabilities of the client")
		return
	default:
		for header, want := range m.headers(f.mirrored) {
			if got, ok := headerText(r.Header.Get(header)); !ok || !agrees(got, want) {
				refused(http.StatusBadRequest, codeHeader, fmt.Sprintf("header %s is %q, the body has %s", header, got, want))
				return
			}
		}
	}
	var left [][]byte
	var s *stream
	begins := m.method == "initialize" && !alone
	f.mu.Lock()
	if status := f.inSession(r); begins {
		left = f.leave("another client began a session, and one is served at a time")
		f.session, f.streams = gabp.NewToken(), []*stream{newStream(&message{})}
		w.Header().Set(headerSession, f.session)
	} else if !alone && status != 0 {
		f.mu.Unlock()
		refused(status, jsonrpc.CodeInvalid, "not of the session that is open, since one client is served at a time: initialize begins one")
		return
	}
	if m.asks() {
		if f.request(m.id) != nil || len(f.streams) > maxStreams {
			f.mu.Unlock()
			refused(http.StatusBadRequest, jsonrpc.CodeInternal, "too many requests wait for an answer, or two have this id")
			return
		}
		s = newStream(m)
		f.streams = append(f.streams, s)
	}
	f.mu.Unlock()
	f.send(append(left, m.line)...)
	if s == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if f.serve(w, r, s, begins || alone) || begins { // no client may cancel initialize
		return
	}
	f.mu.Lock()
	open := slices.Contains(f.streams, s)
	f.end(s)
	f.mu.Unlock()
	if open { // its answer could reach the client no more
		f.send(canceled(m.id))
	}
}

// send sends lines to the proxy.
func (f *Front) send(lines ...[]byte) {
	for _, line := range lines {
		_, _ = f.to.Write(line)
	}
}

// serve writes messages until the last, or the client leaves. It returns true if the answer was written. An answer that
// comes soon and is the only message may be alone.
func (f *Front) serve(w http.ResponseWriter, r *http.Request, from *stream, alone bool) bool {
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
		last, err := false, error(nil)
		select {
		case m := <-from.next:
			last = m == nil || m.method == ""
			if alone && last {
				answer(w, cmp.Or(statuses[string(m.inner("error").get("code"))], http.StatusOK), m.line)
				return true
			}
			if m != nil {
				begin()
				_, err = fmt.Fprintf(w, "event: message\ndata: %s\n", m.line)
			}
		case <-r.Context().Done():
			return false
		case <-time.After(waits):
			begin()
			_, err = io.WriteString(w, ":\n\n")
		}
		if err = cmp.Or(err, rc.Flush()); err != nil || last {
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

// statuses are the statuses of answers since 2026-07-28, by the code of their error.
var statuses = map[string]int{
	"-32601": http.StatusNotFound,
	"-32020": http.StatusBadRequest, "-32021": http.StatusBadRequest, "-32022": http.StatusBadRequest,
}
