package heedsource

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/text"
)

// named shows the problems that the first screen of a report names of the same items: a line each with its text, or
// with the item alone where a head has the problem. Of the items, the first ones have heads. It also returns the ids of
// the items that need no other line. The fragment has no lines if it says no more than the first head.
func (v *view) named(items []heed.Item, heads int) (f briefing.Fragment, has []string) {
	var named []string
	var forms [briefest + 1][]briefing.Line
	var unheaded []heed.Item
	more := false
	problems, in := v.problems(items)
	chosen, _ := problems.Named()
	for _, n := range chosen {
		it, lead := in[n.Member], leadOf(n.As)
		named = append(named, it.ID)
		dominates := it.Rule == n.Rule
		headed := slices.ContainsFunc(items[:heads], func(a heed.Item) bool { return a.ID == it.ID })
		known := headed && dominates && (it.Disposition == event.Blocking || it.ID == items[0].ID) // no budget cuts its head
		if dominates && !headed {
			unheaded, has = append(unheaded, *it), append(has, it.ID)
		}
		if !known {
			f.Seq = max(f.Seq, it.LatestSequence)
		}
		more = more || !known || it.ID != items[0].ID
		for how := range forms {
			switch lines := &forms[how]; {
			case known:
				*lines = append(*lines, own(lead+"item "+it.ID+", "+text.Count(n.Entries, "time"))...)
			case dominates && !headed:
				*lines = append(*lines, inShort(it, brevity(how), lead, n.Entries)...)
			default:
				line := lead + n.Title + ", " + text.Count(n.Entries, "time") + ", in item " + it.ID
				if n.First > 0 {
					line += fmt.Sprintf(", first at line %d", n.First)
				}
				*lines = append(*lines, own(line+culpritOf(n.Mods()))...)
				if brevity(how) < briefest {
					*lines, _ = quoted(*lines, n.Message, 1, briefing.Prose)
				}
			}
		}
	}
	if !more {
		return f, nil
	}
	next := blockers(unheaded)
	f = briefing.Fragment{
		Source: briefing.SourceAttention, SourceID: fmt.Sprintf("named@%d", f.Seq), Seq: f.Seq, Title: "What matters most",
		Section: "What else broke", Required: true, Refs: map[string]string{"items": strings.Join(named, " ")},
		Lines: forms[whole], Short: append(forms[briefest], next...),
	}
	if cost(v.in, &f) > v.room {
		f.Lines = append(forms[shortest], next...)
	}
	return f, has
}

// problems returns the problems of items, and the most urgent item of each.
func (s *source) problems(items []heed.Item) (p report.Problems, in map[*heed.Member]*heed.Item) {
	p = report.Problems{
		Blinds:      func(rule string) bool { return s.ruleOf(rule).Blinds },
		ExplainedBy: func(rule string) []string { return s.ruleOf(rule).ExplainedBy },
	}
	in = map[*heed.Member]*heed.Item{}
	for i := range items {
		for _, m := range items[i].Members {
			same := func(o *heed.Member) bool { return o.Rule == m.Rule && o.Disposition == m.Disposition }
			if at := slices.IndexFunc(p.All, same); at >= 0 {
				p.All[at].Join(&m)
				continue
			}
			p.All, in[&m] = append(p.All, &m), &items[i]
		}
	}
	if len(p.All) > 0 {
		p.Top = p.All[0]
		if s.Engine.Stats().Blind { // the log has a limit, and ignored entries are in no item
			p.Filler = slices.MaxFunc(p.All, func(a, b *heed.Member) int { return cmp.Compare(a.Entries, b.Entries) })
		}
	}
	return p, in
}

// leadOf returns the reasons why a problem is named, before its line: "first" would be read as the order of the lines.
func leadOf(as []string) string {
	s := strings.NewReplacer("most", "mostly", "first", "earliest").Replace(strings.Join(as, ", ")) + ": "
	return strings.ToUpper(s[:1]) + s[1:]
}
