package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/follow"
)

// TestSpool: a copy of a game's output is read whole and as one log, and does not grow with it.
func TestSpool(t *testing.T) {
	path := filepath.Join(t.TempDir(), "standard")
	f, err := follow.New(follow.Config{Path: path, From: follow.FromEnd, Continues: true})
	require.NoError(t, err)
	const most = 8 << 10
	s := &spool{path: path, most: most, follower: f.Status}
	require.NoError(t, s.open(os.O_TRUNC))
	var texts []string
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- f.Run(ctx, func(r *follow.Record) {
			if r.Kind != capture.KindLog {
				texts = append(texts, "NOTICE "+r.Notice.Detail)
				return
			}
			texts = append(texts, strings.Clone(r.Log.Message)) // the record is used again
		})
	}()
	require.NoError(t, f.Sync(t.Context()))
	var want []string
	deadline := time.Now().Add(time.Minute)
	for s.files < 5 {
		require.True(t, time.Now().Before(deadline), "no other file takes its place")
		line := fmt.Sprintf("line %d of the game", len(want))
		want = append(want, line)
		half := len(line) / 2 // a file may end within a line
		require.NoError(t, s.write([]byte(line[:half])))
		require.NoError(t, s.write([]byte(line[half:]+"\n")))
		if len(want)%100 == 0 {
			require.NoError(t, f.Sync(t.Context()))
			require.Less(t, s.size, int64(2*most), "who keeps up bounds it")
		}
	}
	require.NoError(t, f.Sync(t.Context()))
	stop()
	require.NoError(t, <-done)
	require.Equal(t, want, texts)
	require.EqualValues(t, 5, f.Status().Rotations)
	require.Zero(t, f.Status().LostBytes)
	require.NoError(t, s.close())
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Empty(t, left)
}
