package signature

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// labeledLines returns the texts of a file of labeled lines, and the true event of each.
func labeledLines(tb testing.TB, file string) (texts, events []string) {
	data, err := os.ReadFile(file)
	require.NoError(tb, err)
	for row := range strings.Lines(string(data)) {
		fields := strings.SplitN(strings.TrimSuffix(row, "\n"), "\t", 3)
		require.Len(tb, fields, 3)
		texts, events = append(texts, fields[2]), append(events, fields[1])
	}
	return texts, events
}

// groupsRenamed is the share of lines whose group may have another name in the end than when they came.
const groupsRenamed = 0.01

// TestGroupsHold counts the lines whose group, as it was given when the line came, has another name in the end, and
// those whose group joined another one, or was joined by one, after they came.
func TestGroupsHold(t *testing.T) {
	n := newDefault(t)
	for _, set := range []string{"selflabelled", "loghub"} {
		files, err := filepath.Glob(filepath.Join(testkit.Dir(t, set), "*.tsv"))
		require.NoError(t, err)
		var renamed, merged, total int
		var average float64
		for _, file := range files {
			texts, _ := labeledLines(t, file)
			g := newGrouper(t, GrouperConfig{})
			given := make([]Signature, len(texts))
			alone := map[Signature]int{} // lines given this name while their group was joined with no other
			touched := 0
			for i, text := range texts {
				template := n.AppendTemplate(nil, text, "")
				s := Of(template)
				given[i] = g.GroupAt(g.Learn(s, template), s)
				for _, m := range g.Merges(nil) {
					touched += alone[m.From] + alone[m.Into]
					alone[m.From], alone[m.Into] = 0, 0
				}
				alone[given[i]]++
			}
			changed := 0
			for _, s := range given {
				if g.Group(s) != s {
					changed++
				}
			}
			renamed, merged, total = renamed+changed, merged+touched, total+len(texts)
			share := float64(changed) / float64(len(texts))
			average += share / float64(len(files))
			t.Logf("%-18s %5d lines: %.2f%% renamed, %.2f%% in groups that joined", filepath.Base(file), len(texts), 100*share,
				100*float64(touched)/float64(len(texts)))
		}
		t.Logf("%s: of %d lines %.2f%% renamed (average of files %.2f%%), %.2f%% in groups that joined", set, total,
			100*float64(renamed)/float64(total), 100*average, 100*float64(merged)/float64(total))
		require.LessOrEqual(t, float64(renamed)/float64(total), groupsRenamed, set)
	}
}
