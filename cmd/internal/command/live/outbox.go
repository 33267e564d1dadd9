package live

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

// outboxName is the database of undelivered messages, in the state folder.
const outboxName = "outbox.db"

// outbox keeps the state of conversations of package steer in a database, so that messages survive a kill: they are
// delivered at least once, and a revision of a topic once in a turn. Many goroutines and processes may use it.
type outbox struct{ *db.DB }

// The bounds of the database: conversations, the time since their last use, and the bytes of a state.
const (
	maxConversations = 1000
	maxAge           = 30 * 24 * time.Hour
	maxState         = 4 << 20
)

// outboxApplication is "heed" in ASCII.
const outboxApplication = 0x68656564

var outboxMigrations = []string{`
CREATE TABLE conversation (
	id      TEXT PRIMARY KEY,
	touched INTEGER NOT NULL, -- in seconds since 1970
	waits   INTEGER NOT NULL, -- messages that are not delivered
	state   TEXT NOT NULL,    -- steer.State as JSON
	bad     TEXT              -- an earlier state that could not be read
) STRICT`}

// openOutbox opens the outbox in a folder, "" for the usual one.
func (p *program) openOutbox(ctx context.Context, state string) (*outbox, error) {
	dir, err := stateIn(state, p.Getenv)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, keepWait) // a process that is stuck has it open
	defer cancel()
	box, err := openStates(ctx, dir.path(outboxName), p.Now())
	if err == nil && box.SetAside != "" {
		p.Note("what was not delivered before is lost: its file was corrupt, and is kept as %s", box.SetAside)
	}
	return box, err
}

// openStates opens the outbox in a file. Conversations that were not used for 30 days are dropped, and beyond 1,000
// those that wait for nothing first.
func openStates(ctx context.Context, path string, now time.Time) (*outbox, error) {
	d, err := db.Open(ctx, db.Config{Path: path, Application: outboxApplication, Migrations: outboxMigrations})
	if err != nil {
		return nil, err
	}
	_, err = d.ExecContext(ctx, `DELETE FROM conversation WHERE id NOT IN (SELECT id FROM conversation
		WHERE touched >= ? ORDER BY waits > 0 DESC, touched DESC LIMIT ?)`, now.Add(-maxAge).Unix(), maxConversations)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("outbox %s: %w", path, err), d.Close())
	}
	return &outbox{d}, nil
}

// update keeps the state that f returns for the state of a conversation. No other process changes it in between. If f
// returns an error, nothing is kept. An unreadable state counts as none.
func (o *outbox) update(
	ctx context.Context, conversation string, now time.Time, f func(s steer.State) (steer.State, error),
) error {
	return o.Tx(ctx, func(tx *sql.Tx) error {
		s, err := loadState(ctx, tx, conversation)
		if err != nil && !errors.Is(err, errState) {
			return err
		}
		if s, err = f(s); err != nil {
			return err
		}
		return saveState(ctx, tx, conversation, now, s)
	})
}

// errState is the error for a state that is not of this version of heed, or too large.
var errState = errors.New("the state cannot be kept or read")

// querier is an outbox or a transaction of it.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// loadState returns the state of a conversation, the zero State for an unknown one. An unreadable state is an error,
// and kept aside when the next one is saved.
func loadState(ctx context.Context, q querier, conversation string) (steer.State, error) {
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
		return steer.State{}, errors.Join(fmt.Errorf("outbox: conversation %q: %w: %w", conversation, errState, err), moved)
	}
	return s, nil
}

// saveState keeps the state of a conversation.
func saveState(ctx context.Context, q querier, conversation string, now time.Time, s steer.State) error {
	raw, err := json.Marshal(s)
	if err == nil && len(raw) > maxState {
		err = fmt.Errorf("%w: %d bytes, of at most %d", errState, len(raw), maxState)
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
