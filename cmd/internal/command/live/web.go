package live

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/loopback"
)

// webPage is the live page: one file that loads nothing else.
//
//go:embed web.html
var webPage []byte

// web serves the live page to a person on this machine. Who does not know the address, which holds a secret, gets
// nothing. The page speaks the protocol: it calls heed's own tools and acknowledges items, as "heed status" and "heed
// ack" do, and as the same consumer; it reaches nothing of the game.
type web struct {
	px       *bridge.Proxy
	listener net.Listener
	path     string // of the page, with the secret
	host     string // and port, of the listener

	mu     sync.Mutex
	client *gabp.Client // nil until the first call
}

// maxWebCall bounds a request of the page, in bytes.
const maxWebCall = 64 << 10

// openWeb returns the page at an address of the loopback interface, with a new secret.
func openWeb(px *bridge.Proxy, addr string) (*web, error) {
	if _, _, err := net.SplitHostPort(addr); err != nil || !loopback.Is(addr) {
		return nil, fmt.Errorf("--web %s: want a loopback address, such as 127.0.0.1:9465; port 0 chooses one", addr)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("--web: %w", err)
	}
	secret := gabp.NewToken()[:32] // 128 bits, in an address that may be typed
	return &web{px: px, listener: l, path: "/" + secret + "/", host: l.Addr().String()}, nil
}

// address returns the page's address. It is a secret.
func (w *web) address() string { return "http://" + w.host + w.path }

// serve serves the page until ctx is done.
func (w *web) serve(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+w.path+"{$}", w.page)
	mux.HandleFunc("POST "+w.path+"call", w.call)
	defer w.close()
	return serveHTTP(ctx, w.listener, w.local(mux), tailWait+askTimeout, maxConns)
}

// local refuses requests that another site made a browser send: those for another name of this machine, and those from
// another origin.
func (w *web) local(next http.Handler) http.Handler {
	port := w.host[strings.LastIndexByte(w.host, ':'):]
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if r.Host != w.host && r.Host != "localhost"+port || origin != "" && origin != "http://"+r.Host {
			http.Error(rw, "not for this host", http.StatusForbidden)
			return
		}
		next.ServeHTTP(rw, r)
	})
}

// webPolicy allows the page its own style and script, and nothing from elsewhere.
var webPolicy = sync.OnceValue(func() string {
	digest := func(begin, end string) string {
		_, text, _ := bytes.Cut(webPage, []byte(begin))
		text, _, _ = bytes.Cut(text, []byte(end))
		sum := sha256.Sum256(text)
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; " +
		"frame-ancestors 'none'; style-src " + digest("<style>", "</style>") + "; script-src " + digest("<script>", "</script>")
})

func (w *web) page(rw http.ResponseWriter, _ *http.Request) {
	h := rw.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", webPolicy())
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	_, _ = rw.Write(webPage) // the reader has gone
}

// webCall is a request of the page; webAnswer has one of its members.
type (
	webCall struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	webAnswer struct {
		Result json.RawMessage `json:"result,omitempty"`
		Error  *gabp.Error     `json:"error,omitempty"`
	}
)

// call answers one call of the page.
func (w *web) call(rw http.ResponseWriter, r *http.Request) {
	var c webCall
	if err := json.NewDecoder(http.MaxBytesReader(rw, r.Body, maxWebCall)).Decode(&c); err != nil {
		http.Error(rw, "not a call", http.StatusBadRequest)
		return
	}
	if !readsHeed(&c) {
		http.Error(rw, "not a call of this page", http.StatusForbidden)
		return
	}
	result, err := w.ask(r.Context(), &c)
	answer := webAnswer{Result: result}
	if err != nil {
		var ok bool
		if answer.Error, ok = errors.AsType[*gabp.Error](err); !ok {
			http.Error(rw, "heed does not answer", http.StatusBadGateway)
			return
		}
	}
	rw.Header().Set("Content-Type", "application/json")
	rw.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(rw).Encode(answer) // the reader has gone
}

// readsHeed reports whether a call is for heed's attention or heed's own tools, which the page calls.
func readsHeed(c *webCall) bool {
	switch c.Method {
	case gabp.MethodAttentionCurrent, gabp.MethodAttentionAck:
		return true
	case gabp.MethodToolsCall:
		call, err := gabp.ParseToolCall(c.Params)
		return err == nil && slices.ContainsFunc(bridge.Tools(), func(t gabp.Tool) bool { return t.Name == call.Name })
	}
	return false
}

// ask makes a call over a connection in process, which all pages share.
func (w *web) ask(ctx context.Context, c *webCall) (json.RawMessage, error) {
	w.mu.Lock()
	client := w.client
	if client == nil || client.Err() != nil {
		var err error
		if client, err = w.px.Connect(context.WithoutCancel(ctx), personConfig("")); err != nil {
			w.mu.Unlock()
			return nil, err
		}
		w.client = client
	}
	w.mu.Unlock()
	return client.CallRaw(ctx, c.Method, c.Params)
}

// close ends the connection in process.
func (w *web) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.client != nil {
		_ = w.client.Close()
	}
}
