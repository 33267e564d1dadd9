//go:build unix

package live

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/heedlog/heed/internal/testkit"
)

// TestFaultReturns holds that a fault which returns in a later call, after its acknowledgement, is reported with that
// call, by each way in which an agent meets heed: as an item that blocks, or by the verdict alone where the policy is that
// it stops no call.
func TestFaultReturns(t *testing.T) {
	t.Parallel()
	ways := map[string]func(*testing.T) worker{"bridge": throughBridge, "mcp": throughMCP, "acp": throughACP}
	for host, events := range hookEvents {
		ways["hook of "+host] = func(t *testing.T) worker { return throughHook(t, events) }
	}
	for name, begin := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t)
			reported := 0
			for range 5 {
				told := w.call()
				if reports.MatchString(told) {
					reported++
				}
				w.ack(told)
			}
			require.Equal(t, 5, reported)
		})
	}
}

// reports finds the fault, or the verdict of the call in which it came, in the text that an agent reads.
var reports = regexp.MustCompile(`FAULT in|(?i)outcome( of [^.]*)?"?: ?"?(blocking|unknown)`)

// worker is an agent at its work: call makes a call of the game, in which the game logs a fault, and returns the text
// that the agent reads then; ack acknowledges the items in the text.
type worker struct {
	call func() (told string)
	ack  func(told string)
}

func throughBridge(t *testing.T) worker {
	_, b := began(t, nil)
	blocking := regexp.MustCompile(`"attentionId":"([^"]+)"`)
	return worker{
		call: func() string {
			a := b.tool("colony/build", "fault in between")
			require.Nil(t, a.Error)
			return string(a.Result)
		},
		ack: func(told string) {
			m := blocking.FindStringSubmatch(told)
			require.NotNil(t, m)
			b.ack(m[1])
		},
	}
}

func throughMCP(t *testing.T) worker {
	g := newPlayed(t)
	client, server := g.between("mcp", "--log", g.log, "--log-file", filepath.Join(g.dir, "own.log"))
	n := 0
	ask := func(tool, arguments string) {
		n++
		client.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, n, tool, arguments)
	}
	item := regexp.MustCompile(`call heed_ack with id \\"(\d+)\\"`)
	return worker{
		call: func() string {
			ask("build", `{}`)
			require.Contains(t, server.next(), `"build"`)
			g.fault()
			server.send(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"built"}]}}`, n)
			return client.next()
		},
		ack: func(told string) {
			if m := item.FindStringSubmatch(told); m != nil {
				ask("heed_ack", `{"id":"`+m[1]+`"}`)
				require.Contains(t, client.next(), `\"acknowledged\":true`)
			}
		},
	}
}

// hookEvents are the events before and after a call, of hosts that differ in how a call is told: the input, with ID for the id of the call, and flags.
var hookEvents = map[string][2][]string{
	"Claude Code, by batch": {
		{`{"hook_event_name":"PreToolUse","session_id":"s1","transcript_path":"/t","cwd":"/","permission_mode":"default",
			"tool_name":"mcp__game__build","tool_use_id":"ID","tool_input":{"x":1},"agent_id":"a1"}`},
		{`{"hook_event_name":"PostToolBatch","session_id":"s1","transcript_path":"/t","cwd":"/","agent_id":"a1","tool_calls":[
			{"tool_name":"Bash","tool_use_id":"other"},{"tool_name":"mcp__game__build","tool_use_id":"ID","tool_response":"x"}]}`},
	},
	"Gemini CLI": {
		{`{"session_id":"s3","transcript_path":"/t.json","cwd":"/p","hook_event_name":"BeforeTool","timestamp":"2026-01-31T10:00:00Z",
			"tool_name":"mcp_game_build","tool_input":{},"mcp_context":{"server_name":"game"}}`},
		{`{"session_id":"s3","transcript_path":"/t.json","cwd":"/p","hook_event_name":"AfterTool","timestamp":"2026-01-31T10:00:00Z",
			"tool_name":"mcp_game_build","tool_input":{},"tool_response":{"llmContent":"x","returnDisplay":"x"}}`},
	},
	"Copilot CLI": {
		{
			`{"sessionId":"s5","timestamp":1770000000000,"cwd":"/p","toolName":"game-build","toolArgs":"{}"}`,
			"--host", "copilot", "--event", "preToolUse",
		},
		{
			`{"sessionId":"s5","timestamp":1770000000000,"cwd":"/p","toolName":"game-build","toolArgs":{},
			"toolResult":{"resultType":"success","textResultForLlm":"x"}}`, "--host", "copilot", "--event", "postToolUse",
		},
	},
}

func throughHook(t *testing.T, events [2][]string) worker {
	g := newPlayed(t)
	g.serve()
	n := 0
	event := func(e []string) string {
		input := strings.NewReader(strings.ReplaceAll(e[0], "ID", fmt.Sprint("u", n)))
		var out, errs strings.Builder
		require.Zero(t, run(t.Context(), append([]string{"hook", "--state", g.state}, e[1:]...), input, &out, &errs))
		require.Empty(t, errs.String())
		return strings.TrimPrefix(out.String(), "{}\n")
	}
	return worker{
		call: func() string {
			n++
			require.Empty(t, event(events[0]), "it is not denied")
			g.fault()
			return event(events[1])
		},
		ack: g.ackAsTold,
	}
}

func throughACP(t *testing.T) worker {
	g := newPlayed(t)
	g.serve()
	editor, agent := g.between("acp", "--log-file", filepath.Join(g.dir, "own.log"))
	prompts := 0
	prompt := func() {
		prompts++
		editor.send(`{"jsonrpc":"2.0","id":"p%d","method":"session/prompt","params":{"sessionId":"s","prompt":[`+
			`{"type":"text","text":"Build."}]}}`, prompts)
	}
	var line struct {
		ID     json.RawMessage
		Method string
	}
	next := func(text string) string {
		line.ID, line.Method = nil, ""
		require.NoError(t, json.Unmarshal([]byte(text), &line))
		return text
	}
	answer := func(result string) { agent.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, line.ID, result) }
	editor.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
	next(agent.next())
	answer(`{"protocolVersion":1}`)
	editor.send(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`)
	next(agent.next())
	answer(`{"sessionId":"s"}`)
	require.Contains(t, editor.next(), `"id":1`)
	require.Contains(t, editor.next(), `"sessionId":"s"`)
	await(t, func() bool {
		own, _ := os.ReadFile(filepath.Join(g.dir, "own.log"))
		return strings.Contains(string(own), "a heed was found")
	})
	prompt()
	next(agent.next())
	n := 0
	update := func(text string) {
		agent.send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{%s,"toolCallId":"c%d"}}}`,
			text, n)
	}
	return worker{
		call: func() string {
			n++
			// A prompt repeats the agent's work: the title tells the news of this call from earlier ones.
			update(fmt.Sprintf(`"sessionUpdate":"tool_call","title":"build %d","status":"in_progress"`, n))
			await(t, func() bool {
				return strings.Contains(shown(t, "status", "--state", g.state, "--format", "json"), `"inFlight":1`)
			})
			g.fault()
			update(`"sessionUpdate":"tool_call_update","status":"completed"`)
			for began := time.Now(); time.Since(began) < patience; {
				select {
				case text := <-agent.lines:
					prompt := line.ID
					if next(text); line.Method == "session/cancel" {
						line.ID = prompt
						answer(`{"stopReason":"cancelled"}`)
					}
					if strings.Contains(text, fmt.Sprintf("Outcome of the call build %d:", n)) {
						return text
					}
				case <-time.After(50 * time.Millisecond): // no stop comes: the turn ends
					if line.Method == "session/prompt" {
						answer(`{"stopReason":"end_turn"}`)
						line.Method = ""
						prompt()
					}
				}
			}
			return ""
		},
		ack: g.ackAsTold,
	}
}

// played is a game whose log heed follows.
type played struct {
	t                       *testing.T
	dir, log, state, config string
}

func newPlayed(t *testing.T) *played {
	dir, log, rules, state := folder(t)
	require.NoError(t, os.WriteFile(log, nil, 0o600))
	return &played{t: t, dir: dir, log: log, state: state, config: rules}
}

// fault has the game log a fault.
func (g *played) fault() { write(g.t, g.log, "FAULT in the hull\n") }

// serve starts "heed serve".
func (g *played) serve() {
	spawn(g.t, g.dir, "serve", g.log, "--state", g.state, "--rules", g.config, "--no-default-rules")
	await(g.t, func() bool { return shown(g.t, "status", "--state", g.state) != "" })
}

var ackTold = regexp.MustCompile(`heed ack (\S+) --agent (\S+) --through (\d+)`)

// ackAsTold acknowledges by the command in a text.
func (g *played) ackAsTold(told string) {
	for _, m := range ackTold.FindAllStringSubmatch(told, -1) {
		shown(g.t, "ack", m[1], "--agent", m[2], "--through", m[3], "--state", g.state) // also what was before
	}
}

// between starts heed between a client and a program, and returns the test's end of each.
func (g *played) between(command string, flags ...string) (client, program *speaker) {
	t := g.t
	in, out := filepath.Join(g.dir, "in"), filepath.Join(g.dir, "out")
	require.NoError(t, unix.Mkfifo(in, 0o600))
	require.NoError(t, unix.Mkfifo(out, 0o600))
	open := func(path string) *os.File {
		file := testkit.Must(os.OpenFile(path, os.O_RDWR, 0)) // which does not wait for the other end
		t.Cleanup(func() { _ = file.Close() })
		return file
	}
	program = speaks(t, open(in), open(out))
	args := append([]string{command, "--state", g.state}, flags...)
	if command == "mcp" {
		args = append(args, "--rules", g.config, "--no-default-rules")
	}
	heed := heedProcess(append(args, "--", "sh", "-c", `cat "$0" & exec cat > "$1"`, in, out)...)
	toHeed := testkit.Must(heed.StdinPipe())
	fromHeed := testkit.Must(heed.StdoutPipe())
	require.NoError(t, heed.Start())
	t.Cleanup(func() { _ = heed.Process.Kill() })
	return speaks(t, toHeed, fromHeed), program
}

// speaker is one that speaks in lines.
type speaker struct {
	t     *testing.T
	to    io.Writer
	lines chan string
}

func speaks(t *testing.T, to io.Writer, from io.Reader) *speaker {
	s := &speaker{t: t, to: to, lines: make(chan string, 100)}
	go func() {
		for scanner := bufio.NewScanner(from); scanner.Scan(); {
			s.lines <- scanner.Text()
		}
	}()
	return s
}

func (s *speaker) send(format string, args ...any) {
	s.t.Helper()
	testkit.Must(fmt.Fprintf(s.to, format+"\n", args...))
}

func (s *speaker) next() string {
	s.t.Helper()
	select {
	case line := <-s.lines:
		return line
	case <-time.After(patience):
		require.Fail(s.t, "no line comes")
		panic("unreachable")
	}
}
