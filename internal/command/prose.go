package command

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/text/width"
)

// prose gathers lines of text. What comes from logs and rule files goes through
// safe; a format never holds it.
type prose struct {
	buf   []byte
	width int // to wrap lines at, 0 for none
}

func safe(s string, width int) string { return text.Safe(s, width) }

func (p *prose) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for strings.HasPrefix(text, "\n") {
		p.buf, text = append(p.buf, '\n'), text[1:]
	}
	words := strings.TrimLeft(text, " ")
	p.hang(text[:len(text)-len(words)], "%s", words)
}

// hang writes a line of which what does not fit goes on below where it begins, beside
// lead.
func (p *prose) hang(lead, format string, args ...any) {
	p.buf = width.Measure{}.AppendHanging(p.buf, lead, fmt.Sprintf(format, args...), p.width)
}

// field writes a line with a name before it.
func (p *prose) field(name, format string, args ...any) {
	p.hang(fmt.Sprintf("  %-10s", name), format, args...)
}

// plural returns n and a noun that takes a plain s in the plural.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// lineRange returns "7" or "7-9".
func lineRange(first, last int) string {
	if first == last {
		return strconv.Itoa(first)
	}
	return strconv.Itoa(first) + "-" + strconv.Itoa(last)
}
