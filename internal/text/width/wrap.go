package width

import "strings"

// Min is the width of the narrowest readable text, in columns.
const Min = 20

// AppendHanging appends lead, text and a line feed. If that is wider than width columns, text is broken at spaces,
// which then are single, and its later lines begin below its first. A lead that leaves the text less than half of the
// line is a line of its own. A width of 0 means one line. Untrusted text must be escaped before.
func (m Measure) AppendHanging(dst []byte, lead, text string, width int) []byte {
	indent := m.StringWidth(lead)
	if width == 0 || indent+m.StringWidth(text) <= width {
		return append(append(append(dst, lead...), text...), '\n')
	}
	if 2*indent > width {
		margin := len(lead) - len(strings.TrimLeft(lead, " "))
		if lead = strings.TrimRight(lead, " "); lead != "" {
			dst = append(append(dst, lead...), '\n')
		}
		indent = min(margin, width/4) + 2
		lead = strings.Repeat(" ", indent)
	}
	return m.AppendWrapped(append(dst, lead...), text, width, indent)
}

// AppendWrapped appends text broken at spaces to lines of at most width
// columns, the first after indent columns that are there already, the others
// after as many spaces. A word that is too long for a line is broken, too. A width
// of zero means one line.
func (m Measure) AppendWrapped(dst []byte, text string, width, indent int) []byte {
	at := indent
	newLine := func() {
		dst = append(dst, '\n')
		dst = append(dst, strings.Repeat(" ", indent)...)
		at = indent
	}
	for i, word := range strings.Fields(text) {
		w := m.StringWidth(word)
		switch {
		case i == 0:
		case width > 0 && at+1+w > width:
			newLine()
		default:
			dst = append(dst, ' ')
			at++
		}
		for width > 0 && at+w > width {
			part := m.Truncate(word, width-at, "")
			if part == "" {
				break // one character is wider than there is room
			}
			dst = append(dst, part...)
			word, w = word[len(part):], w-m.StringWidth(part)
			newLine()
		}
		dst = append(dst, word...)
		at += w
	}
	return append(dst, '\n')
}
