package signature

import "strings"

// The kinds of marks. A quotation that begins after a backslash also ends after one.
const (
	quoteDouble = iota
	quoteSingle
	quoteEscaped
	quoteKinds
)

// quoteEnd returns the end of the quotation that the mark at i opens, or 0 if it opens none.
//
// A mark opens if no word ends right before it and no space follows it, and
// closes if no space is before it and no word begins right after it. So the
// apostrophes of don't and pawns' are none.
//
// The first words of the text, or the words before it, rule out a quotation without
// a look at its closing mark. The closing mark may be elsewhere in the template, since
// the byte after it counts.
func (sc *scanner) quoteEnd(i int) int {
	s, which := sc.s, quoteDouble
	switch {
	case s[i] == '\'':
		which = quoteSingle
	case isEscaped(s, i):
		which = quoteEscaped
	}
	if i == sc.text || i == sc.opened || sc.afterWord(i) || at(s, i+1)&space != 0 {
		return 0
	}
	inside := i < sc.text
	if which == quoteSingle || which == quoteDouble && !inside {
		if mayFollowKeyword(s, i) && sc.keyword(i).announces() || sc.quotesWords(i) {
			if which == quoteDouble {
				sc.text, sc.opened = textEnd(s, i+1), i
			}
			return 0
		}
		if which == quoteDouble {
			if end := sc.messageEnd(i); end > 0 {
				sc.text, sc.opened = end, i
				return 0
			}
		}
	}
	j := sc.quotes[which]
	if j <= i {
		j = closing(s, i+1, which)
		sc.quotes[which] = j
	}
	if j == len(s) || inside && j > sc.text || isSentence(s[i+1:]) || sc.isName(i) {
		return 0
	}
	return j + 1
}

// closing returns the position of the first closing mark in s[i:], or len(s).
func closing(s string, i, which int) int {
	mark := byte('"')
	if which == quoteSingle {
		mark = '\''
	}
	return markAfter(s, i, mark, func(i int) bool {
		return classes[s[i-1]]&space == 0 && at(s, i+1)&wordlike == 0 && !isMask(s, i+1) &&
			(which == quoteSingle || isEscaped(s, i) == (which == quoteEscaped))
	})
}

// markAfter returns the position of the first mark in s[i:] that ends a text, or len(s).
func markAfter(s string, i int, mark byte, ends func(i int) bool) int {
	for ; i < len(s); i++ {
		n := strings.IndexByte(s[i:], mark)
		if n < 0 {
			break
		}
		if i += n; ends(i) {
			return i
		}
	}
	return len(s)
}

// isEscaped reports whether an odd number of backslashes is before i. It is the
// same in the template: see cutPunctuation.
func isEscaped(s string, i int) bool {
	return (i-len(strings.TrimRight(s[:i], `\`)))&1 != 0
}

// textEnd returns the position of the mark that ends text in s[i:], or len(s).
func textEnd(s string, i int) int {
	return markAfter(s, i, '"', func(i int) bool { return !isEscaped(s, i) })
}

// messageEnd returns the position of the mark that ends the quotation that opens at
// i, if it is the whole message or its beginning, maybe in brackets, and nothing
// follows but fields; or 0.
func (sc *scanner) messageEnd(i int) int {
	s, floor := sc.s, max(sc.masked, 0)
	k := i
	bracket := k > floor && s[k-1] == '['
	if bracket {
		k--
	}
	if k > 0 {
		n := skipBack(s, floor, k, space)
		if n == k || n == floor || s[n-1] != ']' {
			return 0
		}
	}
	end := textEnd(s, i+1)
	if end == len(s) {
		return 0
	}
	j := end + 1
	if bracket {
		if j == len(s) || s[j] != ']' {
			return 0
		}
		j++
	}
	if j == len(s) {
		return end
	}
	n := skip(s, j, space)
	switch {
	case n == j:
		return 0
	case s[n] == '[':
		return end
	case isMask(s, n):
		n += len(Mask)
	case classes[s[n]]&narrow != 0:
		n, _ = narrowEnd(s, n)
	default:
		return 0
	}
	if n < len(s) && s[n] == '=' && at(s, n+1)&(ends|space) == 0 && s[n+1] != '=' {
		return end
	}
	return 0
}

// quotesWords reports whether the mark at i, after a word, a colon and space, quotes several words: the second one has
// small letters only. Names have capitals.
//
// Both are words in the template, too: no variable begins with them.
func (sc *scanner) quotesWords(i int) bool {
	s := sc.s
	k := skipBack(s, max(sc.masked, 0), i, space)
	if k == i || k < 2 || k == sc.masked || s[k-1] != ':' || k-1 != sc.masked && classes[s[k-2]]&wordlike == 0 {
		return false
	}
	first, _ := narrowEnd(s, i+1)
	second := skip(s, first, space)
	if first == i+1 || second == first {
		return false
	}
	end, _ := narrowEnd(s, second)
	capital := isUpper(s[i+1]) && !isCalendar(s, i+1, first)
	return end > second && isSmall(s[second:end], false) && isSmall(s[i+1:first], capital) &&
		(end == len(s) || s[end] != '@' && s[end] != ':' && s[end] != '/')
}

// isSmall reports whether t is small letters, after a capital if capital, and no hexadecimal number.
func isSmall(t string, capital bool) bool {
	rest := t
	if capital {
		rest = t[1:]
	}
	return strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz") == "" && (len(t) < hexMin || !isHexWord(t))
}

// isSentence reports whether quoted text, which begins with s, holds something rather than names something: it begins
// with a word in capitals, as commands do (GET, SELECT). Longer words may be hexadecimal numbers.
func isSentence(s string) bool {
	n := 0
	for n < len(s) && n < hexMin && isUpper(s[n]) {
		n++
	}
	return n >= 3 && n < hexMin && n < len(s) && classes[s[n]]&space != 0
}

// isName reports whether the mark at i quotes one token that is to be seen: a
// protected word, a word with meaning, or the name of a member as in
// JSON, which follows an opening brace or a comma and is followed by a colon.
func (sc *scanner) isName(i int) bool {
	s := sc.s
	from := i + 1
	if from < len(s) && s[from] == '@' {
		from++
	}
	end := from
	switch c := at(s, end); {
	case c&narrow != 0:
		end, _ = narrowEnd(s, end)
	case c&wide != 0:
		end = wideEnd(s, end)
	case isMask(s, end):
		end += len(Mask)
	}
	if end == from || end == len(s) || s[end] != s[i] {
		return false
	}
	if t := s[i+1 : end]; classes[t[0]]&narrow != 0 && (sc.n.words.has(t) || isTelling(t)) {
		return true
	}
	if end+1 == len(s) || s[end+1] != ':' {
		return false
	}
	for i > max(sc.masked, 0) {
		i--
		if classes[s[i]]&space == 0 {
			return s[i] == ',' || s[i] == '{'
		}
	}
	return false
}
