package briefing

import (
	"cmp"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

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
	add := func(line string, kind Kind) {
		b.WriteString(line + "\n")
		f.TokenEstimate += t.estimate(line, kind)
	}
	head := heading(f)
	if f.Title != "" {
		head += " " + text.Safe(f.Title, maxLineRunes)
	}
	add(head, Prose)
	for _, l := range f.Lines {
		add(shown(l), l.Kind)
	}
	if f.more > 0 {
		add("("+text.Count(f.more, "more line", "more lines")+")", Prose)
	}
	f.Content = b.String()
}

// heading returns the source and id of a fragment in brackets. Only its last character ends it.
func heading(f *Fragment) string {
	name := func(s string, limit int) string { return strings.ReplaceAll(text.Safe(s, limit), "]", `\]`) }
	return headingPrefix + name(f.Source, maxSourceName) + " " + name(f.SourceID, maxIDRunes) + "]"
}

// scriptCJK names what Chinese, Japanese and Korean are written in, in [Tokens].
const scriptCJK = "cjk"

// byDefault is the key for all other runes.
const byDefault = "default"

// The scripts of ASCII: of letters, and of all else.
const (
	scriptLatin  = "latin"
	scriptCommon = "common"
)

// cjk are the scripts, and the ranges of punctuation and forms, of [scriptCJK].
var cjk = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Hangul,
	{R16: []unicode.Range16{{Lo: 0x3000, Hi: 0x303f, Stride: 1}, {Lo: 0xff00, Hi: 0xffef, Stride: 1}}},
}

// scriptTables are the scripts by the names that [Tokens] has for them.
var scriptTables = func() map[string]*unicode.RangeTable {
	tables := make(map[string]*unicode.RangeTable, len(unicode.Scripts))
	for name, table := range unicode.Scripts {
		tables[strings.ToLower(name)] = table
	}
	return tables
}()

// rounding is less than the share of one rune in an estimate, and more than the error of the sum over a line.
const rounding = 1e-6

// Estimate returns how many tokens a line takes in a text: escaped and bounded, with its prefix and line feed.
func (t Tokens) Estimate(l Line) int { return t.estimate(shown(l), l.Kind) }

// estimate returns how many tokens a line takes that is shown as it is.
func (t Tokens) estimate(s string, kind Kind) int {
	chars := cmp.Or(t[byDefault], DefaultCharsPerToken)
	ofKind := cmp.Or(t[kindNames[min(int(kind), len(kindNames)-1)]], chars)
	latin, common := cmp.Or(t[scriptLatin], ofKind), cmp.Or(t[scriptCommon], ofKind)
	letters, others, sum := 0, len("\n"), 0.0
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			i++
			if c |= 'a' - 'A'; c >= 'a' && c <= 'z' {
				letters++
			} else {
				others++
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		sum += 1 / cmp.Or(t.script(r), chars)
	}
	return int(math.Ceil(sum + float64(letters)/latin + float64(others)/common - rounding))
}

// script returns the runes of r's script that make a token, 0 where the configuration says nothing of it. A script by
// its own name comes before cjk.
func (t Tokens) script(r rune) float64 {
	for name, chars := range t {
		if table := scriptTables[name]; table != nil && unicode.Is(table, r) {
			return chars // a rune has one script
		}
	}
	if unicode.In(r, cjk...) {
		return t[scriptCJK]
	}
	return 0
}

// shown returns a line with its prefix: one line, escaped, bounded. An own line never begins as data or a heading does.
func shown(l Line) string {
	s := text.Safe(l.Text, maxLineRunes)
	switch {
	case l.Data:
		return DataPrefix + s
	case strings.HasPrefix(s, DataPrefix[:1]), strings.HasPrefix(s, headingPrefix):
		return `\` + s
	}
	return s
}

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
