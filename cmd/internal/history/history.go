package history

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/heedlog/heed/cmd/internal/db"
)

// Config says where history is kept, and how much of it.
type Config struct {
	Path        string           // of the file
	Now         func() time.Time // its location is the location of dates in texts
	MaxSessions int              // default 2000
	MaxBytes    int64            // that are in use in the file; default 200 MB
	Wait        time.Duration    // for other processes that write; default 20 s
}

// History is an open history. Its methods may be called from many goroutines, and the file by many processes.
type History struct {
	config Config
	db     *db.DB
	encode *zstd.Encoder
	decode *zstd.Decoder

	mu   sync.Mutex
	held map[int64]io.Closer // sessions that this process runs
}

// ErrUnknown is the error for a session that is not remembered.
var ErrUnknown = errors.New("no such session is remembered")

// maxBody bounds a summary as JSON, in bytes.
const maxBody = 32 << 20

// Open opens the history in a file, which it makes where there is none. Errors, here and of all methods, name the file.
func Open(ctx context.Context, c Config) (*History, error) {
	c.MaxSessions, c.MaxBytes = cmp.Or(c.MaxSessions, 2000), cmp.Or(c.MaxBytes, 200_000_000)
	h := &History{config: c, held: map[int64]io.Closer{}}
	// The options are valid.
	h.encode, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<18),
		zstd.WithLowerEncoderMem(true), zstd.WithEncoderLevel(zstd.SpeedFastest)) // others take 1 ms and 1 MB to begin
	h.decode, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBody))
	if path, err := filepath.EvalSymlinks(c.Path); err == nil {
		c.Path, h.config.Path = path, path // by which processes find each other's locks
	}
	var err error
	h.db, err = db.Open(ctx, db.Config{
		Path: c.Path, Application: application, Migrations: migrations, Trusting: true, Wait: c.Wait,
	})
	if err != nil {
		h.decode.Close()
		return nil, fmt.Errorf("history: %w", err)
	}
	return h, nil
}

// SetAside returns where a corrupt file was moved to, "" for none.
func (h *History) SetAside() string { return h.db.SetAside }

// Close closes the history.
func (h *History) Close() error {
	h.mu.Lock()
	for _, lock := range h.held {
		_ = lock.Close() // the next process that opens the history reports that the session has no end
	}
	h.held = nil
	h.mu.Unlock()
	h.decode.Close()
	return h.wrap(h.db.Close())
}

func (h *History) wrap(err error) error {
	if err == nil {
		return nil
	}
	h.db.Doubt(err)
	return fmt.Errorf("history %s: %w", h.config.Path, db.Plain(err))
}

// write calls f in a transaction. Other processes wait to write.
func (h *History) write(ctx context.Context, f func(t *tx)) error {
	return h.wrap(h.db.Tx(ctx, func(s *sql.Tx) error {
		t := &tx{Tx: s, ctx: ctx, h: h}
		f(t)
		return t.err
	}))
}

// read calls f with a snapshot of the database.
func (h *History) read(ctx context.Context, f func(t *tx)) error {
	s, err := h.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err == nil {
		t := &tx{Tx: s, ctx: ctx, h: h}
		f(t)
		err = errors.Join(t.err, s.Rollback())
	}
	return h.wrap(err)
}

// tx is a transaction with its context. It keeps its first error: after that it does nothing, and finds nothing.
type tx struct {
	*sql.Tx
	ctx context.Context //nolint:containedctx // of one call
	h   *History
	err error
}

func (t *tx) fail(err error) { t.err = cmp.Or(t.err, err) }

func (t *tx) exec(query string, args ...any) {
	if t.err == nil {
		_, t.err = t.ExecContext(t.ctx, query, args...)
	}
}

// each calls f for each row.
func (t *tx) each(f func(scan func(...any)), query string, args ...any) {
	if t.err != nil {
		return
	}
	rows, err := t.QueryContext(t.ctx, query, args...)
	if err != nil {
		t.err = err
		return
	}
	defer rows.Close() //nolint:errcheck // rows.Err has it
	for t.err == nil && rows.Next() {
		f(func(into ...any) { t.fail(rows.Scan(into...)) })
	}
	t.fail(rows.Err())
}

// column returns the values of a column.
func column[T any](t *tx, query string, args ...any) (all []T) {
	t.each(func(scan func(...any)) {
		var v T
		if scan(&v); t.err == nil {
			all = append(all, v)
		}
	}, query, args...)
	return all
}

// byNumber returns the values of a second column by the numbers of the first.
func byNumber[T any](t *tx, query string, args ...any) map[int64]T {
	all := map[int64]T{}
	t.each(func(scan func(...any)) {
		var n int64
		var v T
		if scan(&n, &v); t.err == nil {
			all[n] = v
		}
	}, query, args...)
	return all
}

// numbers returns a column of numbers.
func (t *tx) numbers(query string, args ...any) []int64 { return column[int64](t, query, args...) }

// number returns the first number of a column, 0 for none.
func (t *tx) number(query string, args ...any) int64 {
	return append(t.numbers(query, args...), 0)[0]
}

// placeholders returns so many, with commas.
func placeholders(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }
