package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// The environment of the hosts: the folder into which .ci/hosts installs them, and the log of the game that this
// program is.
const (
	hostsEnv = "HEED_HOSTS"
	gameEnv  = "HEED_HOSTS_GAME"
)

const banner = "Initialize engine version: 2022.3.35f1\n"

func TestMain(m *testing.M) {
	if log := os.Getenv(gameEnv); log != "" {
		serveGame(log)
		return
	}
	os.Exit(m.Run())
}

// serveGame is a game as a server of MCP. A call with fault logs one.
func serveGame(log string) {
	server := sdk.NewServer(&sdk.Implementation{Name: "game", Version: "1"}, nil)
	type args struct {
		Fault bool `json:"fault,omitempty"`
	}
	sdk.AddTool(server, &sdk.Tool{Name: "build", Description: "Builds."},
		func(_ context.Context, _ *sdk.CallToolRequest, in args) (*sdk.CallToolResult, any, error) {
			if in.Fault {
				breaks(log)
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "built"}}}, nil, nil
		})
	_ = server.Run(context.Background(), &sdk.StdioTransport{})
}

// breaks logs a fault.
func breaks(log string) {
	file, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = file.WriteString(fault + "\n  at Harbor.Crane.Tick () [0x00012] in <2f>:0\n\n")
		_ = file.Close()
	}
	if err != nil {
		panic(err)
	}
}

// model is a stub of the models of all hosts. It calls the game, is held by a fault that is logged while it thinks,
// acknowledges it, and calls the game twice more; in the last call the fault returns.
type model struct {
	log, heed string

	mu      sync.Mutex
	results []string      // of tools, in the latest request
	planted time.Time     // when the fault was logged
	told    time.Duration // from then to the request that has it
	whole   string        // the latest request, with what hosts add beside results
	others  []string      // requests that are not known
}

// seen are the tools and the results of tools in a request.
type seen struct {
	tools   map[string]string // the name to call, by the end of the name
	spaces  map[string]string // namespaces, by the name to call
	results []string
}

var toolEnd = regexp.MustCompile(`(?:^(?:\w+[_.-])?)(build|heed_ack)$|^([Bb]ash|run_shell_command|exec_command|shell_command)$`)

// walk collects what is seen below a value.
func (s *seen) walk(v any, space string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			s.walk(e, space)
		}
	case map[string]any:
		kind, _ := v["type"].(string)
		for _, result := range []any{
			iff(kind == "tool_result", v["content"]), iff(v["role"] == "tool", v["content"]),
			iff(strings.HasSuffix(kind, "_call_output"), v["output"]), v["functionResponse"],
		} {
			if result != nil {
				text, ok := result.(string)
				if !ok {
					raw, _ := json.Marshal(result)
					text = string(raw)
				}
				s.results = append(s.results, text)
			}
		}
		if name, ok := v["name"].(string); ok && kind == "namespace" {
			space = name
		} else if end := toolEnd.FindStringSubmatch(name); ok && end != nil &&
			(v["parameters"] != nil || v["input_schema"] != nil || v["parametersJsonSchema"] != nil) {
			s.tools[strings.ToLower(end[1]+end[2])], s.spaces[name] = name, space
		}
		for _, e := range v {
			s.walk(e, space)
		}
	}
}

func iff(ok bool, v any) any {
	if ok {
		return v
	}
	return nil
}

var (
	ackCommand = regexp.MustCompile("run `([^`]+)`")
	ackID      = regexp.MustCompile(`with id \\*"(\d+)`)
)

// next returns the tool that the model calls, "" for an answer in words.
func (m *model) next(body any) (tool, space string, args map[string]any) {
	s := seen{tools: map[string]string{}, spaces: map[string]string{}}
	s.walk(body, "")
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.tools["build"] == "" {
		return "", "", nil // such as a request for a title
	}
	if len(s.results) >= len(m.results) {
		raw, _ := json.Marshal(body)
		m.results, m.whole = s.results, string(raw)
	}
	last := ""
	if n := len(s.results); n > 0 {
		last = s.results[n-1]
	}
	if m.told == 0 && strings.Contains(last, "Crane7") {
		m.told = time.Since(m.planted)
	}
	tool, args = s.tools["build"], map[string]any{}
	switch len(s.results) {
	case 0:
		if m.planted.IsZero() {
			m.planted = time.Now()
			breaks(m.log)
		}
	case 1:
		if command := ackCommand.FindStringSubmatch(last); command != nil {
			for _, shell := range []string{"bash", "run_shell_command", "exec_command", "shell_command"} {
				if s.tools[shell] != "" {
					tool = s.tools[shell]
				}
			}
			run := m.heed + strings.TrimPrefix(command[1], "heed") // a login shell has a PATH of its own
			if args = map[string]any{"command": run, "description": "acknowledges"}; tool == "exec_command" {
				args = map[string]any{"cmd": run}
			}
		} else if id := ackID.FindStringSubmatch(last); id != nil {
			tool, args = s.tools["heed_ack"], map[string]any{"id": id[1]}
		}
	case 2:
	case 3:
		args["fault"] = true
	default:
		return "", "", nil
	}
	return tool, s.spaces[tool], args
}

// ServeHTTP answers in the form of the request.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var body map[string]any
	_ = json.Unmarshal(raw, &body)
	write := func(event string, v any) {
		data, _ := json.Marshal(v)
		if event != "" {
			_, _ = fmt.Fprintf(w, "event: %s\n", event)
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	type o = map[string]any
	id := fmt.Sprintf("call_%d", time.Now().UnixNano())
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/count_tokens"):
		_, _ = io.WriteString(w, `{"input_tokens":10}`)
	case strings.HasSuffix(path, "/messages"):
		tool, _, args := m.next(body)
		stop, block, delta := "end_turn", o{"type": "text", "text": ""}, o{"type": "text_delta", "text": "done"}
		if tool != "" {
			input, _ := json.Marshal(args)
			stop, block = "tool_use", o{"type": "tool_use", "id": id, "name": tool, "input": o{}}
			delta = o{"type": "input_json_delta", "partial_json": string(input)}
		}
		usage := o{"input_tokens": 10, "output_tokens": 5}
		message := o{"id": "msg_1", "type": "message", "role": "assistant", "model": "stub", "content": []any{}, "usage": usage}
		if body["stream"] != true {
			w.Header().Set("Content-Type", "application/json")
			message["content"], message["stop_reason"] = []any{o{"type": "text", "text": "done"}}, "end_turn"
			_ = json.NewEncoder(w).Encode(message)
			return
		}
		write("message_start", o{"type": "message_start", "message": message})
		write("content_block_start", o{"type": "content_block_start", "index": 0, "content_block": block})
		write("content_block_delta", o{"type": "content_block_delta", "index": 0, "delta": delta})
		write("content_block_stop", o{"type": "content_block_stop", "index": 0})
		write("message_delta", o{"type": "message_delta", "delta": o{"stop_reason": stop}, "usage": usage})
		write("message_stop", o{"type": "message_stop"})
	case strings.HasSuffix(path, "/chat/completions"):
		tool, _, args := m.next(body)
		delta, stop := o{"role": "assistant", "content": "done"}, "stop"
		if tool != "" {
			input, _ := json.Marshal(args)
			stop, delta = "tool_calls", o{"role": "assistant", "tool_calls": []any{o{
				"index": 0, "id": id, "type": "function", "function": o{"name": tool, "arguments": string(input)},
			}}}
		}
		chunk := func(delta any, stop any) o {
			return o{"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "stub", "choices": []any{o{
				"index": 0, "delta": delta, "finish_reason": stop,
			}}}
		}
		write("", chunk(delta, nil))
		write("", chunk(o{}, stop))
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	case strings.HasSuffix(path, "/responses"):
		tool, space, args := m.next(body)
		item := o{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": []any{o{
			"type": "output_text", "text": "done", "annotations": []any{},
		}}}
		if tool != "" {
			input, _ := json.Marshal(args)
			item = o{"type": "function_call", "id": "fc_" + id, "call_id": id, "name": tool, "arguments": string(input)}
			if space != "" {
				item["namespace"] = space
			}
		}
		response := o{"id": "resp_1", "object": "response", "status": "completed", "output": []any{item}, "usage": o{
			"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
		}}
		write("response.created", o{"type": "response.created", "response": o{"id": "resp_1"}})
		write("response.output_item.done", o{"type": "response.output_item.done", "output_index": 0, "item": item})
		write("response.completed", o{"type": "response.completed", "response": response})
	case strings.Contains(path, ":streamGenerateContent"), strings.Contains(path, ":generateContent"):
		tool, _, args := m.next(body)
		part := o{"text": "done"}
		if tool != "" {
			part = o{"functionCall": o{"name": tool, "args": args}}
		}
		answer := o{"candidates": []any{o{"content": o{"role": "model", "parts": []any{part}}, "finishReason": "STOP", "index": 0}}}
		if strings.Contains(path, ":generateContent") {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(answer)
			return
		}
		write("", answer)
	case strings.HasSuffix(path, "/models"):
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"stub","object":"model"}]}`)
	default:
		m.mu.Lock()
		m.others = append(m.others, r.Method+" "+path)
		m.mu.Unlock()
		w.WriteHeader(http.StatusNotFound)
	}
}

// place is where one host runs.
type place struct {
	dir, heed, url string
	server         []string // of MCP
	way            string
}

// file writes a file, with marks replaced.
func (p *place) file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(p.dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	command, _ := json.Marshal(p.server[0])
	args, _ := json.Marshal(p.server[1:])
	content = strings.NewReplacer("$COMMAND", string(command), "$ARGS", string(args), "$URL", p.url).Replace(content)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// hooks writes the hooks that heed prints for a host, and returns them.
func (p *place) hooks(t *testing.T, host, file string) string {
	t.Helper()
	if p.way != "hook" {
		return "{}"
	}
	state := filepath.Join(p.dir, "state")
	out := testkit.Must(exec.Command(p.heed, "hook", "--configure", host, "--server", "game", "--state", state).Output())
	config := strings.ReplaceAll(string(out), `"heed hook`, `"`+p.heed+` hook`)
	if file != "" {
		p.file(t, file, config)
	}
	return config
}

// host is a program that runs agents.
type host struct {
	program string
	start   func(t *testing.T, p *place) (args, env []string)
}

const (
	task    = "Build with the tool of the game until you are done."
	servers = `{"mcpServers":{"game":{"type":"stdio","command":$COMMAND,"args":$ARGS,"tools":["*"],"trust":true}}`
)

var hosts = map[string]host{
	"opencode": {"opencode", func(t *testing.T, p *place) (args, env []string) {
		command, _ := json.Marshal(p.server)
		p.file(t, "opencode.json", `{"model":"stub/stub","small_model":"stub/stub","autoupdate":false,"share":"disabled","provider":{"stub":{
			"npm":"@ai-sdk/openai-compatible","name":"stub","options":{"baseURL":"$URL/v1","apiKey":"stub"},
			"models":{"stub":{"name":"stub","tool_call":true,"limit":{"context":100000,"output":4000}}}}},
			"mcp":{"game":{"type":"local","command":`+string(command)+`,"enabled":true}},"permission":{"*":"allow"}}`)
		if p.way == "hook" {
			p.hooks(t, "opencode", ".opencode/plugins/heed.js")
		}
		return []string{"run", "--model", "stub/stub", task}, []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"}
	}},
	"Claude Code": {"claude", func(t *testing.T, p *place) (args, env []string) {
		args = []string{
			"-p", task, "--model", "stub", "--mcp-config", p.file(t, "mcp.json", servers+"}"), "--strict-mcp-config",
			"--settings", p.file(t, "settings.json", p.hooks(t, "claude", "")), "--allowedTools", "mcp__game", "Bash",
		}
		return args, []string{
			"ANTHROPIC_BASE_URL=" + p.url, "ANTHROPIC_API_KEY=stub", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"CLAUDE_CONFIG_DIR=" + p.dir + "/claude", "ENABLE_TOOL_SEARCH=false", "IS_SANDBOX=1",
		}
	}},
	"Codex": {"codex", func(t *testing.T, p *place) (args, env []string) {
		p.file(t, "codex/config.toml", `model = "stub"
model_provider = "stub"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.stub]
name = "stub"
base_url = "$URL/v1"
env_key = "STUB_KEY"
wire_api = "responses"
[mcp_servers.game]
command = $COMMAND
args = $ARGS
required = true
startup_timeout_sec = 60
default_tools_approval_mode = "approve"
`)
		if p.way == "hook" {
			p.hooks(t, "codex", "codex/hooks.json")
		}
		return []string{
				"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", task,
			},
			[]string{"CODEX_HOME=" + p.dir + "/codex", "STUB_KEY=stub"}
	}},
	"Gemini CLI": {"gemini", func(t *testing.T, p *place) (args, env []string) {
		config := servers + `,"telemetry":{"enabled":false},"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false}`
		if hooks := p.hooks(t, "gemini", ""); p.way == "hook" {
			config += "," + strings.TrimSpace(hooks)[1:]
		} else {
			config += "}"
		}
		p.file(t, ".gemini/settings.json", config)
		return []string{"-p", task, "-m", "gemini-2.5-pro", "--approval-mode", "yolo", "--skip-trust"},
			[]string{"GEMINI_API_KEY=stub", "GOOGLE_GEMINI_BASE_URL=" + p.url, "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_CLI_NO_RELAUNCH=true"}
	}},
	"Copilot CLI": {"copilot", func(t *testing.T, p *place) (args, env []string) {
		p.file(t, "copilot/mcp-config.json", servers+"}")
		if p.way == "hook" {
			p.hooks(t, "copilot", ".github/hooks/heed.json")
		}
		return []string{"-p", task, "--allow-all-tools", "--no-color"},
			[]string{
				"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + p.url + "/v1", "COPILOT_MODEL=stub", "COPILOT_HOME=" + p.dir + "/copilot",
				"COPILOT_PROVIDER_API_KEY=stub", "COPILOT_AUTO_UPDATE=false", "COPILOT_ALLOW_ALL=true",
			}
	}},
}

// TestHosts lets the hosts of agents run with a model on loopback, behind heed mcp and with heed's hooks. The table is
// printed whether a host passes or not.
func TestHosts(t *testing.T) {
	installed := os.Getenv(hostsEnv)
	if installed == "" {
		t.Skip(hostsEnv + " is not set: .ci/hosts installs the hosts")
	}
	self := testkit.Must(os.Executable())
	heed := filepath.Join(t.TempDir(), "heed")
	out, err := exec.Command("go", "build", "-C", "../../..", "-o", heed, "./cmd/heed").CombinedOutput()
	require.NoError(t, err, "%s", out)
	for name, h := range hosts {
		for _, way := range []string{"mcp", "hook"} {
			t.Run(name+"/"+way, func(t *testing.T) {
				program := filepath.Join(installed, "node_modules", ".bin", h.program)
				if _, err := os.Stat(program); err != nil {
					t.Skipf("%s is not installed", h.program)
				}
				runHost(t, name, program, h, &place{dir: hostDir(t), heed: heed, way: way, server: []string{self}})
			})
		}
	}
}

// hostDir returns a folder that is no temporary one, in which some hosts do not work.
func hostDir(t *testing.T) string {
	dir := testkit.Must(os.MkdirTemp(os.Getenv(hostsEnv), "run-"))
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func runHost(t *testing.T, name, program string, h host, p *place) {
	log := filepath.Join(p.dir, "Player.log")
	require.NoError(t, os.WriteFile(log, []byte(banner), 0o600))
	m := &model{log: log, heed: p.heed}
	stub := httptest.NewServer(m)
	defer stub.Close()
	p.url = stub.URL
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	state := filepath.Join(p.dir, "state")
	env := append(os.Environ(), "HOME="+p.dir, "XDG_STATE_HOME="+p.dir, gameEnv+"="+log, "PWD="+p.dir, "NO_COLOR=1", "CI=",
		"PATH="+filepath.Dir(p.heed)+":"+os.Getenv("PATH"))
	if p.way == "mcp" {
		p.server = append([]string{
			p.heed, "mcp", "--log", log, "--state", state, "--log-file", p.dir + "/heed.log", "--", "env", gameEnv + "=" + log,
		}, p.server...)
	} else {
		p.server = append([]string{"env", gameEnv + "=" + log}, p.server...)
		serve := exec.CommandContext(ctx, p.heed, "serve", "--state", state, log)
		serve.Env = env
		serve.Cancel = func() error { return serve.Process.Signal(os.Interrupt) }
		require.NoError(t, serve.Start())
		defer serve.Wait() //nolint:errcheck // it is interrupted
		defer cancel()
		require.Eventually(t, func() bool {
			return exec.Command(p.heed, "status", "--state", state).Run() == nil
		}, 20*time.Second, 100*time.Millisecond)
	}
	args, own := h.start(t, p)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = p.dir, append(env, own...), time.Second
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	m.mu.Lock()
	defer m.mu.Unlock()
	has := func(i int, words ...string) bool {
		for _, word := range words {
			if i < len(m.results) && strings.Contains(m.results[i], word) {
				return true
			}
		}
		return false
	}
	held, again := has(0, "Not executed"), has(2, "built")
	acked, returned := has(1, "acknowledged", "cleared"), has(3, "built") && strings.Contains(m.whole, "Outcome of ")
	t.Logf("TABLE | %s | %s | %v | %v | %s | %v | %v | %v |", name, p.way, !m.planted.IsZero(), held,
		m.told.Round(10*time.Millisecond), acked, again, returned)
	if !held || !acked || !again || !returned || m.told == 0 {
		trail := said.String()
		t.Errorf("%v: results %q, others %q\n%s", err, m.results, m.others, trail[max(0, len(trail)-3000):])
	}
}
