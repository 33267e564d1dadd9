package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/event"
)

// serveMetrics serves the counts in Prometheus' text format: a line for each, which needs no library.
func (h *host) serveMetrics(ctx context.Context) error {
	h.log.Info("metrics are served", "addr", "http://"+h.metrics.Addr().String()+"/metrics")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(h.metricsText()) // the scraper has gone
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

// metricsText returns all metrics. Names and labels hold no text of the game, and are as many as written here.
func (h *host) metricsText() (dst []byte) {
	st, px := h.session.Status(), h.proxy
	e := &st.Engine
	described := ""
	metric := func(kind, name, help string, value any, labels ...string) {
		if name != described {
			described = name
			dst = fmt.Appendf(dst, "# HELP heed_%s %s\n# TYPE heed_%s %s\n", name, help, name, kind)
		}
		dst = fmt.Appendf(dst, "heed_%s", name)
		var pairs []string
		for label := range slices.Chunk(labels, 2) {
			pairs = append(pairs, fmt.Sprintf("%s=\"%s\"", label[0], labelEscapes.Replace(strings.ToValidUTF8(label[1], "?"))))
		}
		if len(pairs) > 0 {
			dst = fmt.Appendf(dst, "{%s}", strings.Join(pairs, ","))
		}
		dst = fmt.Appendf(dst, " %v\n", value)
	}
	counter := func(name, help string, value uint64, labels ...string) {
		metric("counter", name, help, value, labels...)
	}
	gauge := func(name, help string, value any, labels ...string) { metric("gauge", name, help, value, labels...) }
	// counts appends a metric with a value for each of a label.
	type count struct {
		of    string
		value uint64
	}
	counts := func(name, help, label string, values ...count) {
		for _, v := range values {
			counter(name, help, v.value, label, v.of)
		}
	}

	gauge("build_info", "Always 1; what this heed is.", 1, "version", cli.ModuleVersion(), "goversion", runtime.Version())
	counts("entries_total", "Entries that the engine received.", "kind", count{"log", e.Logs},
		count{"operation", e.Operations}, count{"state", e.States}, count{"notice", e.Notices}, count{"host", e.Host})
	counts("decisions_total", "Entries by what they resulted in.", "disposition",
		count{event.Ignore.String(), e.Ignored},
		count{event.Advisory.String(), e.Coalesce.ByDisposition[event.Advisory]},
		count{event.Blocking.String(), e.Coalesce.ByDisposition[event.Blocking]})
	h.appendOpen(gauge)
	counts("acknowledgements_total", "Acknowledgements of open items.", "by",
		count{"person", st.AcksOfPeople}, count{"agent", st.AcksOfAgents})
	counter("calls_held_total", "Calls that were held back, and not executed.", st.Held)
	gauge("calls_in_flight", "Calls in flight.", max(0, st.InFlight))
	gauge("blind", "1 while the log is blind: a part of it is missing.", boolean(e.Blind))
	gauge("game_running", "1 while the game runs, as far as heed knows: it started the game, or the game's mod is "+
		"connected.", boolean(h.playing.Load() || px != nil && px.Connected()))
	if l := st.Log; l != nil {
		since := l.LastGrowth
		if since.IsZero() {
			since = st.Started
		}
		now := st.Started.Add(time.Duration(st.UptimeMs) * time.Millisecond)
		gauge("log_age_seconds", "How long ago the log's last line came, or heed was started where none came yet.",
			max(0, now.Sub(since).Seconds()))
	}
	counter("rules_swaps_total", "Rule sets that were reloaded.", st.Rules.Swaps)
	counter("rules_refused_total", "Rule files that did not load.", st.Rules.Refused)
	for _, limit := range st.Limits {
		counter("limit_hits_total", "How often a bound was hit.", limit.Count, "limit", limit.Name)
	}
	if px == nil {
		return dst
	}
	gauge("mod_connected", "1 while the game's mod is connected.", boolean(px.Connected()))
	counter("mod_events_lost_total", "Events of the mod that were lost because they came too fast.", px.Lost())
	counter("mod_answers_untaken_total", "Answers of the mod that do not follow the protocol, and were passed "+
		"on unchanged.", px.Untaken())
	s := px.Server()
	counter("bridge_connections_total", "Connections of bridges.", s.Connections)
	counter("bridge_sessions_total", "Connections of bridges that were accepted.", s.Sessions)
	counter("bridge_auth_failures_total", "Hellos without the right token.", s.AuthFailures)
	counter("bridge_requests_total", "Requests of bridges.", s.Requests)
	counter("bridge_malformed_total", "Messages of bridges that were refused.", s.Malformed)
	counter("bridge_events_total", "Events for subscribers.", s.Published)
	counter("bridge_events_conflated_total", "Events that a later one replaced before they were sent.", s.Conflated)
	counter("bridge_events_dropped_total", "Events of the mod that were dropped for slow "+
		"subscribers.", s.EventsDropped)
	counter("bridge_subscribers_dropped_total", "Subscribers that were disconnected because they were too slow.", s.Disconnected)
	return dst
}

func boolean(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// appendOpen gives the numbers of open items to gauge, by blocking and severity.
func (h *host) appendOpen(gauge func(name, help string, value any, labels ...string)) {
	var open [2][event.SeverityFatal + 1]int
	for _, a := range h.session.Engine().Open(nil) {
		open[boolean(a.Blocking)][a.Severity]++
	}
	for blocking := range open {
		for severity, n := range open[blocking] {
			gauge("items_open", "Attention items that are open.", n, "blocking", strconv.FormatBool(blocking == 1),
				"severity", event.Severity(severity).String())
		}
	}
}

// labelEscapes escapes a label's value in Prometheus' text format.
var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
