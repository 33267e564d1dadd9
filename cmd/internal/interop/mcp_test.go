package interop

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/agent/briefing/heedsource"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/mcp"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/cmd/internal/way"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

const fault = "Exception ticking Crane7: System.NullReferenceException: Object reference"

// between runs a proxy with a session between a client and a server, and returns what logs an error of the game.
func between(t testing.TB, fromClient, fromServer io.Reader, toClient, toServer io.Writer) (log func(message string)) {
	t.Helper()
	cfg := session.Config{}
	cfg.Engine.Epoch = "e1"
	s := testkit.Must(session.New(cfg))
	briefs := testkit.Must(briefing.New(heedsource.Sources(heedsource.Config{
		Engine: s.Engine(), Rules: s.Rules, Next: mcp.SessionNext, Now: time.Now,
	})))
	px := testkit.Must(bridge.New(bridge.Config{
		Session: s, Handed: bridge.Handed{Outer: gabp.Bridge{Token: gabp.NewToken()}}, Brief: briefs.Assemble,
		Logger: slog.New(slog.DiscardHandler),
	}))
	proxy := mcp.New(mcp.Config{
		Session: s, Bridge: px, BriefTokens: 300, Left: func() {}, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Client: struct {
			io.Reader
			io.Writer
		}{fromClient, toClient},
		Server: struct {
			io.Reader
			io.Writer
		}{fromServer, toServer},
	})
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan struct{})
	go func() { _ = s.Run(ctx); close(ran) }()
	go func() { _ = proxy.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		<-ran
		_ = briefs.Close()
	})
	return func(message string) { s.Observe(event.Log{Level: event.LevelError, Message: message}.Entry()) }
}

// nothing closes nothing.
type nothing struct{ io.Writer }

func (nothing) Close() error { return nil }

// TestOfficialClientAndServer lets a client and a server of the official SDK talk through the proxy.
func TestOfficialClientAndServer(t *testing.T) {
	clientReads, toClient := io.Pipe()
	serverReads, toServer := io.Pipe()
	fromClient, clientWrites := io.Pipe()
	fromServer, serverWrites := io.Pipe()
	log := between(t, fromClient, fromServer, toClient, toServer)
	server := sdk.NewServer(&sdk.Implementation{Name: "colony", Version: "1"}, nil)
	type args struct {
		X int `json:"x"`
	}
	type out struct {
		Done bool `json:"done"`
	}
	sdk.AddTool(server, &sdk.Tool{Name: "build", Description: "Builds."},
		func(_ context.Context, _ *sdk.CallToolRequest, in args) (*sdk.CallToolResult, out, error) {
			if in.X == 2 {
				log(fault)
			}
			return nil, out{true}, nil
		})
	ctx := t.Context()
	go func() { _ = server.Run(ctx, &sdk.IOTransport{Reader: serverReads, Writer: nothing{serverWrites}}) }()
	client := sdk.NewClient(&sdk.Implementation{Name: "host", Version: "1"}, nil)
	s := testkit.Must(client.Connect(ctx, &sdk.IOTransport{Reader: clientReads, Writer: nothing{clientWrites}}, nil))
	require.Len(t, testkit.Must(s.ListTools(ctx, nil)).Tools, 1+3)
	call := func(tool string, arguments any) (text string, failed bool) {
		r := testkit.Must(s.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: arguments}))
		for _, c := range r.Content {
			text += c.(*sdk.TextContent).Text
		}
		return text, r.IsError
	}
	text, failed := call("build", args{1})
	require.False(t, failed)
	require.Equal(t, `{"done":true}`, text)
	text, failed = call("build", args{2})
	require.False(t, failed)
	require.Contains(t, text, "Exception ticking Crane7")
	_, failed = call("build", args{3})
	require.True(t, failed, "held back")
	_, failed = call("heed_ack", map[string]string{"id": "1"})
	require.False(t, failed)
	text, failed = call("build", args{4})
	require.False(t, failed)
	require.Equal(t, `{"done":true}`, text)
	resource := testkit.Must(s.ReadResource(ctx, &sdk.ReadResourceParams{URI: bridge.ResourceBase + "items"}))
	require.Contains(t, resource.Contents[0].Text, `"items":[]`)
}

// TestOfficialExample runs the example server of the official SDK, as a program of its own, behind the proxy.
func TestOfficialExample(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a server")
	}
	program := filepath.Join(t.TempDir(), "everything.exe")
	build := exec.Command("go", "build", "-o", program, "github.com/modelcontextprotocol/go-sdk/examples/server/everything")
	build.Env = append(os.Environ(), "GOPROXY=off")
	out, err := build.CombinedOutput()
	if err != nil && bytes.Contains(out, []byte("module lookup disabled by GOPROXY=off")) {
		t.Skipf("a module of the example server is not in the module cache: %s", out)
	}
	require.NoError(t, err, "%s", out)
	server := exec.Command(program)
	toServer := testkit.Must(server.StdinPipe())
	fromServer := testkit.Must(server.StdoutPipe())
	require.NoError(t, server.Start())
	defer server.Wait()    //nolint:errcheck // its end is that of its input
	defer toServer.Close() //nolint:errcheck // the server ends with it

	clientReads, toClient := io.Pipe()
	fromClient, clientWrites := io.Pipe()
	log := between(t, fromClient, fromServer, toClient, toServer)
	client := sdk.NewClient(&sdk.Implementation{Name: "host", Version: "1"}, nil)
	over := &sdk.IOTransport{Reader: clientReads, Writer: nothing{clientWrites}}
	s := testkit.Must(client.Connect(t.Context(), over, nil))
	call := func(tool string, arguments any) *sdk.CallToolResult {
		return testkit.Must(s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments}))
	}
	name := map[string]string{"name": "colony"}
	require.False(t, call("greet", name).IsError)
	log(fault)
	refused := call("greet", name)
	require.True(t, refused.IsError)
	require.Contains(t, refused.Content[0].(*sdk.TextContent).Text, "\n> Exception ticking Crane7")
	require.False(t, call("heed_ack", map[string]string{"id": "1"}).IsError)
	require.False(t, call("greet (structured)", name).IsError, "whose result has a schema of its own")
	require.NotEmpty(t, testkit.Must(s.ListPrompts(t.Context(), nil)).Prompts, "what heed does not know passes")
}

const captures = "../../../testdata/captures"

// The bounds of estimates of tokens: of the worst brief of all, and of the median.
const (
	worstUnder  = 0.05
	medianError = 0.15
)

// TestTokenEstimates compares what the built-in templates estimate of whole briefs with what tokenizers count. The
// figures of the templates are set on the labeled captures.
func TestTokenEstimates(t *testing.T) {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	for _, vocabulary := range []string{tiktoken.MODEL_O200K_BASE, tiktoken.MODEL_CL100K_BASE} {
		tokenizer := testkit.Must(tiktoken.GetEncoding(vocabulary))
		t.Run(vocabulary, func(t *testing.T) {
			if vocabulary != tiktoken.MODEL_O200K_BASE {
				testkit.Full(t, "another tokenizer")
			}
			t.Run("captures", func(t *testing.T) { requireEstimates(t, tokenizer, filepath.Join(captures, "*.*")) })
			t.Run("labeled", func(t *testing.T) {
				testkit.Full(t, "briefs of many logs")
				requireEstimates(t, tokenizer, filepath.Join(testkit.Dir(t, "rimworld"), "rw*"))
			})
			t.Run("players", func(t *testing.T) {
				testkit.Full(t, "briefs of many logs")
				requireEstimates(t, tokenizer, filepath.Join(testkit.Dir(t, "players"), "p0[1-7]-*"))
			})
			t.Run("held out", func(t *testing.T) {
				if !testkit.HeldOut() {
					t.Skip("logs that are held out; set HEED_PLAYERS=held")
				}
				dir := testkit.Dir(t, "players")
				requireEstimates(t, tokenizer, filepath.Join(dir, "p0[89]-*"), filepath.Join(dir, "p1?-*"))
			})
		})
	}
}

// requireEstimates assembles briefs at several moments of each log, by each template and within each budget.
func requireEstimates(t *testing.T, tokenizer *tiktoken.Tiktoken, patterns ...string) {
	t.Helper()
	moments := 2
	if testkit.IsFull() {
		moments = 6
	}
	set := testkit.Must(rules.Compile(rules.Defaults()...))
	seen := map[string]bool{}
	var ratios []float64
	ask := func(s *briefing.Service) {
		for _, class := range []string{heedsource.TemplateAgent, heedsource.TemplatePerson, heedsource.TemplateModAuthor} {
			for _, tokens := range []int{500, 1500, 4000} {
				c := testkit.Must(s.Assemble(t.Context(), briefing.Request{AgentClass: class, MaxContextTokens: tokens}))
				if c.Text == "" || seen[c.Text] {
					continue
				}
				seen[c.Text] = true
				ratios = append(ratios, float64(c.Used.Tokens)/float64(len(tokenizer.EncodeOrdinary(c.Text))))
			}
		}
	}
	for _, pattern := range patterns {
		paths := testkit.Must(filepath.Glob(pattern))
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			if strings.HasSuffix(path, ".jsonl") {
				continue
			}
			n := 0
			play(t, path, set, func(*briefing.Service) { n++ })
			every := 1 + n/moments
			n = 0
			ask(play(t, path, set, func(s *briefing.Service) {
				if n++; n%every == 0 {
					ask(s)
				}
			}))
		}
	}
	require.NotEmpty(t, ratios)
	slices.Sort(ratios)
	off := make([]float64, len(ratios))
	for i, r := range ratios {
		off[i] = math.Abs(r - 1)
	}
	slices.Sort(off)
	t.Logf("%d briefs: estimates from %.3f to %.3f of what is counted, median %.3f; median error %.1f %%",
		len(ratios), ratios[0], ratios[len(ratios)-1], ratios[len(ratios)/2], 100*off[len(off)/2])
	require.GreaterOrEqual(t, ratios[0], 1-worstUnder)
	require.LessOrEqual(t, off[len(off)/2], medianError)
}

// play gives the records of a log to an engine, and calls after behind each. It returns what makes briefs of the engine.
func play(t *testing.T, path string, set *rules.Set, after func(*briefing.Service)) *briefing.Service {
	t.Helper()
	f := testkit.Must(os.Open(path))
	defer func() { require.NoError(t, f.Close()) }()
	in := testkit.Must(capture.NewReader(f, capture.Options{}))
	engine := testkit.Must(heed.New(heed.Config{Rules: set}))
	var began capture.Environment
	var mods []capture.ListedMod
	s := testkit.Must(briefing.New(heedsource.Sources(heedsource.Config{
		Engine: engine, Rules: func() *rules.Set { return set }, Mods: func() []capture.ListedMod { return mods },
		Environment: began.Facts, Next: way.SessionNext,
		Now: func() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) }, // no budget of time changes a text
	})))
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	var rec capture.Record
	var o heed.Outcome
	for {
		err := in.Next(&rec)
		if errors.Is(err, io.EOF) {
			return s
		}
		require.NoError(t, err)
		if program := began.Observe(&rec); program != "" {
			engine.LearnGame(program)
		}
		if rec.Mods != nil {
			mods = append(mods, rec.Mods.Mods...)
			engine.LearnMods(rec.Mods.Plain())
		}
		engine.ObserveInto(&o, &rec.Entry)
		after(s)
	}
}
