package main

import (
	"bytes"
	"context"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
)

// TestProgram runs the program twice: calls, a resource, a fault, refusals, an acknowledgement, a panic, and a restart
// over which what is open stays open. Each call is by a bridge of its own.
func TestProgram(t *testing.T) {
	var out bytes.Buffer
	before := log.Writer()
	log.SetOutput(&out)
	defer log.SetOutput(before)
	state := filepath.Join(t.TempDir(), "farm.heed")

	host, stop := start(t, state)
	opened, closed := events(t, host)
	require.Contains(t, call(t, host, "field/sow", `{"field":3}`), `"crop":"wheat"`)
	require.Contains(t, call(t, host, "read", "farm://fields"), `["","","","wheat","",`)
	require.Contains(t, call(t, host, "field/sow", `{"field":-1}`), "want an integer of at least 0, got -1")
	require.Contains(t, call(t, host, "field/flood", `{"field":3}`), "It caused a fault")
	refusal := call(t, host, "field/sow", `{"field":3}`)
	require.Contains(t, refusal, "a field was lost")
	require.Equal(t, gabp.CodeToolUnavailable, unasked(t, host).Code, "a bridge that does not ask is held back, too")
	require.Contains(t, call(t, host, "field/read", `{"field":3}`), `"crop":""`, "is never held back")
	require.Equal(t, item(t, refusal), <-opened)
	killed := filepath.Join(t.TempDir(), "killed.heed")
	require.NoError(t, os.WriteFile(killed, testkit.Must(os.ReadFile(state)), 0o600), "an item that is known is saved")
	require.Equal(t, "no item 7; the current one is "+item(t, refusal), call(t, host, "ack", "7"))
	require.Equal(t, "acknowledged: true\n", call(t, host, "ack", "1"))
	require.Contains(t, call(t, host, "field/sow", `{"field":3}`), `"crop":"wheat"`)
	require.Contains(t, call(t, host, "field/sow", `{"field":30}`), "panicked")
	closed()
	stop()

	host, stop = start(t, killed)
	require.Equal(t, refusal, call(t, host, "field/sow", `{"field":3}`), "as if the program had been killed")
	stop()

	host, stop = start(t, state)
	refusal = call(t, host, "field/sow", `{"field":3}`)
	require.Contains(t, refusal, "a panic was caught")
	require.Equal(t, "acknowledged: true\n", call(t, host, "ack", item(t, refusal)))
	require.Contains(t, call(t, host, "field/sow", `{"field":3}`), "Nothing urgent")
	stop()

	require.Contains(t, out.String(), "ERROR field lost field=3 operation=", "the output of the program is as without heed")
	require.Error(t, ask(t.Context(), host, []string{"ack"}, &out))
}

// TestTerminated holds that the program saves its state if a supervisor ends it.
func TestTerminated(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGTERM")
	}
	l := testkit.Must(gabp.Listen(t.Context(), "127.0.0.1:0"))
	host := gabp.Bridge{Address: l.Addr().String(), Token: gabp.NewToken()}
	_, port, err := net.SplitHostPort(host.Address)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	program := exec.CommandContext(t.Context(), os.Args[0])
	program.Dir = t.TempDir()
	program.Env = append(os.Environ(), "FARM_RUN=1", "GABP_SERVER_PORT="+port, "GABP_TOKEN="+host.Token)
	require.NoError(t, program.Start())
	require.Eventually(t, func() bool {
		return ask(t.Context(), host, []string{"read", "farm://fields"}, io.Discard) == nil
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, program.Process.Signal(syscall.SIGTERM))
	require.NoError(t, program.Wait())
	require.FileExists(t, filepath.Join(program.Dir, "farm.heed"))
}

// TestMain is the program itself in the process that TestTerminated starts.
func TestMain(m *testing.M) {
	if os.Getenv("FARM_RUN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// start runs the program, and returns where it listens and what ends it.
func start(t *testing.T, state string) (host gabp.Bridge, stop func()) {
	l := testkit.Must(gabp.Listen(t.Context(), "127.0.0.1:0"))
	host = gabp.Bridge{Address: l.Addr().String(), Token: gabp.NewToken()}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, l, host.Token, state) }()
	return host, func() {
		cancel()
		require.NoError(t, <-ended)
	}
}

// events returns the ids of items that a bridge is sent as they open, and what closes the bridge.
func events(t *testing.T, host gabp.Bridge) (opened <-chan string, closed func()) {
	client := testkit.Must(gabp.Dial(t.Context(), host.Address, gabp.ClientConfig{Token: host.Token}))
	ids := make(chan string, 10)
	_, err := client.Events(t.Context(), []string{gabp.ChannelOpened}, func(e gabp.Event) {
		item := testkit.Must(gabp.ParseAttention(e.Payload))
		ids <- item.ID
	})
	require.NoError(t, err)
	return ids, func() { _ = client.Close() }
}

// call returns what the bridge prints, or its error.
func call(t *testing.T, host gabp.Bridge, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := ask(t.Context(), host, args, &out); err != nil {
		return err.Error()
	}
	return out.String()
}

// unasked returns the error of a call by a bridge that does not ask for attention.
func unasked(t *testing.T, host gabp.Bridge) *gabp.Error {
	t.Helper()
	client := testkit.Must(gabp.Dial(t.Context(), host.Address, gabp.ClientConfig{Token: host.Token}))
	defer func() { _ = client.Close() }()
	_, err := client.CallTool(t.Context(), "field/sow", place{Field: 3})
	var refused *gabp.Error
	require.ErrorAs(t, err, &refused)
	return refused
}

var itemID = regexp.MustCompile(`[0-9a-z]+-\d+`)

// item is the id that a refusal names.
func item(t *testing.T, refusal string) string {
	id := itemID.FindString(refusal)
	require.NotEmpty(t, id, refusal)
	return id
}
