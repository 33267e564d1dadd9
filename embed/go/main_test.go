package main

import (
	"bytes"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProgram runs the program twice: calls, a fault, a refusal, an acknowledgement, a panic, and a restart over which
// what is open stays open.
func TestProgram(t *testing.T) {
	var out bytes.Buffer
	before := log.Writer()
	log.SetOutput(&out)
	defer log.SetOutput(before)
	state := filepath.Join(t.TempDir(), "farm.heed")

	url, stop := start(t, state)
	require.Contains(t, post(t, url+"/call/field/sow"), "completed")
	require.Contains(t, post(t, url+"/call/field/flood"), "It caused a fault")
	refusal := post(t, url+"/call/field/sow")
	require.Contains(t, refusal, "a field was lost")
	require.Contains(t, post(t, url+"/call/field/read"), "completed", "is never held back")
	require.Contains(t, post(t, url+"/ack/"+item(t, refusal)), "acknowledged: true")
	require.Contains(t, post(t, url+"/call/field/sow"), "completed")
	require.Contains(t, post(t, url+"/call/field/burn"), "panicked")
	stop()

	url, stop = start(t, state)
	refusal = post(t, url+"/call/field/sow")
	require.Contains(t, refusal, "a panic was caught")
	require.Contains(t, post(t, url+"/ack/"+item(t, refusal)), "acknowledged: true")
	require.Contains(t, post(t, url+"/call/field/sow"), "completed")
	stop()

	require.Contains(t, out.String(), "ERROR field lost operation=", "the output of the program is as without heed")
}

// start runs the program, and returns its address and what ends it.
func start(t *testing.T, state string) (url string, stop func()) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, l, state) }()
	return "http://" + l.Addr().String(), func() {
		cancel()
		require.NoError(t, <-ended)
	}
}

func post(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Post(url, "", nil)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return string(body)
}

var itemID = regexp.MustCompile(`[0-9a-z]+-\d+`)

// item is the id that a refusal names.
func item(t *testing.T, refusal string) string {
	id := itemID.FindString(refusal)
	require.NotEmpty(t, id, refusal)
	return id
}
