package briefing

import (
	"cmp"
	"math"
	"slices"
)

// unbounded is a limit in tokens that no fragments reach.
const unbounded = math.MaxInt32

func total(fs []Fragment) (tokens int) {
	for i := range fs {
		tokens += fs[i].TokenEstimate
	}
	return tokens
}

// fit cuts fragments, each rendered, to a limit in tokens, and reports whether it had to. It keeps their order. First
// come required fragments: all in short, which may exceed the limit; then, one after another, whole if they fit. Then
// come fragments without a score, then the others by relevance, until one does not fit: its first lines stay, and later
// fragments go.
func fit(fs []Fragment, limit int, t *Tokens) (kept []Fragment, cut bool) {
	if total(fs) <= limit {
		return fs, false
	}
	order, short := make([]int, len(fs)), make([]int, len(fs)) // tokens of required fragments in short
	for i := range fs {
		if order[i] = i; fs[i].Required {
			short[i] = shortened(&fs[i], 0, t).TokenEstimate
			limit -= short[i]
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return precedence(&fs[a], &fs[b]) })
	room, taken := max(limit, 0), make([]*Fragment, len(fs))
	for _, i := range order {
		f := fs[i]
		room += short[i]
		whole := f.TokenEstimate <= room
		if !whole {
			f, cut = shortened(&f, room, t), true
		}
		if whole || f.Required || len(f.Lines) > 0 && f.TokenEstimate <= room {
			taken[i] = &f
			room -= f.TokenEstimate
		}
		if !whole && !f.Required {
			break
		}
	}
	for _, f := range taken {
		if f != nil {
			kept = append(kept, *f)
		}
	}
	return kept, cut
}

// precedence orders fragments for cuts, the last cut first: required ones, those without a score, then by relevance.
func precedence(a, b *Fragment) int {
	worth := func(f *Fragment) float64 {
		if f.Required {
			return math.Inf(1)
		}
		return f.relevance()
	}
	return cmp.Compare(worth(b), worth(a))
}

// relevance is more than any score for a fragment that is not scored.
func (f *Fragment) relevance() float64 {
	if !f.Scored {
		return math.MaxFloat64
	}
	return f.Relevance
}

// shortened returns a fragment with its short lines, or with as many of its first lines as fit. The result exceeds the
// limit only if the fragment cannot be shorter.
func shortened(f *Fragment, limit int, t *Tokens) Fragment {
	s := *f
	s.Lines, s.more = f.Short, 0
	if len(f.Short) == 0 {
		s.more = f.more + len(f.Lines)
	}
	render(&s, t)
	if len(f.Short) == 0 {
		room := limit - s.TokenEstimate
		for n := range f.Lines {
			if room -= t.Estimate(f.Lines[n]); room < 0 {
				break
			}
			s.Lines = f.Lines[: n+1 : n+1]
			s.more--
		}
		render(&s, t)
	}
	if s.TokenEstimate >= f.TokenEstimate {
		return *f
	}
	return s
}
