package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/agent/steer"
	"github.com/heedlog/heed/cmd/internal/jsonrpc"
	"github.com/heedlog/heed/internal/testkit"
)

// TestNotSteered: a session is steered once the agent has given it an id that is not known. The prompts of all others
// pass unchanged: of sessions that did not begin, of another version of the protocol, and beyond the bound.
func TestNotSteered(t *testing.T) {
	opens := func(w *world, method, params, answer string) {
		w.says(w.editor, `{"jsonrpc":"2.0","id":7,"method":"`+method+`","params":`+params+`}`)
		w.says(w.agent, `{"jsonrpc":"2.0","id":7,`+answer+`}`)
	}
	prompt := `{"jsonrpc":"2.0","id":8,"method":"session/prompt","params":{"sessionId":"x", "prompt":[]}}`
	for name, c := range map[string]struct {
		method, params, answer string
		init                   string
		steered                bool
		started                string
	}{
		"a new one":            {"session/new", `{}`, `"result":{"sessionId":"x"}`, `{"protocolVersion":1}`, true, "x true"},
		"a fork":               {"session/fork", `{"sessionId":"s"}`, `"result":{"sessionId":"x"}`, `{}`, true, "x true"},
		"a loaded one":         {"session/load", `{"sessionId":"x"}`, `"result":null`, `{}`, true, "x false"},
		"a resumed one":        {"session/resume", `{"sessionId":"x"}`, `"result":{}`, `{}`, true, "x false"},
		"without an id":        {"session/new", `{}`, `"result":{}`, `{}`, false, ""},
		"an id of no text":     {"session/new", `{}`, `"result":{"sessionId":7}`, `{}`, false, ""},
		"refused":              {"session/load", `{"sessionId":"x"}`, `"error":{"code":-1,"message":"no"}`, `{}`, false, ""},
		"of a version to come": {"session/new", `{}`, `"result":{"sessionId":"x"}`, `{"protocolVersion":2}`, false, ""},
		"of another method":    {"session/list", `{"sessionId":"x"}`, `"result":{"sessionId":"x"}`, `{}`, false, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, steer.Policy{})
			w.open(c.init)
			before := len(w.started)
			opens(w, c.method, c.params, c.answer)
			opens(w, c.method, c.params, c.answer) // what is known goes on
			require.Equal(t, c.steered, len(w.started) == before+1, "%s: %v", name, w.started)
			require.Equal(t, c.steered, len(w.started) != before, name)
			require.True(t, !c.steered || w.started[before] == c.started, "%s: %v", name, w.started)
			w.agent.take()
			w.says(w.editor, prompt)
			require.Equal(t, []string{prompt}, w.agent.take(), name)
			w.close()
		})
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, steer.Policy{})
		w.open(`{}`)
		const most = 1024
		for n := range most + 3 {
			opens(w, "session/new", `{}`, fmt.Sprintf(`"result":{"sessionId":"n%d"}`, n))
		}
		require.Len(t, w.started, most)
		w.close()
	})
}

// TestLateActions: an action that was decided for a turn that a person has stopped since does nothing. The agent gets one
// prompt at a time, and each message once.
func TestLateActions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := make(chan func(), 10)
		w := newWorld(t, steer.Policy{}, func(c *Config) {
			c.PromptIdle = true
			start := c.Start
			c.Start = func(id string, fresh bool, l steer.Ceiling, act func(steer.Action)) Conversation {
				return start(id, fresh, l, func(a steer.Action) { late <- func() { act(a) } })
			}
		})
		defer w.close()
		w.open(`{}`)
		gets := func() (got []string) {
			for len(late) > 0 {
				(<-late)()
				synctest.Wait()
			}
			for _, l := range w.agent.take() {
				got = append(got, short(l))
			}
			return got
		}
		w.play("M one\nE cancel\na cancel\nM two")
		require.Equal(t, []string{"prompt heed-1 two"}, gets())
		w.play("A heed-1: end_turn")
		require.Equal(t, []string{"prompt heed-2 one"}, gets())
		w.play("A heed-2: end_turn")
		require.Empty(t, gets())

		w.agent.send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{` +
			`"sessionUpdate":"session_info_update","_meta":{"goose":{"activeRunId":"r"}}}}}`)
		synctest.Wait()
		w.editor.take()
		w.play("E prompt 1 Build.\na prompt 1 Build.\nM three\nA 1: end_turn\ne 1: end_turn")
		require.Equal(t, []string{"prompt heed-3 three"}, gets(), "not added to a turn that has ended")
		w.play("A heed-3: end_turn")
	})
}

// TestCounts: the log has at the end how many lines were passed on without being understood, or dropped.
func TestCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		w := newWorld(t, steer.Policy{}, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		w.open(`{}`)
		w.play(`
			E prompt 1 Build.
			a prompt 1 Build.
			A permission p
			e permission p
			M item
			a cancel
			a p: outcome cancelled
			E p: outcome selected
			A 1: cancelled
			a prompt heed-1 W:|Build.|+ heed: item ~
			A 1: end_turn
			A 1: end_turn
			A heed-9: end_turn
			A heed-1: end_turn
			e 1: end_turn`)
		for range 5 {
			w.editor.send("not JSON")
			w.agent.send("[1]")
		}
		for n := range maxCalls + 4 {
			if n == 0 {
				w.says(w.editor, long("prompt 2 Go on."))
			}
			w.agent.send(long(fmt.Sprintf("call c%d in_progress", n)))
		}
		synctest.Wait()
		w.agent.close()
		require.ErrorIs(t, <-w.err, jsonrpc.ErrProgram)
		w.editor.close()
		require.Contains(t, log.String(), `msg="acp: ended" sessions=1 "invalid lines"=10 "not steered"=4 `+
			`"answers without a request"=3 "late answers"=1`)
		require.Contains(t, w.editor.take(), `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"the agent has ended"}}`)
	})
}

// TestConfirmed: a message counts as delivered with the first sign that the model works on it, and before its answer.
func TestConfirmed(t *testing.T) {
	for kind, confirms := range map[string]bool{
		"agent_message_chunk": true, "agent_thought_chunk": true, "tool_call": true, "plan": true,
		"available_commands_update": false, "tool_call_update": false, "user_message_chunk": false,
	} {
		inWorld(t, func(t *testing.T, w *world) {
			w.play("E prompt 1 Build.\na prompt 1 Build.\nM item\na cancel\nA 1: cancelled\n" +
				"a prompt heed-1 W:|Build.|+ heed: item ~")
			require.Len(t, w.conversation.state().Sent, 1)
			for range 2 {
				w.says(w.agent, `{"method":"session/update","params":{"sessionId":"s",`+
					`"update":{"sessionUpdate":"`+kind+`"}}}`)
				require.Equal(t, confirms, len(w.conversation.state().Sent) == 0, kind)
			}
			w.editor.take()
			w.play("A heed-1: end_turn\ne 1: end_turn")
			require.Empty(t, w.conversation.state().Sent)
		})
	}
}

// TestRequestsInACanceledTurn: of the agent's requests in a turn that the proxy cancels, only permissions are answered.
func TestRequestsInACanceledTurn(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.play("E prompt 1 Build.\na prompt 1 Build.")
		read := func(id string) {
			line := `{"jsonrpc":"2.0","id":"` + id + `","method":"fs/read_text_file","params":{"sessionId":"s","path":"/x"}}`
			w.says(w.agent, line)
			require.Equal(t, []string{line}, w.editor.take())
		}
		read("f1")
		w.play("A permission p1\ne permission p1\nM item\na cancel\na p1: outcome cancelled")
		read("f2")
		w.play("A permission p2\na p2: outcome cancelled")
		w.says(w.editor, `{"jsonrpc":"2.0","id":"f1","result":{"content":"x"}}`)
		require.Len(t, w.agent.take(), 1)
		w.play("A 1: cancelled\na prompt heed-1 W:|Build.|+ heed: item ~\nA heed-1: end_turn\ne 1: end_turn")
	})
}

// TestPromptBeyondTheBound holds that a prompt waits in the proxy while as many messages wait as the machine holds.
func TestPromptBeyondTheBound(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.play("E prompt 1 Build.\na prompt 1 Build.\nA call c1 in_progress\ne call c1 in_progress")
		for n := range 64 {
			w.attention(steer.Message{Topic: fmt.Sprint(n), Text: "item"})
		}
		w.play("E prompt 2 And a roof.\nA update c1 completed\ne update c1 completed\na cancel")
		w.says(w.agent, long("1: cancelled"))
		sent := short(w.agent.take()[0])
		require.Contains(t, sent, "[64 messages arrived")
		require.NotContains(t, sent, "And a roof.")
		w.play("A heed-1: end_turn\ne 1: end_turn\na prompt 2 And a roof.")
	})
}

// TestInjectionForms holds the whole request of each form of injection.
func TestInjectionForms(t *testing.T) {
	const prompt = `"sessionId":"s","prompt":[{"type":"text","text":"[This arrived while you were working]\n\nFrom heed:\n\nitem\n\n` +
		`Please continue what you were working on, and incorporate this if it is relevant. If it is unrelated, acknowledge it briefly and carry on."}]`
	for want, c := range map[string]struct{ init, run string }{
		`{"jsonrpc":"2.0","id":"heed-1","method":"_session/steering","params":{` + prompt +
			`,"_meta":{"steering":{"idleBehavior":"promptRequired"}}}}`: {`{"_meta":{"steering":{"supported":true}}}`, ""},
		`{"jsonrpc":"2.0","id":"heed-1","method":"_goose/unstable/session/steer","params":{` + prompt +
			`,"expectedRunId":"run 7"}}`: {`{}`, `run "run 7"`},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, steer.Policy{})
			defer w.close()
			w.open(c.init)
			w.play("E prompt 1 Build.\na prompt 1 Build.")
			if c.run != "" {
				w.says(w.agent, long(c.run))
			}
			w.attention(steer.Message{Topic: "item", Text: "item"})
			lines := w.agent.take()
			require.Len(t, lines, 1)
			require.JSONEq(t, want, lines[0])
		})
	}
}

// TestCallsOfTheGame: a stop waits for calls of the game alone, which a call may show with any of its updates, also
// where many others are open.
func TestCallsOfTheGame(t *testing.T) {
	const most = 4096
	for name, c := range map[string]struct {
		others int
		lines  []string // of one call, after which a message comes
		waits  bool
	}{
		"of another":                      {0, []string{`"tool_call","title":"look"`}, false},
		"of the game":                     {0, []string{`"tool_call","title":"game"`}, true},
		"known late":                      {0, []string{`"tool_call"`, `"tool_call_update","title":"game"`}, true},
		"it stays one":                    {0, []string{`"tool_call","title":"game"`, `"tool_call_update","title":"look"`}, true},
		"known late, among many":          {most - 1, []string{`"tool_call"`, `"tool_call_update","title":"game"`}, true},
		"one of the most":                 {most - 1, []string{`"tool_call","title":"game"`}, true},
		"more than are kept":              {most, []string{`"tool_call","title":"game"`}, false},
		"it has ended":                    {0, []string{`"tool_call","title":"game"`, `"tool_call_update","status":"failed"`}, false},
		"it had ended when it was shown":  {0, []string{`"tool_call","title":"game","status":"completed"`}, false},
		"an update that is none of calls": {0, []string{`"plan","title":"game"`}, false},
	} {
		inWorld(t, func(t *testing.T, w *world) {
			w.play("E prompt 1 Build.\na prompt 1 Build.")
			update := func(id, rest string) {
				w.agent.send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"toolCallId":"` + id +
					`","sessionUpdate":` + rest + `}}}`)
			}
			for n := range c.others {
				update(fmt.Sprint("other ", n), `"tool_call","title":"look"`)
			}
			for _, line := range c.lines {
				update("c", line)
			}
			synctest.Wait()
			w.editor.take()
			w.attention(steer.Message{Topic: "item", Text: "item"})
			require.Equal(t, c.waits, len(w.agent.take()) == 0, name)
			update("c", `"tool_call_update","status":"completed"`)
			synctest.Wait()
			require.Equal(t, c.waits, len(w.agent.take()) == 1, name)
		}, func(c *Config) { c.Game = func(title, _ string) bool { return title == "game" } })
	}
}

// TestLongPromptIsCut: of a prompt, the machine keeps the beginning of its text; the agent gets all of it again, and all
// of one that arrives.
func TestLongPromptIsCut(t *testing.T) {
	const maxRequest = 64 << 10
	for _, more := range []int{-1, 0, 1, 10_000} {
		inWorld(t, func(t *testing.T, w *world) {
			text := "Build " + strings.Repeat("ä", (maxRequest+more-6)/2)
			text += strings.Repeat(".", maxRequest+more-len(text))
			w.says(w.editor, long("prompt 1 "+text))
			w.agent.take()
			kept := w.conversation.state().Working[0].Text
			begin, cut := strings.CutSuffix(kept, " […]")
			require.Equal(t, more > 0, cut)
			require.True(t, strings.HasPrefix(text, begin) && utf8.ValidString(begin))
			require.GreaterOrEqual(t, len(begin), min(len(text), maxRequest-1))
			require.LessOrEqual(t, len(begin), maxRequest)
			arrived := kept + " ~"
			if cut {
				arrived += "|" + text
			}
			w.play("E prompt 2 " + text + "\na cancel\nA 1: cancelled\na prompt heed-1 W:|" + text + "|+ user: " + arrived)
		})
	}
}

// TestPassesUnchanged: lines that the proxy does not know pass byte for byte, once and in their order, also while the
// agent works.
func TestPassesUnchanged(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		for _, working := range []bool{false, true} {
			if working {
				w.says(w.editor, long("prompt p Build."))
				require.Len(t, w.agent.take(), 1)
			}
			for fromEditor, lines := range map[bool][]string{
				true: {
					`{"jsonrpc":"2.0","id":5, "method":"session/list"}`, `{"method":"session/set_mode", "params":{"sessionId":"s"}}`,
					`{"id":99, "result":{}}`, `not JSON`, `[1, 2]`, `{}`, `{"method":"session/cancel", "params":{"sessionId":"other"}}`,
					`{"method":"$/cancel_request", "params":{"requestId":5}}`, `{"method":"$/cancel_request", "params":7}`,
					`{"id":6, "method":"session/prompt", "params":{"sessionId":"other"}}`,
				},
				false: {
					`{"method":"session/update", "params":7}`, `{"method":"session/update", "params":{"sessionId":"s", "update":7}}`,
					`{"method":"session/update", "params":{"sessionId":"other", "update":{"sessionUpdate":"plan"}}}`,
					`{"id":1, "method":"session/request_permission", "params":{"sessionId":"other"}}`,
					`{"method":"session/request_permission", "params":{"sessionId":"s"}}`, `{"id":2, "method":"fs/read_text_file"}`,
					`not JSON`, `[1, 2]`, `{"id":77, "result":{}}`, `{"id":null, "error":{}}`,
					`{"method":"session/update", "params":{"sessionId":"s", "update":{"sessionUpdate":"tool_call", "status":"failed"}}}`,
					`{"method":"session/update", "params":{"sessionId":"s", "update":{"sessionUpdate":"odd", "toolCallId":"c"}}}`,
				},
			} {
				from, to := w.agent, w.editor
				if fromEditor {
					from, to = w.editor, w.agent
				}
				for _, line := range lines {
					from.send(line)
				}
				synctest.Wait()
				require.Equal(t, lines, to.take())
				require.Empty(t, from.take())
			}
			w.agent.send(`{"id":5,"result":{}}`)
			w.says(w.agent, `{"id":6,"result":{}}`)
			require.Len(t, w.editor.take(), 2, "their ids are free again")
		}
	})
}

// TestAnotherVersionIsNoted holds that an agent of a version that is not known is one line for the person.
func TestAnotherVersionIsNoted(t *testing.T) {
	for version, noted := range map[int]int{1: 0, 2: 1} {
		synctest.Test(t, func(t *testing.T) {
			var notes []string
			var log bytes.Buffer
			w := newWorld(t, steer.Policy{}, func(c *Config) {
				c.Logger = slog.New(slog.NewTextHandler(&log, nil))
				c.Note = func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
			})
			w.open(fmt.Sprintf(`{"protocolVersion":%d}`, version))
			w.close()
			require.Equal(t, []string{
				"this agent speaks version 2 of the Agent Client Protocol, heed 1: it is not steered",
			}[:noted], append([]string{}, notes...))
			require.Contains(t, log.String(), fmt.Sprintf(`"not steered"=%d`, noted))
		})
	}
}

// TestScripts plays the scripts of a file. A script begins with "== NAME", and may set the policy, the answer to
// initialize, the calls that go to the game, and that idle sessions are prompted.
func TestScripts(t *testing.T) {
	for name, script := range testkit.Scripts(t, "testdata/scripts.txt") {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var policy steer.Policy
				var changes []func(*Config)
				init := `{"protocolVersion":1}`
				for head := true; head; {
					line, rest, _ := strings.Cut(script, "\n")
					switch word, value, _ := strings.Cut(line, " "); word {
					case "policy":
						require.NoError(t, json.Unmarshal([]byte(value), &policy))
					case "init":
						init = value
					case "idle":
						changes = append(changes, func(c *Config) { c.PromptIdle = true })
					case "game":
						changes = append(changes, func(c *Config) { c.Game = func(title, _ string) bool { return title == value } })
					default:
						head = false
						continue
					}
					script = rest
				}
				w := newWorld(t, policy, changes...)
				defer w.close()
				w.open(init)
				w.play(script)
			})
		})
	}
}
