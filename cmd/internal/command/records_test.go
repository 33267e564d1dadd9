package command

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// record is a line of "records --format jsonl".
type record struct {
	File        string
	StartLine   int `json:"startLine"`
	EndLine     int `json:"endLine"`
	Level       string
	Signature   string
	Template    string
	Disposition string
	Severity    string
	Rule        string
	Phase       string
}

// known are the records of captures as JSON lines.
var known sync.Map

// jsonRecords returns the records of a log as JSON lines, of a capture once for all tests.
func jsonRecords(t *testing.T, path string) string {
	t.Helper()
	if out, ok := known.Load(path); ok {
		return out.(string)
	}
	out := ok(t, "records", "--format", "jsonl", path)
	if filepath.Dir(path) == filepath.Clean(ownCaptures) {
		known.Store(path, out)
	}
	return out
}

func records(t *testing.T, path string) []record {
	t.Helper()
	var all []record
	for line := range strings.Lines(jsonRecords(t, path)) {
		all = append(all, decoded[record](t, line))
	}
	return all
}

// TestRecordsSayWhatTheyRestOn: the evidence is there for every record, and the
// help names every kind that occurs.
func TestRecordsSayWhatTheyRestOn(t *testing.T) {
	help := runArgs(t, "records", "--help").stdout
	seen := map[string]bool{}
	for _, path := range captures(t, ownCaptures) {
		for line := range strings.Lines(jsonRecords(t, path)) {
			var r struct {
				Kind, Layout, Split, Level string
				LevelBy                    string `json:"levelBy"`
				RefState                   string `json:"refState"`
			}
			require.NoError(t, json.Unmarshal([]byte(line), &r))
			require.NotEmpty(t, r.Layout, line)
			require.NotContains(t, []string{"", "none"}, r.Split, line)
			if r.Kind == "log" {
				require.Equal(t, r.Level == "unknown", r.LevelBy == "none", line)
			}
			seen["split "+r.Split], seen["levelBy "+r.LevelBy], seen["refState "+r.RefState] = true, true, true
		}
	}
	require.Greater(t, len(seen), 15)
	for s := range seen {
		_, name, _ := strings.Cut(s, " ")
		require.Contains(t, help, name, s)
	}
	for _, state := range []string{"original", "resolved", "unresolved"} {
		require.True(t, seen["refState "+state], state)
	}
}

// captures returns the files in dir, without what only describes them.
func captures(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("no captures in %s", dir)
	}
	require.NoError(t, err)
	var all []string
	for _, e := range entries {
		switch ext := filepath.Ext(e.Name()); {
		case e.IsDir(), ext == ".md", ext == ".csv":
		default:
			all = append(all, filepath.Join(dir, e.Name()))
		}
	}
	require.NotEmpty(t, all)
	return all
}

// referenceAndOwn runs a test over the project's captures and, where they are
// at hand, the reference captures.
func referenceAndOwn(t *testing.T, f func(t *testing.T, path string)) {
	for _, set := range []struct {
		name string
		dir  func(*testing.T) string
	}{
		{"own", func(*testing.T) string { return ownCaptures }},
		{"reference", func(t *testing.T) string {
			testkit.Full(t, "reads megabytes, several times")
			return testkit.Dir(t, "rimworld")
		}},
	} {
		t.Run(set.name, func(t *testing.T) {
			for _, path := range captures(t, set.dir(t)) {
				t.Run(filepath.Base(path), func(t *testing.T) { f(t, path) })
			}
		})
	}
}

// TestRecordsBlame: an upload's list of mods gives the names, and only what is
// urgent is blamed.
func TestRecordsBlame(t *testing.T) {
	out := jsonRecords(t, filepath.Join(ownCaptures, "upload-1.4.txt"))
	require.Contains(t, out, `"blame":[{"mod":"Brick Kilns Continued","packageId":"pikestaff.brickkilns","score":63,"evidence":[{"kind":"type","line":1},{"kind":"frame","line":2}]}]`)
	for line := range strings.Lines(out) {
		if strings.Contains(line, `"disposition":"ignore"`) {
			require.NotContains(t, line, `"blame"`)
		}
	}
	require.NotContains(t, jsonRecords(t, filepath.Join(ownCaptures, "healthy-1.6.log")), `"blame"`)
}

// TestRecordsBlameNoGame: whatever a capture holds, the game, its engine and the
// runtime are never a mod.
func TestRecordsBlameNoGame(t *testing.T) {
	nobody := defaultRules(t).GameCode()
	referenceAndOwn(t, func(t *testing.T, path string) {
		for line := range strings.Lines(jsonRecords(t, path)) {
			var rec struct {
				Blame []struct{ Mod string }
			}
			require.NoError(t, json.Unmarshal([]byte(line), &rec))
			for _, s := range rec.Blame {
				for _, name := range nobody {
					require.NotEqual(t, strings.TrimSuffix(name, "."), s.Mod, line)
				}
			}
		}
	})
}

func TestSignatures(t *testing.T) {
	for _, c := range []struct {
		name, in string
		lines    int
	}{
		{"nothing", "", 0},
		{"one line", "Pawn12 died\n", 1},
		{"no line feed at the end", "Pawn12 died\nPawn13 died", 2},
		{"empty lines count", "\n\nx\n\n", 4},
		{"only a line feed", "\n", 1},
		{"carriage returns", "a\r\nb\r\r\n", 2},
		{"other separators do not count", "a\u0085b\u2028c\rd\n", 1},
		{"long lines", strings.Repeat("x 1 ", 100_000) + "\n" + strings.Repeat("\x00", 300_000) + "\nend", 3},
		{"hostile", strings.Join(hostileLines(), "\n") + "\n", len(hostileLines())},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, args := range [][]string{
				{"signatures"},
				{"signatures", "-"},
				{"signatures", write(t, "in", c.in)},
				{"signatures", "--group"},
			} {
				r := runWith(t.Context(), c.in, args...)
				require.Equal(t, exitOK, r.status, r.stderr)
				require.Equal(t, c.lines, strings.Count(r.stdout, "\n"))
				for line := range strings.Lines(r.stdout) {
					require.Regexp(t, "^[0-9a-f]{16}\t[^\t]*\n$", line)
				}
			}
		})
	}
}

// TestSignaturesAgreeWithRecords: what stands on a line by itself has one id,
// however it is asked for.
func TestSignaturesAgreeWithRecords(t *testing.T) {
	lines := []string{"Pawn Human12345 died at (1, 0, 5)", "error code 404", "error code 500", "took 12.5 ms"}
	log := write(t, "a.log", strings.Join(lines, "\n")+"\n")
	sigs := strings.Split(strings.TrimSpace(runArgs(t, "signatures", log).stdout), "\n")
	recs := records(t, log)
	require.Len(t, recs, len(lines))
	for i, r := range recs {
		require.Equal(t, r.Signature+"\t"+r.Template, sigs[i])
	}
}

// TestSignatureGroups: a word that varies makes one group of all lines that
// have it, also of those before that was known.
func TestSignatureGroups(t *testing.T) {
	const in = "the old lamp fell on Anna\nthe lamp is out\nthe old lamp fell on Boris\nthe old lamp fell on Chloe\n" +
		"the old lamp fell on Eun\n"
	alone := strings.Split(runWith(t.Context(), in, "signatures").stdout, "\n")
	got := strings.Split(runWith(t.Context(), in, "signatures", "--group").stdout, "\n")
	require.Len(t, got, len(alone))
	first, _, _ := strings.Cut(alone[0], "\t")
	for i, line := range got[:5] {
		id, template, _ := strings.Cut(line, "\t")
		own, ownTemplate, _ := strings.Cut(alone[i], "\t")
		require.Equal(t, ownTemplate, template)
		if i == 1 {
			require.Equal(t, own, id)
		} else {
			require.Equal(t, first, id)
		}
	}
}
