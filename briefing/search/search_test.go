package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/briefing"
)

// atStart are the goroutines before any test: what linking this package starts.
var atStart string

func TestMain(m *testing.M) {
	atStart = goroutines()
	os.Exit(m.Run())
}

func goroutines() string {
	var b strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&b, 2) // to memory
	return b.String()
}

func newIndex(t testing.TB, cfg Config) *Index {
	t.Helper()
	x, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	return x
}

func message(id, text string) Document {
	return Document{Group: "message", ID: id, Text: text, Fragment: briefing.Fragment{SourceID: id, Title: text}}
}

func ids(found briefing.Found) []string {
	var out []string
	for _, f := range found.Fragments {
		out = append(out, f.SourceID)
	}
	return out
}

func find(t *testing.T, x *Index, group, query string, limit int, threshold float64) briefing.Found {
	t.Helper()
	found, err := x.Searcher(group).Search(t.Context(), nil, query, limit, threshold)
	require.NoError(t, err)
	return found
}

func TestNothingRunsBefore(t *testing.T) {
	require.NotContains(t, atStart, "blevesearch")
	require.Contains(t, atStart, "TestMain")
}

// TestClose requires that nothing runs after Close: a bubble does not end before its goroutines do.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, err := New(Config{})
		require.NoError(t, err)
		for i := range 40 {
			require.NoError(t, x.Put(message(fmt.Sprint(i), "a line of the log")))
			find(t, x, "message", "a log", 5, 0)
		}
		require.Contains(t, goroutines(), "blevesearch")
		require.NoError(t, x.Close())
		synctest.Wait()
		require.NotContains(t, goroutines(), "blevesearch")
		require.NoError(t, x.Close())
		require.ErrorIs(t, x.Put(message("1", "x")), errClosed)
		_, err = x.Searcher("message").Search(t.Context(), nil, "log", 5, 0)
		require.ErrorIs(t, err, errClosed)
	})
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "",
		"Exception ticking Widget123":      "exception ticking widget",
		"System.NullReferenceException: x": "system null reference exception nullreferenceexception",
		"HTTPServer getURL op-7a IDs":      "http server httpserver get url geturl op ds ids",
		"[0x00012] in <24d2f1>:0":          "in",
		"Ошибка МодаРечки 日本 テスト 오류": "ошибка мода речки модаречки 日 本 テ ス ト 오류",
		"a \xff\xfe b \x00 cd":                   "cd",
		strings.Repeat("x", 65) + " yy":          "yy",
		"под_score camelCase2Digits snake_case ": "под score camel case camelcase digits snake case",
	} {
		require.Equal(t, want, strings.Join(split(text), " "), text)
	}
}

func TestSearch(t *testing.T) {
	x := newIndex(t, Config{})
	require.NoError(t, x.Put(
		message("1", "Exception ticking Ferry12 (at 3): NullReferenceException"),
		message("2", "Exception ticking Crane7 (at 9): InvalidOperationException"),
		message("3", "Loaded 12 sounds"),
		message("4", "Exception ticking Crane9 (at 1): InvalidOperationException"),
		Document{Group: "file", ID: "1", Text: "Ferry", Fragment: briefing.Fragment{
			SourceID: "ferry.xml#1-9", Required: true, Refs: map[string]string{"path": "ferry.xml"},
			Lines: []briefing.Line{{Text: "Ferry", Data: true}},
		}},
	))
	found := find(t, x, "message", "exception ticking a crane", 9, 0)
	require.Equal(t, []string{"4", "2", "1"}, ids(found), "of hits alike the newer first")
	require.False(t, found.More)
	require.Greater(t, found.Fragments[0].Relevance, 0.5)
	require.Less(t, found.Fragments[2].Relevance, found.Fragments[1].Relevance)
	for _, f := range found.Fragments {
		require.Equal(t, briefing.SourceSearch, f.Source)
		require.True(t, f.Scored)
	}
	found = find(t, x, "message", "exception ticking a crane", 1, 0)
	require.Equal(t, []string{"4"}, ids(found))
	require.True(t, found.More)
	require.Equal(t, []string{"4", "2"}, ids(find(t, x, "message", "exception ticking a crane", 9, 0.6)))
	for _, nothing := range []string{"", "12 7", "zebra", "\x00"} {
		require.Empty(t, find(t, x, "message", nothing, 9, 0).Fragments, nothing)
	}
	require.Empty(t, find(t, x, "message", "ticking", 0, 0).Fragments)
	require.Empty(t, find(t, x, "template", "ticking", 9, 0).Fragments)

	found = find(t, x, "file", "Ferry", 9, 0.9)
	require.Equal(t, []string{"ferry.xml#1-9"}, ids(found))
	require.False(t, found.Fragments[0].Required)
	found.Fragments[0].Lines[0].Text = "changed" // it belongs to the caller
	found.Fragments[0].Refs["path"] = "changed"
	found = find(t, x, "file", "Ferry", 9, 0.9)
	require.Equal(t, "Ferry", found.Fragments[0].Lines[0].Text)
	require.Equal(t, "ferry.xml", found.Fragments[0].Refs["path"])

	require.NoError(t, x.Put(message("3", "Crane")))
	require.Equal(t, []string{"3"}, ids(find(t, x, "message", "Crane", 1, 0)), "replaced")
	require.Empty(t, find(t, x, "message", "sounds", 9, 0).Fragments)
}

// TestKnown leaves out what attention has found already.
func TestKnown(t *testing.T) {
	x := newIndex(t, Config{})
	for _, id := range []string{"1", "2", "3"} {
		d := message(id, "Exception ticking Ferry")
		d.Fragment.Refs = map[string]string{"signature": "s" + id}
		d.Fragment.Lines = []briefing.Line{
			{Text: "Exception ticking Ferry " + id, Data: true}, {Text: "at Ferry.Tick ()", Data: true},
		}
		require.NoError(t, x.Put(d))
	}
	in := &briefing.Input{Found: []briefing.Fragment{
		{Source: briefing.SourceAttention, Refs: map[string]string{"signature": "s2"}},
		{Source: briefing.SourceAttention, Lines: []briefing.Line{
			{Text: "Exception ticking Ferry 1"},
			{Text: "Exception ticking Ferry 3", Data: true},
			{Text: "at Ferry.Tick ()", Data: true},
		}},
		{Source: briefing.SourceLedger, Refs: map[string]string{"signature": "s1"}},
	}}
	found, err := x.Searcher("message").Search(t.Context(), in, "ferry", 5, 0)
	require.NoError(t, err)
	require.Equal(t, []string{"1"}, ids(found))
}

func TestCancelled(t *testing.T) {
	x := newIndex(t, Config{})
	require.NoError(t, x.Put(message("1", "a ferry")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := x.Searcher("message").Search(ctx, nil, "ferry", 5, 0)
	require.ErrorIs(t, err, context.Canceled)
}

func TestConfig(t *testing.T) {
	for _, cfg := range []Config{{Documents: -1}, {Bytes: -1}, {Text: -1}} {
		_, err := New(cfg)
		require.ErrorContains(t, err, "negative")
	}
}

func TestBounds(t *testing.T) {
	x := newIndex(t, Config{Documents: 10, Text: 20})
	for i := range 25 {
		require.NoError(t, x.Put(message(fmt.Sprint(i), "a ferry on the river "+strings.Repeat("x", i))))
	}
	require.Equal(t, Stats{Documents: 10, Bytes: x.stats.Bytes, Evicted: 15, Cut: 25 + 24*25/2}, x.Stats())
	require.NoError(t, x.Put(message("15", "a ferry on the river")), "the same: stays, as the newest")
	require.NoError(t, x.Put(message("new", "a ferry")))
	require.Equal(t, []string{"new", "15", "24", "23", "22", "21", "20", "19", "18", "17"},
		ids(find(t, x, "message", "ferry", 99, 0)))

	x = newIndex(t, Config{Bytes: 5000})
	for i := range 100 {
		require.NoError(t, x.Put(message(fmt.Sprint(i), "a ferry")))
		require.LessOrEqual(t, x.Stats().Bytes, 5000)
	}
	require.Equal(t, uint64(100), x.Stats().Evicted+uint64(x.Stats().Documents))
	require.NoError(t, x.Put(message("large", strings.Repeat("wide river ", 1000))))
	require.Equal(t, 1, x.Stats().Documents, "one is always kept")

	x = newIndex(t, Config{Documents: 10})
	for i := range 1000 { // without a search between
		require.NoError(t, x.Put(message(fmt.Sprint(i), "a ferry")))
		require.LessOrEqual(t, len(x.batch.IndexOps), 20)
		if i == 500 {
			require.Len(t, find(t, x, "message", "ferry", 99, 0).Fragments, 10)
		}
	}
	require.Len(t, find(t, x, "message", "ferry", 99, 0).Fragments, 10)
}

// naive is BM25 as it is written down, over texts by id.
func naive(texts map[string]string, query string) map[string]float64 {
	const k1, b = 1.2, 0.75
	count, lengths, all := map[string]map[string]int{}, map[string]float64{}, 0.0
	for id, text := range texts {
		for _, w := range split(text) {
			if count[w] == nil {
				count[w] = map[string]int{}
			}
			count[w][id]++
			lengths[id]++
			all++
		}
	}
	n := float64(len(texts))
	average := math.Ceil(all / n)
	scores, perfect := map[string]float64{}, 0.0
	for _, w := range distinct(split(query)) {
		df := float64(len(count[w]))
		idf := math.Log(1 + (n-df+0.5)/(df+0.5))
		perfect += idf * k1 / (1 + k1)
		for id, c := range count[w] {
			tf := math.Sqrt(float64(c))
			scores[id] += idf * tf * k1 / (tf + k1*(1-b+b*lengths[id]/average))
		}
	}
	for id := range scores {
		scores[id] = min(1, scores[id]/perfect)
	}
	return scores
}

// TestOracle compares searches with the formula, over random histories of what was put, replaced and evicted, in
// batches of all sizes.
func TestOracle(t *testing.T) {
	words := []string{"ferry", "river", "crane", "dock", "boat", "sail", "rope", "load", "mast", "tide", "port", "wave"}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		sentence := func(most int) string {
			var b strings.Builder
			for range 1 + r.IntN(most) {
				b.WriteString(words[min(r.IntN(len(words)), r.IntN(len(words)))] + " ")
			}
			return b.String()
		}
		x := newIndex(t, Config{Documents: 60})
		texts, order := map[string]string{}, []string{}
		for range 60 {
			for range r.IntN(30) {
				id, text := fmt.Sprint(r.IntN(100)), sentence(12)
				require.NoError(t, x.Put(message(id, text)))
				order = append(slices.DeleteFunc(order, func(s string) bool { return s == id }), id)
				if texts[id] = text; len(order) > 60 {
					delete(texts, order[0])
					order = order[1:]
				}
			}
			query := sentence(6)
			want := naive(texts, query)
			newest := map[string]int{}
			for i, id := range order {
				newest[id] = i
			}
			found := find(t, x, "message", query, 1000, 0)
			require.Len(t, found.Fragments, len(want))
			for i, f := range found.Fragments {
				require.InDelta(t, want[f.SourceID], f.Relevance, 1e-6)
				if i > 0 && f.Relevance < 1 {
					last := found.Fragments[i-1]
					require.LessOrEqual(t, cmp.Or(cmp.Compare(f.Relevance, last.Relevance),
						cmp.Compare(newest[f.SourceID], newest[last.SourceID])), 0)
				}
			}
			require.LessOrEqual(t, len(x.segments), smallSegments+60/smallSegment+1)
		}
	}
}

// TestSameHistory requires the same answer of the same calls.
func TestSameHistory(t *testing.T) {
	var answers [2]string
	for i := range answers {
		x := newIndex(t, Config{Documents: 300})
		for n := range 1000 {
			require.NoError(t, x.Put(message(fmt.Sprint(n%400), fmt.Sprintf("ferry %s dock", strings.Repeat("mast ", n%7)))))
			if n%9 == 0 {
				answers[i] += fmt.Sprint(find(t, x, "message", "a mast of the ferry", 20, 0.1))
			}
		}
	}
	require.Equal(t, answers[0], answers[1])
}

func TestConcurrent(t *testing.T) {
	x := newIndex(t, Config{Documents: 100})
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 50 {
				_ = x.Put(message(fmt.Sprint(g, i%30), "a ferry on the river"))
				_, _ = x.Searcher("message").Search(t.Context(), nil, "ferry", 5, 0)
				x.Stats()
			}
		})
	}
	all.Wait()
	require.Len(t, find(t, x, "message", "ferry", 200, 0).Fragments, 100)
}

// lines are messages such as games log, n of them different.
func lines(n int) []Document {
	r := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 3000)
	for i := range words {
		for range 4 + r.IntN(9) {
			words[i] += string(rune('a' + r.IntN(26)))
		}
	}
	out := make([]Document, n)
	for i := range out {
		var b strings.Builder
		b.WriteString("Exception in ")
		for range 5 + r.IntN(20) {
			b.WriteString(words[int(float64(len(words))*math.Pow(r.Float64(), 3))] + " ")
		}
		out[i] = message(fmt.Sprint(i), b.String())
	}
	return out
}

func BenchmarkPut(b *testing.B) {
	docs := lines(4096)
	for _, size := range []int{1, 256} {
		b.Run(fmt.Sprintf("before each search=%d", size), func(b *testing.B) {
			x := newIndex(b, Config{})
			n := 0
			for b.Loop() {
				for range size {
					d := docs[n%len(docs)]
					d.ID = fmt.Sprint(n)
					n++
					require.NoError(b, x.Put(d))
				}
				require.NoError(b, x.flush())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/document")
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	docs := lines(4096)
	for _, size := range []int{40, 4096} {
		b.Run(fmt.Sprintf("put before each search=%d", size), func(b *testing.B) {
			x := newIndex(b, Config{})
			for some := range slices.Chunk(docs, size) {
				require.NoError(b, x.Put(some...))
				require.NoError(b, x.flush())
			}
			s, n := x.Searcher("message"), 0
			for b.Loop() {
				found, err := s.Search(b.Context(), nil, docs[n%len(docs)].Text, 5, 0.2)
				if n++; err != nil || len(found.Fragments) == 0 {
					b.Fatal("nothing found", err)
				}
			}
		})
	}
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{"", "NullReferenceException 日本\xff", "ǅungla İ ẞ", strings.Repeat("aB", 99)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, w := range split(text) {
			if w == "" || len(w) > 3*longest || strings.ContainsFunc(w, func(r rune) bool {
				return !unicode.IsLetter(r) && !unicode.IsMark(r) // İ becomes i with a mark
			}) {
				t.Fatalf("%q of %q", w, text)
			}
		}
	})
}
