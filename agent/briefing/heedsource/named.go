package heedsource

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/text"
)

// named shows the problems that the first screen of a report names of the same items: a line each with its text, or
// with the item alone where a head has the problem. Of the items, the first ones have heads. It also returns the items
// that need no other line, and whether it says more than the first head.
func (s *attention) named(items []heed.Item, heads int, how brevity) (f briefing.Fragment, has []heed.Item,
	more bool,
) {
	choice := report.Problems{
		Blinds:      func(rule string) bool { return s.ruleOf(rule).Blinds },
		ExplainedBy: func(rule string) []string { return s.ruleOf(rule).ExplainedBy },
	}
	type key struct {
		rule        string
		disposition event.Disposition
	}
	joined := map[key]*heed.Member{}
	in := map[*heed.Member]*heed.Item{} // the most urgent one
	for i := range items {
		for _, m := range items[i].Members {
			at := key{m.Rule, m.Disposition}
			if it := joined[at]; it != nil {
				it.Join(&m)
				continue
			}
			joined[at], in[&m] = &m, &items[i]
			choice.All = append(choice.All, &m)
		}
	}
	if len(choice.All) > 0 {
		choice.Top = choice.All[0]
		if s.Engine.Stats().Blind { // the log has a limit, and ignored entries are in no item
			choice.Filler = slices.MaxFunc(choice.All, func(a, b *heed.Member) int { return cmp.Compare(a.Entries, b.Entries) })
		}
	}
	f = briefing.Fragment{
		Source: briefing.SourceAttention, Title: "What matters most", Section: "What else broke",
		Required: true,
	}
	var named []string
	chosen, _ := choice.Named()
	for _, n := range chosen {
		it, lead := in[n.Member], leadOf(n.As)
		named = append(named, it.ID)
		dominates := it.Rule == n.Rule
		headed := slices.ContainsFunc(items[:heads], func(a heed.Item) bool { return a.ID == it.ID })
		switch {
		case headed && dominates && (it.Disposition == event.Blocking || it.ID == items[0].ID): // no budget cuts these
			line := briefing.Line{Text: lead + "item " + it.ID + ", " + text.Count(n.Entries, "time", "times")}
			f.Lines, f.Short = append(f.Lines, line), append(f.Short, line)
			more = more || it.ID != items[0].ID
			continue
		case dominates && !headed:
			f.Lines = append(f.Lines, s.inShort(it, how, lead, n.Entries)...)
			f.Short = append(f.Short, s.inShort(it, briefest, lead, n.Entries)...)
			has = append(has, *it)
		default:
			line := briefing.Line{Text: lead + n.Title + ", " + text.Count(n.Entries, "time", "times") + ", in item " + it.ID}
			if at := s.at(n.First); at != "" {
				line.Text += ", first at " + at
			}
			line.Text += culpritOf(n.Mods())
			f.Short = append(f.Short, line)
			f.Lines, _ = quoted(append(f.Lines, line), n.Message, 1, briefing.Prose)
		}
		f.Seq = max(f.Seq, it.LatestSequence)
		more = true
	}
	next := blockers(has)
	if f.Short = append(f.Short, next...); how != whole {
		f.Lines = append(f.Lines, next...)
	}
	f.Refs = map[string]string{"items": strings.Join(named, " ")}
	f.SourceID = "named@" + strconv.FormatUint(f.Seq, 10)
	return f, has, more
}

// leadOf returns the reasons why a problem is named, before its line.
func leadOf(as []string) string {
	s := strings.Replace(strings.Join(as, ", "), "most", "mostly", 1) + ": "
	return strings.ToUpper(s[:1]) + s[1:]
}
