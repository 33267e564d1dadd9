package live

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNotStarted is the table of what is said of a game's program that cannot be started.
func TestNotStarted(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("text", []byte("no program"), 0o600))
	require.NoError(t, os.Mkdir("folder", 0o700))
	path := func(err error) error { return &os.PathError{Op: "fork/exec", Path: "x", Err: err} }
	for _, c := range []struct {
		program string
		err     error
		status  int
		reason  string
		next    string
	}{
		{
			"game", &exec.Error{Name: "game", Err: exec.ErrNotFound}, exitNotFound, "no such program in the folders of PATH",
			"./game",
		},
		{"text", &exec.Error{Name: "text", Err: exec.ErrDot}, exitNotFound, "in this folder", "write ./text"},
		{"./game", path(os.ErrNotExist), exitNotFound, "no such program", "by its path"},
		{"./text", path(os.ErrNotExist), exitNotFound, "its interpreter does not", "after --"},
		{"./folder", path(os.ErrPermission), exitCannotStart, "is a directory", "after --"},
		{"./text", path(os.ErrPermission), exitCannotStart, "no permission to run it", "executable"},
		{"./text", path(errors.New("exec format error")), exitCannotStart, "exec format error", "this system must be able to run it"},
		{"./text", errors.New("no memory"), exitCannotStart, "no memory", "after --"},
	} {
		var said bytes.Buffer
		p := newProgram(nil, nil, &said)
		p.Fail(notStarted(c.program, c.err))
		require.Equal(t, c.status, p.Status, c.reason)
		require.Regexp(t, `^heed: cannot start `+c.program+`: .*`+c.reason+`.*\nheed: .*`+c.next, said.String())
		require.NotContains(t, said.String(), "fork/exec")
	}
}
