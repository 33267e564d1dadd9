//go:build unix

package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// A named pipe may stay silent for ever, before its writer comes and after.
func TestInterruptWhileAPipeIsSilent(t *testing.T) {
	for _, writer := range []bool{false, true} {
		name := filepath.Join(t.TempDir(), "pipe")
		require.NoError(t, syscall.Mkfifo(name, 0o600))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if writer {
			// For reading, too, so that it can be opened before the program has.
			w := testkit.Must(os.OpenFile(name, os.O_RDWR, 0))
			defer func() { _ = w.Close() }()
			testkit.Must(w.WriteString(plainLog))
		}
		done := make(chan int, 1)
		var stdout, stderr bytes.Buffer
		go func() { done <- run(ctx, testArgs(t, name), strings.NewReader(""), &stdout, &stderr) }()
		time.AfterFunc(50*time.Millisecond, cancel) // by then it waits; if not, the test proves less
		select {
		case status := <-done:
			require.Equal(t, exitInterrupted, status)
			require.Empty(t, stderr.String())
		case <-time.After(time.Minute):
			t.Fatal("still waiting for a pipe after the interrupt")
		}
	}
}
