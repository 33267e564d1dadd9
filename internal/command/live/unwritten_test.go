//go:build unix

package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// full is an output that takes nothing.
type full struct{ err error }

func (f full) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return 0, &os.PathError{Op: "write", Path: "out", Err: f.err}
}

// TestUnwritten: a command whose output cannot be written ends with an error, and one that
// nobody reads any more without a word.
func TestUnwritten(t *testing.T) {
	dir := t.TempDir()
	log, rules, state := filepath.Join(dir, "Player.log"), filepath.Join(dir, "rules.yaml"), filepath.Join(dir, "state")
	write(t, rules, testRules)
	write(t, log, "FAULT one\n")
	background(t, "serve", log, "--rules", rules, "--state", state)
	require.Eventually(t, func() bool {
		_, code := runCommand(t, "current", "--state", state)
		return code == exitFinding
	}, patience, time.Millisecond)
	t.Chdir(dir)
	for _, args := range []string{
		"current", "current --format json", "status", "status --format json", "status --follow", "tail",
		"tail --format jsonl",
		"tail --follow", "ack nothing", "follow Player.log --rules rules.yaml",
		"follow --format jsonl Player.log --rules rules.yaml",
	} {
		t.Run(args, func(t *testing.T) {
			end := func(err error) (string, int) {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				var errs strings.Builder
				with := state
				if strings.HasPrefix(args, "follow") {
					with = t.TempDir() // else it goes on from where the one before was
				}
				code := run(ctx, append(strings.Fields(args), "-q", "--state", with), strings.NewReader(""), full{err}, &errs)
				require.NoError(t, ctx.Err())
				return errs.String(), code
			}
			errs, code := end(syscall.ENOSPC)
			require.Equal(t, exitUsage, code)
			require.Equal(t, fmt.Sprintf("heed: cannot write: write out: %s\n", syscall.ENOSPC), errs)
			errs, code = end(syscall.EPIPE)
			require.LessOrEqual(t, code, exitFinding)
			require.Empty(t, errs)
		})
	}
}
