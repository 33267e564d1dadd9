package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/signature"
)

// maxSummaryTemplate bounds a template in a summary, in characters.
const maxSummaryTemplate = 400

// maxCanonical bounds a whole template in a summary, in bytes.
const maxCanonical = 4096

// Session returns the summary of a replay that has ended, without the log and without the versions of ids, which the
// caller knows. Scrub removes private text if [Config.Scrub] does not: it is [Config.Learn].
func (r *Replay) Session(scrub *Scrubber) *summary.Session {
	v := r.verdict()
	total := r.summary(v)
	s := &summary.Session{
		Version: summary.Version, Began: r.times.First, Ended: r.times.Last,
		State: v.State, Reason: v.Reason, Headline: scrub.Text(v.Headline),
		Lines: total.Lines, Records: total.Records, Complete: total.Complete, Headless: total.Headless,
		Blind: r.wentBlind(),
	}
	for i := range r.tables {
		s.MoreGroups += int(r.tables[i].evicted)
		s.MoreEntries += r.tables[i].evictedEntries
	}
	if r.environment != nil {
		if e := r.environment.clean(scrub); e != nil {
			e.Arguments = ""
			s.Facts = e.Facts
			s.Mods = e.Mods[:min(len(e.Mods), summary.MaxMods)]
			s.MoreMods = e.MoreMods + len(e.Mods) - len(s.Mods)
			for i := range s.Mods {
				if known, ok := r.config.Mod(s.Mods[i].Title()); ok {
					s.Mods[i].WorkshopID = cmp.Or(s.Mods[i].WorkshopID, known.WorkshopID)
				}
			}
		}
	}
	groups := r.summaryGroups(scrub)
	slices.SortFunc(groups, func(a, b *summary.Group) int {
		return cmp.Or(cmp.Compare(b.Disposition, a.Disposition), cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.Signature, b.Signature))
	})
	for i, g := range groups {
		if i >= summary.MaxGroups {
			s.MoreGroups++
			s.MoreEntries += g.Count
			continue
		}
		s.Groups = append(s.Groups, *g)
	}
	return s
}

// summaryGroups returns a group for each signature that names one, whatever rules decided.
func (r *Replay) summaryGroups(scrub *Scrubber) []*summary.Group {
	var groups []*summary.Group
	byID := map[signature.ID]*summary.Group{}
	for _, disposition := range dispositions { // the weightiest first
		for _, row := range r.tables[disposition].groups {
			g := byID[row.sig.ID]
			if g == nil {
				g = &summary.Group{
					Signature: row.sig.ID, Disposition: disposition, Rule: safe(row.Rule), First: math.MaxUint64,
					Sample: scrub.Text(cmp.Or(row.kept, row.says)),
				}
				if disposition.Urgent() {
					g.Blame = r.summaryBlame(row, scrub)
				}
				byID[row.sig.ID] = g
				groups = append(groups, g)
			}
			if g.Template == "" {
				whole := scrub.Text(row.Template)
				g.Template = safeLines(whole[:text.Prefix(whole, maxSummaryTemplate)])
			}
			if disposition.Urgent() && g.Canonical == "" {
				g.Canonical = r.canonical(row.sig, g.Template, scrub)
			}
			g.Severity = max(g.Severity, row.Severity)
			g.Count += row.Count
			if row.First < g.First {
				g.First, g.Phase = row.First, text.Safe(scrub.Text(row.phase), maxModReference)
			}
			g.Last = max(g.Last, row.Last)
			for _, id := range row.members {
				if id != g.Signature && len(g.Members) < summary.MaxMembers && !slices.Contains(g.Members, id) {
					g.Members = append(g.Members, id)
				}
			}
			slices.Sort(g.Members)
		}
	}
	return groups
}

// canonical returns the whole template of a signature, "" if it is the shown one, is too long, or has private text.
func (r *Replay) canonical(sig signature.Signature, shown string, scrub *Scrubber) string {
	whole, ok := r.config.Template(sig)
	if !ok || whole == shown || len(whole) > maxCanonical || safeLines(scrub.Text(whole)) != whole {
		return ""
	}
	return whole
}

func (r *Replay) summaryBlame(row *row, scrub *Scrubber) []summary.Blame {
	var all []summary.Blame
	for _, name := range row.Blame[:min(len(row.Blame), summary.MaxBlame)] {
		b := summary.Blame{Mod: safe(scrub.Mod(name)), Evidence: row.evidenceAgainst(name)}
		if mod, ok := r.config.Mod(name); ok {
			b.PackageID = safe(scrub.Mod(mod.PackageID))
		}
		all = append(all, b)
	}
	return all
}
