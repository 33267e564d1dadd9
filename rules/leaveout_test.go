package rules

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/logline"
	"github.com/heedlog/heed/internal/testkit"
)

// fileRecords is what a set sees of the records of one log, with how often: all that evaluates alike is one.
type fileRecords struct {
	file, version string
	inputs        []*countedInput
}

type countedInput struct {
	Input
	count int
	rule  string // that decided, of the whole set
	got   event.Disposition
}

var gameVersion = regexp.MustCompile(`^RimWorld (\d+\.\d+)`)

// readRecords reads a log. Phases are those that the set finds.
func readRecords(tb testing.TB, set *Set, file string) *fileRecords {
	tb.Helper()
	f := testkit.Must(os.Open(file))
	defer func() { _ = f.Close() }()
	in := testkit.Must(capture.NewReader(f, capture.Options{}))
	out := &fileRecords{file: filepath.Base(file), version: "unknown"}
	seen, ev, phase := map[Input]*countedInput{}, set.NewEvaluator(), ""
	var rec capture.Record
	for {
		err := in.Next(&rec)
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(tb, err)
		e := rec.Entry
		if m := gameVersion.FindStringSubmatch(e.Message); m != nil {
			out.version = strings.Clone(m[1])
		}
		head, frames, _ := strings.Cut(string(set.normalizer.AppendTemplate(nil, e.Message, e.Stack)), "\n")
		key := Input{
			Template: head, Frames: frames, Level: e.Level, Kind: e.Kind, Status: e.Status,
			Source: strings.Clone(e.Source), Phase: phase, ByCaller: e.ByCaller,
		}
		full := key
		full.Message, full.Stack = strings.Clone(e.Message), strings.Clone(e.Stack)
		full.Operation = strings.Clone(e.OperationID)
		if e.Status == event.StatusPhase {
			phase = full.Message
		}
		o := ev.Evaluate(&full)
		if o.Rule != nil && o.Rule.SetsPhase != "" {
			phase = o.Rule.SetsPhase
		}
		if o.Rule != nil && o.Rule.PerEntry {
			key.Message, key.Stack = full.Message, full.Stack
		}
		if seen[key] == nil {
			seen[key] = &countedInput{Input: full, rule: o.Decision.Rule, got: o.Decision.Disposition}
			out.inputs = append(out.inputs, seen[key])
		}
		seen[key].count++
	}
}

// without returns the default rules with those of some ids turned off.
func without(tb testing.TB, ids ...string) *Set {
	tb.Helper()
	var off strings.Builder
	off.WriteString("version: 1\nrules:\n")
	for _, id := range ids {
		fmt.Fprintf(&off, "  - id: %s\n    override: true\n    enabled: false\n", id)
	}
	return testkit.Must(Compile(append([]File{{Name: "off.yaml", Data: []byte(off.String())}}, Defaults()...)...))
}

// mostTuned is how many rules may change decisions about one real log only; whoever adds one more shows that its
// condition holds elsewhere. leastKept is the share of the kinds of urgent entries of a log that must be decided alike
// without the rules that decide in no other.
const (
	mostTuned = 16
	leastKept = 0.75
)

// realLogs returns the records of the logs of players, those held out where they are open, and of the reference
// captures.
func realLogs(tb testing.TB, set *Set) []*fileRecords {
	tb.Helper()
	which := "p0[1-8]-*"
	if testkit.HeldOut() {
		which = "p[0-9]*-*"
	}
	files := testkit.Must(filepath.Glob(filepath.Join(testkit.Dir(tb, "players"), which)))
	require.NotEmpty(tb, files)
	var logs []*fileRecords
	for _, file := range append(files, referenceCaptures(tb)...) {
		logs = append(logs, readRecords(tb, set, file))
	}
	return logs
}

// TestLeaveOneRuleOut turns each default rule off and prints which decisions about real logs change. A rule that changes
// those about one log, or one version of the game, may have been written for it: its condition has to be general where
// its evidence is not.
func TestLeaveOneRuleOut(t *testing.T) {
	testkit.Full(t, "compiles the default rules once for each of them")
	set := defaultSet()
	logs := realLogs(t, set)
	tuned := 0
	for _, r := range set.Rules() {
		var ev *Evaluator
		files, versions, changes, records := map[string]bool{}, map[string]bool{}, map[string]int{}, 0
		for _, log := range logs {
			for _, in := range log.inputs {
				if in.rule != r.ID {
					continue
				}
				if ev == nil {
					ev = without(t, r.ID).NewEvaluator()
				}
				if o := ev.Evaluate(&in.Input); o.Decision.Disposition != in.got {
					files[log.file], versions[log.version] = true, true
					changes[fmt.Sprintf("%s to %s", in.got, o.Decision.Disposition)] += in.count
					records += in.count
				}
			}
		}
		if records == 0 {
			continue
		}
		mark := ""
		switch {
		case len(files) == 1:
			mark = "one log"
			tuned++
		case len(versions) == 1:
			mark = "one version"
		}
		names := slices.Sorted(maps.Keys(files))
		t.Logf("%-28s %-14s %-11s %2d logs, %s ...: %v", r.ID, origin(r), mark, len(files), names[0], changes)
	}
	t.Logf("%d logs, %d rules change decisions about one only", len(logs), tuned)
	require.LessOrEqual(t, tuned, mostTuned)
}

// TestLeaveOneLogOut turns off all rules that decide in one log, or in those of one version, and nowhere else, as though
// that had never been read, and counts the kinds of entries in it that are decided alike by what is left.
func TestLeaveOneLogOut(t *testing.T) {
	testkit.Full(t, "compiles the default rules once for each log")
	set := defaultSet()
	logs := realLogs(t, set)
	for _, by := range []struct {
		name string
		of   func(*fileRecords) string
	}{
		{"log", func(l *fileRecords) string { return l.file }},
		{"version", func(l *fileRecords) string { return l.version }},
	} {
		decidesIn := map[string]map[string]bool{} // by rule, where
		names := map[string]bool{}
		for _, log := range logs {
			names[by.of(log)] = true
			for _, in := range log.inputs {
				if decidesIn[in.rule] == nil {
					decidesIn[in.rule] = map[string]bool{}
				}
				decidesIn[in.rule][by.of(log)] = true
			}
		}
		allKept, all := 0, 0
		for _, name := range slices.Sorted(maps.Keys(names)) {
			var only []string
			for _, r := range set.Rules() {
				if d := decidesIn[r.ID]; len(d) == 1 && d[name] && r.SetsPhase == "" {
					only = append(only, r.ID)
				}
			}
			if len(only) == 0 {
				continue
			}
			ev := without(t, only...).NewEvaluator()
			kept, urgent := 0, 0
			for _, log := range logs {
				if by.of(log) != name {
					continue
				}
				for _, in := range log.inputs {
					if in.got == event.Ignore {
						continue
					}
					urgent++
					if ev.Evaluate(&in.Input).Decision.Disposition == in.got {
						kept++
					}
				}
			}
			allKept, all = allKept+kept, all+urgent
			t.Logf("%s %-30s %4d of %4d kinds of urgent entries kept without %v", by.name, name, kept, urgent, only)
		}
		share := float64(allKept) / float64(all)
		t.Logf("one %s left out: %.3f kept", by.name, share)
		assert.Greater(t, share, leastKept)
	}
}

// origin returns the short name of the file of a rule: "50-save".
func origin(r *Rule) string { return strings.TrimSuffix(filepath.Base(r.File), ".yaml") }

// loggerPrefixes are what loggers write in front of a text, by level.
var loggerPrefixes = map[event.Level][]string{
	event.LevelUnknown: {"2031-04-05 10:00:00 ", "[10:00:00] ", "Apr  5 10:00:00 lamp press[12]: ", "[   12.345678] ", "10:00:00.001 - "},
	event.LevelInfo: {
		"2031-04-05 10:00:00,123 INFO [main] ", "I0405 10:00:00.000001   123 press.go:12] ", "<14>Apr  5 10:00:00 lamp press[12]: ",
		"[10:00:00] [Server thread/INFO]: ", "time=2031-04-05T10:00:00Z level=info ", "[INFO] ",
	},
	event.LevelWarning: {
		"2031-04-05 10:00:00,123 WARN [main] ", "W0405 10:00:00.000001   123 press.go:12] ", "W/Press( 123): ",
		"<12>Apr  5 10:00:00 lamp press[12]: ", "[10:00:00] [Server thread/WARN]: ", "[WARN] ",
	},
	event.LevelError: {
		"2031-04-05 10:00:00,123 ERROR [main] ", "2031-04-05T10:00:00.001Z ERROR ", "10:00:00.001 [main] ERROR c.a.Press - ",
		"[10:00:00] [Server thread/ERROR]: ", "2031/04/05 10:00:00 [error] ", "[2031.04.05-10.00.00:001][  7]LogPress: Error: ",
		"2031-04-05 10:00:00.001 | ERROR    | ", "E0405 10:00:00.000001   123 press.go:12] ",
		"04-05 10:00:00.000   123   456 E Press   : ", "<11>Apr  5 10:00:00 lamp press[12]: ", "[Error  :   Loader] ", "ERROR: ",
	},
	event.LevelFatal: {
		"2031-04-05 10:00:00,123 FATAL [main] ", "2031/04/05 10:00:00 [emerg] ", "2031-04-05 10:00:00.001 UTC [123] PANIC:  ",
		"F0405 10:00:00.000001   123 press.go:12] ", "<8>Apr  5 10:00:00 lamp press[12]: ", "[FATAL] ",
	},
}

// TestPrefixChangesNoDecision holds that the texts of the default rules' tests are decided alike with and without
// what loggers write in front of them.
func TestPrefixChangesNoDecision(t *testing.T) {
	set := defaultSet()
	ev := set.NewEvaluator()
	decide := func(d *testDecl, text string, level event.Level) event.Decision {
		other := *d
		other.Message, other.Level = text, level
		return decideTest(set, ev, &other, logline.Of(&other.Entry))
	}
	texts := 0
	for _, test := range set.relink().tests(set) {
		d := test.decl
		if d.Kind != event.KindLog || logline.Text(d.Message, d.Level) != d.Message || strings.TrimSpace(d.Message) == "" {
			continue
		}
		if strings.HasPrefix(d.Message, "[1]") {
			continue // what a shell prints: behind a level it reads as a thread
		}
		texts++
		for level, prefixes := range loggerPrefixes {
			want := decide(d, d.Message, level)
			for _, prefix := range prefixes {
				line, _, _ := strings.Cut(prefix+d.Message, "\n")
				switch h := logline.Parse(line); {
				case level == event.LevelUnknown && h.Leveled:
					continue // behind a time, a word of the text is one
				case level != event.LevelUnknown:
					assert.Equal(t, level, h.Level, line)
				}
				assert.Equal(t, want, decide(d, prefix+d.Message, level), "%q", prefix+d.Message)
			}
		}
	}
	require.Greater(t, texts, 300)
}
