package store

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAppendAllocatesNothing(t *testing.T) {
	j, err := OpenJournal(JournalConfig{Dir: t.TempDir(), Epoch: "run-1"})
	require.NoError(t, err)
	r := record(0)
	require.Zero(t, testing.AllocsPerRun(500, func() {
		r.Seq++
		if err := j.Append(r); err != nil {
			t.Error(err)
		}
	}))
	require.NoError(t, j.Close())
}
