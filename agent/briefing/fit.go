package briefing

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// ErrRequired is in the error of a context if its required fragments in short exceed the budget.
var ErrRequired = errors.New("more is required than the budget allows")

// unbounded is a limit in tokens that no fragments reach.
const unbounded = math.MaxInt32

// fit cuts fragments, each rendered, to a limit in tokens, and reports whether it had to. It keeps their order. First
// come required fragments: all in short, which may exceed the limit but not most; then, one after another, whole if
// they fit. Then come fragments without a score, then the others by relevance, until one does not fit: its first lines
// stay, and later fragments go.
func fit(fs []Fragment, limit, most int, t *Tokens) (kept []Fragment, cut bool, err error) {
	if total(fs) <= limit {
		return fs, false, nil
	}
	order := make([]int, len(fs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return precedence(&fs[a], &fs[b]) })

	short, room := map[int]Fragment{}, limit
	for _, i := range order {
		if fs[i].Required {
			short[i] = shortened(&fs[i], 0, t)
			room -= short[i].TokenEstimate
		}
	}
	if takes := limit - room; takes > most {
		return nil, true, fmt.Errorf("%w: %d tokens, of %d", ErrRequired, takes, most)
	}
	room = max(room, 0)
	taken := make(map[int]Fragment, len(fs))
	for _, i := range order {
		f := fs[i]
		room += short[i].TokenEstimate // 0 unless it is required
		whole := f.TokenEstimate <= room
		if !whole {
			f, cut = shortened(&f, room, t), true
		}
		if whole || f.Required || len(f.Lines) > 0 && f.TokenEstimate <= room {
			taken[i] = f
			room -= f.TokenEstimate
		}
		if !whole && !f.Required {
			break
		}
	}
	for _, i := range slices.Sorted(maps.Keys(taken)) {
		kept = append(kept, taken[i])
	}
	return kept, cut, nil
}

// precedence orders fragments for cuts, the last cut first: required ones, those without a score, then by relevance.
func precedence(a, b *Fragment) int {
	if a.Required || b.Required {
		switch {
		case !b.Required:
			return -1
		case !a.Required:
			return 1
		}
		return 0
	}
	return cmp.Compare(b.relevance(), a.relevance())
}

// relevance is more than any score for a fragment that is not scored.
func (f *Fragment) relevance() float64 {
	if !f.Scored {
		return math.Inf(1)
	}
	return f.Relevance
}

// shortened returns a fragment with its short lines, or with as many of its first lines as fit. The result exceeds the
// limit only if the fragment cannot be shorter.
func shortened(f *Fragment, limit int, t *Tokens) Fragment {
	s := *f
	if len(f.Short) > 0 {
		s.Lines, s.more = f.Short, 0
	} else {
		s.Lines, s.more = nil, f.more+len(f.Lines)
	}
	render(&s, t)
	if len(f.Short) == 0 {
		room, n := limit-s.TokenEstimate, 0
		for ; n < len(f.Lines); n++ {
			if room -= t.Estimate(f.Lines[n]); room < 0 {
				break
			}
		}
		if n > 0 {
			s.Lines, s.more = f.Lines[:n:n], s.more-n
			render(&s, t)
		}
	}
	if s.TokenEstimate >= f.TokenEstimate {
		return *f
	}
	return s
}
