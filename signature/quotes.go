package signature

import "strings"

var quoteMarks = [2]byte{'"', '\''}

// quoteEnd returns the end of the quotation that the mark at i, of the given
// kind, opens, or 0 if it opens none.
//
// A mark opens if no word ends right before it and no space follows it, and
// closes if no space is before it and no word begins right after it. So the
// apostrophes of don't and pawns' are none.
//
// What rules out a quotation is found in the first words of the text and
// needs no closing mark. Where the closing mark is may be another place in the
// template, since what follows it counts.
func (sc *scanner) quoteEnd(i, which int) int {
	s := sc.s
	if sc.afterWord(i) || at(s, i+1)&space != 0 {
		return 0
	}
	j := sc.quotes[which]
	if j <= i {
		j = closing(s, i+1, quoteMarks[which])
		sc.quotes[which] = j
	}
	if j == len(s) || isSentence(s[i+1:]) || sc.isName(i) {
		return 0
	}
	return j + 1
}

// closing returns the position of the first closing mark in s[i:], or len(s).
func closing(s string, i int, mark byte) int {
	for {
		n := strings.IndexByte(s[i:], mark)
		if n < 0 {
			return len(s)
		}
		i += n
		if classes[s[i-1]]&space == 0 && at(s, i+1)&wordlike == 0 && !isMask(s, i+1) {
			return i
		}
		i++
	}
}

// isSentence reports whether quoted text, which begins with s, holds
// something rather than names something: it begins with a word in capitals, as
// commands do (GET, SELECT), or with four words in small letters.
//
// Such words stay words when the text is masked, so the answer is the same for
// the template. Only words of less than hexMin letters count, since longer
// ones may be hexadecimal numbers, and not "user", after which an account may be
// masked.
func isSentence(s string) bool {
	n := 0
	for n < len(s) && n < hexMin && isUpper(s[n]) {
		n++
	}
	if n >= 3 && n < hexMin && n < len(s) && classes[s[n]]&space != 0 {
		return true
	}
	i := 0
	for range 4 {
		n := i
		for n < len(s) && n-i < hexMin && isLower(s[n]) {
			n++
		}
		if n == i || n-i == hexMin || n == len(s) || classes[s[n]]&space == 0 || s[i:n] == "user" {
			return false
		}
		for i = n; i < len(s) && classes[s[i]]&space != 0; i++ {
		}
	}
	return true
}

// isName reports whether the mark at i quotes one token that is to be seen: a
// protected word, one that carries meaning, or the name of a member as in
// JSON, which follows an opening brace or a comma and is followed by a colon.
func (sc *scanner) isName(i int) bool {
	s := sc.s
	end := i + 1
	switch c := at(s, end); {
	case c&narrow != 0:
		end, _ = narrowEnd(s, end)
	case c&wide != 0:
		end = wideEnd(s, end)
	case isMask(s, end):
		end += len(Mask)
	}
	if end == i+1 || end == len(s) || s[end] != s[i] {
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
