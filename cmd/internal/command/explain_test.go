package command

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// own returns the path of one of the project's captures.
func own(name string) string { return filepath.Join(ownCaptures, name) }

// requireGolden compares output with a file in testdata, which -update writes.
// Paths depend on the system, and say nothing there.
func requireGolden(t *testing.T, name, got string) {
	t.Helper()
	dir := filepath.FromSlash(ownCaptures) + string(filepath.Separator)
	got = strings.ReplaceAll(got, jsonPath(dir), "")
	got = strings.ReplaceAll(got, dir, "")
	got = strings.ReplaceAll(got, ownCaptures+"/", "")
	testkit.Golden(t, filepath.Join("testdata", name), got)
}

// commandGoldens are command lines whose output is kept in testdata, those about rules with
// rules that say nothing about the embedded ones.
var commandGoldens = []struct {
	name string
	args []string
}{
	{"explain-first.txt", []string{"explain", own("colony-1.6.log") + ":90"}},
	{"explain-masked.txt", []string{"explain", own("colony-1.6.log") + ":602"}},
	{"explain-blind.txt", []string{"explain", own("colony-1.6.log") + ":1070"}},
	{"explain-operation.txt", []string{"explain", own("operations.jsonl") + ":56"}},
	{"explain-console.json", []string{"explain", "--format", "json", own("console-1.5.txt") + ":12"}},
	{"explain-text.txt", []string{
		"explain", "--text", "cannot save 12\nto \"slot\"", "--level", "error", "--phase",
		"play",
	}},
	{"explain-all.txt", []string{"explain", "--all", "--text", "cannot save"}},
	{"diff.txt", []string{
		"rules", "diff", "--no-default-rules", "testdata/rules.yaml", "testdata/rules-new.yaml",
		own("colony-1.6.log"), own("cascade-1.6.log"),
	}},
	{"diff-narrow.txt", []string{
		"rules", "diff", "--width", "72", "--no-default-rules", "testdata/rules.yaml",
		"testdata/rules-new.yaml", own("colony-1.6.log"),
	}},
	{"diff.json", []string{
		"rules", "diff", "--format", "json", "--top", "1", "--no-default-rules",
		"testdata/rules.yaml", "testdata/rules-new.yaml", own("colony-1.6.log"),
	}},
	{"logdiff.text.txt", []string{"diff", "--width", "120", "--top", "3", own("advisory-1.4.log"), own("burst-1.4.log")}},
	{"logdiff.json.txt", []string{"diff", "--format", "json", "--top", "3", own("advisory-1.4.log"), own("burst-1.4.log")}},
	{"logdiff.markdown.txt", []string{
		"diff", "--format", "markdown", "--top", "3", own("advisory-1.4.log"), own("burst-1.4.log"),
	}},
	{"logdiff-several.txt", []string{ // rates by the hour, and several files
		"diff", "--width", "120", "--top", "2", own("healthy-1.6.log"), own("cascade-1.6.log"), own("colony-1.6.log"),
	}},
	{"propose.yaml", []string{"rules", "propose", "--quiet", own("colony-1.6.log") + ":602"}},
	{"propose-operation.yaml", []string{"rules", "propose", "--disposition", "blocking", own("operations.jsonl") + ":56"}},
}

func TestCommandsGolden(t *testing.T) {
	for _, g := range commandGoldens {
		t.Run(g.name, func(t *testing.T) {
			args := g.args
			if args[0] == "explain" || args[1] == "propose" {
				args = append(append([]string{}, args...), "--no-default-rules", "--rules", "testdata/rules.yaml")
			}
			r := ends(t, exitOK, args...)
			require.Empty(t, r.stderr)
			requireInert(t, r.stdout)
			requireGolden(t, g.name, r.stdout)
		})
	}
}

// TestExplainAgreesWithReplay explains every record and requires the decision
// of the replay, and that what is shown adds up.
func TestExplainAgreesWithReplay(t *testing.T) {
	set := defaultRules(t)
	evaluators := map[string]*rules.Evaluator{} // by family
	n := testkit.Must(signature.New(set.Masking()))
	schema := compileSchema(t, "explain")
	seen := map[string]bool{} // an explanation follows from these alone
	referenceAndOwn(t, func(t *testing.T, path string) {
		p := newProgram(nil, io.Discard, io.Discard)
		require.NoError(t, p.observe(t.Context(), set, path, func(src *source, o *heed.Outcome) bool {
			rec := src.Record
			f := &found{place: place{path, rec.StartLine}, rec: rec, outcome: *o}
			key := fmt.Sprint(o.Signature, rec.Level, rec.Kind, rec.Status, rec.Source, o.Phase,
				rec.ByCaller, o.Escalated)
			if seen[key] {
				return true
			}
			seen[key] = true
			if evaluators[src.Family] == nil {
				evaluators[src.Family] = testkit.Must(set.For(src.Family)).NewEvaluator()
			}
			e := explain(evaluators[src.Family], n, f, false, nil)
			require.Equal(t, o.Signature.ID.String(), e.Signature.ID)
			require.Equal(t, o.Decision.Rule, e.Decision.Rule, "%s:%d", path, rec.StartLine)
			require.Equal(t, o.Decision.Disposition, e.Decision.Disposition)
			require.Equal(t, o.Decision.Severity, e.Decision.Severity)
			require.Equal(t, e.Tried, len(e.Trials)+e.Omitted)
			if e.Without != nil {
				last := e.Trials[len(e.Trials)-1]
				require.True(t, last.Matched)
				require.Equal(t, e.Decision.Rule, last.ID)
				require.NotEqual(t, e.Decision.Rule, e.Without.Rule)
			}
			requireInert(t, string(prose(explainForm(), e, 0)))
			testkit.RequireValid(t, schema, string(report.AppendJSON(nil, e)))
			return true
		}))
	})
}

func TestExplainPlaces(t *testing.T) {
	log := write(t, "game.log", "starting\n\ncareful now\nno more messages\nbye\n")
	for _, tc := range []struct {
		at     string
		status int
		want   string // in stdout or stderr
	}{
		{log + ":1", exitOK, ":1: ignore info, by the default default.log.unknown"},
		{log + ":3", exitOK, ":3: advisory warning, by rule test.advisory"},
		{log + ":5", exitOK, "blind     yes, since line 4, by rule test.cap"},
		{
			log + ":2", exitUsage,
			"is in no record: the line is blank or missing; the nearest records are at line 1 and line 3",
		},
		{log + ":9", exitUsage, "is in no record: the line is blank or missing; the nearest records are at line 5"},
		{write(t, "empty.log", "\n\n") + ":1", exitUsage, "the file has no record"},
		{write(t, "one.log", "a\n") + ":7", exitUsage, "the nearest records are at line 1"},
		{"-:3", exitUsage, `write a place in standard input after "--", such as classify-replay explain -- -:3`},
		{log, exitUsage, "is not FILE:LINE"},
		{log + ":0", exitUsage, "is not FILE:LINE"},
		{":3", exitUsage, "is not FILE:LINE"},
		{"no-such.log:3", exitIO, "no-such.log: no such file"},
	} {
		r := ends(t, tc.status, testArgs(t, "explain", tc.at)...)
		require.Contains(t, r.stdout+r.stderr, tc.want)
	}
	// A line inside of a record is the record.
	r := runArgs(t, "explain", own("colony-1.6.log")+":90")
	require.Contains(t, r.stdout, "colony-1.6.log:87-92: BLOCKING error")
}

// TestExplainPhase: a phase that nobody sets is taken as it is, and said.
func TestExplainPhase(t *testing.T) {
	r := ends(t, exitOK, "explain", "--text", "a", "--phase", "Play")
	require.Contains(t, r.stderr, `--phase: no rule sets the phase "Play" (did you mean "play"?)`)
	require.Empty(t, runArgs(t, "explain", "--text", "a", "--phase", "play").stderr)
}

func TestExplainHostileText(t *testing.T) {
	for _, line := range hostileLines() {
		for _, format := range []string{formatText, formatJSON} {
			out := ok(t, testArgs(t, "explain", "--format", format, "--text", line)...)
			requireInert(t, out)
			require.Contains(t, out, "test.advisory")
			if format == formatJSON {
				require.True(t, json.Valid([]byte(out)))
			}
			for l := range strings.Lines(out) {
				require.False(t, strings.HasPrefix(l, "BLOCKING forged"), l)
			}
		}
	}
	// What is masked is quoted, so that it cannot close its quotes.
	r := runArgs(t, "explain", "--text", `careful 'a” forged “b' 12`)
	require.Equal(t, 1, strings.Count(r.stdout, "“'a"), r.stdout)
	require.NotContains(t, r.stdout, "a” forged “b' 12\"")
	require.Contains(t, r.stdout, "“'a\" forged \"b'")
}

// TestExplainNotice: where a line holds nothing but what capture noticed, that
// is explained, and a rule can be proposed for it.
func TestExplainNotice(t *testing.T) {
	log := write(t, "game.log", "starting\n"+strings.Repeat("\x00", 100)+"\ngoing on\n")
	out := ok(t, "explain", log+":2")
	require.Contains(t, out, ":2: advisory warning, by rule notice.hole")
	require.Contains(t, out, "notice, hole: 100 bytes missing")
	require.Contains(t, ok(t, "rules", "propose", log+":2"), `kind == "notice"`)

	r := ends(t, exitFinding, "--fail-on", "blind", "--format", "json", log)
	require.Contains(t, r.stdout, `"spans":[{"fromLine":2,"toLine":2,"rule":"notice.hole"}]`)
	r = ends(t, exitFinding, "--fail-on", "blind", log)
	require.Contains(t, r.stdout, "100 bytes are missing at line 2,")
	require.NotContains(t, r.stdout, "blind")
}

func TestExplainOverride(t *testing.T) {
	log := write(t, "game.log", "cannot save the game\n")
	base := write(t, "base.yaml",
		"version: 1\nrules:\n  - {id: a.b, when: 'template startsWith \"cannot\"', disposition: blocking, invalidates: "+
			"true}\n")
	mine := write(t, "mine.yaml", "version: 1\nrules:\n  - {id: a.b, override: true, disposition: ignore}\n")
	out := ok(t, "explain", "--no-default-rules", "--rules", mine, "--rules", base, log+":1")
	require.Equal(t, 2, strings.Count(out, "mine.yaml:3, which overrides "+base+":3)"), out)
	require.NotContains(t, out, "stale", "what is ignored makes nothing stale")
	r := runArgs(t, "explain", "--format", "json", "--no-default-rules", "--rules", mine, "--rules", base, log+":1")
	require.Equal(t, 2, strings.Count(r.stdout, `"overrides":"`+jsonPath(base)+`:3"`))
}

func TestExplainBlame(t *testing.T) {
	text := "Exception in Gadgets: broken\n  at Gadgets.Widget.Tick () [0x00000] in " +
		"<0123456789abcdef0123456789abcdef>:0\n  at Verse.TickList.Tick () [0x00000] in " +
		"<0123456789abcdef0123456789abcdef>:0\n"
	log := write(t, "game.log", text)
	for _, args := range [][]string{{log + ":1"}, {"--text", text}} {
		out := ok(t, append([]string{"explain"}, args...)...)
		require.Contains(t, out, "  blame     code: Gadgets\n")
		require.Contains(t, out, "frames    at Gadgets.Widget.Tick")
		r := runArgs(t, append([]string{"explain", "--format", "json"}, args...)...)
		require.Contains(t, r.stdout, `"blame":[{"mod":"code: Gadgets"`)
	}
}

// TestExplainTextLevel: a text has the level that a log with it would have.
func TestExplainTextLevel(t *testing.T) {
	for _, text := range []string{
		"NullReferenceException: Object reference not set to an instance of an object",
		"[Gadgets][ERR] broken", "all is well", "[Gadgets] [WARN] odd",
	} {
		records := runArgs(t, append([]string{"records", "--format", "jsonl"},
			testArgs(t, write(t, "game.log", text+"\n"))...)...)
		var want struct {
			Level   string `json:"level"`
			LevelBy string `json:"levelBy"`
		}
		require.NoError(t, json.Unmarshal([]byte(records.stdout), &want))
		var got struct {
			Record struct {
				Level   string `json:"level"`
				LevelBy string `json:"levelEvidence"`
			} `json:"record"`
		}
		require.NoError(t, json.Unmarshal([]byte(runArgs(t, "explain", "--format", "json", "--text", text).stdout), &got))
		require.Equal(t, want.Level, got.Record.Level, text)
		if want.LevelBy != "none" {
			require.Equal(t, want.LevelBy, got.Record.LevelBy, text)
		}
	}
	r := runArgs(t, "explain", "--text", "NullReferenceException: broken", "--level", "info")
	require.Contains(t, r.stdout, "level     info\n")
	r = runArgs(t, "explain", "--no-default-rules", "--rules", write(t, "rules.yaml", testRules), "--text", "all is well")
	require.Contains(t, r.stdout, "3 other rules tried: none came close")
}
