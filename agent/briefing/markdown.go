package briefing

import (
	"strings"

	"github.com/heedlog/heed/internal/text"
)

// fence begins and ends a block of data in Markdown, made longer where the data has as much of it.
const fence = "```"

// Markdown returns the text as Markdown: a heading for each section, or for each fragment without one, own lines as
// list items, escaped, and data lines as they are in blocks of code, which nothing in them ends. It takes more tokens
// than the text does. It is made of the fragments' Section and Content, so that a context that was JSON gives the same.
func (c *Context) Markdown() string {
	var b strings.Builder
	section := ""
	for i := range c.Fragments {
		f := &c.Fragments[i]
		if i > 0 {
			b.WriteByte('\n')
		}
		head, rest, _ := strings.Cut(f.Content, "\n")
		title := text.Markdown(text.Safe(strings.TrimPrefix(head, heading(f)), 0))
		id := text.MarkdownCode(f.Source+" "+f.SourceID, maxIDRunes)
		if f.Section != "" && f.Section != section {
			b.WriteString("### " + text.Markdown(text.Safe(f.Section, maxIDRunes)) + "\n\n")
		}
		if section = f.Section; section == "" {
			b.WriteString("### " + id + title)
		} else {
			b.WriteString(strings.TrimLeft(title, " ") + " (" + id + ")")
		}
		b.WriteString("\n\n")
		if rest != "" {
			appendLines(&b, strings.Split(strings.TrimSuffix(rest, "\n"), "\n"))
		}
	}
	return b.String()
}

// appendLines appends the lines of a fragment after its heading.
func appendLines(b *strings.Builder, lines []string) {
	for len(lines) > 0 {
		n := 0
		for ; n < len(lines) && strings.HasPrefix(lines[n], DataPrefix); n++ {
			lines[n] = text.Safe(strings.TrimPrefix(lines[n], DataPrefix), 0)
		}
		if n > 0 { // as a block of code
			ends, code := fence, strings.Join(lines[:n], "\n")
			for strings.Contains(code, ends) {
				ends += fence[:1]
			}
			b.WriteString(ends + "text\n" + code + "\n" + ends + "\n")
			lines = lines[n:]
			continue
		}
		own := strings.TrimLeft(lines[0], " ") // an item of a list, below the one before it where it is indented
		if own != lines[0] {
			b.WriteString("  ")
		}
		if own = strings.Trim(strings.TrimPrefix(own, "- "), " "); own != "" {
			b.WriteString("- " + text.Markdown(text.Safe(own, 0)))
		}
		b.WriteByte('\n')
		lines = lines[1:]
	}
}
