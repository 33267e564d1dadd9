package replay

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

func ownCaptures(tb testing.TB) []string {
	tb.Helper()
	files := testkit.Must(filepath.Glob("../../testdata/captures/*.*"))
	require.NotEmpty(tb, files)
	return files
}

func defaults(tb testing.TB) *rules.Set {
	tb.Helper()
	set := testkit.Must(rules.Compile(rules.Defaults()...))
	return set
}

func TestRun(t *testing.T) {
	for _, args := range [][]string{
		{"-size", "100kB"},
		{"-size", "100000", "-storm", "distinct"},
		append([]string{"-size", "1.5MB"}, ownCaptures(t)...),
	} {
		var out bytes.Buffer
		require.NoError(t, Run(args, &out, io.Discard))
		for _, s := range stages {
			require.Contains(t, out.String(), "\n"+s.name)
		}
		require.Contains(t, out.String(), "peak RSS")
	}
	require.NoError(t, Run([]string{"-h"}, io.Discard, io.Discard))
	for _, args := range [][]string{
		{"-size", "much"},
		{"-size", "0"},
		{"-storm", "calm"},
		{"no such file"},
		{"."},
		{"-x"},
	} {
		require.Error(t, Run(args, io.Discard, io.Discard), args)
	}
}

// TestSameReport requires that the passes which are compared do the same work:
// in one goroutine and overlapped, the report is the same, and the input ends where
// it should.
func TestSameReport(t *testing.T) {
	set := defaults(t)
	in := &input{files: ownCaptures(t), size: 1_234_567}
	require.NoError(t, in.load())
	n := testkit.Must(io.Copy(io.Discard, in.reader()))
	require.Equal(t, in.size, n)
	var alone, beside bytes.Buffer
	require.NoError(t, replay(in.reader(), set, &alone))
	require.NoError(t, overlapped(in.reader(), set, &beside))
	require.Equal(t, alone.String(), beside.String())
}
