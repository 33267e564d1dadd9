package live

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// folded shows pages and returns what is printed. A page is words: the first letter of each is its signature, an upper
// case one blocks, and "call" is an operation. The clock goes a second on with each page.
func folded(t *testing.T, pages ...string) string {
	t.Helper()
	var out strings.Builder
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	p := newProgram(nil, &out, io.Discard)
	p.Now = func() time.Time { return now }
	f := &fold{p: p}
	seq := uint64(0)
	for _, words := range pages {
		page := bridge.Page{Epoch: "e", TimedOut: words == ""}
		for word := range strings.FieldsSeq(words) {
			seq++
			e := bridge.Entry{Signature: signature.ID(word[0])}
			e.Seq, e.Kind, e.Message = seq, event.KindLog, word
			switch {
			case word == "call":
				e.Kind, e.Signature, e.Message, e.Source = event.KindOperation, 0, "", "t"
			case word[0] < 'a':
				e.Disposition, e.Signature = event.Blocking, signature.ID(strings.ToLower(word)[0])
			}
			page.Entries = append(page.Entries, e)
		}
		require.NoError(t, f.show(&page))
		now = now.Add(time.Second)
	}
	require.NoError(t, f.end())
	var lines []string
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "; ")
}

// TestFold: what says the same in a row is one line, what is more urgent never, and the counts add up.
func TestFold(t *testing.T) {
	storm := strings.Repeat("a1 ", 412)
	for _, c := range []struct {
		name  string
		pages []string
		lines string
	}{
		{"one of each", []string{"a1 b1 a2"}, "1 ignore a1; 2 ignore b1; 3 ignore a2"},
		{"two are two lines", []string{"a1 a2", "b1"}, "1 ignore a1; 2 ignore a2; 3 ignore b1"},
		{
			"a storm",
			[]string{"b1 " + storm, storm, "b2"},
			"1 ignore b1; 2 ignore a1; 825 … repeated 823 times; 826 ignore b2",
		},
		{
			"more urgent, though it reads the same",
			[]string{"a1 a2 a3 A4 A5 A6 a7"},
			"1 ignore a1; 3 … repeated 2 times; 4 blocking A4; 6 … repeated 2 times; 7 ignore a7",
		},
		{
			"the run of before goes on",
			[]string{"a1 a2 a3", "a4", "", "a5", "a6 a7"},
			"1 ignore a1; 4 … repeated 3 times; 7 … repeated 3 times",
		},
		{
			"calls",
			[]string{"call call call a1 call"},
			"1 ignore none t; 3 … repeated 2 times; 4 ignore a1; 5 ignore none t",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.lines, folded(t, c.pages...))
		})
	}
	var pages []string
	for i := range 25 {
		pages = append(pages, fmt.Sprintf("a%d a%d", i, i))
	}
	require.Equal(t, "1 ignore a0; 22 … repeated 21 times; 42 … repeated 20 times; 50 … repeated 8 times",
		folded(t, pages...), "repeats that go on are shown within a bound")
}
