package rules

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	beginsQuote = regexp.MustCompile(`(?:[:,-]\s+|[\[{]\s*)'`)
	ruleIDLine  = regexp.MustCompile(`(?:^|[\s{,])id:\s*["']?([a-z0-9._-]+)`)
)

// openQuote returns the first place of a file that YAML refuses where a text in
// single quotes ends in the middle of what it should say. The YAML reader tells
// a line some way off.
func openQuote(src *source) (p at, found bool) {
	p.src = src
	for i, line := range src.lines {
		if line != "" && !strings.ContainsRune(" \t#-", rune(line[0])) {
			p.rule = "" // another part of the file
		}
		if m := ruleIDLine.FindStringSubmatch(line); m != nil && validID(m[1]) {
			p.rule = m[1]
		}
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for from := 0; ; {
			m := beginsQuote.FindStringIndex(line[from:])
			if m == nil {
				break
			}
			end := quoteEnd(line, from+m[1])
			if end < 0 {
				break // it may go on in the next line
			}
			if rest := strings.TrimLeft(line[end:], " \t"); rest != "" && !strings.ContainsRune(",]}:#", rune(rest[0])) {
				p.line, p.col = i+1, utf8.RuneCountInString(line[:end])
				return p, true
			}
			from = end
		}
	}
	return p, false
}

// quoteEnd returns where the text in single quotes that goes on at from has
// ended, or -1 where it does not in this line.
func quoteEnd(line string, from int) int {
	for i := from; i < len(line); i++ {
		if line[i] != '\'' {
			continue
		}
		if i+1 == len(line) || line[i+1] != '\'' {
			return i + 1
		}
		i++
	}
	return -1
}
