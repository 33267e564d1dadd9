package report

import (
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text/width"
)

// style has the parameters of the escape sequence SGR for text on a terminal. Only the eight basic colors are used,
// which every theme of a terminal keeps legible. The words mean the same without colors.
type style string

const (
	plain  style = ""
	strong style = "1"
	faint  style = "2"
	alarm  style = "1;31" // what blocks, and blindness
	notice style = "33"   // advisory
	calm   style = "32"   // all is well
	name   style = "1;36" // mods
)

// styles are the styles in text of the classes that a page has; "none" has none.
var styles = map[string]style{
	"blocking": alarm, "blind": alarm, "advisory": notice, "gaps": notice, "ignore": faint, "healthy": calm,
}

// styleOf returns the style of a disposition.
func styleOf(d event.Disposition) style { return styles[d.String()] }

// cells measures and cuts text in columns of a terminal.
var cells width.Measure

// fit cuts text to so many columns; 0 means no limit.
func fit(text string, limit int) string {
	if limit <= 0 {
		return text
	}
	return cells.Truncate(text, limit, "…")
}
