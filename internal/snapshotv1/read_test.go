package snapshotv1_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/snapshotv1"
)

// stored returns the body of a snapshot that an engine of version 1 of signatures wrote.
func stored(t testing.TB) (body []byte) {
	text, err := os.ReadFile("../../testdata/snapshot-v1.hex")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		_, line, _ = strings.Cut(line, "  ") // the offset
		line, _, _ = strings.Cut(line, "|")  // the text
		body, err = hex.AppendDecode(body, []byte(strings.ReplaceAll(line, " ", "")))
		require.NoError(t, err)
	}
	return body[20 : len(body)-4]
}

func TestRead(t *testing.T) {
	body := stored(t)
	st, err := snapshotv1.Read(body)
	require.NoError(t, err)
	require.Equal(t, "e1", st.Epoch)
	require.EqualValues(t, 162, st.Seq)
	require.Equal(t, []string{"t.limit"}, st.Blind)
	require.Len(t, st.Blocking, 3)
	for n := range body {
		_, err := snapshotv1.Read(body[:n])
		require.Error(t, err, "cut at %d", n)
	}
	_, err = snapshotv1.Read(append(bytes.Clone(body), 0))
	require.ErrorContains(t, err, "follow after its end")
}

// FuzzRead holds that no bytes make Read panic or allocate much more than they are.
func FuzzRead(f *testing.F) {
	f.Add(stored(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		if st, err := snapshotv1.Read(data); err == nil {
			require.LessOrEqual(t, len(st.Blocking), len(data))
		}
	})
}
