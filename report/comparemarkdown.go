package report

import (
	"fmt"
	"strings"
)

// maxCell bounds a cell of a table in markdown, in characters.
const maxCell = 160

// AppendMarkdown appends the difference as markdown, to paste into an issue. Each
// section has at most top rows, 0 for all.
func (d *DiffDocument) AppendMarkdown(dst []byte, top int) []byte {
	return d.comparison().appendMarkdown(dst, top)
}

// AppendMarkdown appends the check as markdown, as that of a difference.
func (d *CheckDocument) AppendMarkdown(dst []byte, top int) []byte {
	return d.comparison().appendMarkdown(dst, top)
}

func (c *comparison) appendMarkdown(dst []byte, top int) []byte {
	for i, s := range c.headline {
		if i == 0 {
			dst = fmt.Appendf(dst, "### %s\n\n", inert(s))
			continue
		}
		dst = fmt.Appendf(dst, "- %s\n", inert(s))
	}
	for i := range c.sections {
		s := &c.sections[i]
		if len(s.rows) == 0 {
			continue
		}
		rows := s.rows
		if top > 0 {
			rows = rows[:min(len(rows), top)]
		}
		dst = fmt.Appendf(dst, "\n#### %s: %s, %s\n\n", s.title, count(uint64(len(s.rows)), "group"), s.what)
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
				if i == len(row)-1 {
					text = cell(text, maxCell)
				} else {
					text = inert(text)
				}
				dst = fmt.Appendf(dst, "| %s ", text)
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

// AppendMarkdown appends the suspects as markdown, at most top groups, 0 for all.
func (d *SuspectsDocument) AppendMarkdown(dst []byte, top int) []byte {
	dst = fmt.Appendf(dst, "### %s\n\n", inert(d.Old.describe()+" → "+d.New.describe()))
	for _, s := range d.modSentences() {
		dst = fmt.Appendf(dst, "- %s\n", inert(s))
	}
	for i := range d.Mods {
		m := &d.Mods[i]
		dst = fmt.Appendf(dst, "- %s: %s (%s), place %s\n", m.Change, inert(m.title()), inert(m.PackageID), m.places())
	}
	groups := d.Groups
	if top > 0 {
		groups = groups[:min(len(groups), top)]
	}
	for i := range groups {
		g := &groups[i]
		dst = fmt.Appendf(dst, "\n#### %s %s: %s, first at %s\n\n%s\n\n", g.Group.Disposition, g.Group.Severity, entries(g.Group.New.Count), inert(firstPlace(g.Group.New)), cell(g.Group.Template, maxCell))
		for _, s := range g.Suspects {
			dst = fmt.Appendf(dst, "- %d %s: %s\n", s.Score, inert(s.Name), inert(strings.Join(s.Evidence, "; ")))
		}
		if len(g.Suspects) == 0 {
			dst = append(dst, "- no suspect\n"...)
		}
	}
	if n := len(d.Groups) - len(groups); n > 0 {
		dst = fmt.Appendf(dst, "\n… and %d more groups\n", n)
	}
	return dst
}

// markdownSigns are those that mean something in GitHub's markdown, mentions and
// references to issues included.
const markdownSigns = "\\`*_{}[]()<>#+!|~&@:"

// inert escapes text so that it is text in markdown. (A line break in a safe text
// is none any more.) GitHub
// looks for mentions and references in what is left after markdown, so that an
// empty comment parts the sign from the name.
func inert(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '@' || r == '#':
			fmt.Fprintf(&b, "&#%d;", r)
			b.WriteString("<!-- -->")
		case r == ':':
			b.WriteString("&#58;")
		case r < 0x80 && strings.ContainsRune(markdownSigns, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
