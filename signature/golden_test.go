package signature

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// goldenFile holds the ids that must never change: one entry per line, with
// tabs between id, check, message, stack and template, the last three quoted
// as Go strings. It doubles as the test vectors of the canonical form, and is
// specified in docs/signatures.md. Lines that begin with '#' are comments.
//
// A change of any id is a new Version: raise it, run
//
//	go test ./signature -run Golden -update
//
// and read the difference.
var goldenFile = filepath.Join("testdata", "ids.tsv")

// goldenEntries returns what the golden file is made from: all tables, each
// hostile text as a message, and the boundaries.
func goldenEntries() [][2]string {
	var entries [][2]string
	for _, c := range headCases {
		entries = append(entries, [2]string{c.text, ""})
	}
	for _, c := range frameCases {
		entries = append(entries, [2]string{"head", c.line})
	}
	for _, c := range entryCases {
		entries = append(entries, [2]string{c.message, c.stack})
	}
	for _, s := range hostile {
		entries = append(entries, [2]string{s, ""})
	}
	entries = append(entries, goldenTexts...)
	entries = append(entries, boundaryTexts()...)
	seen := map[[2]string]bool{}
	return slices.DeleteFunc(entries, func(e [2]string) bool {
		again := seen[e]
		seen[e] = true
		return again
	})
}

func TestGoldenIDs(t *testing.T) {
	n := newDefault(t)
	if testkit.Updating() {
		var b bytes.Buffer
		fmt.Fprintf(&b, "# Version %d: id, check, message, stack, canonical template.\n", Version)
		for _, e := range goldenEntries() {
			tpl := n.AppendTemplate(nil, e[0], e[1])
			s := Of(tpl)
			fmt.Fprintf(&b, "%v\t%08x\t%s\t%s\t%s\n", s.ID, s.Check, strconv.QuoteToASCII(e[0]),
				strconv.QuoteToASCII(e[1]), strconv.QuoteToASCII(string(tpl)))
		}
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(goldenFile, b.Bytes(), 0o644))
	}
	data, err := os.ReadFile(goldenFile)
	require.NoError(t, err)
	lines, entries := bufio.NewScanner(bytes.NewReader(data)), goldenEntries()
	lines.Buffer(nil, len(data)+1)
	i := 0
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			require.Contains(t, line, fmt.Sprintf("Version %d:", Version), "the golden ids are of another version")
			continue
		}
		fields := strings.Split(line, "\t")
		require.Len(t, fields, 5, "line %q", line)
		var text [3]string
		for k := range text {
			text[k], err = strconv.Unquote(fields[2+k])
			require.NoError(t, err, "line %q", line)
		}
		require.Equal(t, entries[i], [2]string{text[0], text[1]}, "entry %d of the golden file; run with -update after adding cases", i)
		i++
		id, err := ParseID(fields[0])
		require.NoError(t, err)
		require.Equal(t, text[2], string(n.AppendTemplate(nil, text[0], text[1])), "template of %s", line)
		got := n.Signature(text[0], text[1])
		require.Equal(t, id, got.ID, "id of %s", line)
		require.Equal(t, fields[1], fmt.Sprintf("%08x", got.Check), "check of %s", line)
	}
	require.NoError(t, lines.Err())
	require.Len(t, entries, i)

	require.GreaterOrEqual(t, len(entries), 2000, "texts with golden ids, all distinct")
}

// TestGoldenLaws tries the laws on every golden entry.
func TestGoldenLaws(t *testing.T) {
	n, r := newDefault(t), newReference(Config{})
	for _, e := range goldenEntries() {
		checkLaws(t, n, r, e[0], e[1])
	}
}

// TestCaptures tries the laws on real logs, line by line, and as entries of
// some lines each.
func TestCaptures(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testkit.Dir(t, "rimworld"), "rw*"))
	require.NoError(t, err)
	n, r := testNormalizer(t)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		lines := strings.Split(string(data), "\n")
		for i := 0; i+8 < len(lines); i += 97 {
			entry := strings.Join(lines[i:i+8], "\n")
			if len(entry) < 2<<10 {
				checkLaws(t, n, r, entry, "")
			}
		}
		var tpl, again []byte
		for _, line := range lines {
			tpl = n.AppendTemplate(tpl[:0], line, "")
			again = n.AppendTemplate(again[:0], string(tpl), "")
			require.True(t, bytes.Equal(tpl, again), "template %q of the template %q of %q", again, tpl, line)
		}
	}
}

// TestGrouping holds the masking, alone and with one setting for all data, to
// what it reached on logs with labeled lines. GA is the share of lines whose
// group is exactly the true one, FGA the F1 over groups.
func TestGrouping(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testkit.Dir(t, "loghub"), "*.tsv"))
	require.NoError(t, err)
	n := newDefault(t)
	var ga, fga float64
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		truth, found := map[string][]int{}, map[string][]int{}
		rows := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		for i, row := range rows {
			fields := strings.SplitN(row, "\t", 3)
			truth[fields[1]] = append(truth[fields[1]], i)
			tpl := string(n.AppendTemplate(nil, fields[2], ""))
			found[tpl] = append(found[tpl], i)
		}
		lines, groups := 0, 0
		for _, want := range truth {
			for _, got := range found {
				if slices.Equal(want, got) {
					lines += len(got)
					groups++
				}
			}
		}
		a, f := float64(lines)/float64(len(rows)), 2*float64(groups)/float64(len(truth)+len(found))
		t.Logf("%-15s GA %.3f FGA %.3f", filepath.Base(file), a, f)
		ga += a / float64(len(files))
		fga += f / float64(len(files))
	}
	t.Logf("%-15s GA %.3f FGA %.3f", "average", ga, fga)
	require.Greater(t, ga, 0.92) // ids alone keep codes and states apart
	require.Greater(t, fga, 0.94)
}
