package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/report/compare"
)

func (c *comparison) appendText(dst []byte, o TextOptions) []byte {
	for i, s := range c.headline {
		indent := 2
		if i == 0 {
			indent = 0
		}
		dst = append(dst, strings.Repeat(" ", indent)...)
		dst = cells.AppendWrapped(dst, s, o.Width, indent)
	}
	if mods := c.changedMods(func(name string) string { return name }); mods != "" {
		dst = cells.AppendWrapped(append(dst, "  "...), mods, o.Width, 2)
	}
	for i := range c.sections {
		s := &c.sections[i]
		if len(s.rows) == 0 {
			continue
		}
		rows := top(s.rows, o.Top)
		dst = o.heading(dst, strong, "%s: %s, %s", s.title, text.Count(len(s.rows), "group"), s.what)
		g := grid{minLast: 60, color: o.Color}
		var lines [][]string
		g.columns, lines = c.columns(s, rows)
		for i := range g.columns {
			switch column := &g.columns[i]; column.title {
			case "DISPOSITION":
				column.style = dispositionStyle
			case "COUNT", "OLD", "NEW":
				column.style = only(strong)
			case "BLAME":
				column.style = only(name)
			}
		}
		for _, line := range lines {
			g.add(line...)
		}
		dst = g.appendTo(dst, o.Width)
		if rest := s.rows[len(rows):]; len(rest) > 0 {
			dst = append(dst, "  "...)
			dst = cells.AppendWrapped(dst, left(rest), o.Width, 2)
		}
	}
	if len(c.footnotes) > 0 {
		dst = append(dst, '\n')
		dst = cells.AppendWrapped(dst, strings.Join(c.footnotes, " "), o.Width, 0)
	}
	return dst
}

// appendSuspects appends suspects as text.
func appendSuspects(dst []byte, d *compare.Suspects, o TextOptions) []byte {
	p := func(indent int, format string, args ...any) {
		dst = append(dst, strings.Repeat(" ", indent)...)
		dst = cells.AppendWrapped(dst, fmt.Sprintf(format, args...), o.Width, indent)
	}
	p(0, "%s → %s", sideName(&d.Old), sideName(&d.New))
	p(2, "%s new or more frequent.", text.Count(len(d.Groups), "urgent group is", "urgent groups are"))
	for _, s := range modSentences(d) {
		p(2, "%s", s)
	}
	for _, g := range gapsOf(&d.Old) {
		p(2, "%s", oldGap(g))
	}
	if len(d.Suspects) > 0 {
		dst = o.heading(dst, strong, "SUSPECTS, over all groups")
		t := grid{columns: []column{
			{title: "RANK", right: true},
			{title: "SUSPECT", limit: 40, style: only(name)},
			{title: "EVIDENCE"},
		}, minLast: 24, color: o.Color}
		rows := top(d.Suspects, 2*o.Top)
		for i := range rows {
			t.add(strconv.Itoa(i+1), rows[i].Name, rankedReason(&rows[i]))
		}
		dst = t.appendTo(dst, o.Width)
		if n := len(d.Suspects) - len(rows) + d.MoreSuspects; n > 0 {
			p(2, "… and %d more with less evidence", n)
		}
	}
	if len(d.Mods) > 0 {
		dst = o.heading(dst, strong, "MODS that changed")
		g := grid{columns: []column{
			{title: "CHANGE"},
			{title: "PLACE", right: true},
			{title: "PACKAGE", limit: 40},
			{title: "MOD", style: only(name)},
		}, minLast: 20, color: o.Color}
		rows := top(d.Mods, 4*o.Top)
		for i := range rows {
			m := &rows[i]
			g.add(m.Change, places(m), m.PackageID, changedTitle(m))
		}
		dst = g.appendTo(dst, o.Width)
		if n := len(d.Mods) - len(rows); n > 0 {
			p(2, "… and %d more (--top 0 shows all)", n)
		}
	}
	groups := top(d.Groups, o.Top)
	for i := range groups {
		g := &groups[i]
		r := &g.Group
		kind := "new"
		if r.Old != nil {
			kind = "more frequent"
		}
		dst = o.heading(dst, styleOf(r.Disposition)+";1", "%s %s, %s: %s, first at %s",
			strings.ToUpper(r.Disposition.String()), r.Severity, kind,
			text.Count(r.New.Count, "entry", "entries"), firstPlace(r.New))
		line := r.Template
		if o.Width > 0 {
			line = fit(line, o.Width-2)
		}
		dst = fmt.Appendf(dst, "  %s\n", line)
		for _, s := range direct(g) {
			p(2, "%s: %s", s.Name, strings.Join(s.Evidence, "; "))
		}
	}
	if n := len(d.Groups) - len(groups); n > 0 {
		dst = append(dst, '\n')
		p(0, "… and %s (--top 0 shows all)", text.Count(n, "more group"))
	}
	return dst
}

// direct returns the suspects of a group that something in it points at. The others stand in the ranking.
func direct(g *compare.SuspectGroup) []compare.ModSuspect {
	n := slices.IndexFunc(g.Suspects, func(s compare.ModSuspect) bool { return !s.Direct })
	if n < 0 {
		n = len(g.Suspects)
	}
	return g.Suspects[:n]
}

// rankedReason returns why a mod is a suspect over all groups.
func rankedReason(m *compare.RankedMod) string {
	evidence := strings.Join(m.Evidence, "; ")
	switch {
	case m.Blocking > 0:
		return text.Count(m.Blocking, "blocking group") + ", " + text.Count(m.Entries, "entry", "entries") + ": " + evidence
	case m.Groups > 0:
		return text.Count(m.Groups, "advisory group") + ", " + text.Count(m.Entries, "entry", "entries") + ": " + evidence
	}
	return evidence
}

func firstPlace(t *compare.Tally) string {
	if len(t.First) == 0 {
		return "no line"
	}
	return fmt.Sprintf("%s:%d", t.First[0].File, t.First[0].Line)
}

// modSentences returns what is known of the mods.
func modSentences(d *compare.Suspects) []string {
	switch {
	case !d.OldMods && !d.NewMods:
		return []string{"Neither side has a list of mods: only what the text points at is known. An upload has a list; the " +
			"log of a mod loader, or of a game that loaded a save, may have one."}
	case !d.OldMods:
		return []string{"The old side has no list of mods: what was added or updated is not known."}
	case !d.NewMods:
		return []string{"The new side has no list of mods: what was added or updated is not known."}
	}
	n := map[string]int{}
	for i := range d.Mods {
		n[d.Mods[i].Change]++
	}
	return []string{fmt.Sprintf("Mods: %d added, %d updated, %d removed, %d moved in the load order.", n["added"],
		n["updated"], n["removed"], n["moved"])}
}

// places shows where a mod stood, and stands.
func places(m *compare.ModChange) string {
	switch {
	case m.OldPlace == 0:
		return strconv.Itoa(m.Place)
	case m.Place == 0:
		return strconv.Itoa(m.OldPlace) + "→"
	case m.Change != "moved": // others went, or came, before it
		return strconv.Itoa(m.Place)
	}
	return fmt.Sprintf("%d→%d", m.OldPlace, m.Place)
}

// changedTitle is the name of a mod with its versions, where they differ.
func changedTitle(m *compare.ModChange) string {
	if m.Change == "updated" {
		return fmt.Sprintf("%s %s → %s", m.Name, m.OldVersion, m.Version)
	}
	return m.Name
}
