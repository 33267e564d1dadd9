package command

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/testkit"
)

// reading is what a person found about a blocking item of a player's log, or about a fault that opened none.
type reading struct {
	file, rule, blame        string
	line, entries            int
	verdict, cause, blameFit string
}

func (r *reading) String() string { return fmt.Sprintf("%s:%d %s", r.file, r.line, r.rule) }

// missed reports that no item was there when the log was read.
func (r *reading) missed() bool { return strings.HasPrefix(r.verdict, "missed") }

// readings returns what was read about logs that keep names, by file.
func readings(t *testing.T, keep func(file string) bool) map[string][]*reading {
	f := testkit.Must(os.Open(filepath.Join(testkit.Dir(t, "players"), "judged.csv")))
	defer func() { _ = f.Close() }()
	in := csv.NewReader(f)
	testkit.Must(in.Read())
	out := map[string][]*reading{}
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(t, err)
		if !keep(row[0]) {
			continue
		}
		line, _ := strconv.Atoi(row[1])
		entries, _ := strconv.Atoi(row[3])
		out[row[0]] = append(out[row[0]], &reading{
			file: row[0], line: line, rule: row[2], entries: entries, blame: row[4], verdict: row[5], cause: row[6],
			blameFit: row[7],
		})
	}
}

// blockingItem is an item at its last update, if it ever blocked.
type blockingItem struct {
	line, entries int
	rule          string
	blame         []string
}

func blockingItems(t *testing.T, path string) []*blockingItem {
	byID, blocked := map[string]*blockingItem{}, map[string]bool{}
	for line := range strings.Lines(runArgs(t, "--format", "jsonl", "--quiet", path).stdout) {
		u := decoded[report.UpdateLine](t, line)
		if a := &u.Item; a.ID != "" {
			byID[a.ID] = &blockingItem{
				line: int(a.Cause.Pos), entries: int(a.TotalUrgentEntries), rule: a.Cause.Rule, blame: a.Blame,
			}
			blocked[a.ID] = blocked[a.ID] || a.Blocking
		}
	}
	maps.DeleteFunc(byID, func(id string, _ *blockingItem) bool { return !blocked[id] })
	return slices.SortedFunc(maps.Values(byID), func(a, b *blockingItem) int { return cmp.Compare(a.line, b.line) })
}

// origins returns the short name of the rule file that a rule is from: "50-save".
func origins(t *testing.T) func(rule string) string {
	set := defaultRules(t)
	return func(id string) string {
		if r := set.Rule(id); r != nil {
			return strings.TrimSuffix(filepath.Base(r.File), ".yaml")
		}
		return "no rule"
	}
}

// tallies counts kinds of things by the file of their rule.
type tallies map[string]map[string]int

func (m tallies) add(origin, kind string) {
	for _, o := range []string{origin, "total"} {
		if m[o] == nil {
			m[o] = map[string]int{}
		}
		m[o][kind]++
	}
}

func (m tallies) String() string {
	var b strings.Builder
	for _, origin := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "\n%-15s", origin)
		for _, kind := range slices.Sorted(maps.Keys(m[origin])) {
			fmt.Fprintf(&b, "  %s %d", kind, m[origin][kind])
		}
	}
	return b.String()
}

// TestPlayersLogs holds what blocks in logs of players to what a person found there: what was judged right blocks, what
// was judged wrong does not for that reason, and what was missed is found. It prints what came of each reading, by the
// file of the rule, and the items that no reading is about.
func TestPlayersLogs(t *testing.T) {
	t.Run("developed on", func(t *testing.T) {
		for row, bad := range evaluatePlayers(t, func(file string) bool { return file < "p09" }) {
			assert.False(t, bad, "%s: not as a person judged it", row)
		}
	})
	t.Run("held out", func(t *testing.T) {
		if !testkit.HeldOut() {
			t.Skip("logs that rules must not be developed on; set HEED_PLAYERS=held to open them")
		}
		for row, bad := range evaluatePlayers(t, func(file string) bool { return file >= "p09" }) {
			if bad {
				t.Logf("%s: not as a person judged it", row)
			}
		}
	})
}

// evaluatePlayers reports for each reading whether it comes out otherwise than a person judged.
func evaluatePlayers(t *testing.T, keep func(string) bool) map[string]bool {
	origin, kinds, bad := origins(t), tallies{}, map[string]bool{}
	byFile := readings(t, keep)
	require.NotEmpty(t, byFile)
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		path := filepath.Join(testkit.Dir(t, "players"), file)
		recs, items := records(t, path), blockingItems(t, path)
		read := map[*blockingItem]*reading{}
		for _, r := range byFile[file] {
			if r.missed() {
				continue
			}
			item := about(items, read, r)
			if item != nil {
				read[item] = r
			}
			blocks := dispositionAt(recs, r.line) == "blocking"
			switch {
			case r.verdict != "wrong":
				bad[r.String()] = !blocks
			default:
				bad[r.String()] = blocks && item != nil && item.line == r.line
			}
		}
		for _, r := range byFile[file] {
			if r.missed() {
				bad[r.String()] = stillMissed(recs, items, r)
				kinds.add(origin(r.rule), map[bool]string{true: "missed", false: "missed before, found"}[bad[r.String()]])
			}
		}
		for _, i := range items {
			r := read[i]
			if r == nil {
				kinds.add(origin(i.rule), "unread")
				t.Logf("%s:%d %s, %d entries, blame %v: no reading", file, i.line, i.rule, i.entries, i.blame)
				continue
			}
			cause, blame := fit(r.cause, i.line == r.line), fit(r.blameFit, strings.Join(i.blame, "|") == r.blame)
			kinds.add(origin(i.rule), r.verdict)
			kinds.add(origin(i.rule), "cause "+cause)
			kinds.add(origin(i.rule), "blame "+blame)
			if cause == "changed" || blame == "changed" {
				t.Logf("%s:%d %s, blame %v: read %s, blame %q, as cause %s, blame %s", file, i.line, i.rule, i.blame, r,
					r.blame, r.cause, r.blameFit)
			}
		}
		for _, r := range byFile[file] {
			t.Logf("%-10s %s: %s", map[bool]string{true: "OTHERWISE", false: "as judged"}[bad[r.String()]], r, r.verdict)
		}
	}
	t.Log(kinds)
	return bad
}

// fit returns what a person found of a cause or of blame, while that is the same as it was then.
func fit(found string, same bool) string {
	if !same {
		return "changed"
	}
	return found
}

// about returns the item that a reading is about: that of the same cause, or else the next one of the same rule.
func about(items []*blockingItem, read map[*blockingItem]*reading, r *reading) *blockingItem {
	for _, i := range items {
		if i.line == r.line && read[i] == nil {
			return i
		}
	}
	for _, i := range items {
		if i.rule == r.rule && read[i] == nil {
			return i
		}
	}
	return nil
}

// stillMissed reports whether a fault opens no blocking item. One that is known by its rule alone is found once most of
// its entries are decided otherwise.
func stillMissed(recs []record, items []*blockingItem, r *reading) bool {
	if r.line == 1 { // all of the file is the fault
		return len(items) == 0
	}
	if r.line > 0 {
		return dispositionAt(recs, r.line) != "blocking"
	}
	left := 0
	for _, rec := range recs {
		if rec.Rule == r.rule && rec.Disposition != "blocking" {
			left++
		}
	}
	return left > r.entries/2
}

// dispositionAt returns what was decided about the record that a line is in.
func dispositionAt(recs []record, line int) string {
	for _, rec := range recs {
		if rec.StartLine <= line && line <= rec.EndLine {
			return rec.Disposition
		}
	}
	return ""
}

// TestLabeledRecords holds the decisions about records of captures to what annotators found, and prints both by the
// file of the rule.
func TestLabeledRecords(t *testing.T) {
	f := testkit.Must(os.Open(filepath.Join(testkit.Dir(t, "rimworld"), "labels.csv")))
	defer func() { _ = f.Close() }()
	rows := testkit.Must(csv.NewReader(f).ReadAll())
	origin, kinds, wrong := origins(t), tallies{}, map[string]int{}
	var recs []record
	at, file := 0, ""
	for _, row := range rows[1:] {
		if row[0] != file {
			at, file = 0, row[0]
			recs = records(t, filepath.Join(testkit.Dir(t, "rimworld"), file))
		}
		line := testkit.Must(strconv.Atoi(row[1]))
		for at < len(recs)-1 && recs[at].EndLine < line {
			at++
		}
		rec := &recs[at]
		if rec.Disposition == row[5] || rec.Disposition == row[6] {
			kinds.add(origin(rec.Rule), rec.Disposition)
			continue
		}
		kinds.add(origin(rec.Rule), rec.Disposition+", not "+row[5])
		wrong[fmt.Sprintf("%s: %s by %s, labeled %s", row[4], rec.Disposition, rec.Rule, row[5])]++
	}
	t.Log(kinds)
	require.Empty(t, wrong)
}
