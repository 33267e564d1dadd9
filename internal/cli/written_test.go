package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReaderGone: a pipe that nobody reads any more is told to nobody, on any system; any
// other error of an output is.
func TestReaderGone(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	_, err = w.WriteString("to nobody")
	require.NoError(t, w.Close())
	require.ErrorIs(t, CannotWrite(3, "the report", err), ErrReaderGone)

	var said bytes.Buffer
	p := &Program{Name: "p", Stderr: &said}
	p.Fail(CannotWrite(3, "the report", err))
	require.Equal(t, ExitOK, p.Status)
	require.Empty(t, said.String())
	p.Fail(CannotWrite(3, "the report", errors.New("no room")))
	p.Fail(CannotWrite(3, "", io.ErrShortWrite))
	require.Equal(t, 3, p.Status)
	require.Equal(t, "p: cannot write the report: no room\np: cannot write: short write\n", said.String())
}
