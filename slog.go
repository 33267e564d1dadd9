package heed

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heedlog/heed/event"
)

// HandlerOptions sets up a handler of [NewHandler]. Nil and the zero value are all defaults.
type HandlerOptions struct {
	// Level is the minimum level of records that the engine gets. Default
	// [slog.LevelInfo]. It is called for each record, and must be safe for concurrent
	// use.
	Level slog.Leveler

	// Source is the source of records without the attribute "logger".
	Source string

	// Next also gets every record, before the engine, so that it waits for nothing.
	// Optional. Records below Level reach it if it wants them. The handler that
	// slog.Default has until it is set cannot be Next of another default: it writes by
	// package log, and that to the default. Package hostlog keeps its output.
	Next slog.Handler
}

type handler struct {
	engine *Engine
	opts   HandlerOptions

	attrs     string // formatted attributes of WithAttrs, each after a space
	group     string // prefix of keys: the open groups, each with a dot
	source    string
	operation string
}

// NewHandler returns a handler that sends records to e, and to no other place unless opts say so:
//
//	logger := slog.New(heed.NewHandler(engine, &heed.HandlerOptions{Next: slog.NewTextHandler(os.Stderr, nil)}))
//
// To keep the present output of a program's default logger, use [github.com/heedlog/heed/embed/hostlog].
//
// The text of an entry is the message, then the attributes as key=value, with the names of their groups and dots before
// the key, as [slog.TextHandler] writes them. Outside of groups, the attribute "logger" is the source of the entry,
// whose values should be few, and "operation" the operation that it belongs to. A record's time is the entry's; a
// record without one has none. The source position is left out: rules match the message. The handler is safe for
// concurrent use. It allocates the text of each record. NewHandler panics if e is nil.
func NewHandler(e *Engine, opts *HandlerOptions) slog.Handler {
	if e == nil {
		panic("heed: NewHandler: the engine is nil; make it with New")
	}
	h := &handler{engine: e}
	if opts != nil {
		h.opts = *opts
	}
	if h.opts.Level == nil {
		h.opts.Level = slog.LevelInfo
	}
	h.source = h.opts.Source
	return h
}

// Enabled reports whether a record of this level goes anywhere.
func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= h.opts.Level.Level() || h.opts.Next != nil && h.opts.Next.Enabled(ctx, level)
}

// Handle sends r to Next, whose error it returns, and to the engine.
func (h *handler) Handle(ctx context.Context, r slog.Record) (err error) {
	if h.opts.Next != nil && h.opts.Next.Enabled(ctx, r.Level) {
		err = h.opts.Next.Handle(ctx, r)
	}
	if r.Level >= h.opts.Level.Level() {
		f := formatter{source: h.source, operation: h.operation}
		f.b.Grow(len(r.Message) + len(h.attrs) + 32*r.NumAttrs())
		f.b.WriteString(r.Message)
		f.b.WriteString(h.attrs)
		r.Attrs(func(a slog.Attr) bool {
			f.attr(h.group, a)
			return true
		})
		h.engine.Log(event.Log{
			Time: r.Time, Level: levelOf(r.Level), Source: f.source, Message: f.b.String(), OperationID: f.operation,
		})
	}
	return err
}

// WithAttrs returns a handler whose records carry attrs as well. Their values
// are resolved and written now, once.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(attrs) == 0 {
		return h
	}
	c := *h
	f := formatter{source: h.source, operation: h.operation}
	f.b.WriteString(h.attrs)
	for _, a := range attrs {
		f.attr(h.group, a)
	}
	c.attrs, c.source, c.operation = f.b.String(), f.source, f.operation
	if c.opts.Next != nil {
		c.opts.Next = c.opts.Next.WithAttrs(slices.Clone(attrs))
	}
	return &c
}

// WithGroup returns a handler that puts name and a dot before the keys of all
// attributes to come.
func (h *handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	c := *h
	c.group += name + "."
	if c.opts.Next != nil {
		c.opts.Next = c.opts.Next.WithGroup(name)
	}
	return &c
}

// levelOf maps the levels of slog; four above Error is fatal, by the spacing
// that slog uses.
func levelOf(l slog.Level) event.Level {
	switch {
	case l < slog.LevelInfo:
		return event.LevelDebug
	case l < slog.LevelWarn:
		return event.LevelInfo
	case l < slog.LevelError:
		return event.LevelWarning
	case l < slog.LevelError+4:
		return event.LevelError
	}
	return event.LevelFatal
}

// formatter writes attributes and extracts source and operation.
type formatter struct {
	b         strings.Builder
	source    string
	operation string
}

// attr writes one attribute. As slog asks of handlers, values are resolved, the zero attribute and groups without
// attributes are left out, and the attributes of a group without a name are written in its place.
func (f *formatter) attr(prefix string, a slog.Attr) {
	a.Value = a.Value.Resolve()
	if a.Equal(slog.Attr{}) {
		return
	}
	if a.Value.Kind() == slog.KindGroup {
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, sub := range a.Value.Group() {
			f.attr(prefix, sub)
		}
		return
	}
	text := a.Value.String()
	if prefix == "" {
		switch a.Key {
		case "logger":
			f.source = text
			return
		case "operation":
			f.operation = text
			return
		}
	}
	f.b.WriteByte(' ')
	f.b.WriteString(quote(prefix + a.Key))
	f.b.WriteByte('=')
	f.b.WriteString(quote(text))
}

// quote returns s in quotes if it could be read as more than one key or value.
func quote(s string) string {
	if s == "" || strings.ContainsFunc(s, needsQuote) {
		return strconv.Quote(s)
	}
	return s
}

func needsQuote(r rune) bool {
	return unicode.IsSpace(r) || r == '"' || r == '=' || r == utf8.RuneError || !unicode.IsPrint(r)
}
