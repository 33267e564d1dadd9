package live

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/way"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
)

// hook has a hook of Claude Code answer an event, and returns what it prints.
func hook(t *testing.T, state, event string, flags ...string) (out, errs string) {
	t.Helper()
	var stdout, stderr strings.Builder
	input := strings.NewReader(`{"session_id":"s","hook_event_name":` + event + `}`)
	args := append([]string{"hook", "--no-config", "--state", state, "--host", "claude"}, flags...)
	require.Zero(t, run(t.Context(), args, input, &stdout, &stderr), "%s: %s", event, &stderr)
	return stdout.String(), stderr.String()
}

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
			require.NoError(t, testkit.Must(openStates(t.Context(), path, time.Now())).Close())
			db := testkit.Must(sql.Open("sqlite", path))
			testkit.Must(db.ExecContext(t.Context(), statement))
			require.NoError(t, db.Close())

			item := heed.Item{
				ID: "e-1", State: coalesce.Open, Severity: event.SeverityError, Summary: "it broke", Blocking: true,
			}
			o := &open{items: []bridge.Item{{Item: item}}}
			out, errs := hook(t, state, `"PreToolUse","tool_name":"mcp__game__build"`, o.serve(t)...)
			require.Equal(t, 1, strings.Count(out, `"permissionDecision":"deny"`), out)
			require.Contains(t, errs, "not kept: ")
		})
	}
}

// TestHookAnswersInTime: a heed that does not answer holds no hook up for longer than hosts wait.
func TestHookAnswersInTime(t *testing.T) {
	defer func(within time.Duration) { hookWithin = within }(hookWithin)
	hookWithin = 100 * time.Millisecond
	to := serve(t, func(ctx context.Context, _ *gabp.Request) (any, error) { <-ctx.Done(); return nil, ctx.Err() })
	began := time.Now()
	out, errs := hook(t, t.TempDir(), `"PreToolUse","tool_name":"mcp__game__build"`, to...)
	require.Empty(t, out)
	require.Contains(t, errs, "attention is not known")
	require.Less(t, time.Since(began), askTimeout)
}

// TestHookLosesHeed holds that no conversation loses its heed in silence: a call that was held back stays refused until the
// user prompts, and else one text says that nothing is checked.
func TestHookLosesHeed(t *testing.T) {
	item := heed.Item{ID: "e-1", State: coalesce.Open, Severity: event.SeverityError, Summary: "it broke", Blocking: true}
	current := &item
	to := serve(t, func(_ context.Context, r *gabp.Request) (any, error) {
		if r.Method == gabp.MethodAttentionCurrent {
			return gabp.CurrentResult{Attention: current}, nil
		}
		return nil, gabp.Errorf(gabp.CodeToolNotFound, "no %s", r.Method)
	})
	away := []string{"--connect", "127.0.0.1:1"}
	const before, batch = `"PreToolUse","tool_name":"mcp__game__build"`, `"PostToolBatch"`
	const prompt, stop = `"UserPromptSubmit","prompt":"Go."`, `"Stop"`
	for name, c := range map[string]struct {
		blocked bool
		events  []string
		want    []string // part of each answer, "" for none
	}{
		"refused before":    {true, []string{before, batch, before, stop, prompt, before}, []string{"item 1 held", "", "item 1 held", "", "not checked", ""}},
		"passed before":     {false, []string{before, before, prompt}, []string{"not checked", "", ""}},
		"after a tool":      {false, []string{stop, batch, before}, []string{"", "not checked", ""}},
		"with a prompt":     {false, []string{prompt, before, batch}, []string{"not checked", "", ""}},
		"no call of a game": {false, []string{`"PreToolUse","tool_name":"mcp__game__heed_ack"`, batch}, []string{"", "not checked"}},
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			ask := func(to []string, event string) string {
				out, _ := hook(t, state, event, to...)
				return out
			}
			require.Empty(t, ask(away, before), "no heed was there before")
			if current = nil; c.blocked {
				current = &item
			}
			ask(to, before)
			for i, event := range c.events {
				if got := ask(away, event); c.want[i] == "" {
					require.Empty(t, got, "%d: %s", i, event)
				} else {
					require.Contains(t, got, c.want[i], "%d: %s", i, event)
				}
			}
			ask(to, before)
			require.NotEmpty(t, ask(away, before), "a heed that was found again is lost again")
		})
	}
}

// TestHookRefusesWhileHeedHangs holds that a call which was refused stays refused while heed accepts connections, but
// answers none.
func TestHookRefusesWhileHeedHangs(t *testing.T) {
	item := heed.Item{ID: "e-1", State: coalesce.Open, Severity: event.SeverityError, Summary: "it broke", Blocking: true}
	const before = `"PreToolUse","tool_name":"mcp__game__build"`
	state := t.TempDir()
	hook(t, state, before, (&open{items: []bridge.Item{{Item: item}}}).serve(t)...)
	hung := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))
	defer func() { require.NoError(t, hung.Close()) }()
	defer func(within time.Duration) { hookWithin = within }(hookWithin)
	hookWithin = 2 * time.Second
	out, _ := hook(t, state, before, "--connect", hung.Addr().String())
	require.Contains(t, out, "item 1 held calls back")
	require.Contains(t, out, "Next: start heed again, or ask the user, then call mcp__game__build again")
}

// TestHookReports holds what a hook reports of calls to the running heed.
func TestHookReports(t *testing.T) {
	var item *heed.Item // that blocks, if any
	var reports []string
	to := serve(t, func(_ context.Context, r *gabp.Request) (any, error) {
		switch r.Method {
		case bridge.MethodCall:
			c := decoded[bridge.Call](t, r.Params)
			reports = append(reports, fmt.Sprintf("%s %q %q %s%s", c.Agent, c.ID, c.Tool, c.Status,
				map[bool]string{true: " exempt"}[c.Exempt])+c.Held)
			return []heed.Verdict{}, nil
		case gabp.MethodAttentionCurrent:
			return gabp.CurrentResult{Attention: item}, nil
		}
		return nil, gabp.Errorf(gabp.CodeToolNotFound, "no %s", r.Method)
	})
	for _, c := range []struct {
		input, want string
		blocked     bool
		flags       []string
	}{
		{input: `"PreToolUse","tool_name":"mcp__game__build","tool_use_id":"u1"`, want: `hook-s "u1" "mcp__game__build" started`},
		{input: `"PreToolUse","tool_name":"mcp__game__build","agent_id":"a/1"`, want: `hook-a_1-s "" "mcp__game__build" started`},
		{input: `"PreToolUse","tool_name":"mcp__game__build"`, blocked: true, want: `hook-s "" "mcp__game__build" startede-1`},
		{
			input: `"PreToolUse","tool_name":"mcp__game__look"`, blocked: true, flags: []string{"--allow", "*look"},
			want: `hook-s "" "mcp__game__look" started exempt`,
		},
		{input: `"PreToolUse","tool_name":"mcp__game__heed_ack"`},
		{input: `"PostToolUse","tool_name":"Bash","tool_use_id":"u2"`, want: `hook-s "u2" "Bash" completed`},
		{input: `"PostToolBatch"`, want: `hook-s "" "" completed`},
		{input: `"UserPromptSubmit","prompt":"No."`, want: `hook-s "" "" cancelled`},
		{input: `"Stop"`, want: `hook-s "" "" completed`},
		{input: `"SessionStart"`},
	} {
		if item, reports = nil, nil; c.blocked {
			item = &heed.Item{ID: "e-1", State: coalesce.Open, Severity: event.SeverityError, Summary: "it", Blocking: true}
		}
		hook(t, t.TempDir(), c.input, append(c.flags, to...)...)
		require.Equal(t, c.want, strings.Join(reports, "; "), c.input)
	}
}

// TestACPGame holds which tool calls over ACP go to the game.
func TestACPGame(t *testing.T) {
	for _, c := range []struct {
		tools       []string
		title, kind string
		want        bool
	}{
		{nil, "build (game MCP Server)", "", true},
		{nil, "mcp__game__build", "other", true},
		{nil, "go test ./...", "execute", false},
		{nil, "Edit main.go", "edit", false},
		{nil, "mcp__game__heed_ack", "other", false},
		{[]string{"mcp__game__*"}, "mcp__game__build", "execute", true},
		{[]string{"mcp__game__*"}, "mcp__web__look", "other", false},
	} {
		f := acpFlags{tools: c.tools}
		require.Equal(t, c.want, f.game(c.title, c.kind), c.title)
	}
	require.Equal(t, "acp-Sub_1-A_b-9", agentName("acp", "A_b-9", "Sub/1"))
}

// TestCommandsOfMessagesExist holds that the commands that messages name exist, with their flags and arguments.
func TestCommandsOfMessagesExist(t *testing.T) {
	f := clientFlags{state: "here", game: "colony", pid: 7}
	way := way.Commands(cli.CommandLine, "hook-s", f.arguments())
	item := &heed.Item{ID: "e-1", LatestSequence: 12}
	for _, words := range []string{way.Look(item), way.Ack(item), way.More(item)} {
		line := strings.TrimSuffix(strings.TrimPrefix(words, "run `heed "), "`")
		cmd, rest, err := testRoot().Find(strings.Fields(line))
		require.NoError(t, err, line)
		require.NoError(t, cmd.ParseFlags(rest), line)
		require.NoError(t, cmd.ValidateArgs(cmd.Flags().Args()), line)
		require.Equal(t, []string{"1"}, cmd.Flags().Args(), line)
	}
}
