//go:build unix

package live

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

// stillLog is a log that has last grown at a time, or never.
type stillLog struct{ grew time.Time }

func (l *stillLog) Run(ctx context.Context, _ func(*follow.Record)) error { <-ctx.Done(); return nil }
func (l *stillLog) Sync(context.Context) error                            { return nil }

func (l *stillLog) Status() follow.Status {
	return follow.Status{Present: true, LastGrowth: l.grew}
}

// metricsOf returns the metrics of a session after do.
func metricsOf(t *testing.T, do func(s *session.Session)) string {
	t.Helper()
	set, err := rules.Compile(rules.File{Name: "test.yaml", Data: []byte(`version: 1
rules:
  - {id: broken, when: 'template startsWith "Broken"', disposition: blocking}
  - {id: odd, when: 'template startsWith "Odd"', disposition: advisory}
`)})
	require.NoError(t, err)
	cfg := session.Config{}
	cfg.Engine.Rules = set
	s := testkit.Must(session.New(cfg))
	do(s)
	return metricsIn(t, s)
}

// metricsIn returns the metrics of a session.
func metricsIn(t *testing.T, s *session.Session) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, (&host{session: s}).writeMetrics(&out))
	return out.String()
}

func TestMetrics(t *testing.T) {
	text := metricsOf(t, func(s *session.Session) {
		for _, m := range []string{"Fine", "Fine", "Odd thing", "Broken wall"} {
			s.Observe(event.Log{Message: m, Level: event.LevelInfo}.Entry())
		}
		a, open := s.Current(t.Context(), "agent")
		require.True(t, open)
		s.Ack(t.Context(), "heed-cli#1", a.ID, 0)
		s.Observe(event.Log{Message: "Broken roof of glass", Level: event.LevelError}.Entry())
		g := testkit.Must(gate.New(gate.Config{Source: s.Source(false)}))
		require.False(t, g.Check(t.Context(), session.Call{ID: "1", Tool: "t", Consumer: "agent"}).Allowed)
	})
	for _, line := range []string{
		`heed_decisions_total{disposition="ignore"} 3`, // with the acknowledgement
		`heed_decisions_total{disposition="advisory"} 1`,
		`heed_decisions_total{disposition="blocking"} 2`,
		`heed_items_open{blocking="true",severity="error"} 1`,
		`heed_items_open{blocking="false",severity="fatal"} 0`,
		`heed_acknowledgements_total{by="person"} 1`,
		`heed_acknowledgements_total{by="agent"} 0`,
		`heed_calls_held_total 1`, `heed_calls_in_flight 0`, `heed_blind 0`, `heed_game_running 0`,
	} {
		require.Contains(t, "\n"+text, "\n"+line+"\n")
	}
	require.Regexp(t, `(?m)^heed_build_info\{version="[^"]+",goversion="go1\.[^"]+"\} 1$`, text)
	require.NotContains(t, text, "heed_log_age_seconds", "no log is followed")
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		series, _, _ := strings.Cut(line, " ")
		if !strings.HasPrefix(line, "#") {
			require.False(t, seen[series], "%s is there twice", series)
			seen[series] = true
		}
	}
	require.Equal(t, `a\\b\"c\nd?`, labelEscapes.Replace(strings.ToValidUTF8("a\\b\"c\nd\xff", "?")))
}

// TestLogAge: the age of a log's last line counts from when it was last seen to grow, and from the start before that.
func TestLogAge(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	log := &stillLog{}
	s := testkit.Must(session.New(session.Config{Log: log, Now: func() time.Time { return now }, NoDefaults: true}))
	now = now.Add(90 * time.Second)
	require.Contains(t, metricsIn(t, s), "\nheed_log_age_seconds 90\n")
	log.grew = now.Add(-1500 * time.Millisecond)
	require.Contains(t, metricsIn(t, s), "\nheed_log_age_seconds 1.5\n")
	log.grew = now.Add(time.Hour) // a clock that was set
	require.Contains(t, metricsIn(t, s), "\nheed_log_age_seconds 0\n")
}

// TestAlerts: the alerts are about metrics that exist, and fire as promtool says where it is installed.
func TestAlerts(t *testing.T) {
	t.Parallel()
	alerts := testkit.Must(os.ReadFile("../../../../docs/alerts.yml"))
	page := testkit.Must(os.ReadFile("../../../../docs/watching.md"))
	log := &stillLog{}
	s := testkit.Must(session.New(session.Config{Log: log, NoDefaults: true}))
	text := metricsIn(t, s)
	for _, name := range regexp.MustCompile(`heed_[a-z_]+`).FindAllString(string(alerts)+string(page), -1) {
		require.Contains(t, text, "# TYPE "+name+" ")
	}
	for _, name := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(string(alerts), -1) {
		testkit.Shows(t, "docs/watching.md", string(page), name[1])
	}

	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed: what the alerts do is not tested, nor the form of the metrics")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "alerts.yml"), string(alerts))
	tests := testkit.Must(os.ReadFile("testdata/alerts_test.yml"))
	write(t, filepath.Join(dir, "tests.yml"), string(tests))
	run := func(stdin []byte, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	run(nil, "check", "rules", "alerts.yml")
	run(nil, "test", "rules", "tests.yml")
	run([]byte(text), "check", "metrics")
}

// TestConnectionsAreBounded: a connection beyond the bound ends the oldest one, so that who holds many open keeps others
// out for no longer than an answer takes; one that has ended counts no more.
func TestConnectionsAreBounded(t *testing.T) {
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))
	ended := make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	go func() { ended <- serveHTTP(ctx, l, http.NotFoundHandler(), time.Minute, maxConns) }()
	dial := func() net.Conn {
		c := testkit.Must(net.Dial("tcp", l.Addr().String()))
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	answers := func(c net.Conn) bool {
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		_, err := http.ReadResponse(bufio.NewReader(c), nil)
		return err == nil
	}
	var held []net.Conn
	for range 3 * maxConns {
		held = append(held, dial())
		require.True(t, answers(held[len(held)-1]))
	}
	for n, c := range held {
		if n < 2*maxConns {
			_, err := io.Copy(io.Discard, c) // the server has closed it
			require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
			continue
		}
		require.True(t, answers(c), n)
	}
	stop()
	require.NoError(t, <-ended)
}
