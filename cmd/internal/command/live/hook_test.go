package live

import (
	"bytes"
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/outbox"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
)

// TestHookAnswersWithoutOutbox: a hook whose state cannot be written denies all the same, and with status 0, since hosts
// read no answer of another.
func TestHookAnswersWithoutOutbox(t *testing.T) {
	for name, statement := range map[string]string{
		"written": `CREATE TRIGGER full BEFORE INSERT ON conversation BEGIN SELECT RAISE(ABORT, 'full'); END`,
		"read":    `ALTER TABLE conversation RENAME COLUMN state TO other`,
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			path := filepath.Join(state, outboxName)
			box, err := outbox.Open(t.Context(), path, time.Now())
			require.NoError(t, err)
			require.NoError(t, box.Close())
			db, err := sql.Open("sqlite", path)
			require.NoError(t, err)
			_, err = db.ExecContext(t.Context(), statement)
			require.NoError(t, err)
			require.NoError(t, db.Close())

			item := heed.Item{
				ID: "e-1", State: coalesce.Open, Severity: event.SeverityError, Summary: "it broke", Blocking: true,
			}
			o := &open{items: []bridge.Item{{Item: item}}}
			input := strings.NewReader(`{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"mcp__game__build"}`)
			var stdout, stderr bytes.Buffer
			args := append([]string{"hook", "--no-config", "--state", state}, o.serve(t)...)
			require.Zero(t, run(t.Context(), args, input, &stdout, &stderr), stderr.String())
			require.Equal(t, 1, strings.Count(stdout.String(), `"permissionDecision":"deny"`), stdout.String())
			require.Contains(t, stderr.String(), "not kept: ")
		})
	}
}

// TestHookAnswersInTime: a heed that does not answer holds no hook up for longer than hosts wait.
func TestHookAnswersInTime(t *testing.T) {
	defer func(within time.Duration) { hookWithin = within }(hookWithin)
	hookWithin = 100 * time.Millisecond
	input := strings.NewReader(`{"hook_event_name":"preToolUse","conversation_id":"s","tool_name":"MCP:build"}`)
	var stdout, stderr bytes.Buffer
	args := append([]string{"hook", "--no-config", "--state", t.TempDir()}, serve(t,
		func(ctx context.Context, _ *gabp.Request) (any, error) { <-ctx.Done(); return nil, ctx.Err() })...)
	began := time.Now()
	require.Zero(t, run(t.Context(), args, input, &stdout, &stderr), stderr.String())
	require.Equal(t, "{}\n", stdout.String())
	require.Contains(t, stderr.String(), "attention is not known")
	require.Less(t, time.Since(began), askTimeout)
}
