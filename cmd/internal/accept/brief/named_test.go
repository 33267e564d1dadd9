package brief

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/bench/workload"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report/replay"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

// requireNamed requires that at 1,500 tokens briefs show at least 95 % of the worst, the most frequent and the first
// problems, of the first two with their number of entries.
func requireNamed(t *testing.T, paths []string, labeled string) {
	t.Helper()
	p, misses, err := measureNamed(paths, labeled, defaults())
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
	set := defaults()
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
	set := defaults()
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

const captures = "../../../../testdata/captures"

var defaults = sync.OnceValue(func() *rules.Set { return testkit.Must(rules.Compile(rules.Defaults()...)) })

// TestTruth requires that each blocking item of the project's captures has one row of truth, and each row an item.
func TestTruth(t *testing.T) {
	set := defaults()
	faults := testkit.Must(ownFaults(captures))
	found := map[string]map[string]bool{}
	logs := map[string]*replayed{}
	for _, path := range testkit.Must(filepath.Glob(captures + "/*.*")) {
		logs[path] = testkit.Must(replayOf(path, set, func(*replayed, int, []string) {}))
	}
	for _, f := range faults {
		known := logs[f.path].truth(f)
		item := known.item
		require.NotEmpty(t, item, "%s:%d", f.path, f.line)
		if found[f.path] == nil {
			found[f.path] = map[string]bool{}
		}
		require.False(t, found[f.path][item], "%s:%d: %s has a row", f.path, f.line, item)
		found[f.path][item] = true
		require.True(t, known.wanted()[where], "%s:%d", f.path, f.line)
	}
	for path, log := range logs {
		require.Len(t, log.blocking, len(found[path]), path)
	}
}

// TestOwnCaptures holds the figures of the project's captures.
func TestOwnCaptures(t *testing.T) {
	testkit.Full(t, "asks for briefs of each fault at several moments")
	q := testkit.Must(measure(folders{captures: captures, players: t.TempDir()}, defaults()))
	require.Equal(t, 30, q.wanted[ours][all].of)
	least := map[approach][]int{ // that have all facts, at 500, 1,500 and 4,000 tokens
		named:   {30, 30, 30},
		unnamed: {16, 25, 28},
	}
	for _, m := range moments {
		for _, how := range approaches {
			for i, tokens := range budgets {
				has := q.sum([]set{ours}, cell{moment: m, tokens: tokens, approach: how})
				require.Equal(t, []int{30, 16, 30, 30}, []int{has[cause].of, has[culprit].of, has[where].of, has[all].of})
				if least[how] == nil { // an agent without heed
					require.NotZero(t, has[cause].has, "%s, %d tokens, %s", how, tokens, m)
					require.Less(t, has[all].has, 3, "%s, %d tokens, %s", how, tokens, m)
					continue
				}
				require.GreaterOrEqual(t, has[all].has, least[how][i], "%s, %d tokens, %s", how, tokens, m)
				require.Equal(t, has[nobody].of, has[nobody].has, "%s, %d tokens, %s: somebody is blamed", how, tokens, m)
			}
		}
	}
}

// TestRealLogs requires that the figures of real logs are computed, of one player's log.
func TestRealLogs(t *testing.T) {
	testkit.Full(t, "asks for briefs of each fault at several moments")
	labeled, all, data := testkit.Dir(t, "rimworld"), testkit.Dir(t, "players"), t.TempDir()
	one := filepath.Join(data, "players")
	require.NoError(t, os.Mkdir(one, 0o700))
	for name, of := range map[string]string{"players/p01-Player.log": all + "/p01-Player.log", "rimworld": labeled} {
		require.NoError(t, os.Symlink(of, filepath.Join(data, name)))
	}
	judged := testkit.Must(os.ReadFile(filepath.Join(all, "judged.csv")))
	judged = regexp.MustCompile("(?m)^p0[2-7].*\n").ReplaceAll(judged, nil)
	require.NoError(t, os.WriteFile(filepath.Join(one, "judged.csv"), judged, 0o600))
	var out bytes.Buffer
	require.NoError(t, Run([]string{"-captures", captures, "-data", data}, &out, io.Discard))
	for _, s := range []set{ours, players} {
		require.Contains(t, out.String(), string(s)+", "+string(opened))
	}
	require.NotContains(t, out.String(), string(held))
}

// BenchmarkBrief measures a brief about an item, and about all that is open, while the journal is full.
func BenchmarkBrief(b *testing.B) {
	set := defaults()
	engine := testkit.Must(heed.New(heed.Config{Rules: set}))
	for _, path := range testkit.Must(filepath.Glob(captures + "/*.log")) {
		require.NoError(b, workload.Feed(engine, bytes.NewReader(testkit.Must(os.ReadFile(path)))))
	}
	for lines := workload.NewStorm(workload.Mixed, 1); engine.Stats().Journal.Tail.Evicted == 0; {
		engine.Log(event.Log{Message: string(lines.Next()), Level: event.LevelError})
	}
	g := testkit.Must(newGame(&replay.Replay{Engine: engine}, set))
	for name, item := range map[string]string{"item": engine.Open(nil)[0].ID, "all": ""} {
		b.Run(name, func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				engine.Log(event.Log{Message: fmt.Sprintf("Quiet line %d", n)}) // else the brief is known
				testkit.Must(g.brief(item, 1500))
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	require.ErrorIs(t, Run([]string{"-h"}, io.Discard, io.Discard), flag.ErrHelp)
	require.Error(t, Run([]string{"-captures", t.TempDir()}, io.Discard, io.Discard))
	require.Error(t, Run([]string{"-what"}, io.Discard, io.Discard))
}

func TestTail(t *testing.T) {
	lines := []string{"one", "two", "three", "a much longer line of the log"}
	tokens := func(lines ...string) (n int) {
		for _, l := range lines {
			n += estimated.Estimate(briefing.Line{Text: l})
		}
		return n
	}
	for _, c := range []struct {
		limit, tokens int
		want          string
	}{
		{50, tokens(lines[2:]...), "three\na much longer line of the log\n"},
		{50, tokens(lines[1:]...) - 1, "three\na much longer line of the log\n"},
		{1, 999, "a much longer line of the log\n"},
		{50, 0, ""},
		{50, 999, "one\ntwo\nthree\na much longer line of the log\n"},
	} {
		require.Equal(t, c.want, tail(lines, c.limit, c.tokens))
	}
	require.Equal(t, []string{"an Exception"}, exceptions([]string{"one", "an Exception", "exception"}))
}

// TestFacts holds what counts as a fact in a text.
func TestFacts(t *testing.T) {
	fault := truth{
		cause: "Exception ticking Widget12", culprits: []string{"Some Mod", "SomeLib"}, phase: "play", marker: "Game loaded",
		frame: "SomeMod.Widget.Tick", item: "e-3", advice: "Load the last save.", line: 77,
	}
	whole := facts{true, true, true, true, false}
	require.Equal(t, whole, fault.wanted())
	for _, c := range []struct {
		name, text string
		want       facts
	}{
		{"nothing", "", facts{}},
		{"all", "[attention e-3@9] x, phase play\n> Exception ticking Widget12 (at 1)\nCulprit: SomeMod\nNext: read line 77", whole},
		{"data is not own", "> phase play\n> Next: line 77", facts{}},
		{"advice below", "- Next:\n- Load the last save.", facts{next: true}},
		{"points elsewhere", "Next: line 99", facts{}},
		{"any culprit", "> at somelib.X", facts{culprit: true}},
		{"another phase", "phase: playing", facts{}},
		{"blames", "[attention e-3@9] x\nCulprit: Other (its tag)", facts{nobody: false}},
		{"does not blame", "[attention e-3@9] x\nCulprit: not known\n[attention e-4@9] y\nCulprit: Other", facts{nobody: true}},
	} {
		has := fault.inBrief(c.text)
		if !strings.Contains(c.text, "Culprit") {
			has[nobody] = false
		}
		require.Equal(t, c.want, has, c.name)
	}
	require.Equal(t, facts{cause: true, nobody: true}, fault.inLog("Exception ticking Widget12"))
	require.Equal(t, facts{culprit: true, where: true, next: true, nobody: true},
		fault.inLog("Game loaded\n at SomeMod.Widget.Tick ()"))
	fault.names = []string{"op-4", "game/tick"}
	require.Equal(t, facts{where: true, nobody: true}, fault.inBrief("during game/tick"))
	require.Equal(t, facts{nobody: true}, fault.inBrief("phase play"))
	require.Equal(t, []string{"culprit", "operation or phase", "next"}, facts{cause: true}.missing(whole))
}
