package live

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/text"
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
		_, part, _ := bytes.Cut(webPage, []byte(begin))
		part, _, _ = bytes.Cut(part, []byte(end))
		return text.PolicySource(part)
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

// serveMetrics serves the counts in Prometheus' text format: a line for each, which needs no library.
func (h *host) serveMetrics(ctx context.Context) error {
	h.log.Info("metrics are served", "addr", "http://"+h.metrics.Addr().String()+"/metrics")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_ = h.writeMetrics(w) // the scraper has gone
	})
	return serveHTTP(ctx, h.metrics, mux, 10*time.Second, maxConns)
}

// maxConns bounds the connections of a server of HTTP for people and scrapers.
const maxConns = 64

// serveHTTP serves HTTP on l until ctx is done. A request or an answer takes no longer than within. A connection beyond
// most ends the oldest.
func serveHTTP(ctx context.Context, l net.Listener, handler http.Handler, within time.Duration, most int) error {
	var mu sync.Mutex
	var open []net.Conn // the oldest first
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute,
		ReadTimeout: within, WriteTimeout: within, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnState: func(c net.Conn, state http.ConnState) {
			mu.Lock()
			defer mu.Unlock()
			switch state {
			case http.StateNew:
				if open = append(open, c); len(open) > most {
					_ = open[0].Close()
					open = open[1:]
				}
			case http.StateClosed:
				open = slices.DeleteFunc(open, func(o net.Conn) bool { return o == c })
			}
		},
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// metrics are the values of metrics.txt.
type metrics struct {
	session.Status

	Version, Go        string
	Advisory, Blocking uint64 // entries
	Open               []openItems
	Running            bool
	LogAge             float64 // in seconds
	Proxy              *bridge.Proxy
}

// openItems is the number of open items of one kind.
type openItems struct {
	Blocking bool
	Severity event.Severity
	Number   int
}

// metricsForm is the text of all metrics. Names and labels hold no text of the game, and are as many as written there.
var metricsForm = sync.OnceValue(func() *template.Template {
	label := func(text string) string { return labelEscapes.Replace(strings.ToValidUTF8(text, "?")) }
	return template.Must(template.New("").Funcs(template.FuncMap{"label": label}).Parse(metricsText))
})

//go:embed metrics.txt
var metricsText string

// labelEscapes escapes a label's value in Prometheus' text format.
var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// writeMetrics writes all metrics.
func (h *host) writeMetrics(w io.Writer) error {
	m := &metrics{
		Status: h.session.Status(), Version: cli.ModuleVersion(), Go: runtime.Version(), Proxy: h.proxy,
		Running: h.playing.Load() || h.proxy != nil && h.proxy.Connected(),
	}
	urgent := &m.Engine.Coalesce.ByDisposition
	m.Advisory, m.Blocking = urgent[event.Advisory], urgent[event.Blocking]
	open := h.session.Engine().Open(nil)
	for _, blocking := range []bool{false, true} {
		for severity := range event.SeverityFatal + 1 {
			count := openItems{Blocking: blocking, Severity: severity}
			for i := range open {
				if open[i].Blocking == blocking && open[i].Severity == severity {
					count.Number++
				}
			}
			m.Open = append(m.Open, count)
		}
	}
	if m.Log != nil {
		since := m.Log.LastGrowth
		if since.IsZero() {
			since = m.Started
		}
		now := m.Started.Add(time.Duration(m.UptimeMs) * time.Millisecond)
		m.LogAge = max(0, now.Sub(since).Seconds())
	}
	return metricsForm().Execute(w, m)
}
