// Package outbox keeps the state of conversations of package steer in a database, so that messages survive a kill: they
// are delivered at least once, and a revision of a topic once in a turn.
package outbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/heedlog/heed/agent/steer"
	"github.com/heedlog/heed/cmd/internal/db"
)

// Outbox is an open database of conversations. Its methods may be called from many goroutines, and by many processes.
type Outbox struct{ db *db.DB }

// The bounds of the database: conversations, the time since their last use, and the bytes of a state.
const (
	maxConversations = 1000
	maxAge           = 30 * 24 * time.Hour
	maxState         = 4 << 20
)

// application is "heed" in ASCII.
const application = 0x68656564

var migrations = []string{`
CREATE TABLE conversation (
	id      TEXT PRIMARY KEY,
	touched INTEGER NOT NULL, -- in seconds since 1970
	waits   INTEGER NOT NULL, -- messages that are not delivered
	state   TEXT NOT NULL,    -- steer.State as JSON
	bad     TEXT              -- an earlier state that could not be read
) STRICT`}

// Open opens the outbox in a file. Conversations that were not used for 30 days are dropped, and beyond 1,000 those
// that wait for nothing first.
func Open(ctx context.Context, path string, now time.Time) (*Outbox, error) {
	d, err := db.Open(ctx, db.Config{Path: path, Application: application, Migrations: migrations})
	if err != nil {
		return nil, err
	}
	_, err = d.ExecContext(ctx, `DELETE FROM conversation WHERE id NOT IN (SELECT id FROM conversation
		WHERE touched >= ? ORDER BY waits > 0 DESC, touched DESC LIMIT ?)`, now.Add(-maxAge).Unix(), maxConversations)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("outbox %s: %w", path, err), d.Close())
	}
	return &Outbox{db: d}, nil
}

// SetAside returns where a corrupt file was moved to, "" for none.
func (o *Outbox) SetAside() string { return o.db.SetAside }

// Close closes the database.
func (o *Outbox) Close() error { return o.db.Close() }

// Load returns the state of a conversation, the zero State for an unknown one. An unreadable state is an error, and
// kept aside when the next one is saved.
func (o *Outbox) Load(ctx context.Context, conversation string) (steer.State, error) {
	return load(ctx, o.db.DB, conversation)
}

// Save keeps the state of a conversation.
func (o *Outbox) Save(ctx context.Context, conversation string, now time.Time, s steer.State) error {
	return save(ctx, o.db.DB, conversation, now, s)
}

// Update keeps the state that f returns for the state of a conversation. No other process changes it in between. If f
// returns an error, nothing is kept. An unreadable state counts as none.
func (o *Outbox) Update(
	ctx context.Context, conversation string, now time.Time, f func(s steer.State) (steer.State, error),
) error {
	return o.db.Tx(ctx, func(tx *sql.Tx) error {
		s, err := load(ctx, tx, conversation)
		if err != nil && !errors.Is(err, ErrState) {
			return err
		}
		if s, err = f(s); err != nil {
			return err
		}
		return save(ctx, tx, conversation, now, s)
	})
}

// ErrState is the error for a state that is not of this version of heed, or too large.
var ErrState = errors.New("the state cannot be kept or read")

// querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

func load(ctx context.Context, q querier, conversation string) (steer.State, error) {
	var raw string
	err := q.QueryRowContext(ctx, `SELECT state FROM conversation WHERE id = ?`, conversation).Scan(&raw)
	if errors.Is(err, sql.ErrNoRows) {
		return steer.State{}, nil
	}
	if err != nil {
		return steer.State{}, fmt.Errorf("outbox: conversation %q: %w", conversation, err)
	}
	var s steer.State
	if err := json.Unmarshal([]byte(raw), &s); err != nil {
		_, moved := q.ExecContext(ctx, `UPDATE conversation SET bad = state WHERE id = ?`, conversation)
		return steer.State{}, errors.Join(fmt.Errorf("outbox: conversation %q: %w: %w", conversation, ErrState, err), moved)
	}
	return s, nil
}

func save(ctx context.Context, q querier, conversation string, now time.Time, s steer.State) error {
	raw, err := json.Marshal(s)
	if err == nil && len(raw) > maxState {
		err = fmt.Errorf("%w: %d bytes, of at most %d", ErrState, len(raw), maxState)
	}
	if err == nil {
		waits := len(s.Pending)
		for i := range s.Sent {
			waits += len(s.Sent[i].Messages)
		}
		_, err = q.ExecContext(ctx, `INSERT INTO conversation (id, touched, waits, state) VALUES (?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET touched = excluded.touched, waits = excluded.waits, state = excluded.state`,
			conversation, now.Unix(), waits, string(raw))
	}
	if err != nil {
		return fmt.Errorf("outbox: conversation %q: %w", conversation, err)
	}
	return nil
}
