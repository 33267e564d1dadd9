package hostlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

// process sets up the two loggers of the process for a test, with their output in a buffer, and puts them back.
func process(t *testing.T, flags int, host func(out *bytes.Buffer)) (*heed.Engine, *bytes.Buffer) {
	t.Helper()
	before, out, oldFlags, prefix := slog.Default(), log.Writer(), log.Flags(), log.Prefix()
	t.Cleanup(func() {
		slog.SetDefault(before)
		log.SetOutput(out)
		log.SetFlags(oldFlags)
		log.SetPrefix(prefix)
	})
	require.True(t, writesByLog(before.Handler()), "the type of slog's own handler has another name: %T", before.Handler())
	buf := new(bytes.Buffer)
	log.SetOutput(buf)
	log.SetFlags(flags)
	if host != nil {
		host(buf)
	}
	set := testkit.Must(rules.Compile(rules.Defaults()...))
	e := testkit.Must(heed.New(heed.Config{Rules: set, Family: "plain"}))
	return e, buf
}

// TestLoggersMadeBefore: a logger on slog's own handler is heard by way of package log, as a line without a level. A
// prefix begins the text if there are no flags, or log.Lmsgprefix; else the time comes after it.
func TestLoggersMadeBefore(t *testing.T) {
	for flags, want := range map[int]string{
		0: "app: ERROR lost n=<*>", log.LstdFlags | log.Lmsgprefix: "app: ERROR lost n=<*>",
		log.LstdFlags: "app: <*> ERROR lost n=<*>",
	} {
		t.Run(want, func(t *testing.T) {
			e, _ := process(t, flags, func(*bytes.Buffer) { log.SetPrefix("app: ") })
			early := slog.With("n", 1)
			SetDefault(e, nil)
			early.Error("lost")
			heard := e.Read(heed.Cursor{}, 10, heed.Filter{}).Records
			require.Len(t, heard, 1)
			require.Equal(t, event.LevelUnknown, heard[0].Level)
			template, _ := e.Template(heard[0].Signature)
			require.Equal(t, want, template)
		})
	}
}

// within fails the test where f waits for itself.
func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		require.FailNow(t, "logging waits for itself")
	}
}

func records(e *heed.Engine) (lines []string) {
	for _, r := range e.Read(heed.Cursor{}, 1000, heed.Filter{}).Records {
		lines = append(lines, fmt.Sprintf("%s %s|%s %s", r.Level, r.OperationID, r.Source, r.Message))
	}
	return lines
}

var clock = regexp.MustCompile(`\d{4}/\d\d/\d\d \d\d:\d\d:\d\d`)

// logSome logs in all ways that a host has.
func logSome() {
	slog.Debug("below")
	slog.Info("hello", "n", 1)
	slog.With("a", 1).WithGroup("g").Error("lost", "b", "two words", slog.Group("h", "c", 3))
	slog.ErrorContext(context.Background(), "failed", "operation", "op-9", "logger", "net")
	log.Print("plain")
	log.Printf("two\nlines")
	_ = handle(slog.LevelInfo, "no time")
}

// TestOutputStays compares what a host writes with and without heed, byte by byte: what its loggers were set to before
// makes no difference.
func TestOutputStays(t *testing.T) {
	for name, tc := range map[string]struct {
		flags int
		host  func(out *bytes.Buffer)
	}{
		"nothing set":       {flags: log.LstdFlags},
		"no time":           {},
		"position, prefix":  {flags: log.Lshortfile | log.Lmsgprefix, host: func(*bytes.Buffer) { log.SetPrefix("app: ") }},
		"default with more": {host: func(*bytes.Buffer) { slog.SetDefault(slog.Default().With("app", 7).WithGroup("w")) }},
		"text": {host: func(out *bytes.Buffer) {
			opts := slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: timeless}
			slog.SetDefault(slog.New(slog.NewTextHandler(out, &opts)))
		}},
		"JSON, log apart": {flags: log.LstdFlags, host: func(out *bytes.Buffer) {
			slog.SetDefault(slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{ReplaceAttr: timeless})))
			log.SetOutput(out)
			log.SetFlags(log.LstdFlags)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			e, out := process(t, tc.flags, tc.host)
			within(t, logSome)
			want := clock.ReplaceAllString(out.String(), "T")
			require.NotEmpty(t, want)
			out.Reset()
			SetDefault(e, nil)
			within(t, logSome)
			require.Equal(t, want, clock.ReplaceAllString(out.String(), "T"))
			require.Equal(t, uint64(6), e.Stats().Received, records(e))
		})
	}
}

func timeless(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// TestEngineListens: the engine gets each line once, with what its logger knows of it.
func TestEngineListens(t *testing.T) {
	e, out := process(t, log.LstdFlags, nil)
	SetDefault(e, &heed.HandlerOptions{Source: "host"})
	within(t, logSome)
	require.Equal(t, []string{
		"info |host hello n=1",
		`error |host lost a=1 g.b="two words" g.h.c=3`,
		"error op-9|net failed",
		"unknown |host T plain",
		"unknown |host T two\nlines",
		"info |host no time",
	}, func() (lines []string) {
		for _, l := range records(e) {
			lines = append(lines, clock.ReplaceAllString(l, "T"))
		}
		return lines
	}())
	for _, r := range e.Read(heed.Cursor{}, 5, heed.Filter{}).Records {
		require.WithinDuration(t, time.Now(), r.Time, time.Hour)
	}

	// A server reports a caught panic by package log.
	out.Reset()
	log.Print("http: panic serving 192.0.2.7:5000: boom\ngoroutine 34 [running]:\nnet/http.(*conn).serve.func1()")
	require.Contains(t, out.String(), "panic serving")
	item, open := e.Current("")
	require.True(t, open)
	require.True(t, item.Blocking, item.Summary)
}

// TestDebugByLogLevel: what the host wants of its own handler stays its choice.
func TestDebugByLogLevel(t *testing.T) {
	e, out := process(t, 0, nil)
	defer slog.SetLogLoggerLevel(slog.SetLogLoggerLevel(slog.LevelDebug))
	SetDefault(e, &heed.HandlerOptions{Level: slog.LevelError})
	within(t, func() { slog.Debug("below", "n", 1) })
	require.Equal(t, "DEBUG below n=1\n", out.String())
	require.Zero(t, e.Stats().Received)
}

// TestTwoEngines: each of them hears each line once.
func TestTwoEngines(t *testing.T) {
	first, out := process(t, 0, nil)
	second := testkit.Must(heed.New(heed.Config{}))
	within(t, logSome)
	want := out.String()
	out.Reset()
	SetDefault(first, nil)
	SetDefault(second, nil)
	within(t, logSome)
	require.Equal(t, want, out.String())
	require.Equal(t, records(first), records(second))
	require.Len(t, records(first), 6)
}

// TestNoTextHides: a text with a mark, that of another run, is heard as any other.
func TestNoTextHides(t *testing.T) {
	e, out := process(t, 0, nil)
	SetDefault(e, nil)
	text := newMark() + " plain"
	log.Print(text)
	slog.Info(text)
	require.Equal(t, text+"\nINFO "+text+"\n", out.String())
	require.Equal(t, []string{"unknown | " + text, "info | " + text}, records(e))
}

// TestConcurrent logs from many goroutines by both loggers: each line is written whole, and heard once.
func TestConcurrent(t *testing.T) {
	e, out := process(t, 0, nil)
	SetDefault(e, nil)
	const goroutines, lines = 8, 50
	within(t, func() {
		var wg sync.WaitGroup
		for range goroutines {
			wg.Go(func() {
				logger := slog.Default().With("a", 1)
				for range lines {
					logger.Error("lost")
					log.Print("plain")
				}
			})
		}
		wg.Wait()
	})
	require.Equal(t, goroutines*lines, bytes.Count(out.Bytes(), []byte("ERROR lost a=1\n")))
	require.Equal(t, goroutines*lines, bytes.Count(out.Bytes(), []byte("plain\n")))
	require.Equal(t, uint64(2*goroutines*lines), e.Stats().Received)
}

// failing is an output that fails.
type failing struct{ slog.Handler }

var errFull = errors.New("disk full")

func (failing) Enabled(context.Context, slog.Level) bool  { return true }
func (failing) Handle(context.Context, slog.Record) error { return errFull }
func (failing) Write([]byte) (int, error)                 { return 3, errFull }
func (f failing) WithAttrs([]slog.Attr) slog.Handler      { return f }
func (f failing) WithGroup(string) slog.Handler           { return f }
func handle(l slog.Level, text string) error {
	return slog.Default().Handler().Handle(context.Background(), slog.NewRecord(time.Time{}, l, text, 0))
}

// TestOutputFails: the host gets the error of its own output, and the engine the line.
func TestOutputFails(t *testing.T) {
	t.Run("handler", func(t *testing.T) {
		e, _ := process(t, 0, nil)
		SetDefault(e, &heed.HandlerOptions{Next: failing{}})
		require.ErrorIs(t, handle(slog.LevelError, "lost"), errFull)
		require.Equal(t, []string{"error | lost"}, records(e))
	})
	t.Run("package log", func(t *testing.T) {
		e, _ := process(t, 0, func(*bytes.Buffer) { log.SetOutput(failing{}) })
		SetDefault(e, nil)
		within(t, func() {
			require.ErrorIs(t, handle(slog.LevelError, "lost"), errFull)
			require.ErrorIs(t, log.Output(1, "plain"), errFull)
		})
		require.Equal(t, []string{"error | lost", "unknown | plain"}, records(e))
		require.Equal(t, event.Advisory, e.Read(heed.Cursor{}, 1, heed.Filter{}).Records[0].Disposition)
	})
}
