package scrub

import (
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestHintsMissNothing generates texts that match each form, and looks in them for a hint of it.
func TestHintsMissNothing(t *testing.T) {
	load()
	texts := map[*form][]string{}
	for _, bucket := range hints {
		for _, h := range bucket {
			texts[h.form] = append(texts[h.form], h.text)
		}
	}
	for form, hints := range texts {
		if form.kind == "" {
			continue
		}
		tree := testkit.Must(syntax.Parse(form.expr().String(), syntax.Perl))
		r := rand.New(rand.NewPCG(4, uint64(form.index)))
		for range 300 {
			s := "\n" + generate(r, tree) + "\n"
			alone := finder{s: s}
			if alone.search(form, 0, len(s)); len(alone.spans) == 0 {
				continue
			}
			line := "\n" + strings.ToLower(s) + "\n"
			hinted := slices.ContainsFunc(hints, func(h string) bool { return strings.Contains(line, h) })
			if !hinted {
				t.Errorf("%s %.90s misses %q", form.kind, form.expr(), s)
				break
			}
		}
	}
}

// TestEndsMissNoWord looks for a value after each word, in each of its forms.
func TestEndsMissNoWord(t *testing.T) {
	load()
	for _, row := range rows(wordTable) {
		kind := slices.Index(wordKinds, row[0])
		if kind < 0 || strings.Contains(row[2], ". ") || strings.ContainsAny(row[2], "0123456789") ||
			word(1)<<kind&(labels&^(noneWord|personWord)|leadWord) == 0 {
			continue
		}
		first := title(row[2])
		joined := strings.ReplaceAll(row[2], " ", "_")
		for _, form := range []string{row[2], first, strings.ToUpper(row[2]), joined, key(row[2])} {
			for _, before := range []string{"", "in ", "("} {
				if !is(form, word(1)<<kind) || is(form, noneWord) || part().MatchString(form) {
					continue // I for ı, and parts of computers
				}
				f := finder{s: before + form + ": Quill77"}
				f.scan()
				require.NotEmpty(t, f.spans, f.s)
			}
		}
	}
}

// generate returns a text that tree matches, apart from its conditions.
func generate(r *rand.Rand, tree *syntax.Regexp) string {
	switch tree.Op {
	case syntax.OpLiteral:
		return string(tree.Rune)
	case syntax.OpCharClass:
		ranges := tree.Rune
		for i := len(ranges); i > 2 && ranges[i-2] >= 0x80; i -= 2 {
			ranges = ranges[:i-2]
		}
		if slices.Contains(ranges, ' ') && len(ranges) < 9 {
			return " "
		}
		at := 2 * r.IntN(len(ranges)/2)
		return string(max(' ', ranges[at]+r.Int32N(min(ranges[at+1]-ranges[at], 0x60)+1)))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "y"
	case syntax.OpAlternate:
		return generate(r, tree.Sub[r.IntN(len(tree.Sub))])
	case syntax.OpStar, syntax.OpQuest:
		return strings.Repeat(generate(r, tree.Sub[0]), r.IntN(2))
	case syntax.OpPlus:
		return generate(r, tree.Sub[0])
	case syntax.OpRepeat:
		s := ""
		for range tree.Min + r.IntN(2) {
			s += generate(r, tree.Sub[0])
		}
		return s
	}
	s := ""
	for _, sub := range tree.Sub {
		s += generate(r, sub)
	}
	return s
}

// title returns s with a capital.
func title(s string) string {
	first := utf8.RuneLen(firstRune(s))
	return strings.ToUpper(s[:first]) + s[first:]
}
