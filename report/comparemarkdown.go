package report

import (
	"fmt"
	"strings"

	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/report/compare"
)

// maxCell bounds a cell of a table in markdown, in characters.
const maxCell = 160

// heading describes a side with the name of its first file in code.
func heading(s *compare.Totals) string {
	if len(s.Files) == 0 {
		return prose(sideName(s))
	}
	return code(s.Files[0].Name, 0) + prose(strings.TrimPrefix(sideName(s), s.Files[0].Name))
}

func (c *comparison) appendMarkdown(dst []byte, title string, most int) []byte {
	dst = fmt.Appendf(dst, "### %s\n\n", title)
	for _, s := range c.headline[1:] { // the first is the title
		dst = fmt.Appendf(dst, "- %s\n", prose(s))
	}
	if mods := c.changedMods(func(name string) string { return code(name, 0) }); mods != "" {
		dst = fmt.Appendf(dst, "- %s\n", mods)
	}
	for i := range c.sections {
		s := &c.sections[i]
		if len(s.rows) == 0 {
			continue
		}
		rows := top(s.rows, most)
		dst = fmt.Appendf(dst, "\n#### %s: %s, %s\n\n", s.title, text.Count(len(s.rows), "group"), s.what)
		columns, cells := c.columns(s, rows)
		for _, column := range columns {
			dst = fmt.Appendf(dst, "| %s ", column.title)
		}
		dst = append(dst, "|\n"...)
		for _, column := range columns {
			if column.right {
				dst = append(dst, "| ---: "...)
			} else {
				dst = append(dst, "| --- "...)
			}
		}
		dst = append(dst, "|\n"...)
		for _, row := range cells {
			for i, text := range row {
				dst = fmt.Appendf(dst, "| %s ", markdownCell(columns[i].title, text))
			}
			dst = append(dst, "|\n"...)
		}
		if rest := s.rows[len(rows):]; len(rest) > 0 {
			dst = fmt.Appendf(dst, "\n%s\n", left(rest))
		}
	}
	if len(c.footnotes) > 0 {
		dst = fmt.Appendf(dst, "\n%s\n", strings.Join(c.footnotes, " "))
	}
	return dst
}

// markdownCell puts what comes from logs and rules in code: the names of files before
// lines, of rules and of mods, and texts. The other columns are heed's.
func markdownCell(column, text string) string {
	switch column {
	case "RULE", "BLAME", "TEMPLATE":
		if text == "" {
			return ""
		}
		return cell(text, maxCell)
	case "FIRST":
		if strings.Trim(text, "0123456789") != "" {
			return cell(text, maxCell)
		}
	}
	return prose(text)
}

func suspectsMarkdown(dst []byte, d *compare.Suspects, most int) []byte {
	dst = fmt.Appendf(dst, "### %s → %s\n\n", heading(&d.Old), heading(&d.New))
	for _, s := range modSentences(d) {
		dst = fmt.Appendf(dst, "- %s\n", prose(s))
	}
	for i := range d.Mods {
		m := &d.Mods[i]
		dst = fmt.Appendf(dst, "- %s: %s", m.Change, code(changedTitle(m), 0))
		if m.PackageID != "" {
			dst = fmt.Appendf(dst, " (%s)", code(m.PackageID, 0))
		}
		dst = fmt.Appendf(dst, ", place %s\n", places(m))
	}
	for i := range d.Suspects {
		if i == 0 {
			dst = append(dst, "\n#### Suspects, over all groups\n\n"...)
		}
		dst = fmt.Appendf(dst, "%d. %s: %s\n", i+1, code(d.Suspects[i].Name, maxName), prose(rankedReason(&d.Suspects[i])))
	}
	groups := top(d.Groups, most)
	for i := range groups {
		g := &groups[i]
		dst = fmt.Appendf(dst, "\n#### %s %s: %s, first at %s\n\n```text\n%s\n```\n\n",
			capital(g.Group.Disposition.String()), g.Group.Severity,
			text.Count(g.Group.New.Count, "entry", "entries"), code(firstPlace(g.Group.New), 0), literal(g.Group.Template, markdownText))
		for _, s := range direct(g) {
			dst = fmt.Appendf(dst, "- %s: %s\n", code(s.Name, maxName), prose(strings.Join(s.Evidence, "; ")))
		}
	}
	if n := len(d.Groups) - len(groups); n > 0 {
		dst = fmt.Appendf(dst, "\n… and %s\n", text.Count(n, "more group"))
	}
	return dst
}
