package scrub

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of a word before a value: its parts, and its bytes without the signs between them.
const (
	maxParts = 6
	maxWord  = 48
)

// label looks for a word before a value that ends at a place, and adds the value.
func (f *finder) label(at int) {
	kinds, from := f.word(at)
	if kinds&agentWord != 0 {
		if person := skip(f.s, at, " \"'«„“"); isPerson(f.s[person:]) {
			f.greeted(at)
		}
		return
	}
	if kinds&noneWord != 0 || kinds&(labels|leadWord) == 0 || from > 0 && isMark(f.s[from-1:]) {
		return
	}
	c := f.connect(at, kinds)
	if c.strength == 0 && kinds&labels != 0 && noSpaces(lastRune(f.s[:at])) && c.from == at || kinds&(nounWord|machineWord) != 0 && f.inCode(c, from, at) {
		return // a part of a longer word
	}
	switch {
	case kinds&leadWord != 0:
		f.greeted(at)
	case c.strength < 0:
	case kinds&(secretWord|tokenWord) != 0:
		f.secret(c, kinds&tokenWord != 0)
	case kinds&idWord != 0:
		f.id(c)
	case kinds&(hostWord|machineWord|netWord) != 0:
		if kinds&machineWord != 0 && from > 0 && strings.IndexByte("-_./\\", f.s[from-1]) >= 0 {
			return // a part of the name of something else
		}
		f.host(c, kinds)
	default:
		f.user(c, from)
	}
}

// inCode reports whether the word between two places is a part of the name of something in code.
func (f *finder) inCode(c connection, from, at int) bool {
	s := f.s
	if strings.HasPrefix(s[at:], "()") || c.from > 0 && c.strength == 2 && s[c.from-1] == '(' {
		return true
	}
	return from > 0 && c.sign != '=' && c.closing == "" && (s[from-1] == '.' || isNamePart(lastRune(s[:from]))) && !noSpaces(firstRune(s[from:]))
}

// word returns the kinds of the longest word before a value that ends at a place, and where it begins.
func (f *finder) word(at int) (kinds word, from int) {
	var buf [maxWord]byte
	s, n, parts, joint := f.s, len(buf), 0, false
	for i := at; i > 0; {
		r, size := rune(s[i-1]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeLastRuneInString(s[:i])
		}
		switch {
		case r < utf8.RuneSelf && wordByte(byte(r)) && r != '_':
			if n--; n < 0 {
				return kinds, from
			}
			buf[n] = fold[byte(r)]
		case isJoint(r):
			if parts++; joint || parts == maxParts || n == len(buf) {
				return kinds, from
			}
			joint, i = true, i-size
			continue
		default:
			length := utf8.RuneLen(unicode.ToLower(r))
			if r < utf8.RuneSelf || !isNamePart(r) || length < 0 || n < length {
				return kinds, from
			}
			n -= length
			utf8.EncodeRune(buf[n:], unicode.ToLower(r))
		}
		joint, i = false, i-size
		if within(s, i, r) {
			continue
		}
		if k := words[string(buf[n:])]; k&(labels|leadWord|agentWord) != 0 {
			kinds, from = k, i
		}
	}
	return kinds, from
}

// within reports whether the word that r, which is at a place, belongs to begins before it.
func within(s string, at int, r rune) bool {
	if at == 0 || noSpaces(r) {
		return false
	}
	if left := s[at-1]; left < utf8.RuneSelf {
		return wordByte(left) && left != '_' && (!unicode.IsUpper(r) || upper(left))
	}
	left := lastRune(s[:at])
	return isNamePart(left) && (!unicode.IsUpper(r) || !unicode.IsLower(left))
}

// connection is what joins a word and its value.
type connection struct {
	strength int    // 2: a sign, 1: a word such as "is", 0: spaces or quotes, -1: it joins nothing
	from     int    // where the value begins
	closing  string // the quote that ends it, "" for none
	sign     byte
}

// connect reads what follows a word before a value.
func (f *finder) connect(at int, kinds word) connection {
	s := f.s
	c := connection{strength: -1}
	if p := skip(s, at, `\"'»”`); p < len(s) && s[p] == '>' { // an element of XML
		return connection{strength: 2, from: p + 1, closing: "<", sign: '>'}
	}
	p := behind(s, at)
	p = f.further(p, kinds)
	q := skip(s, p, " \t\u00a0")
	for strings.HasPrefix(s[q:], ". ") {
		q = skip(s, q+1, " \t")
	}
	for _, sign := range []string{":=", "->", "=>", ":", "=", "%3d", "%3D", "：", "→", "— ", "– "} {
		if strings.HasPrefix(s[q:], sign) {
			next := s[q+len(sign):]
			if sign == ":" && (strings.HasPrefix(next, "//") || strings.HasPrefix(next, ":")) || sign == "=" && strings.HasPrefix(next, "=") {
				return c
			}
			c.strength, c.sign, p = 2, s[q], q+len(sign)
			break
		}
	}
	if c.strength < 0 {
		if q == p && p == at && (q == len(s) || !noSpaces(firstRune(s[q:])) && s[q] != '(' && s[q] != '[') {
			return c
		}
		c.strength, p = 0, q
		for _, joiner := range joiners {
			rest := s[q:]
			if hasFold(rest, joiner) && (strings.HasPrefix(rest[len(joiner):], " ") || strings.HasPrefix(rest[len(joiner):], ":") || noSpaces(firstRune(joiner))) {
				c.strength, p = 1, skip(s, q+len(joiner), " :")
				break
			}
		}
	}
	return c.open(s, p)
}

// open returns c with the value that begins behind a place, and behind its quote.
func (c connection) open(s string, p int) connection {
	p = skip(s, p, " \t\r\n>|")
	if strings.HasPrefix(s[p:], "- ") || strings.HasPrefix(s[p:], "-\n") {
		p = skip(s, p, "- \t\r\n") // of YAML
	}
	p = skip(s, p, `[({\`)
	for _, quotes := range []string{`""`, "''", "``", "«»", "„“", "“”", "「」", "『』", "‘’", "„”"} {
		opening := quotes[:utf8.RuneLen(firstRune(quotes))]
		if strings.HasPrefix(s[p:], opening) {
			p, c.closing = p+len(opening), quotes[len(opening):]
			if closed := strings.Index(s[p:], c.closing); closed < 0 {
				c.closing = ""
			} else if closed == 0 {
				return connection{strength: -1}
			}
			break
		}
	}
	c.from = p
	return c
}

// behind returns the place behind a word, its quotes and what is in brackets.
func behind(s string, p int) int {
	p = skip(s, p+len(s[p:])-len(strings.TrimPrefix(s[p:], "()")), `\"'»”`)
	if p+1 < len(s) && s[p] == ']' && s[p+1] != ' ' {
		p++
	}
	if strings.HasPrefix(s[p:], " (") {
		if n := strings.IndexByte(s[p:min(len(s), p+28)], ')'); n > 0 && p+n+1 < len(s) && strings.IndexByte(":= ", s[p+n+1]) >= 0 {
			p += n + 1
		}
	}
	return p
}

// further returns the end of the words that say more of the word before a value, up to a sign: "owner of the file:".
func (f *finder) further(p int, kinds word) int {
	const longest = 32
	s := f.s
	for noSpaces(firstRune(s[p:])) && p > 0 && noSpaces(lastRune(s[:p])) && kinds&secretWord != 0 {
		p += utf8.RuneLen(firstRune(s[p:]))
	}
	q, loose := p, false
	for range 4 {
		if !strings.HasPrefix(s[q:], " ") {
			break
		}
		end := nameWord(s, q+1)
		if end == q+1 {
			break
		}
		loose = loose || q == p && kinds&secretWord == 0 && !is(s[q+1:end], prepositionWord)
		if q = end; q-p > longest {
			break
		}
		if rest := strings.TrimLeft(s[q:], " "); strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, "：") {
			if loose && (kinds&(userWord|nounWord) == 0 || !isPerson(strings.TrimLeft(rest, ":=： ")) && !isLogin(rest[:nameWord(rest, 0)]) && firstRune(strings.TrimLeft(rest, ":=： ")) < 0x100) {
				break
			}
			return q
		}
		if kinds&tokenWord != 0 && strings.HasPrefix(s[q:], " ") {
			if next := nameWord(s, q+1); isRandom(s[q+1 : next]) {
				return q
			}
		}
		if kinds&secretWord != 0 && startsWithAny(s[q:], []string{" is ", " na ", " auf ", " to ", " a ", " à ", " на "}) {
			return q
		}
	}
	return p
}

// skip returns the first place from p on at which s has none of signs.
func skip(s string, p int, signs string) int {
	for p < len(s) {
		r, size := utf8.DecodeRuneInString(s[p:])
		if !strings.ContainsRune(signs, r) {
			break
		}
		p += size
	}
	return p
}

// end returns where a value ends: at its quote, or at one of signs.
func (c connection) end(s string, signs string) int {
	if c.closing != "" {
		if n := strings.Index(s[c.from:], c.closing); n >= 0 {
			value := s[c.from : c.from+n]
			if len(value) <= maxQuoted && !strings.ContainsAny(value, "\r\n") {
				return c.from + len(strings.TrimRight(value, `\`))
			}
		}
	}
	if n := strings.IndexAny(s[c.from:], signs+spaces); n >= 0 {
		return c.from + n
	}
	return len(s)
}

const (
	maxQuoted = 256
	spaces    = " \t\n\f\r" // those of \s
)

// secret adds the value of a word for secrets.
func (f *finder) secret(c connection, bare bool) {
	s := f.s
	for _, scheme := range []string{"bearer ", "basic ", "token ", "digest "} {
		if hasFold(s[c.from:], scheme) {
			c.from, bare = c.from+len(scheme), false
		}
	}
	to := c.end(s, `"'&;,<>(){}[]»”`)
	value := s[c.from:to]
	trimmed := strings.TrimRight(value, ".,!?:")
	if !isReference(value) && c.isSecret(s, to, trimmed, bare) {
		if c.closing == "" {
			to = c.from + len(trimmed)
		}
		f.add(Secret, c.from, to, false)
	}
}

// isReference reports whether a value only names a secret, or is none.
func isReference(s string) bool {
	if len(s) < 4 || isPlain(s) {
		return true
	}
	for _, prefix := range []string{"${", "$(", "%", "/", "0x"} {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}

// isSecret reports whether a value that ends at a place is secret. It has to look random if the word before it is bare:
// one of many meanings.
func (c connection) isSecret(s string, to int, value string, bare bool) bool {
	random := isRandom(strings.ReplaceAll(value, "/", ""))
	mixed := random || isMixed(value) && !strings.ContainsAny(value, "`\\")
	if bare {
		unexpected := c.sign != '=' && parsing.MatchString(s[max(0, c.from-48):c.from])
		_, _, longest := mixture(value)
		return random || mixed && c.strength == 2 && len(value) >= 6 && !unexpected && (longest < 5 || c.sign == '=') && strings.Count(value, "/") < 2
	}
	switch letters := strings.Trim(value, lowerLetters+upperLetters+".") == ""; {
	case c.sign == '>', c.closing != "" && (c.strength > 0 || !common(strings.ToLower(value))): // all that is quoted
		return true
	case c.strength == 2: // but not the beginning of a sentence
		return !letters || c.sign != ':' || !strings.HasPrefix(s[to:], " ") || !strings.HasPrefix(s[c.from-1:], " ")
	case mixed && (!strings.HasSuffix(value, "ms") || !digit(value[0])):
		return true
	}
	return isCode(value) && (c.strength > 0 || len(value) > 4)
}

// id adds the value of a word for ids, which has a digit.
func (f *finder) id(c connection) {
	to := c.from
	for to < len(f.s) && (wordByte(f.s[to]) || strings.IndexByte("-:.", f.s[to]) >= 0) {
		to++
	}
	value := strings.TrimRight(f.s[c.from:to], "-:.")
	if len(value) >= 6 && strings.ContainsAny(value, "0123456789") && !strings.HasPrefix(value, "0x") && !isVersionLike(value) {
		f.add(ID, c.from, c.from+len(value), false)
	}
}

// host adds the value of a word for computers or networks.
func (f *finder) host(c connection, kinds word) {
	s := f.s
	to := c.end(s, `"'’,;<>()[]{}|`)
	whole := c.closing != ""
	if !whole {
		clause := s[c.from:]
		if n := clauseEnd.FindStringIndex(clause); n != nil {
			clause = clause[:n[0]]
		}
		if owner := ownersDevice.FindStringIndex(clause); owner != nil { // the device of somebody
			to, whole = c.from+owner[1], true
		} else if kinds&netWord != 0 && c.strength == 2 {
			to, whole = c.from+len(clause), true
		}
	}
	value := strings.TrimRight(s[c.from:to], ".,:!?")
	if !isNamePart(firstRune(value)) || isHardware(s, c.from, c.from+len(value)) || isNoHost(s, c.from, c.from+len(value)) || is(value, plainWord|nobodyWord) || strings.ContainsAny(value, `/\*%$@`) ||
		!whole && strings.Contains(value, ".") && !local.MatchString(value) && kinds&machineWord != 0 || !c.names(value, whole, kinds&machineWord != 0) {
		return
	}
	f.add(Computer, c.from, c.from+len(value), true)
}

// names reports whether a value has the form of the name of a computer, as far as what is before it requires one.
func (c connection) names(value string, whole, machine bool) bool {
	marked := strings.ContainsAny(value, "0123456789-_")
	switch {
	case machine && c.strength == 0:
		return whole && strings.ContainsAny(value, " '’-") || marked && strings.ToUpper(value) == value
	case whole || !machine && c.strength == 2:
		return true
	}
	return marked || strings.ToUpper(value) == value && len(value) > 2
}

// user adds the name after a word for users.
func (f *finder) user(c connection, label int) {
	s := f.s
	to := f.name(c.from, c.closing)
	if to == c.from {
		if n := skip(s, c.from, "0123456789"); n-c.from >= 9 && !strings.HasPrefix(s[c.from:], "7656119") && c.strength >= 0 && (n == len(s) || !wordByte(s[n])) {
			f.add(ID, c.from, n, false)
		}
		return
	}
	lower := strings.ToLower(s[c.from:to])
	if c.strength == 0 && c.closing == "" && !anyCommon(lower) && !isOrdinary(lower) && !isType(s[c.from:to]) && endsWord(s[to:]) &&
		(isLogin(s[c.from:to]) || s[c.from] < utf8.RuneSelf && firstRune(s[label:]) > 0x370 || unicode.IsUpper(firstRune(s[c.from:])) || english(s[label:c.from]) && !strings.HasPrefix(s[to:], " ")) {
		c.strength = 2
	}
	if c.strength < 2 && (c.closing == "" || c.strength < 0) {
		rest := strings.TrimLeft(s[to:], `"'»”`)
		if !strings.HasPrefix(rest, " ") && !noSpaces(firstRune(rest)) || !startsWithAny(strings.TrimLeft(rest, " "), deeds) {
			return
		}
	}
	f.addName(c.from, to)
}

// greeted adds the name after a phrase.
func (f *finder) greeted(at int) {
	s := f.s
	from := skip(s, at, " ,:!\t\"'«„“「`#，、！：")
	if from == at && !noSpaces(lastRune(s[:at])) {
		return
	}
	for _, word := range []string{"user ", "the user ", "player "} {
		if hasFold(s[from:], word) {
			from = skip(s, from+len(word), " \"'«„“")
		}
	}
	closing := ""
	if from > at && (s[from-1] == '"' || s[from-1] == '\'') {
		closing = s[from-1 : from]
	}
	if to := f.name(from, closing); to > from {
		f.addName(from, to)
	}
}

// addName adds a name, which may have a domain before it.
func (f *finder) addName(from, to int) {
	s := f.s
	if after := skip(s, to, `\`); after > to {
		if end := f.name(after, ""); end > after {
			f.add(Computer, from, to, !is(s[from:to], ordinaryWord))
			f.add(User, after, end, true)
			return
		}
	}
	if strings.HasPrefix(s[to:], "@") && (to+1 == len(s) || !isNamePart(firstRune(s[to+1:]))) {
		return
	}
	f.add(User, from, to, true)
}

// name returns where the name that begins at a place ends, and the place if there is none.
func (f *finder) name(from int, closing string) int {
	s := f.s
	to := from
	if closing != "" {
		if n := strings.Index(s[from:], closing); n > 0 && n <= 64 && !strings.ContainsAny(s[from:from+n], "\r\n\\/:<>{}=@") {
			to = from + n
		}
	}
	if to == from {
		if to = nameWord(s, from); to == from {
			return from
		}
		to = f.otherNames(from, to)
	}
	value := strings.TrimRight(s[from:to], ".-")
	first, others, _ := strings.Cut(value, " ")
	lower := strings.ToLower(strings.TrimRight(first, ".,!?"))
	if words[lower]&(nobodyWord|plainWord) != 0 && (others == "" || common(strings.ToLower(others))) || first == lower && (common(lower) || words[key(lower)]&(labels|leadWord) != 0) ||
		sharedHome(value) || isNoName(value, first) || isCall(s[from+len(value):]) {
		return from
	}
	return from + len(value)
}

// otherNames returns where the other names of a person end, whose first name is between two places.
func (f *finder) otherNames(from, to int) int {
	s := f.s
	for range 3 { // further names of a person
		next := to
		for strings.HasPrefix(s[next:], " ") {
			n := nameWord(s, next+1)
			if !is(s[next+1:n], particleWord) {
				break
			}
			next = n
		}
		if strings.HasPrefix(s[next:], " ") && noSpaces(firstRune(s[from:])) && noSpaces(firstRune(s[next+1:])) && nameWord(s, next+1)-next < 10 {
			to = nameWord(s, next+1)
			break
		}
		if !strings.HasPrefix(s[next:], " ") || !unicode.IsUpper(firstRune(s[from:])) || s[to-1] == ',' {
			break
		}
		end := nameWord(s, next+1)
		if end == next+1 || !unicode.IsUpper(firstRune(s[next+1:])) || is(s[next+1:end], nobodyWord|plainWord) ||
			strings.ToUpper(s[next+1:end]) == s[next+1:end] && end-next > 4 || end < len(s) && strings.IndexByte(":=(", s[end]) >= 0 {
			break
		}
		to = end
	}
	return to
}

// isNoName reports whether s, whose first word is given, has the form of a number, a version, an id or a type.
func isNoName(s, first string) bool {
	return utf8.RuneCountInString(s) < 2 || strings.Trim(s, "0123456789._-") == "" || strings.Count(first, ".") > 1 || isVersionLike(s) ||
		strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "S-1-") || isDottedType(first)
}

// isCall reports whether what follows a word makes it the name of a function, a type, a key or a space of names.
func isCall(rest string) bool {
	return strings.HasPrefix(rest, "(") && !strings.HasPrefix(rest, "(uid") || strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, "::") ||
		strings.HasPrefix(rest, ":") && isNamePart(firstRune(rest[1:]))
}

// nameWord returns where one word of a name ends.
func nameWord(s string, from int) int {
	to := from
	for to < len(s) {
		r, size := utf8.DecodeRuneInString(s[to:])
		if !isNamePart(r) && r != '_' && (to == from || !strings.ContainsRune(".-'’$~#·", r)) || r == utf8.RuneError {
			break
		}
		to += size
	}
	if n := strings.TrimSuffix(strings.TrimSuffix(s[from:to], "'s"), "’s"); to > from {
		to = from + len(strings.TrimRight(n, ".-'’·#"))
	}
	return to
}

// tail adds the name before a phrase.
func (f *finder) tail(at, end int) {
	s := f.s
	if end < len(s) && isNamePart(firstRune(s[end:])) && !noSpaces(lastRune(s[:end])) {
		return
	}
	joined := noSpaces(firstRune(s[at:]))
	to := len(strings.TrimRight(s[:at], " \t\"'»”])>」"))
	if !joined && to == at {
		return
	}
	from := nameBefore(s, to)
	if from < to && s[from] == ' ' {
		from++
	}
	if from < to && (from == 0 || s[from-1] != '<') && f.name(from, "") > from && !isOrdinary(strings.ToLower(s[from:to])) {
		f.add(User, from, to, true)
	}
}

// nameBefore returns where the name that ends at a place begins, and the place if there is none.
func nameBefore(s string, to int) int {
	from := to
	for range 4 {
		start := from
		for start > 0 {
			r, size := utf8.DecodeLastRuneInString(s[:start])
			if !isNamePart(r) && r != '_' && (start == to || !strings.ContainsRune(".-'’#~", r)) {
				break
			}
			start -= size
		}
		word := s[start:from]
		capital := unicode.IsUpper(firstRune(word))
		if from < to && is(word, particleWord) && start > 1 && s[start-1] == ' ' && isNamePart(lastRune(s[:start-1])) {
			from = start - 1
			continue
		}
		if word == "" || from < to && !capital || is(word, nounWord|userWord|nobodyWord|plainWord) || start > 0 && s[start-1] == '/' {
			break
		}
		if from = start; from == 0 || s[from-1] != ' ' || !capital {
			break
		}
		from--
	}
	return from
}

// startsWithAny reports whether s begins with one of words, in any case.
func startsWithAny(s string, words []string) bool {
	for _, w := range words {
		if hasFold(s, w) {
			return true
		}
	}
	return false
}

// isLogin reports whether s has the form of a name that somebody made up: words with a line between them, or with digits.
func isLogin(s string) bool {
	if common(strings.ToLower(strings.ReplaceAll(s, "_", " "))) {
		return false
	}
	return (strings.Contains(s, "_") || strings.ContainsAny(s, "0123456789")) && !strings.Contains(s+"_", "_C_") && unicode.IsLetter(firstRune(s)) &&
		!strings.Contains(s, ".") && !strings.HasPrefix(s, "x") && strings.ContainsFunc(s, unicode.IsLower)
}

// common reports whether all words of s, which is in lower case, are in many texts.
func anyCommon(s string) bool {
	for word := range strings.FieldsSeq(s) {
		if vocabulary()[word] {
			return true
		}
	}
	return false
}

func common(s string) bool {
	for word := range strings.FieldsSeq(s) {
		if !vocabulary()[word] {
			return false
		}
	}
	return s != ""
}

// english reports whether the nouns before a name are among those after which a name has no capital either.
func english(s string) bool {
	return startsWithAny(s, []string{"user", "player", "account", "login", "member", "client user"})
}

// isType reports whether s has the form of the name of a type or of an object.
func isType(s string) bool {
	small := false
	for _, r := range s {
		if small && unicode.IsUpper(r) && !strings.ContainsAny(s, "_0123456789 ") {
			return strings.HasSuffix(s, "Controller") || strings.HasSuffix(s, "Manager") || strings.HasSuffix(s, "Component") || strings.HasSuffix(s, "State") || strings.HasSuffix(s, "Data") || strings.HasSuffix(s, "Settings")
		}
		small = unicode.IsLower(r)
	}
	return strings.ToUpper(s) == s && len(s) < 5
}

// isPerson reports whether s begins with the two names of a person: words with a capital that are not common.
func isPerson(s string) bool {
	first := nameWord(s, 0)
	if !unicode.IsUpper(firstRune(s)) || !strings.HasPrefix(s[first:], " ") {
		return false
	}
	from := first + 1
	second := nameWord(s, from)
	if is(s[from:second], particleWord) && strings.HasPrefix(s[second:], " ") {
		from = second + 1
		second = nameWord(s, from)
	}
	return isTitle(s[:first]) && isTitle(s[from:second])
}

// isTitle reports whether s is a word with one capital, its first letter, that is not common.
func isTitle(s string) bool {
	for i, r := range s {
		if (i == 0) != unicode.IsUpper(r) && r != '-' && r != '\'' || r == '.' || unicode.IsDigit(r) {
			return false
		}
	}
	lower := strings.ToLower(s)
	return s != "" && !common(lower) && !isOrdinary(lower)
}

// endsWord reports whether a word before s ends, and is no part of a longer name with dots.
func endsWord(s string) bool {
	return s == "" || strings.IndexByte(spaces+",;!'\"", s[0]) >= 0 || s[0] == '.' && (len(s) == 1 || !wordByte(s[1]))
}

// isDottedType reports whether s is a name with dots in which a part behind one begins with a capital, as those of types.
func isDottedType(s string) bool {
	_, rest, _ := strings.Cut(s, ".")
	return rest != "" && unicode.IsUpper(firstRune(rest))
}
