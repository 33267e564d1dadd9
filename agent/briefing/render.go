package briefing

import (
	"strings"

	"github.com/heedlog/heed/internal/text"
)

// DataPrefix begins each line of a text that a game, a file or another peer wrote, and no other line.
const DataPrefix = "> "

// headingPrefix begins the first line of each fragment, and no other line.
const headingPrefix = "["

// The bounds of a fragment, in characters.
const (
	maxLineRunes  = 1000 // of a line, or a title
	maxIDRunes    = 300
	maxSourceName = 32
)

// render makes Content and TokenEstimate of Title and Lines.
func render(f *Fragment, t *Tokens) {
	var b strings.Builder
	f.TokenEstimate = 0
	add := func(lead, s string, kind Kind) {
		b.WriteString(lead)
		b.WriteString(s)
		b.WriteByte('\n')
		f.TokenEstimate += t.estimate(lead, s, kind)
	}
	head := heading(f)
	if f.Title != "" {
		head += " " + text.Safe(f.Title, maxLineRunes)
	}
	add("", head, Prose)
	for _, l := range f.Lines {
		if l.Data {
			add(DataPrefix, shown(l), l.Kind)
		} else {
			add("", shown(l), l.Kind)
		}
	}
	if f.more > 0 {
		add("", "("+text.Count(f.more, "more line", "more lines")+")", Prose)
	}
	f.Content = b.String()
}

// heading returns the source and id of a fragment in brackets. Only its last character ends it.
func heading(f *Fragment) string {
	name := func(s string, limit int) string { return strings.ReplaceAll(text.Safe(s, limit), "]", `\]`) }
	return headingPrefix + name(f.Source, maxSourceName) + " " + name(f.SourceID, maxIDRunes) + "]"
}
