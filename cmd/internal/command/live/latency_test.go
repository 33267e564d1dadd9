//go:build unix

package live

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

// reportTimes reports quantiles of times, in milliseconds, in place of the time of a run.
func reportTimes(b *testing.B, times []time.Duration) {
	b.Helper()
	slices.Sort(times)
	at := func(q float64) float64 { return float64(times[int(q*float64(len(times)-1))]) / 1e6 }
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
	b.ReportMetric(at(1), "max-ms")
	b.ReportMetric(0, "ns/op")
}

// gameLog is a log to which a writer adds lines at a steady pace.
type gameLog struct {
	file *os.File

	mu   sync.Mutex
	next string // to be written in place of the next line
	at   chan time.Time
}

// newGameLog returns a log with a beginning, and adds a line to it after each gap; 0: none.
func newGameLog(t testing.TB, path, begins string, gap time.Duration) *gameLog {
	t.Helper()
	file := testkit.Must(os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600))
	testkit.Must(file.WriteString(begins))
	l := &gameLog{file: file, at: make(chan time.Time, 1)}
	ended, stop := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() {
		close(stop)
		<-ended
		_ = file.Close()
	})
	go func() {
		defer close(ended)
		for due := time.Now(); gap > 0; due = due.Add(gap) {
			select {
			case <-stop:
				return
			case <-time.After(time.Until(due)):
				l.write()
			}
		}
	}()
	return l
}

func (l *gameLog) write() {
	l.mu.Lock()
	defer l.mu.Unlock()
	line, planted := l.next, l.next != ""
	if !planted {
		line = "the lamp is lit\n"
	}
	now := time.Now()
	_, _ = l.file.WriteString(line)
	if planted {
		l.next = ""
		l.at <- now
	}
}

// plant lets the next line of the writer be this one, and returns when it was written.
func (l *gameLog) plant(line string) time.Time {
	l.mu.Lock()
	l.next = line + "\n"
	l.mu.Unlock()
	return <-l.at
}

// watched is a session that follows a log, with a sink that notes when an item opened.
func watched(t testing.TB, path string) (s *session.Session, told chan time.Time) {
	t.Helper()
	f := testkit.Must(follow.New(follow.Config{Path: path}))
	set := testkit.Must(rules.Compile(rules.File{Name: "test.yaml", Data: []byte(testRules)}))
	s = testkit.Must(session.New(session.Config{Engine: heed.Config{Rules: set}, Log: f, SyncTimeout: patience}))
	told = make(chan time.Time, 64)
	s.OnUpdates(func(updates []heed.Update) {
		for i := range updates {
			if updates[i].Kind == "opened" {
				told <- time.Now()
			}
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return s, told
}

const unityBegins = "Mono path[0] = '/opt/Colony_Data/Managed'\nInitialize engine version: 2022.3.35f1 (011206c7a712)\n"

var gaps = []time.Duration{
	200 * time.Microsecond, time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond,
	16 * time.Millisecond, 20 * time.Millisecond, 25 * time.Millisecond, 30 * time.Millisecond, 40 * time.Millisecond,
	100 * time.Millisecond, 300 * time.Millisecond, time.Second,
}

// BenchmarkLineToAttention measures the time from the write of a line with a fault to the sink of a session, while the log
// grows by a line after each gap. An exception without a trace is waited for longest: each line below it could be of its
// message.
//
//	go test -run xxx -bench LineToAttention -benchtime 100x ./cmd/internal/command/live
func BenchmarkLineToAttention(b *testing.B) {
	for _, form := range []struct{ name, begins, fault string }{
		{"plain", "", "FAULT %d"},
		{"exception", unityBegins, "System.Exception: FAULT %d"},
	} {
		for _, gap := range gaps {
			b.Run(fmt.Sprintf("%s/%v", form.name, gap), func(b *testing.B) {
				path := filepath.Join(b.TempDir(), "Player.log")
				log := newGameLog(b, path, form.begins, gap)
				s, told := watched(b, path)
				var times []time.Duration
				for n := 0; b.Loop(); n++ {
					at := log.plant(fmt.Sprintf(form.fault, n))
					times = append(times, (<-told).Sub(at))
					for _, item := range s.Open(nil) {
						s.Engine().Clear(item.ID)
					}
					time.Sleep(7 * time.Millisecond) // out of step with the writer
				}
				reportTimes(b, times)
			})
		}
	}
}

// BenchmarkGatedCall measures what a call through heed wrap costs beside a log that grows by a line after each gap.
//
//	go test -run xxx -bench GatedCall -benchtime 300x ./cmd/internal/command/live
func BenchmarkGatedCall(b *testing.B) {
	for _, gap := range []time.Duration{
		0, 100 * time.Millisecond, 10 * time.Millisecond, time.Millisecond, 200 * time.Microsecond,
	} {
		b.Run(gap.String(), func(b *testing.B) {
			w, bridge := began(b, nil)
			newGameLog(b, filepath.Join(w.dir, "Player.log"), unityBegins, gap)
			var times []time.Duration
			for n := 0; b.Loop(); n++ {
				at := time.Now()
				a := bridge.tool("colony/build", "quick")
				times = append(times, time.Since(at))
				require.Nil(b, a.Error)
				time.Sleep(time.Duration(5+n%11) * time.Millisecond)
			}
			reportTimes(b, times)
		})
	}
}

// BenchmarkLateFault reports where a fault is found that a game logs so long after its answer, through heed wrap: on the
// result, or at the gate of the next call. Beside it the log grows by 1,000 lines a second, or by none.
//
//	go test -run xxx -bench LateFault -benchtime 100x ./cmd/internal/command/live
func BenchmarkLateFault(b *testing.B) {
	for _, gap := range []time.Duration{0, time.Millisecond} {
		for _, late := range []time.Duration{0, 5 * time.Millisecond, 30 * time.Millisecond, 300 * time.Millisecond} {
			b.Run(fmt.Sprintf("%v/%v", gap, late), func(b *testing.B) {
				w, bridge := began(b, nil)
				newGameLog(b, filepath.Join(w.dir, "Player.log"), unityBegins, gap)
				found := map[string]float64{"%-on-result": 0, "%-at-gate": 0, "%-missed": 0}
				for range b.N {
					a := bridge.tool("colony/build", "fault after "+late.String())
					require.Nil(b, a.Error)
					var done, written struct{ Done int }
					require.NoError(b, json.Unmarshal(a.Result, &done))
					for written != done {
						w.read("late", &written)
						time.Sleep(time.Millisecond)
					}
					next := bridge.tool("colony/build", "")
					switch {
					case strings.Contains(string(a.Result), `"blocking":true`):
						found["%-on-result"]++
					case next.Error != nil:
						found["%-at-gate"]++
					default:
						found["%-missed"]++
					}
					bridge.clear()
				}
				for where, n := range found {
					b.ReportMetric(100*n/float64(b.N), where)
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
