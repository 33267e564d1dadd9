package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
)

// TestRuleFiles changes rule files under a running session.
func TestRuleFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "own.yaml")
		write := func(text string) {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			time.Sleep(2 * session.RulePoll)
			synctest.Wait()
		}
		require.NoError(t, os.WriteFile(path, []byte(testRules), 0o600))
		s := start(t, session.Config{RuleFiles: []string{path}, NoDefaults: true})
		st := s.Status().Rules
		require.Equal(t, 6, st.Rules)
		require.Equal(t, path, st.Files[0].Name)
		require.Len(t, st.Files[0].Hash, 16)
		require.Equal(t, event.Blocking, s.Observe(broken("1").Entry()).Decision.Disposition)
		a, _ := s.Current(t.Context(), "agent")

		write(strings.Replace(testRules, "Broken", "Cracked", 1))
		require.Equal(t, event.Ignore, s.Observe(broken("1").Entry()).Decision.Disposition)
		require.Equal(t, event.Blocking, s.Observe(event.Log{Message: "Cracked"}.Entry()).Decision.Disposition)
		require.True(t, s.Ack(t.Context(), "agent", a.ID, 0).Acknowledged, "what is open stays")
		second := s.Status().Rules
		require.EqualValues(t, 1, second.Swaps)
		require.NotEqual(t, st.Hash, second.Hash)

		write("version: 1\nrules:\n  - {id: x, when: 'no_such_name'}\n")
		bad := s.Status().Rules
		require.Contains(t, bad.Error, "own.yaml:3")
		require.EqualValues(t, 1, bad.Refused)
		require.Equal(t, second.Hash, bad.Hash, "the last good ones decide")
		require.Equal(t, second.Files, bad.Files)
		time.Sleep(time.Minute)
		require.EqualValues(t, 1, s.Status().Rules.Refused, "it is read again when it changes")

		require.NoError(t, os.Remove(path))
		time.Sleep(2 * session.RulePoll)
		synctest.Wait()
		require.Contains(t, s.Status().Rules.Error, "own.yaml")
		require.EqualValues(t, 2, s.Status().Rules.Refused, "once for each reason")
		require.Equal(t, event.Blocking, s.Observe(event.Log{Message: "Cracked"}.Entry()).Decision.Disposition)

		write(testRules)
		good := s.Status().Rules
		require.Empty(t, good.Error)
		require.Equal(t, st.Hash, good.Hash)
		require.Equal(t, event.Blocking, s.Observe(broken("1").Entry()).Decision.Disposition)
	})
}
