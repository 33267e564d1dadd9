// Package hostlog makes an engine listen to the logs of the program that it is in: to the default logger of log/slog
// and to package log. Their output stays as it was.
//
// It changes those two loggers of the process and nothing else. Lines of the program
// reach the engine in the goroutine that logs them, once they were written. Package log
// has no levels, so its lines have none: words decide about them, by the rules of the
// engine.
package hostlog

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
)

// SetDefault makes e listen to slog.Default and to package log, as they are set up
// now: records and lines still go where they went, in the same form. It is for the
// beginning of a program, after its own calls of slog.SetDefault and log.SetOutput and
// before other goroutines log; each call adds a listener. Records of a logger that was made
// before do not reach e, except of slog's own first logger: its records come as lines of package log, as it writes
// them, without level and attributes of their own.
//
// Options are the options of [heed.NewHandler]; nil is all defaults. A handler in Next replaces the handler of
// slog.Default.
func SetDefault(e *heed.Engine, opts *heed.HandlerOptions) {
	var o heed.HandlerOptions
	if opts != nil {
		o = *opts
	}
	if o.Next == nil {
		o.Next = slog.Default().Handler()
	}
	if writesByLog(o.Next) {
		o.Next = marked{o.Next}
	}
	out, flags := log.Writer(), log.Flags()
	slog.SetDefault(slog.New(heed.NewHandler(e, &o)))
	log.SetOutput(&listener{out: out, engine: e, source: o.Source}) // in place of slog's
	log.SetFlags(flags)
}

// writesByLog reports whether h is the handler that slog has until another is set: it
// writes by package log, under the lock of that. Below another handler that package log
// writes to, it would wait for itself.
func writesByLog(h slog.Handler) bool { return fmt.Sprintf("%T", h) == "*slog.defaultHandler" }

// mark is in front of messages that the engine has already, on their way through
// package log. No log text can guess it, and hide from the engine. It has tags of
// Unicode, which are not shown where a program sets another output later.
var mark = newMark()

func newMark() string {
	return strings.Map(func(r rune) rune { return 0xE0000 + r }, rand.Text()[:13])
}

// marked marks the messages of records.
type marked struct{ slog.Handler }

func (h marked) Handle(ctx context.Context, r slog.Record) error {
	r.Message = mark + r.Message
	return h.Handler.Handle(ctx, r)
}

func (h marked) WithAttrs(attrs []slog.Attr) slog.Handler { return marked{h.Handler.WithAttrs(attrs)} }

func (h marked) WithGroup(name string) slog.Handler { return marked{h.Handler.WithGroup(name)} }

// listener writes the lines of package log to out. Those without a mark also go to the
// engine.
type listener struct {
	out    io.Writer
	engine *heed.Engine
	source string
}

func (l *listener) Write(line []byte) (int, error) {
	if before, after, known := bytes.Cut(line, []byte(mark)); known {
		text := line
		if _, listens := l.out.(*listener); !listens {
			text = slices.Concat(before, after)
		}
		n, err := l.out.Write(text)
		if err == nil {
			n = len(line)
		}
		return n, err
	}
	n, err := l.out.Write(line)
	l.engine.Log(event.Log{
		Time: time.Now(), Source: l.source, Message: strings.TrimSuffix(string(line), "\n"),
	})
	return n, err
}
