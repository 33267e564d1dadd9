package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

// TestEscalated: what repetition made of a rule is told alike by all that show
// a decision.
func TestEscalated(t *testing.T) {
	const rule = "version: 1\nrules:\n  - {id: t.path, when: 'template startsWith \"No path\"', disposition: ignore"
	once := write(t, "once.yaml", rule+"}\n")
	often := write(t, "often.yaml", rule+", escalate: {after: 3, within: 30s, to: blocking}}\n")
	log := write(t, "game.log", strings.Repeat("No path to the lamp\nsomething else\n", 3))
	explained := func(line string) string {
		return ok(t, "explain", "--no-default-rules", "--rules", often, log+":"+line)
	}

	before := explained("3")
	require.Contains(t, before, ":3: ignore info, by rule t.path\n")
	require.Contains(t, before,
		"escalates to blocking if the rule decides 3 entries within 30s (without times, 1500 entries); fewer are ignore info")
	after := explained("5")
	require.Contains(t, after, ":5: BLOCKING error, by rule t.path, escalated by repetition\n")
	require.Contains(t, after,
		"escalated to blocking if the rule decides 3 entries within 30s (without times, 1500 entries); fewer are ignore info")

	r := runArgs(t, "explain", "--format", "json", "--no-default-rules", "--rules", often, log+":5")
	e := decoded[explanation](t, r.stdout)
	require.Equal(t, event.Blocking, e.Decision.Disposition)
	require.True(t, e.Decision.Escalated)
	by := e.Decision.Escalates
	require.Equal(t, []any{3, 30.0, 1500, event.Blocking, event.SeverityError},
		[]any{by.After, by.Seconds, by.Entries, by.To, by.Severity})

	r = runArgs(t, "--no-default-rules", "--rules", often, log)
	require.Contains(t, r.stdout, "rule t.path, escalated by repetition")
	r = runArgs(t, "--format", "json", "--no-default-rules", "--rules", often, log)
	require.Contains(t, r.stdout, `"escalated":true`)
	r = runArgs(t, "records", "--format", "jsonl", "--no-default-rules", "--rules", often, log)
	require.Equal(t, 1, strings.Count(r.stdout, `"escalated":true`))
	r = runArgs(t, "rules", "diff", "--no-default-rules", once, often, log)
	require.Contains(t, r.stdout, "1 of 6 records in 1 file change class")
	require.Contains(t, r.stdout, "new     BLOCKING error, by rule t.path, escalated by repetition")
}
