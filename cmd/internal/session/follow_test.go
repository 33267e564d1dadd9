package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/session"
)

// followed returns a session that follows a file, and the file.
func followed(t testing.TB, c session.Config) (*session.Session, *os.File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "Player.log")
	log, err := os.Create(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = log.Close() })
	c.Log, err = follow.New(follow.Config{Path: path})
	require.NoError(t, err)
	return start(t, c), log
}

// TestLatePart: a line that comes in parts is one occurrence, of its own or as the rest of a record, whether or not a
// rule ignores the rests of records.
func TestLatePart(t *testing.T) {
	for own, rests := range map[string]uint64{
		"": 1, `  - {id: late, when: 'source == "continuation"', disposition: ignore}` + "\n": 0,
	} {
		s, log := followed(t, session.Config{SyncTimeout: time.Minute, Engine: heed.Config{
			Rules: compile(t, strings.Replace(testRules, "rules:\n", "rules:\n"+own, 1)),
		}})
		opened := func(text string) uint64 {
			_, err := log.WriteString(text)
			require.NoError(t, err)
			require.NoError(t, s.Sync(t.Context()))
			var n uint64
			for _, item := range s.Open(nil) {
				n += item.TotalUrgentEntries
			}
			return n
		}
		require.Zero(t, opened("Fine\n"))
		for _, part := range []string{"  Broken", " thing", " 7\n", "Fine\n"} {
			require.Equal(t, rests, opened(part))
		}
		require.Equal(t, 2*rests, opened("  Broken thing 8\nFine\n"))
		for _, part := range []string{"Broken", " thing", " 9", " 10\n", "Fine\n"} {
			require.Equal(t, 2*rests+1, opened(part), part)
		}
	}
}
