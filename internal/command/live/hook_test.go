package live

import (
	"bytes"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/bridge"
	"github.com/heedlog/heed/internal/outbox"
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

			item := heed.Attention{
				ID: "e-1", State: coalesce.Open, Severity: event.SeverityError, Summary: "it broke", Blocking: true,
			}
			o := &open{items: []bridge.Item{{Attention: item}}}
			input := strings.NewReader(`{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"mcp__game__build"}`)
			var stdout, stderr bytes.Buffer
			args := append([]string{"hook", "--no-config", "--state", state}, o.serve(t)...)
			require.Zero(t, run(t.Context(), args, input, &stdout, &stderr), stderr.String())
			require.Equal(t, 1, strings.Count(stdout.String(), `"permissionDecision":"deny"`), stdout.String())
			require.Contains(t, stderr.String(), "not kept: ")
		})
	}
}
