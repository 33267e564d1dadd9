package live

import (
	"context"
	_ "embed"
	"errors"
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
)

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
	m.InFlight = max(0, m.InFlight)
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
