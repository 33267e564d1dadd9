package brief

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/internal/testkit"
)

// requireNamed requires that at 1,500 tokens briefs show at least 95 % of the worst, the most frequent and the first
// problems, of the first two with their number of entries.
func requireNamed(t *testing.T, paths []string, labeled string) {
	t.Helper()
	p, misses, err := measureNamed(paths, labeled, defaults(t))
	require.NoError(t, err)
	for _, name := range []string{"worst", "worst" + counted, "most", "most" + counted, "first"} {
		var sum count
		for _, h := range []half{developed, other} {
			c := p[problem{h, name, 1500}]
			sum.has, sum.of = sum.has+c.has, sum.of+c.of
		}
		require.NotZero(t, sum.of)
		require.GreaterOrEqual(t, 100*sum.has, 95*sum.of, "%s: %d of %d: %v", name, sum.has, sum.of, misses)
	}
}

// TestNamed: what the first screen of a report names is in the brief, of the project's logs.
func TestNamed(t *testing.T) {
	logs := testkit.Must(logsIn(captures, filepath.Join(captures, "../families")))
	require.Greater(t, len(logs), 30)
	requireNamed(t, logs, t.TempDir())
}

// TestNamedOfRealLogs: the same of real logs.
func TestNamedOfRealLogs(t *testing.T) {
	labeled, players := testkit.Dir(t, "rimworld"), testkit.Dir(t, "players")
	logs := testkit.Must(logsIn(labeled, players))
	requireNamed(t, logs, labeled)
}

// TestMoreTokensMoreEvidence: a brief with more tokens quotes at least as many lines of the log, and each item that a
// smaller one has.
func TestMoreTokensMoreEvidence(t *testing.T) {
	logs := testkit.Must(logsIn(captures))
	set := defaults(t)
	for _, path := range logs {
		_, g, err := reported(path, set)
		require.NoError(t, err)
		least := -1
		var all []int
		for _, tokens := range []int{400, 700, 1000, 1500, 2200, 3000, 4000, 8000} {
			b := testkit.Must(g.brief("", tokens))
			require.LessOrEqual(t, b.Used.Tokens, tokens)
			var quoted []string
			for line := range strings.Lines(b.Text) {
				if strings.HasPrefix(line, briefing.DataPrefix) {
					quoted = append(quoted, line)
				}
			}
			slices.Sort(quoted)
			n := len(slices.Compact(quoted))
			require.GreaterOrEqual(t, n, least, "%s, %d tokens: it quotes fewer lines of the log", filepath.Base(path), tokens)
			least = n
			all = append(all, n)
		}
		if filepath.Base(path) == "cascade-1.6.log" { // whose items hold much
			require.Greater(t, all[6], all[4], "4,000 tokens say more than 2,200")
		}
	}
}

// TestCrashWithoutModules: of a native crash the brief has managed frames and the lines before, and no list of modules.
func TestCrashWithoutModules(t *testing.T) {
	set := defaults(t)
	for _, log := range []string{"crash-1.4.log", "crash-1.5-macos.log", "crash-1.6-linux.log"} {
		_, g, err := reported(filepath.Join(captures, log), set)
		require.NoError(t, err)
		b := testkit.Must(g.brief("", 1500))
		require.Contains(t, b.Text, "#before] ", log)
		require.Regexp(t, `(?m)^> .*(QuarryPlus|Riverboats)\..*[(]`, b.Text, log)
		for _, module := range []string{".dll", ".dylib", ".so ", "SymInit", "mono_dump"} {
			require.NotContains(t, b.Text, module, log)
		}
	}
}
