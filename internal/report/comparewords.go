package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report/compare"
	"github.com/heedlog/heed/internal/text"
)

// maxChangedMods bounds the mods that are named for each change.
const maxChangedMods = 5

// changedMods returns which mods differ, with their names as named shows them; "" where none
// does.
func changedMods(mods []compare.ModChange, named func(string) string) string {
	var parts []string
	for _, change := range [...]string{"added", "updated", "removed"} {
		var names []string
		for i := range mods {
			if mods[i].Change == change {
				names = append(names, named(changedTitle(&mods[i])))
			}
		}
		if more := len(names) - maxChangedMods; more > 0 {
			names = append(names[:maxChangedMods], fmt.Sprintf("%d more", more))
		}
		if names != nil {
			parts = append(parts, change+" "+strings.Join(names, ", "))
		}
	}
	if parts == nil {
		return ""
	}
	return "Mods: " + strings.Join(parts, "; ") + "."
}

// counted returns how many rows there are, and how many of them are urgent.
func counted(rows []compare.Group, one, many string) string {
	s := text.Count(len(rows), one, many)
	if urgent := byDisposition(rows, event.Advisory); urgent != "" {
		s += " (" + urgent + ")"
	}
	return s
}

// byDisposition returns how many rows each disposition has, from the least one on.
func byDisposition(rows []compare.Group, least event.Disposition) string {
	n := map[event.Disposition]int{}
	for i := range rows {
		if d := rows[i].Disposition; d >= least {
			n[d]++
		}
	}
	return amounts(n, dispositions[:]...)
}

// amounts lists the kinds that there are, each with its number, such as "1 blocking, 2 advisory".
func amounts[K comparable](n map[K]int, kinds ...K) string {
	var parts []string
	for _, kind := range kinds {
		if n[kind] > 0 {
			parts = append(parts, fmt.Sprintf("%d %v", n[kind], kind))
		}
	}
	return strings.Join(parts, ", ")
}

// sideName names a side, which has a log.
func sideName(s *compare.Totals) string {
	out := s.Files[0].Name
	if more := len(s.Files) - 1; more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	out += " (" + text.Count(s.Records, "record")
	if s.Hours > 0 {
		out += ", " + rate(s.Hours) + " hours"
	}
	return out + ")"
}

// excused counts the groups that are no reason to fail.
func excused(d *compare.Check) (n int) {
	for _, g := range slices.Concat(d.Added, d.More, d.Worse, d.Expired) {
		if g.OtherMod {
			n++
		}
	}
	return n
}

// otherGames returns the games of both sides if they have none in common, else "".
func otherGames(before, after *compare.Totals) string {
	old, now := games(before), games(after)
	if old == nil || now == nil || slices.ContainsFunc(old, func(g string) bool { return slices.Contains(now, g) }) {
		return ""
	}
	return strings.Join(old, ", ") + " and " + strings.Join(now, ", ")
}

// games returns the known games of the logs of a side.
func games(side *compare.Totals) (all []string) {
	for i := range side.Files {
		if game := side.Files[i].Game; game != "" && !slices.Contains(all, game) {
			all = append(all, game)
		}
	}
	return all
}

// heading describes a side in Markdown, with the name of its first file in code.
func heading(s *compare.Totals) string {
	return code(s.Files[0].Name, 0) + prose(strings.TrimPrefix(sideName(s), s.Files[0].Name))
}

// maxGaps bounds the gaps of a side that text lists.
const maxGaps = 2

// silentSide reports whether no log of a side has anything to compare.
func silentSide(s *compare.Totals) bool {
	hasEntries := func(f compare.File) bool {
		return !slices.ContainsFunc(f.Gaps, func(g compare.Gap) bool { return g.Silence() != "" })
	}
	return !slices.ContainsFunc(s.Files, hasEntries)
}

// gapWords are the gaps at a line.
var gapWords = map[string]string{
	event.StatusHole.String():      "has missing bytes at line %d%s",
	event.StatusRunCut.String():    "lacks repeated messages, which the game left out, at line %d%s",
	event.StatusTruncated.String(): "is cut off at line %d%s",
	"unread":                       "was only read to line %d%s",
	"blind":                        "stops at line %d%s",
	"beginning":                    "lacks its beginning%[2]s",
}

// gapsOf returns where the evidence of a side is incomplete.
func gapsOf(s *compare.Totals) []string {
	var out []string
	more := 0
	for i := range s.Files {
		f := &s.Files[i]
		of := ""
		if len(s.Files) > 1 {
			of = " of " + f.Name
		}
		shown := f.Gaps[:min(len(f.Gaps), maxGaps-len(out))]
		more += f.MoreGaps + len(f.Gaps) - len(shown)
		for _, g := range shown {
			says := fmt.Sprintf(cmp.Or(gapWords[g.Kind], "has a gap at line %d%s"), g.From, of)
			switch silence := g.Silence(); {
			case silence != "" && of != "":
				says = fmt.Sprintf("has a log that is %s (%s)", silence, f.Name)
			case silence != "":
				says = "is " + silence
			case g.Rule != "":
				says += " (" + g.Rule + ")"
			}
			if g.Kind == "blind" && g.To > 0 {
				says += fmt.Sprintf(", until line %d", g.To)
			}
			out = append(out, says)
		}
	}
	if more > 0 {
		out = append(out, "has "+text.Count(more, "more such gap"))
	}
	return out
}

// rate shows a rate in three digits.
func rate(x float64) string {
	if x >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// ratioWords shows the ratio of a group, such as "×4.2 (3.1–5.7 per run)".
func ratioWords(g *compare.Group) string {
	r := g.Ratio
	if r == nil {
		return ""
	}
	return fmt.Sprintf("×%s (%s–%s per %s)", rate(r.Value), rate(r.Low), rate(r.High), r.By)
}

// shortNames returns the names of several logs by their paths: of each the last parts that no other log has at its end.
func shortNames(logs []compare.File) map[string]string {
	if len(logs) < 2 {
		return nil
	}
	names := map[string]string{}
	for i := range logs {
		path := logs[i].Name
		at := len(path) - len(baseName(path))
		endsAlike := func(o compare.File) bool {
			before, found := strings.CutSuffix(o.Name, path[at:])
			return found && o.Name != path && baseName(before) == ""
		}
		for at > 0 && slices.ContainsFunc(logs, endsAlike) {
			at -= 1 + len(baseName(path[:at-1]))
		}
		names[path] = path[at:]
	}
	return names
}

// firstWords returns where a group begins: a line, with the name of its file where there are
// several.
func firstWords(t *compare.Tally, names map[string]string) string {
	if len(t.First) == 0 {
		return ""
	}
	first := t.First[0]
	s := strconv.Itoa(first.Line)
	if names != nil {
		s = names[first.File] + ":" + s
		if n := len(t.First) - 1; n > 0 {
			s += fmt.Sprintf(" +%d", n)
		}
	}
	return s
}

// count returns how many groups there are, in words.
func (t texts) count(groups []compare.Group) string {
	return t.one(uint64(len(groups)), "%d group", "%d groups", len(groups))
}

// rankedReason returns why a mod is a suspect over all groups.
func rankedReason(m *compare.RankedMod) string {
	evidence := strings.Join(m.Evidence, "; ")
	groups := text.Count(m.Groups, "advisory group")
	switch {
	case m.Groups == 0:
		return evidence
	case m.Blocking > 0:
		groups = text.Count(m.Blocking, "blocking group")
	}
	return groups + ", " + text.Count(m.Entries, "entry", "entries") + ": " + evidence
}

// changes returns how many mods changed in which way, "" if none did.
func changes(mods []compare.ModChange) string {
	n := map[string]int{}
	for i := range mods {
		n[mods[i].Change]++
	}
	return amounts(n, "added", "updated", "removed", "moved")
}

// places shows the old and the new place of a mod.
func places(m *compare.ModChange) string {
	switch {
	case m.Place == 0:
		return strconv.Itoa(m.OldPlace) + "→"
	case m.OldPlace == 0, m.Change != "moved": // others went, or came, before it
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
