package heed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"testing"
	"testing/slogtest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

// quietConfig decides by level alone.
var quietConfig = snapshotConfig(testkit.Must(rules.Compile()))

type valuer struct{}

func (valuer) LogValue() slog.Value { return slog.GroupValue(slog.Int("x", 1), slog.Int("y", 2)) }

// nothing resolves to the zero value.
type nothing struct{}

func (nothing) LogValue() slog.Value { return slog.Value{} }

// failure panics on a nil pointer.
type failure struct{ text string }

func (f *failure) Error() string { return f.text }

// TestHandlerRules holds the handler to the rules of package slog.
func TestHandlerRules(t *testing.T) {
	var e *Engine
	slogtest.Run(t,
		func(t *testing.T) slog.Handler {
			e = mustNew(t, quietConfig)
			return NewHandler(e, &HandlerOptions{Level: slog.LevelDebug})
		},
		func(t *testing.T) map[string]any {
			page := e.Read(Cursor{}, 2, Filter{})
			require.Len(t, page.Records, 1)
			return parse(t, &page.Records[0].Entry)
		})
}

// TestHandlerNeedsEngine: a handler without an engine fails where it is made.
func TestHandlerNeedsEngine(t *testing.T) {
	require.PanicsWithValue(t, "heed: NewHandler: the engine is nil; make it with New",
		func() { NewHandler(nil, nil) })
}

// parse turns an entry back into what was logged.
func parse(t *testing.T, e *event.Entry) map[string]any {
	words := strings.Split(e.Message, " ")
	m := map[string]any{slog.MessageKey: words[0], slog.LevelKey: e.Level.String()}
	if !e.Time.IsZero() {
		m[slog.TimeKey] = e.Time
	}
	for _, w := range words[1:] {
		key, value, ok := strings.Cut(w, "=")
		require.True(t, ok, e.Message)
		groups := strings.Split(key, ".")
		at := m
		for _, g := range groups[:len(groups)-1] {
			if at[g] == nil {
				at[g] = map[string]any{}
			}
			at = at[g].(map[string]any)
		}
		at[groups[len(groups)-1]] = value
	}
	return m
}

func TestHandler(t *testing.T) {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		opts *HandlerOptions
		log  func(h slog.Handler) slog.Handler
		rec  func(r *slog.Record)
		want event.Entry
	}{
		"plain":      {want: event.Entry{Message: "msg"}},
		"attributes": {rec: func(r *slog.Record) { r.Add("n", 3, "err", errors.New("no way"), "empty", "") }, want: event.Entry{Message: `msg n=3 err="no way" empty=""`}},
		"groups": {
			log: func(h slog.Handler) slog.Handler {
				return h.WithAttrs([]slog.Attr{slog.Int("a", 1)}).WithGroup("g").WithGroup("")
			},
			rec:  func(r *slog.Record) { r.Add("b", 2, slog.Group("sub", "c", 3), "v", valuer{}) },
			want: event.Entry{Message: "msg a=1 g.b=2 g.sub.c=3 g.v.x=1 g.v.y=2"},
		},
		"meaningful keys": {
			log:  func(h slog.Handler) slog.Handler { return h.WithAttrs([]slog.Attr{slog.String("logger", "net")}) },
			rec:  func(r *slog.Record) { r.Add("operation", "op1") },
			want: event.Entry{Message: "msg", Source: "net", OperationID: "op1"},
		},
		"a source of its own": {
			opts: &HandlerOptions{Source: "host"},
			rec:  func(r *slog.Record) { r.Add("operation", "op1") },
			want: event.Entry{Message: "msg", Source: "host", OperationID: "op1"},
		},
		"quoting": {
			log: func(h slog.Handler) slog.Handler { return h.WithGroup("a group") },
			rec: func(r *slog.Record) {
				r.Add("two words", 1, "", 2, "a=b", "c=d", "bytes", "\xff", "line\nforged=", "x", "quote", `"`)
			},
			want: event.Entry{Message: `msg "a group.two words"=1 "a group."=2 "a group.a=b"="c=d" "a group.bytes"="\xff" "a group.line\nforged="=x "a group.quote"="\""`},
		},
		"nothing to show": {
			log: func(h slog.Handler) slog.Handler { return h.WithAttrs(nil).WithGroup("g").WithAttrs([]slog.Attr{{}}) },
			rec: func(r *slog.Record) {
				r.AddAttrs(slog.Attr{}, slog.Group("empty"), slog.Group("outer", slog.Group("inner")), slog.Any("", nothing{}))
			},
			want: event.Entry{Message: "msg"},
		},
		"keys in groups mean nothing": {
			rec: func(r *slog.Record) {
				r.AddAttrs(slog.Group("g", "logger", "a", "operation", "b"), slog.Group("", "logger", "net"))
			},
			want: event.Entry{Message: "msg g.logger=a g.operation=b", Source: "net"},
		},
		"any values": {
			rec: func(r *slog.Record) {
				var broken *failure
				r.Add("nil", nil, "err", error(broken), "list", []int{1, 2}, "d", time.Second)
			},
			want: event.Entry{Message: `msg nil=<nil> err=<nil> list="[1 2]" d=1s`},
		},
		"hostile": {rec: func(r *slog.Record) { r.Add("k", "a\nb\x1b[31m") }, want: event.Entry{Message: `msg k="a\nb\x1b[31m"`}},
	} {
		t.Run(name, func(t *testing.T) {
			e := mustNew(t, quietConfig)
			h := NewHandler(e, tc.opts)
			if tc.log != nil {
				h = tc.log(h)
			}
			r := slog.NewRecord(at, slog.LevelWarn, "msg", 0)
			if tc.rec != nil {
				tc.rec(&r)
			}
			require.NoError(t, h.Handle(context.Background(), r))
			page := e.Read(Cursor{}, 1, Filter{})
			require.Len(t, page.Records, 1)
			got := page.Records[0].Entry
			require.Equal(t, tc.want.Message, got.Message)
			require.Equal(t, tc.want.Source, got.Source)
			require.Equal(t, tc.want.OperationID, got.OperationID)
			require.Equal(t, event.LevelWarning, got.Level)
			require.True(t, at.Equal(got.Time))
		})
	}
}

func TestHandlerLevels(t *testing.T) {
	for l, want := range map[slog.Level]event.Level{
		slog.LevelDebug: event.LevelDebug, slog.LevelInfo: event.LevelInfo, slog.LevelInfo + 3: event.LevelInfo,
		slog.LevelWarn: event.LevelWarning, slog.LevelError: event.LevelError, slog.LevelError + 3: event.LevelError,
		slog.LevelError + 4: event.LevelFatal,
	} {
		require.Equal(t, want, levelOf(l), l)
	}
}

func TestHandlerPassesOn(t *testing.T) {
	e := mustNew(t, quietConfig)
	var out bytes.Buffer
	next := slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string,
		a slog.Attr,
	) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
	logger := slog.New(NewHandler(e, &HandlerOptions{Next: next})).With("a", 1).WithGroup("g")
	logger.Debug("below", "b", 2)
	logger.Info("at", "b", 3)
	require.Equal(t, "level=DEBUG msg=below a=1 g.b=2\nlevel=INFO msg=at a=1 g.b=3\n", out.String())
	s := e.Stats()
	require.Equal(t, uint64(1), s.Received, "the engine takes Info and above")

	h := NewHandler(e, &HandlerOptions{Next: asking{next, func() { require.Equal(t, uint64(1), e.Stats().Received) }}})
	err := h.Handle(context.Background(), slog.NewRecord(time.Time{}, slog.LevelInfo, "x", 0))
	require.ErrorIs(t, err, errAsked)
	require.Equal(t, uint64(2), e.Stats().Received, "the engine gets it after the next one, also where that fails")

	out.Reset()
	quiet := slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelError})
	slog.New(NewHandler(e, &HandlerOptions{Next: quiet})).Warn("below what the next one takes")
	require.Empty(t, out.String())
	s = e.Stats()
	require.Equal(t, uint64(3), s.Received)
}

var errAsked = errors.New("asked")

// asking asks when it gets a record, and fails.
type asking struct {
	slog.Handler
	ask func()
}

func (a asking) Handle(context.Context, slog.Record) error {
	a.ask()
	return errAsked
}

// TestPanics holds that panics which one function recovers are as many faults as places: each stops calls, and only one
// that comes again is standing after a while.
func TestPanics(t *testing.T) {
	e := mustNew(t, Config{Family: "plain"})
	log := slog.New(NewHandler(e, nil))
	run := func(id string, turn func()) Verdict {
		e.Observe(event.Operation{ID: id, Status: event.StatusStarted}.Entry())
		func() {
			defer func() { log.Error(fmt.Sprintf("panic recovered: %v\n%s", recover(), debug.Stack()), "operation", id) }()
			turn()
		}()
		e.Observe(event.Operation{ID: id, Status: event.StatusFailed}.Entry())
		v := e.Verdict(id)
		e.Ack("", v.AttentionID, 0)
		return v
	}
	for i, turn := range []func(){soldHouse, twoSwords, noMap, noneLeft, noEntry, noDoor, noQuest} {
		require.Equal(t, coalesce.ReasonCharged, run(fmt.Sprint("op-", i), turn).Reason, i)
	}
	for i := range 3 {
		require.Equal(t, coalesce.ReasonCharged, run(fmt.Sprint("again-", i), soldHouse).Reason, i)
	}
	require.Equal(t, coalesce.ReasonStanding, run("again-3", soldHouse).Reason)
}

func soldHouse() { panic("the house is gone") }
func twoSwords() { panic("the sword is two") }
func noDoor()    { panic("the door leads nowhere") }
func noQuest()   { panic("the quest has no giver") }

func noMap() { map[string]map[int]int{}["none"][1] = 1 }

func noneLeft() {
	var s []int
	s[len(s)]++
}

func noEntry() {
	var e *event.Entry
	e.Level++
}
