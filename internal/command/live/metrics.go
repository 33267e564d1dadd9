package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/heedlog/heed/internal/bridge"
)

// serveMetrics serves the counts in Prometheus' text format: a line for each, which needs no library.
func (h *host) serveMetrics(ctx context.Context, px *bridge.Proxy) error {
	h.log.Info("metrics are served", "addr", "http://"+h.metrics.Addr().String()+"/metrics")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(h.appendMetrics(nil, px)) // the scraper has gone
	})
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second,
		MaxHeaderBytes: 16 << 10,
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(h.metrics); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// appendMetrics appends all metrics to dst. Names and labels hold no text of the game.
func (h *host) appendMetrics(dst []byte, px *bridge.Proxy) []byte {
	st := h.session.Status()
	e := &st.Engine
	metric := func(kind, name, help string, value uint64, labels ...string) {
		if help != "" {
			dst = fmt.Appendf(dst, "# HELP heed_%s %s\n# TYPE heed_%s %s\n", name, help, name, kind)
		}
		dst = fmt.Appendf(dst, "heed_%s", name)
		if len(labels) > 0 {
			dst = append(dst, '{')
			for i := 0; i < len(labels); i += 2 {
				if i > 0 {
					dst = append(dst, ',')
				}
				dst = fmt.Appendf(dst, "%s=%s", labels[i], quoteLabel(labels[i+1]))
			}
			dst = append(dst, '}')
		}
		dst = fmt.Appendf(dst, " %d\n", value)
	}
	counter := func(name, help string, value uint64, labels ...string) {
		metric("counter", name, help, value, labels...)
	}
	gauge := func(name, help string, value uint64) { metric("gauge", name, help, value) }

	for i, kind := range []struct {
		name  string
		count uint64
	}{
		{"log", e.Logs}, {"operation", e.Operations}, {"state", e.States}, {"notice", e.Notices}, {"host", e.Host},
	} {
		help := ""
		if i == 0 {
			help = "Entries that the engine received."
		}
		counter("entries_total", help, kind.count, "kind", kind.name)
	}
	counter("entries_ignored_total", "Entries that were ignored: not actionable.", e.Ignored)
	counter("entries_folded_total", "Entries that were counted in attention items.", e.Folded)
	gauge("items_open", "Attention items that are open.", uint64(e.Coalesce.Open))
	gauge("calls_in_flight", "Calls in flight.", uint64(max(0, st.InFlight)))
	gauge("blind", "1 while the log is blind: a part of it is missing.", boolean(e.Blind))
	counter("rules_swaps_total", "Rule sets that were reloaded.", st.Rules.Swaps)
	counter("rules_refused_total", "Rule files that did not load.", st.Rules.Refused)
	for i, limit := range st.Limits {
		help := ""
		if i == 0 {
			help = "How often a bound was hit."
		}
		counter("limit_hits_total", help, limit.Count, "limit", limit.Name)
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

// quoteLabel quotes the value of a label.
func quoteLabel(s string) string {
	return strconv.Quote(strings.ToValidUTF8(s, "?"))
}
