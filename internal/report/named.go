package report

import (
	"cmp"
	"slices"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
)

// Problems are the members that a first screen chooses from: all of a run of the game, or of open items.
type Problems struct {
	All    []*heed.Member
	Top    *heed.Member // the dominant one of the most urgent open item; nil: no item is open
	Filler *heed.Member // the member that filled the log up to its limit, in All or not; nil: none

	Blinds func(rule string) bool // by the rule the log went blind
}

// chosen is a problem that a first screen names.
type chosen struct {
	*heed.Member
	As       []string     // worst, most and first; or "also" for none of these, "cause" if it explains the next
	Because  *heed.Member // the earlier problem that explains it, nil for none
	Explains uint64       // how many later entries it explains
}

// The values of chosen.As.
const (
	asWorst = "worst"
	asMost  = "most"
	asFirst = "first"
	asAlso  = "also"
	asCause = "cause"
)

// Named returns the problems to name, at most three: the worst where others are less bad, the most frequent where it
// repeats, and the first; if these are one, another problem. They are of the highest disposition there is, other
// than that the log went blind. The first of them is the top, or the worst if there is no top or the top explains it;
// above it comes the problem that explains it. The most frequent is the filler, if there is one. It is the one choice
// of all first screens. Named also returns the problems from which it chooses, in order of their first entries.
func (p *Problems) Named() (all []chosen, found []*heed.Member) {
	top := p.Top
	if found = p.of(event.Blocking); len(found) == 0 {
		if found = p.of(event.Advisory); top != nil && top.Disposition == event.Blocking { // that the log went blind
			found = append([]*heed.Member{top}, found...)
		}
	}
	if !slices.Contains(found, top) { // what broke is over
		top = nil
	}
	if len(found) == 0 {
		return nil, nil
	}
	because, explains := p.explain()
	if worst := slices.MinFunc(found, (*heed.Member).Compare); top != nil && because[worst] == top {
		top = worst
	}
	all = p.choose(found, top)
	if m := because[all[0].Member]; m != nil {
		cause := chosen{Member: m, As: []string{asCause}}
		if i := slices.IndexFunc(all, func(n chosen) bool { return n.Member == m }); i >= 0 {
			cause.As = append(cause.As, all[i].As...)
			all = slices.Delete(all, i, i+1)
		}
		all = append([]chosen{cause}, all[:min(len(all), 2)]...)
	}
	for i := range all {
		all[i].Because, all[i].Explains = because[all[i].Member], explains[all[i].Member]
	}
	return all, found
}

// sorted returns all problems in order of their first entries, those without a position last.
func (p *Problems) sorted() []*heed.Member {
	return slices.SortedFunc(slices.Values(p.All), func(a, b *heed.Member) int {
		return cmp.Or(cmp.Compare(a.First-1, b.First-1), cmp.Compare(a.Rule, b.Rule))
	})
}

// of returns the problems of a disposition by which the log did not go blind, in order of their first entries.
func (p *Problems) of(d event.Disposition) []*heed.Member {
	return slices.DeleteFunc(p.sorted(), func(m *heed.Member) bool { return m.Disposition != d || p.Blinds(m.Rule) })
}

// choose returns the worst, the most frequent and the first problem, the top before all others.
func (p *Problems) choose(found []*heed.Member, top *heed.Member) (all []chosen) {
	worst := cmp.Or(top, slices.MinFunc(found, (*heed.Member).Compare))
	byEntries := func(a, b *heed.Member) int { return cmp.Compare(a.Entries, b.Entries) }
	most := cmp.Or(p.Filler, slices.MaxFunc(found, byEntries))
	name := func(m *heed.Member, as string) {
		if i := slices.IndexFunc(all, func(n chosen) bool { return n.Member == m }); i >= 0 {
			all[i].As = append(all[i].As, as)
			return
		}
		all = append(all, chosen{Member: m, As: []string{as}})
	}
	milder := func(m *heed.Member) bool { return m.Disposition < worst.Disposition || m.Harm() < worst.Harm() }
	if slices.ContainsFunc(found, milder) {
		name(worst, asWorst)
	}
	if most.Entries > 1 {
		name(most, asMost)
	}
	name(found[0], asFirst)
	if top != nil {
		is := func(n chosen) bool { return n.Member == top }
		if !slices.ContainsFunc(all, is) {
			name(top, asWorst)
		}
		i := slices.IndexFunc(all, is)
		all = slices.Concat(all[i:i+1], all[:i], all[i+1:])
	}
	if len(all) == 1 && len(found) > 1 {
		others := slices.DeleteFunc(slices.Clone(found), func(m *heed.Member) bool { return m == all[0].Member })
		name(slices.MinFunc(others, (*heed.Member).Compare), asAlso)
	}
	return all
}

// explain returns the problems that explain others, as their rules have it, and the entries that each explains.
func (p *Problems) explain() (because map[*heed.Member]*heed.Member, explains map[*heed.Member]uint64) {
	all := p.sorted()
	because, explains = map[*heed.Member]*heed.Member{}, map[*heed.Member]uint64{}
	for i, m := range all {
		if i := slices.IndexFunc(all[:i], m.ExplainedBy); i >= 0 {
			because[m] = cmp.Or(because[all[i]], all[i])
			explains[because[m]] += m.Entries
		}
	}
	return because, explains
}
