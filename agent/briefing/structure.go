package briefing

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// structure drops duplicates of fragments, each rendered, cuts as [fit] does to the lesser of both limits, and orders
// what is left. Its own limit cuts nothing that is required.
func structure(fs []Fragment, s *structuring, limit int, t *Tokens) (kept []Fragment, cut bool, err error) {
	kept = unique(fs)
	if own := max(s.MaxTokens, least(kept, t)); s.MaxTokens > 0 && (limit <= 0 || own < limit) {
		limit = own
	}
	if kept, cut, err = fit(kept, limit, t); err != nil {
		return nil, cut, err
	}
	switch s.Strategy {
	case Chronological:
		kept = slices.Clone(kept)
		slices.SortStableFunc(kept, func(a, b Fragment) int { return cmp.Compare(a.Seq, b.Seq) })
	case ByRelevance:
		kept = slices.Clone(kept)
		slices.SortStableFunc(kept, func(a, b Fragment) int { return cmp.Compare(b.relevance(), a.relevance()) })
	default:
		kept = nested(kept)
	}
	return kept, cut, nil
}

// unique returns the fragments without duplicates: of one signature within one source, but for details and for what is
// required both times, or of the same lines with the same id or title. The one that would be cut last stays, where the
// first stood.
func unique(fs []Fragment) []Fragment {
	kept := make([]Fragment, 0, len(fs))
	seen := make(map[string]int, len(fs)) // where the fragment with a key is in kept
	for i := range fs {
		f, at := &fs[i], -1
		same, signature := identities(f)
		for _, key := range same {
			if k, ok := seen[key]; ok {
				at = k
			}
		}
		if k, ok := seen[signature]; ok && at < 0 && (!f.Required || !kept[k].Required) {
			at = k
		}
		switch {
		case at < 0:
			at = len(kept)
			kept = append(kept, *f)
		case precedence(f, &kept[at]) < 0:
			kept[at] = *f
		}
		for _, key := range append(same, signature) {
			if _, ok := seen[key]; !ok && key != "" {
				seen[key] = at
			}
		}
	}
	return kept
}

// identities returns the keys that fragments of the same content share, and the one that those of the same signature
// share, "" for none.
func identities(f *Fragment) (content []string, signature string) {
	var b strings.Builder
	for _, l := range f.Lines {
		b.WriteString(strconv.FormatBool(l.Data))
		b.WriteString(l.Text)
		b.WriteByte('\n')
	}
	lines := b.String()
	if lines == "" {
		lines = f.Title
	} else {
		content = append(content, "title\n"+f.Title+"\n"+lines)
	}
	content = append(content, "id\n"+f.SourceID+"\n"+lines)
	if s := f.Refs["signature"]; s != "" && f.Parent == "" {
		signature = "signature\n" + f.Source + "\n" + s
	}
	return content, signature
}

// nested returns fragments as found, but the details of each behind it.
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
