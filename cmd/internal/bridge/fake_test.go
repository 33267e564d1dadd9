package bridge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/agent/briefing/heedsource"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/cmd/internal/way"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/rules"
)

const testRules = `version: 1
macros:
  in_play: 'phase == "play"'
rules:
  - id: broken
    when: 'template startsWith "Broken"'
    disposition: blocking
    invalidates: true
    summary: something broke
    why: what is broken does not work
    advice: update the mod at fault
  - {id: odd.play, when: 'template startsWith "Odd" and in_play', disposition: blocking}
  - {id: odd, when: 'template startsWith "Odd"', disposition: advisory}
  - {id: often, when: 'template startsWith "Often"', disposition: ignore, escalate: {after: 2, within: {entries: 100, duration: 1m}, to: blocking}}
  - {id: limit, when: 'template startsWith "No more"', disposition: advisory, blinds: true}
  - {id: plays, when: 'template startsWith "Playing"', disposition: ignore, sets_phase: play}
`

func compile(t testing.TB, text string) *rules.Set {
	t.Helper()
	set, err := rules.Compile(rules.File{Name: "test.yaml", Data: []byte(text)})
	require.NoError(t, err)
	return set
}

// start makes a session, and its diagnostics, and lets it run for the test.
func start(t testing.TB, c session.Config) (*session.Session, *bridge.Diagnostics) {
	t.Helper()
	if c.Engine.Rules == nil && len(c.RuleFiles) == 0 {
		c.Engine.Rules = compile(t, testRules)
	}
	if c.Engine.Epoch == "" {
		c.Engine.Epoch = "run1"
	}
	s, err := session.New(c)
	require.NoError(t, err)
	d := bridge.NewDiagnostics(s, briefer(t, s), bridge.NoLimits)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return s, d
}

// briefer returns what assembles briefs of a session.
func briefer(t testing.TB, s *session.Session) bridge.Briefer {
	t.Helper()
	b, err := briefing.New(heedsource.Sources(heedsource.Config{
		Engine: s.Engine(), Rules: s.Rules, Next: way.SessionNext, Now: time.Now,
	}))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b.Assemble
}

var schemaMu sync.Mutex

// compiled returns a schema, which must be one of both drafts.
var compiled = func() func(t require.TestingT, text json.RawMessage) *jsonschema.Schema {
	known := map[string]*jsonschema.Schema{}
	return func(t require.TestingT, text json.RawMessage) *jsonschema.Schema {
		schemaMu.Lock()
		defer schemaMu.Unlock()
		if s := known[string(text)]; s != nil {
			return s
		}
		for _, draft := range []*jsonschema.Draft{jsonschema.Draft7, jsonschema.Draft2020} {
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			require.NoError(t, err)
			c := jsonschema.NewCompiler()
			c.DefaultDraft(draft)
			c.AssertFormat()
			require.NoError(t, c.AddResource("mem:schema", doc))
			s, err := c.Compile("mem:schema")
			require.NoError(t, err)
			known[string(text)] = s
		}
		return known[string(text)]
	}
}()

func valid(t require.TestingT, schema, text json.RawMessage) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	return compiled(t, schema).Validate(doc)
}

func toolOf(name string) *gabp.Tool {
	for _, t := range bridge.Tools() {
		if t.Name == name {
			return &t
		}
	}
	return nil
}

// answer calls a tool, holds arguments and answer to its schemas, and decodes the
// answer.
func answer[T any](t testing.TB, d *bridge.Diagnostics, name, arguments string) T {
	t.Helper()
	text := raw(t, t.Context(), d, name, arguments)
	var out T
	require.NoError(t, json.Unmarshal(text, &out))
	return out
}

func raw(t testing.TB, ctx context.Context, d *bridge.Diagnostics, name, arguments string) json.RawMessage {
	t.Helper()
	result, known, err := d.Call(ctx, "agent", gabp.ToolCall{Name: name, Arguments: json.RawMessage(arguments)})
	require.True(t, known)
	require.NoError(t, err)
	text, err := json.Marshal(result)
	require.NoError(t, err)
	tool := toolOf(name)
	if arguments != "" {
		require.NoError(t, valid(t, tool.InputSchema, json.RawMessage(arguments)), arguments)
	}
	require.NoError(t, valid(t, tool.OutputSchema, text), "%s", text)
	testkit.RequireValid(t, testkit.Schema(t, tool.OutputSchema), string(text))
	return text
}

// refusal calls a tool that must refuse.
func refusal(t require.TestingT, d *bridge.Diagnostics, name, arguments string) (*gabp.Error, bridge.Refused) {
	result, known, err := d.Call(context.Background(), "agent", gabp.ToolCall{
		Name:      name,
		Arguments: json.RawMessage(arguments),
	})
	require.True(t, known)
	require.Nil(t, result)
	var e *gabp.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, gabp.CodeInvalidParams, e.Code, e.Message)
	var data bridge.Refused
	require.NoError(t, json.Unmarshal(e.Data, &data))
	require.NotEmpty(t, data.Path)
	require.NotEmpty(t, data.Want)
	require.NotEmpty(t, data.Got)
	return e, data
}

func logged(message string) event.Log {
	return event.Log{Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Level: event.LevelInfo, Message: message}
}

// scene fills a session with one of each.
func scene(s *session.Session) (operation string) {
	s.Observe(logged("Playing").Entry())
	for i := range 3 {
		s.Observe(logged(fmt.Sprintf("All is well %d", i)).Entry())
	}
	run := s.Begin(session.Call{ID: "r1", Tool: "colony/build", Consumer: "agent"})
	s.Observe(event.Log{
		Level: event.LevelError, Message: "Broken wall",
		Stack: "at Colony.Wall.Build ()\nat Colony.Run ()", OperationID: run.ID(),
	}.Entry())
	s.Observe(logged("Afterwards").Entry())
	s.Observe(logged("Odd weather").Entry())
	_, _, _ = run.End(context.Background(), event.StatusCompleted, "")
	s.Begin(session.Call{ID: "r2", Tool: "colony/wait", Consumer: "other"})
	s.Observe(event.Notice{Status: event.StatusHole, Count: 1 << 60, Detail: "bytes are missing"}.Entry())
	s.Observe(event.State{Status: event.StatusStall, Detail: "no answer"}.Entry())
	return run.ID()
}

// smallJournal is a Config whose journal soon evicts.
func smallJournal() session.Config {
	return session.Config{Engine: heed.Config{Journal: journal.Config{Entries: 64, Bytes: 64 << 10}}}
}

// walk calls f with each string of a JSON value, and the names on the way to it.
func walk(v any, at []string, f func(at []string, s string)) {
	switch v := v.(type) {
	case string:
		f(at, v)
	case []any:
		for _, e := range v {
			walk(e, at, f)
		}
	case map[string]any:
		for k, e := range v {
			f(append(at, "(name)"), k)
			walk(e, append(slices.Clip(at), k), f)
		}
	}
}

func last(at []string) string { return at[len(at)-1] }

func lines(n int, text string) string { return strings.TrimSuffix(strings.Repeat(text+"\n", n), "\n") }
