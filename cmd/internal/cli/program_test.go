package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// TestFail is the table of what is said of an error, and with which status a program ends.
func TestFail(t *testing.T) {
	cmd := &cobra.Command{Use: "x"}
	for _, c := range []struct {
		name   string
		err    error
		status int
		said   string
	}{
		{"of the parser", errors.New("no such thing"), ExitUsage, "p: no such thing\n"},
		{"with a status", Failed(7, errors.New("broken")), 7, "p: broken\n"},
		{"wrapped", fmt.Errorf("while trying: %w", Failed(7, errors.New("broken"))), 7, "p: while trying: broken\n"},
		{
			"with a next step", &StatusError{Status: 3, Err: errors.New("none"), Next: "start one"}, 3,
			"p: none\np: start one\n",
		},
		{"usage", Usage(cmd, "%q is wrong", "a"), ExitUsage, "p: \"a\" is wrong\np: see \"x --help\"\n"},
		{"several", Failed(4, errors.Join(errors.New("one"), errors.New("two"))), 4, "p: one\np: two\n"},
		{"two in one", fmt.Errorf("%w, and %w", errors.New("one"), errors.New("two")), ExitUsage, "p: one, and two\n"},
		{"interrupted", Failed(7, context.Canceled), ExitInterrupted, ""},
		{"a name with an end of line and an escape", errors.New("a\nb\x1b[2J"), ExitUsage, "p: a\\nb\\x1b[2J\n"},
	} {
		var out bytes.Buffer
		p := &Program{Name: "p", Stderr: &out, Quiet: true}
		p.Raise(ExitFinding)
		p.Fail(c.err)
		require.Equal(t, c.status, p.Status, c.name)
		require.Equal(t, c.said, out.String(), c.name)
		p.Raise(ExitOK)
		require.Equal(t, c.status, p.Status, "a lower one changes nothing")
	}
}

// writes counts the calls of Write.
type writes int

func (w *writes) Write(b []byte) (int, error) {
	*w++
	return len(b), nil
}

// TestRunWritesHelpOnly: a command that printed no help leaves the output alone, where a
// write of nothing may mean something, as it does to the reader of a pipe on Windows.
func TestRunWritesHelpOnly(t *testing.T) {
	for args, want := range map[string]writes{"": 0, "--help": 1} {
		var out writes
		p := &Program{Name: "p", Stdout: &out, Stderr: &bytes.Buffer{}}
		root := &cobra.Command{Use: "p", Run: func(*cobra.Command, []string) {}}
		p.Flags(root, "more")
		require.Equal(t, ExitOK, p.Run(t.Context(), root, strings.Fields(args)))
		require.Equal(t, want, out, args)
	}
}

// TestRunWithoutArguments: none are none, and not those of the process.
func TestRunWithoutArguments(t *testing.T) {
	p := &Program{Name: "p", Stdout: io.Discard, Stderr: &bytes.Buffer{}}
	run := func(_ *cobra.Command, args []string) { require.Empty(t, args) }
	root := &cobra.Command{Use: "p", DisableFlagParsing: true, Run: run}
	require.Equal(t, ExitOK, p.Run(t.Context(), root, nil))
}

func TestNoteAndDetail(t *testing.T) {
	for _, c := range []struct {
		quiet, verbose bool
		said           string
	}{
		{false, false, "p: note\n"},
		{true, false, ""},
		{false, true, "p: note\np: detail\n"},
	} {
		var out bytes.Buffer
		p := &Program{Name: "p", Stderr: &out, Quiet: c.quiet, Verbose: c.verbose}
		p.Note("note")
		p.Detail("detail")
		require.Equal(t, c.said, out.String())
	}
}

func TestOneOf(t *testing.T) {
	cmd := &cobra.Command{Use: "x"}
	require.NoError(t, OneOf(cmd, "f", "a", "a", "b"))
	require.EqualError(t, OneOf(cmd, "format", "jsno", "json", "text"), `--format "jsno": use one of json, text; did you mean "json"?`)
	require.EqualError(t, OneOf(cmd, "format", "", "json", "text"), `--format "": use one of json, text`)
}
