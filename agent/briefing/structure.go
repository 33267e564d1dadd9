package briefing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

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
