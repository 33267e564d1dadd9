package rules

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pattern is a regular expression. Package regexp tries one that begins with a
// class at every character, some 30 ns each; but often the class is followed by
// a literal, as in [a-z]Exception, and the places where it stands are soon found.
type pattern struct {
	whole *regexp.Regexp

	// The rest is zero for expressions of another form.
	here    *regexp.Regexp // whole, at the beginning of a text
	literal string
	before  int // bytes of a match before literal
}

// placesTried bounds how often a pattern is tried at a literal before the whole
// expression takes over, whose time is linear in the text: an expression such as
// ab.*c reads to the end each time.
const placesTried = 4

func newPattern(text string) (*pattern, error) {
	whole, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	p := &pattern{whole: whole}
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil || re.Op != syntax.OpConcat || looksBack(re) {
		return p, nil
	}
	before := slices.IndexFunc(re.Sub, func(sub *syntax.Regexp) bool { return !isByteClass(sub) })
	if before < 0 || !isText(re.Sub[before]) {
		return p, nil
	}
	if p.here, err = regexp.Compile(`\A(?:` + text + `)`); err != nil {
		return &pattern{whole: whole}, nil
	}
	p.literal, p.before = string(re.Sub[before].Rune), before
	return p, nil
}

// match reports whether s holds a match.
func (p *pattern) match(s string) bool {
	if p.here == nil {
		return p.whole.MatchString(s)
	}
	next := 0
	for range placesTried {
		i := strings.Index(s[next:], p.literal)
		if i < 0 {
			return false
		}
		i += next
		if i >= p.before && p.here.MatchString(s[i-p.before:]) {
			return true
		}
		next = i + 1
	}
	return p.whole.MatchString(s[max(next-p.before, 0):])
}

// looksBack reports whether a match of re depends on what is before it.
func looksBack(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpBeginText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return slices.ContainsFunc(re.Sub, looksBack)
}

// isByteClass reports whether re matches one byte, and a character of its own.
func isByteClass(re *syntax.Regexp) bool {
	return re.Op == syntax.OpCharClass && len(re.Rune) > 0 && re.Rune[len(re.Rune)-1] <= unicode.MaxASCII
}

// isText reports whether re is a literal that matches one text. One in any case
// matches several, and so does the character that stands for every invalid byte.
func isText(re *syntax.Regexp) bool {
	return re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase == 0 && !slices.Contains(re.Rune, utf8.RuneError)
}
