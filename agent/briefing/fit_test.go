package briefing

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// made returns a fragment, rendered, of a number of lines of one token each behind a heading of two.
func made(id string, lines int, change func(*Fragment)) Fragment {
	f := Fragment{Source: "x", SourceID: id}
	for i := range lines {
		f.Lines = append(f.Lines, Line{Text: fmt.Sprintf("%s%d", id, i)})
	}
	if change != nil {
		change(&f)
	}
	render(&f, &Tokens{})
	return f
}

func scored(relevance float64) func(*Fragment) {
	return func(f *Fragment) { f.Scored, f.Relevance = true, relevance }
}

func required(short ...Line) func(*Fragment) {
	return func(f *Fragment) { f.Required, f.Short = true, short }
}

// outline is what is left of fragments: ids, and their lines but for the heading.
func outline(fs []Fragment) string {
	var parts []string
	for _, f := range fs {
		lines := strings.Split(strings.TrimSuffix(f.Content, "\n"), "\n")
		parts = append(parts, strings.Join(append([]string{f.SourceID}, lines[1:]...), " "))
	}
	return strings.Join(parts, ", ")
}

func TestFit(t *testing.T) {
	low, high := made("l", 2, scored(0.2)), made("h", 2, scored(0.9))
	first, second, third := made("a", 2, nil), made("b", 2, nil), made("c", 2, nil)
	must := made("m", 8, required(Line{Text: "in"}))
	long := made("o", 8, required())
	wordy := made("w", 1, required(Line{Text: "this takes more"}))
	require.Equal(t, []int{4, 10}, []int{low.TokenEstimate, must.TokenEstimate})
	for _, c := range []struct {
		name  string
		fs    []Fragment
		limit int
		want  string
	}{
		{"no limit", []Fragment{low, first}, unbounded, "l l0 l1, a a0 a1"},
		{"fits", []Fragment{low, first}, 8, "l l0 l1, a a0 a1"},
		{"nothing", nil, 1, ""},
		{"least relevant first", []Fragment{low, first, high}, 8, "a a0 a1, h h0 h1"},
		{"not scored from the last", []Fragment{first, high, second, third}, 8, "a a0 a1, b b0 b1"},
		{"a line of it", []Fragment{first, made("d", 9, nil)}, 11, "a a0 a1, d d0 (8 more lines)"},
		{"all lines but one", []Fragment{made("d", 1, func(f *Fragment) {
			f.Lines = append(f.Lines, Line{Text: strings.Repeat("long ", 10)})
		})}, 8, "d d0 (1 more line)"},
		{
			"its short form",
			[]Fragment{first, made("d", 9, func(f *Fragment) { f.Short = []Line{{Text: "s"}} })},
			8,
			"a a0 a1, d s",
		},
		{"no line of it", []Fragment{first, made("d", 9, nil)}, 8, "a a0 a1"},
		{"what is less comes not instead", []Fragment{made("d", 9, nil), made("e", 0, nil)}, 6, ""},
		{"required, late", []Fragment{first, second, must}, 14, "a a0 a1, m m0 m1 m2 m3 m4 m5 m6 m7"},
		{"required, in short", []Fragment{first, second, must}, 9, "a a0 a1, m in"},
		{"required, without short", []Fragment{first, long}, 8, "o o0 o1 (6 more lines)"},
		{"required, its heading", []Fragment{long}, 6, "o (8 more lines)"},
		{"required, in order", []Fragment{must, long}, 17, "m m0 m1 m2 m3 m4 m5 m6 m7, o o0 (7 more lines)"},
		{"required, short that is longer", []Fragment{first, wordy}, 4, "w w0"},
		{"required, too much", []Fragment{first, must, long}, 8, "m in, o (8 more lines)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			kept, cut := fit(c.fs, c.limit, &Tokens{})
			require.Equal(t, c.want, outline(kept))
			require.Equal(t, c.want != outline(c.fs), cut)
		})
	}
}

// TestFitAgain: lines cut in two steps are counted once.
func TestFitAgain(t *testing.T) {
	kept, _ := fit([]Fragment{made("a", 20, nil)}, 12, &Tokens{})
	kept, cut := fit(kept, 8, &Tokens{})
	require.True(t, cut)
	require.Equal(t, "a a0 a1 (18 more lines)", outline(kept))
	one := made("w", 1, required(Line{Text: "in"}))
	require.Equal(t, one, shortened(&one, 0, &Tokens{}), "a short form that is no shorter")
}

// TestLimits holds the length of a line, the default budget, and the part of an id that names an item.
func TestLimits(t *testing.T) {
	line := strings.Repeat("a", 1000)
	f := Fragment{Source: "x", Title: line, Lines: []Line{{Text: line}, {Text: line + "a"}}}
	render(&f, &Tokens{})
	require.Equal(t, 2, strings.Count(f.Content, line+"\n"))
	require.Equal(t, 305, utf8.RuneCountInString(heading(&Fragment{Source: "x", SourceID: line}))+1, "with a line feed")
	require.Equal(t, budget{MaxContextTokens: 4000, MaxQueries: 20}, minimalDefault().Budget)
	require.Equal(t, []string{"a", "@1", "a@b"}, []string{itemOf("a@1"), itemOf("@1"), itemOf("a@b@2")})
}

func TestStructure(t *testing.T) {
	signature := func(source string, s string, more func(*Fragment)) func(*Fragment) {
		return func(f *Fragment) {
			f.Source, f.Refs = source, map[string]string{"signature": s}
			if more != nil {
				more(f)
			}
		}
	}
	child := func(of string) func(*Fragment) { return func(f *Fragment) { f.Parent = of } }
	seq := func(n uint64) func(*Fragment) { return func(f *Fragment) { f.Seq = n } }
	lines := func(s ...string) func(*Fragment) {
		return func(f *Fragment) {
			for _, l := range s {
				f.Lines = append(f.Lines, Line{Text: l, Data: true})
			}
		}
	}
	for _, c := range []struct {
		name     string
		strategy string
		fs       []Fragment
		want     string
	}{
		{"a signature within a source", Hierarchical, []Fragment{
			made("a", 1, signature(SourceLedger, "s", nil)), made("b", 1, signature(SourceLedger, "s", nil)),
			made("c", 1, signature(SourceSearch, "s", nil)), made("d", 1, signature(SourceLedger, "t", nil)),
		}, "a a0, c c0, d d0"},
		{"details share a signature", Hierarchical, []Fragment{
			made("a", 1, signature(SourceAttention, "s", nil)), made("b", 1, signature(SourceAttention, "s", child("a"))),
		}, "a a0, b b0"},
		{"required ones too", Hierarchical, []Fragment{
			made("a", 1, signature(SourceAttention, "s", required())), made("b", 1, signature(SourceAttention, "s", required())),
			made("c", 1, signature(SourceAttention, "s", nil)),
		}, "a a0, b b0"},
		{"what would be cut last stays", Hierarchical, []Fragment{
			made("a", 1, signature(SourceLedger, "s", scored(0.3))), made("x", 1, nil),
			made("b", 1, signature(SourceLedger, "s", scored(0.5))), made("c", 1, signature(SourceLedger, "s", scored(0.4))),
		}, "b b0, x x0"},
		{"content of one id, found twice", Hierarchical, []Fragment{
			made("a", 0, lines("same")), made("a", 0, func(f *Fragment) {
				lines("same")(f)
				f.Source, f.Title = SourceSearch, "t"
			}),
			made("a", 0, lines("other")),
		}, "a > same, a > other"},
		{"content with one title", Hierarchical, []Fragment{
			made("a", 0, func(f *Fragment) { lines("same")(f); f.Title = "t" }),
			made("b", 0, func(f *Fragment) { lines("same")(f); f.Title = "t" }),
			made("c", 0, func(f *Fragment) { lines("same")(f); f.Title = "u" }),
			made("d", 0, func(f *Fragment) { f.Title = "t" }), made("e", 0, func(f *Fragment) { f.Title = "t" }),
		}, "a > same, c > same, d, e"},
		{"data is no own line", Hierarchical, []Fragment{made("a", 1, nil), made("a", 0, lines("a0"))}, "a a0, a > a0"},
		{"chronological", Chronological, []Fragment{
			made("c", 0, seq(3)), made("a", 0, seq(1)), made("x", 0, nil), made("b", 0, seq(2)), made("y", 0, nil),
		}, "x, y, a, b, c"},
		{"relevance", ByRelevance, []Fragment{
			made("b", 0, scored(0.2)), made("x", 0, nil), made("a", 0, scored(0.9)), made("c", 0, scored(0.2)),
			made("y", 0, required()),
		}, "x, y, a, b, c"},
		{"hierarchical", Hierarchical, []Fragment{
			made("a2", 0, child("a1")), made("a", 0, nil), made("b", 0, nil), made("b1", 0, child("b")),
			made("a1", 0, child("a")), made("o", 0, child("gone")), made("s", 0, child("s")),
		}, "a, a1, a2, b, b1, o, s"},
		{"details in a circle", Hierarchical, []Fragment{
			made("a", 0, child("b")), made("b", 0, child("a")), made("c", 0, nil),
		}, "c, a, b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			kept, cut := structure(c.fs, &structuring{Strategy: c.strategy}, unbounded, &Tokens{})
			require.False(t, cut)
			require.Equal(t, c.want, outline(kept))
		})
	}
	t.Run("cut before it is ordered", func(t *testing.T) {
		fs := []Fragment{made("c", 2, seq(3)), made("b", 2, seq(2)), made("a", 2, seq(1))}
		for _, c := range []struct{ own, limit int }{{8, unbounded}, {0, 8}, {8, 100}, {100, 8}} {
			kept, cut := structure(fs, &structuring{Strategy: Chronological, MaxTokens: c.own}, c.limit, &Tokens{})
			require.True(t, cut)
			require.Equal(t, "b b0 b1, c c0 c1", outline(kept))
		}
	})
}

// TestFitProperties: never over the limit, in order, nothing required is lost, nothing goes before what is worth less.
func TestFitProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tokens := &Tokens{"default": rapid.SampledFrom([]float64{0, 1, 2.5}).Draw(t, "chars")}
		var fs []Fragment
		for i := range rapid.IntRange(0, 12).Draw(t, "fragments") {
			f := Fragment{
				Source: SourceLedger, SourceID: fmt.Sprint(i), Title: fmt.Sprint("fragment ", i),
				Scored:    rapid.Bool().Draw(t, "scored"),
				Relevance: float64(rapid.IntRange(0, 4).Draw(t, "relevance")) / 4,
				Required:  rapid.IntRange(0, 5).Draw(t, "required") == 0,
			}
			for range rapid.IntRange(0, 6).Draw(t, "lines") {
				l := Line{Text: rapid.StringN(0, 20, -1).Draw(t, "line"), Data: rapid.Bool().Draw(t, "data")}
				f.Lines = append(f.Lines, l)
			}
			if rapid.Bool().Draw(t, "has short") {
				f.Short = []Line{{Text: "short"}}
			}
			render(&f, tokens)
			fs = append(fs, f)
		}
		limit := rapid.IntRange(0, 150).Draw(t, "limit")
		before, least := outline(fs), 0
		shortest, _ := fit(fs, 0, tokens)
		for _, f := range shortest {
			require.True(t, f.Required)
			least += f.TokenEstimate
		}
		for _, strategy := range []string{"", Chronological, ByRelevance, Hierarchical} {
			kept, cut := fit(fs, limit, tokens)
			if strategy != "" {
				kept, cut = structure(fs, &structuring{Strategy: strategy}, limit, tokens)
			}
			require.Equal(t, before, outline(fs), "changes nothing that it was given")
			total, stay := 0, map[string]Fragment{}
			for i, f := range kept {
				again := f
				render(&again, tokens)
				require.Equal(t, again, f)
				total += f.TokenEstimate
				stay[f.SourceID] = f
				require.True(t, strategy != "" || i == 0 || len(kept[i-1].SourceID) < len(f.SourceID) ||
					kept[i-1].SourceID < f.SourceID)
			}
			require.LessOrEqual(t, total, max(limit, least), "%d of %d", total, limit)
			if !cut {
				require.Len(t, kept, len(fs))
			}
			for i := range fs {
				_, ok := stay[fs[i].SourceID]
				require.True(t, ok || !fs[i].Required)
				for j := range fs {
					if s, there := stay[fs[j].SourceID]; !ok && there && s.TokenEstimate > 0 {
						require.LessOrEqual(t, precedence(&fs[j], &fs[i]), 0, "%d went, %d stayed", i, j)
					}
				}
			}
		}
	})
}
