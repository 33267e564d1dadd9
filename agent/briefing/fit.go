package briefing

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
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

// structure drops duplicates of fragments, each rendered, cuts as [fit] does to the lesser of both limits, and orders
// the others.
func structure(fs []Fragment, s *structuring, most int, t *Tokens) (kept []Fragment, cut bool) {
	kept, cut = fit(unique(fs), min(cmp.Or(s.MaxTokens, most), most), t)
	switch s.Strategy {
	case Chronological:
		slices.SortStableFunc(kept, func(a, b Fragment) int { return cmp.Compare(a.Seq, b.Seq) })
	case ByRelevance:
		slices.SortStableFunc(kept, func(a, b Fragment) int { return cmp.Compare(b.relevance(), a.relevance()) })
	default:
		kept = nested(kept)
	}
	return kept, cut
}

// unique returns the fragments without duplicates. The fragment that would be cut last stays, in place of the first.
func unique(fs []Fragment) []Fragment {
	kept := make([]Fragment, 0, len(fs))
	seen := make(map[string]int, len(fs)) // places in kept, by identity
	for i := range fs {
		f, at := &fs[i], len(kept)
		all := identities(f)
		for _, key := range all {
			k, ok := seen[key]
			if ok && (!f.Required || !kept[k].Required || !strings.HasPrefix(key, signatureKey)) {
				at = k
				break
			}
		}
		if at == len(kept) {
			kept = append(kept, *f)
		} else if precedence(f, &kept[at]) < 0 {
			kept[at] = *f
		}
		for _, key := range all {
			if _, ok := seen[key]; !ok {
				seen[key] = at
			}
		}
	}
	return kept
}

// signatureKey begins an identity by signature.
const signatureKey = "signature\n"

// identities returns the keys that duplicates share: the same lines with the same title or id, or, except for details,
// one signature of one source. Two required fragments are no duplicates by their signature.
func identities(f *Fragment) (keys []string) {
	var b strings.Builder
	for _, l := range f.Lines {
		fmt.Fprintf(&b, "%t%s\n", l.Data, l.Text)
	}
	lines := b.String()
	if lines == "" {
		lines = f.Title
	} else {
		keys = append(keys, "title\n"+f.Title+"\n"+lines)
	}
	keys = append(keys, "id\n"+f.SourceID+"\n"+lines)
	if s := f.Refs["signature"]; s != "" && f.Parent == "" {
		keys = append(keys, signatureKey+f.Source+"\n"+s)
	}
	return keys
}

// nested returns fragments as found, but the details of each after it.
func nested(fs []Fragment) []Fragment {
	ids := make(map[string]bool, len(fs))
	for i := range fs {
		ids[fs[i].SourceID] = fs[i].SourceID != ""
	}
	out, done := make([]Fragment, 0, len(fs)), make([]bool, len(fs))
	var add func(i int)
	add = func(i int) {
		if done[i] {
			return
		}
		done[i] = true
		out = append(out, fs[i])
		for k := range fs {
			if fs[k].Parent == fs[i].SourceID && fs[k].Parent != "" {
				add(k)
			}
		}
	}
	for i := range fs {
		if !ids[fs[i].Parent] {
			add(i)
		}
	}
	for i := range fs {
		add(i) // of a circle
	}
	return out
}
