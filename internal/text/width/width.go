// Package width measures and cuts text in columns of a terminal, by the characters that a person sees: a letter with
// its marks, a syllable of jamo, joined emoji. Unlike its module, it ignores the locale: a text has the same width
// everywhere.
//
// It reads nothing but its arguments, may be used by several goroutines, and takes time in proportion to the text.
package width

import (
	"strings"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/mattn/go-runewidth"
)

// table has the widths of single code points.
var table = &runewidth.Condition{EastAsianWidth: false, StrictEmojiNeutral: true}

// Measure measures and cuts text. It has no state.
type Measure struct{}

// emoji is the selector that makes a picture, two columns wide, of a sign.
const emoji = "\ufe0f"

// character returns the columns of one character.
func (m Measure) character(c string) int {
	w := table.StringWidth(c)
	if w == 1 && strings.Contains(c, emoji) {
		return 2
	}
	return w
}

// StringWidth returns the columns that text takes.
func (m Measure) StringWidth(text string) int {
	w := 0
	for it := graphemes.FromString(text); it.Next(); {
		w += m.character(it.Value())
	}
	return w
}

// Truncate returns text where it takes at most limit columns, and else as much of
// its beginning as leaves room for tail, and tail.
func (m Measure) Truncate(text string, limit int, tail string) string {
	if m.StringWidth(text) <= limit {
		return text
	}
	w := m.StringWidth(tail)
	for it := graphemes.FromString(text); it.Next(); {
		if w += m.character(it.Value()); w > limit {
			return text[:it.Start()] + tail
		}
	}
	return text // only where tail is wider than limit, and text is not
}

// TruncateLeft is Truncate that leaves out the beginning.
func (m Measure) TruncateLeft(text string, limit int, head string) string {
	w := m.StringWidth(text)
	if w <= limit {
		return text
	}
	w += m.StringWidth(head)
	for it := graphemes.FromString(text); it.Next(); {
		if w <= limit {
			return head + text[it.Start():]
		}
		w -= m.character(it.Value())
	}
	return head
}
