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
