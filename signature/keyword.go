package signature

import (
	"slices"
	"strings"
)

// keyword is the meaning of a word for the value after it.
type keyword uint8

const (
	noKeyword keyword = iota
	// textKeyword announces text: a quotation or a word.
	textKeyword
	// codeKeyword announces a number that decides, or a word.
	codeKeyword
	// fieldKeyword is the same, but for numbers only after ':' or '='.
	fieldKeyword
	// requestKeyword announces the status of a served request.
	requestKeyword
	// barKeyword announces the same if another bar follows it.
	barKeyword
	// resultKeyword announces the result of a call: a status, a negative number, or 0.
	resultKeyword
	// flagKeyword announces the same but for a status, or the number of a message.
	flagKeyword
)

// announces reports whether other rules must not mask the value after the word:
// a quotation is text.
func (k keyword) announces() bool { return k != noKeyword && k < requestKeyword }

// The words, in any case; see scanner.keyword.
var (
	codeWords = []string{
		"code", "status", "errno", "signal", "sig", "signo", "exit", "rc", "error", "err", "ret",
		"hresult", "ntstatus", "sqlstate", "sqlcode",
		"retcode", "returncode", "resultcode", "errcode", "errorcode", "exitcode", "statuscode",
	}
	fieldWords = []string{"result", "outcome", "state", "action", "op", "operation", "level", "reason", "retval", "hr", "res"}
	textWords  = []string{
		"msg", "message", "event", "text", "log", "payload", "body", "desc", "description", "cause", "detail", "details",
		"exception", "warning", "errmsg", "stderr", "mt",
	}
	requestWords = []string{"http", "response"}
	// protocols are what else the status of a request follows.
	protocols = []string{"HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/2.0", "HTTP/3"}
)

// A verb in the past announces a result: returned 404, failed with -110.
const (
	past     = "ed"
	pastWith = "ed with"
)

// keywordMax is how long a keyword is at most.
const keywordMax = len("description")

// endings has a bit for the last two bytes of each word that scanner.keyword knows, in either case.
var endings = func() (t [32]uint32) {
	for _, w := range slices.Concat(
		codeWords, fieldWords, textWords, requestWords, protocols, []string{"@m", "is", "was", past, pastWith},
	) {
		t[w[len(w)-2]&31] |= 1 << (w[len(w)-1] & 31)
	}
	for i := range t {
		t[i] |= 1<<('|'&31) | 1<<(')'&31)
	}
	return t
}()

// mayEnd reports whether a word that scanner.keyword knows may end at j. It is inlined.
func mayEnd(s string, j int) bool {
	return j < 2 || endings[s[j-2]&31]>>(s[j-1]&31)&1 != 0
}

// keywords lists the words by their first letter, in either case: most words differ from all in their length.
var keywords = func() (t [32][]meaning) {
	for k, list := range [][]string{
		textKeyword: textWords, codeKeyword: codeWords, fieldKeyword: fieldWords, requestKeyword: requestWords,
	} {
		for _, w := range list {
			t[w[0]&31] = append(t[w[0]&31], meaning{w, keyword(k)})
		}
	}
	return t
}()

type meaning struct {
	word    string
	keyword keyword
}

// keywordOf returns which keyword a word of letters is, in either case.
func keywordOf[T string | []byte](word T) keyword {
	if len(word) == 0 {
		return noKeyword
	}
	for _, m := range keywords[word[0]&31] {
		if len(m.word) == len(word) && strings.EqualFold(m.word, string(word)) {
			return m.keyword
		}
	}
	return noKeyword
}

// mayFollowKeyword reports whether the bytes before i permit that scanner.keyword
// finds something. It is inlined, and most tokens need no call.
func mayFollowKeyword(s string, i int) bool {
	j := skipBack(s, max(0, i-precedeAll), i, precede)
	return j < i && mayEnd(s, j)
}

// How many bytes may come between a keyword and its value: without white space, and all, so that a text of such bytes
// is read in linear time.
const (
	precedeMax = 4
	precedeAll = 64
)

// keyword returns the meaning of the word before i for the value at i: error 404 is not
// error 500. The word is the letters before the bytes of class precede, or in a
// compound such as errorCode or exit_code its last word.
//
// On the hot path, mayFollowKeyword is asked first.
func (sc *scanner) keyword(i int) keyword {
	s, floor := sc.s, max(sc.masked, 0)
	j, marks, assigned := precedes(s, floor, i)
	switch {
	case j == i || marks > precedeMax:
		return noKeyword
	case (j == floor || s[floor:j] == " ->") && sc.asked():
		return requestKeyword
	case j == floor || !mayEnd(s, j):
		return noKeyword
	case s[j-1] == '|':
		return barKeyword
	case s[j-1] == ')' && assigned:
		return flagKeyword
	}
	if n := wordStart(s, floor, j); n < j {
		return keywordAt(s, floor, n, j, marks, assigned)
	}
	for _, p := range protocols {
		if j-floor >= len(p) && s[j-len(p):j] == p {
			return requestKeyword
		}
	}
	return noKeyword
}

// precedes returns where the bytes of class precede before i begin, how many of them are no space, and whether one
// assigns: a colon or an equals sign.
func precedes(s string, floor, i int) (j, marks int, assigned bool) {
	for j = i; j > floor && classes[s[j-1]]&precede != 0; {
		if j--; classes[s[j]]&space == 0 {
			marks++
			assigned = assigned || s[j] == ':' || s[j] == '='
		}
	}
	return j, marks, assigned
}

// keywordAt returns the meaning of the word s[n:j] for the value after marks.
func keywordAt(s string, floor, n, j, marks int, assigned bool) keyword {
	is := s[n:j] == "is" || s[n:j] == "was"
	if is {
		j = skipBack(s, floor, n, space)
		n = wordStart(s, floor, j)
	}
	k := keywordOf(s[n:j])
	switch {
	case is && k != codeKeyword:
		return noKeyword
	case k == fieldKeyword && !assigned, j == n+1 && s[n]|0x20 == 'm' && n > floor && s[n-1] == '@':
		return textKeyword
	case k == noKeyword && (assigned || marks == 0) && isPast(s[floor:j]):
		if assigned {
			return flagKeyword
		}
		return resultKeyword
	}
	return k
}

// asked reports whether the last variable is the object of a request: three to seven capitals and a space are before
// it, as in GET /index.
func (sc *scanner) asked() bool {
	j := sc.begin - 1
	if j < 3 || sc.s[j] != ' ' {
		return false
	}
	n := j
	for n > 0 && isUpper(sc.s[n-1]) {
		n--
	}
	return j-n >= 3 && j-n < hexMin && n > sc.before && at(sc.s, n-1)&wordlike == 0
}

// isPast reports whether s ends in a verb in the past, or one with "with" after it.
func isPast(s string) bool {
	verb, with := strings.CutSuffix(s, pastWith)
	if !with {
		verb, with = strings.CutSuffix(s, past)
	}
	return with && len(verb) > 1 && isLower(verb[len(verb)-1]) && isLower(verb[len(verb)-2])
}

// wordStart returns where the word begins that ends at j: all letters before it, or
// in a compound those from the last capital after a small letter, or before one, on. It looks no
// further than a keyword may be long.
func wordStart[T string | []byte](s T, floor, j int) int {
	n := j
	for n > floor && j-n <= keywordMax && isLetter(s[n-1]) {
		if n < j && isUpper(s[n]) && (isLower(s[n-1]) || n+1 < j && isLower(s[n+1])) {
			break
		}
		n--
	}
	return n
}

// isMeasured reports whether the text after the number that ends at j makes it a size, a time of day or a place in a
// file.
func (sc *scanner) isMeasured(j int) bool {
	s, n := sc.s, skip(sc.s, j, space)
	switch {
	case n == len(s):
		return false
	case n == j && s[n] == ':':
		return at(s, n+1)&digit != 0
	case s[n] == '%':
		return isPercent(s, j, n)
	case n == j || classes[s[n]]&narrow == 0:
		return false
	}
	end, all := sc.window.token(s, n)
	return isUnit(s[n:end], all) && !sc.n.words.has(s[n:end])
}

// isPercent reports whether the '%' at i belongs to the number that ends at j: no space is between, or no word follows.
func isPercent(s string, j, i int) bool {
	return i == j || at(s, i+1)&wordlike == 0 && !isMask(s, i+1)
}

// codeMax and fieldMax are how long a code, and a number of digits alone in a field,
// are at most: longer ones are ids.
const (
	codeMax  = 10
	fieldMax = 6
)

// isCode reports whether the token s[i:j], which holds a digit and may have a sign,
// decides something by the word before it.
func (sc *scanner) isCode(i, j int) bool {
	s := sc.s
	k := sc.keyword(i)
	if k < codeKeyword || sc.isMeasured(j) {
		return false
	}
	n := i
	if s[i] == '-' || s[i] == '+' {
		n++ // no id has a sign
	}
	digits := skip(s, n, digit) == j
	status, nothing := digits && isStatus(s[i:j]), s[i:j] == "0" || digits && s[i] == '-' && j-n <= codeMax
	switch k {
	case requestKeyword:
		return status
	case barKeyword:
		return status && at(s, j)&space != 0 && strings.HasPrefix(s[skip(s, j, space):], "|")
	case resultKeyword:
		return (status || nothing) && endsClause(s, j)
	case flagKeyword:
		return nothing && at(s, skip(s, j, fold))&digit == 0 || isNumbered(s, i, j)
	}
	if k == codeKeyword {
		return j-n <= codeMax && isGlued(s, n, j)
	}
	return skip(s, n, narrow) == j && (j-n <= fieldMax || j-n <= codeMax && (n > i || !digits))
}

// isStatus reports whether t, digits maybe after a sign, has the form of a status of HTTP.
func isStatus(t string) bool { return len(t) == 3 && '1' <= t[0] && t[0] <= '5' }

// isGlued reports whether the code s[i:j] has only dashes between its parts, or slashes before capitals if it begins
// with a digit.
func isGlued(s string, i, j int) bool {
	number := classes[s[i]]&digit != 0
	for n := i; n < j; n++ {
		if classes[s[n]]&narrow == 0 && (number && (s[n] != '/' || !isUpper(s[n+1])) || !number && s[n] != '-') {
			return false
		}
	}
	return true
}

// isExtreme reports whether the number s[i:j] says that nothing is there, or all of something: a ratio of 0 or of equal
// numbers; a 0 before '%', or before the name of several things. None in a run of variables does.
func (sc *scanner) isExtreme(i, j int) bool {
	s, slash := sc.s, skip(sc.s, i, digit)
	switch {
	case sc.lit < sc.masked, at(s, skip(s, j, fold))&digit != 0:
		return false
	case slash < j:
		return s[slash] == '/' && skip(s, slash+1, digit) == j && (s[i:slash] == "0" || s[i:slash] == s[slash+1:j])
	case j > i+1, s[i] != '0', sc.isMeasured(j) && s[j] != '%':
		return false
	case j < len(s) && s[j] == '%':
		return true
	}
	n := skip(s, j, space)
	end := n
	for end < len(s) && isLower(s[end]) {
		end++
	}
	clause := at(s, skipBack(s, 0, i, space)-1)&wordlike == 0
	return n > j && end > n+2 && (clause || s[end-1] == 's') && at(s, end)&(space|ends) != 0 &&
		(end < n+hexMin || !isHexWord(s[n:end]))
}

// endsClause reports whether the number that ends at j counts nothing: no word is after it but a connective or one with
// a capital.
func endsClause(s string, j int) bool {
	n := skip(s, j, space)
	if at(s, n)&wordlike == 0 || isUpper(s[n]) {
		return true
	}
	end, _ := narrowEnd(s, n)
	return isConnective(s[n:end])
}
