package heedsource

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/report"
)

// leads are the words for why a problem is named, by the values of [report.Named].As.
var leads = map[string]string{"most": "mostly"}

// named shows the problems that the first screen of a report names of the same items: a line each with its text, or with
// the item alone where a head has the problem. Of the items, the first ones have heads. It returns false if the first
// head says all.
func (s *attention) named(items []heed.Item, heads int) (briefing.Fragment, bool) {
	choice := report.Problems{
		Blinds: func(rule string) bool { r := s.ruleOf(rule); return r != nil && r.Blinds },
		ExplainedBy: func(rule string) []string {
			if r := s.ruleOf(rule); r != nil {
				return r.ExplainedBy
			}
			return nil
		},
	}
	type key struct {
		rule        string
		disposition event.Disposition
	}
	joined := map[key]*heed.Member{}
	in := map[*heed.Member]*heed.Item{} // the item with most of it
	for i := range items {
		for _, m := range items[i].Members {
			at := key{m.Rule, m.Disposition}
			it := joined[at]
			if it == nil {
				joined[at], in[&m] = &m, &items[i]
				choice.All = append(choice.All, &m)
				continue
			}
			if m.Entries > it.Entries {
				it.Message, it.Signature, it.Seq, in[it] = m.Message, m.Signature, m.Seq, &items[i]
			}
			it.Join(&m)
		}
	}
	if len(choice.All) > 0 {
		choice.Top = choice.All[0]
		if s.Engine.Stats().Blind { // the log has a limit, and ignored entries are in no item
			choice.Filler = slices.MaxFunc(choice.All, func(a, b *heed.Member) int { return cmp.Compare(a.Entries, b.Entries) })
		}
	}
	f := briefing.Fragment{Source: briefing.SourceAttention, Title: "What matters most", Required: true}
	more := false
	for _, n := range choice.Named() {
		it := in[n.Member]
		has := slices.ContainsFunc(items[:heads], func(a heed.Item) bool {
			return a.ID == it.ID && a.Rule == n.Rule && a.Disposition == event.Blocking
		})
		line := briefing.Line{Text: s.namedLine(&n, it, has)}
		if f.Lines, f.Short = append(f.Lines, line), append(f.Short, line); !has {
			f.Lines, _ = quoted(f.Lines, n.Message, 1, briefing.Prose)
		}
		f.Seq = max(f.Seq, it.LatestSequence)
		more = more || !has || it.ID != items[0].ID
	}
	f.SourceID = "named@" + strconv.FormatUint(f.Seq, 10)
	return f, more
}

// namedLine returns a problem in own words, in short where a head has it.
func (s *attention) namedLine(n *report.Named, a *heed.Item, has bool) string {
	var as []string
	for _, name := range n.As {
		as = append(as, cmp.Or(leads[name], name))
	}
	line := strings.Join(as, ", ") + ": "
	line = strings.ToUpper(line[:1]) + line[1:]
	count := " (" + text.Count(n.Entries, "time", "times")
	if has {
		return line + "item " + a.ID + count + ")"
	}
	line += n.Title + count
	if at := s.at(n.First); at != "" {
		line += ", first at " + at
	}
	line += ", item " + a.ID
	likely, perhaps := n.Mods()
	switch {
	case len(likely) > 0:
		line += ", culprit " + named(likely[0])
	case len(perhaps) > 0:
		line += ", culprit perhaps " + named(perhaps[0])
	}
	if n.Explains > 0 {
		line += "; it explains " + text.Count(n.Explains, "later entry", "later entries")
	}
	return line + ")"
}
