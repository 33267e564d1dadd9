package scrub

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heedlog/heed/internal/text"
)

// maxWord bounds the bytes of a word before a value, without the signs between its parts, and maxParts its parts.
const (
	maxWord  = 64
	maxParts = 6
)

// label looks for a word before a value that ends at the place, and adds the value.
func (f *finder) label(at int) {
	kinds, from := f.word(at)
	if kinds&noneWord != 0 || from > 0 && isMark(f.s[from-1:]) {
		return
	}
	if kinds&leadWord != 0 || kinds&agentWord != 0 && isPerson(f.s[skip(f.s, at, " :=：\"'«„“"):]) {
		f.greeted(at)
		return
	}
	if kinds&personWord != 0 { // "name" is a word for the value of the word before it
		if kinds = f.before(from, 2); kinds&machineWord != 0 {
			kinds = hostWord
		} else if kinds&nounWord != 0 {
			kinds = userWord
		}
		kinds &= userWord | hostWord
	}
	if kinds&labels != 0 {
		f.value(f.connect(from, at, kinds), kinds)
	}
}

// value adds the value of a word of some kinds.
func (f *finder) value(c connection, kinds word) {
	before := lastRune(f.s[:c.word])
	inCode := c.sign != '=' && c.closing == "" && c.word > 0 && (before == '.' || isNamePart(before)) &&
		!noSpaces(firstRune(f.s[c.word:]))
	switch {
	case c.strength < 0, inCode && (kinds&(nounWord|machineWord) != 0 || kinds&hostWord != 0 && c.strength == 1 ||
		c.sign == ':' && c.from == c.at+1):
	case kinds&(secretWord|tokenWord) != 0:
		f.secret(c, kinds&tokenWord != 0)
	case kinds&idWord != 0 && f.id(c):
	case kinds&(hostWord|machineWord|lookupWord) != 0:
		f.host(c, kinds)
	case kinds&(userWord|nounWord) != 0:
		f.user(c, kinds)
	}
}

// before returns the kinds of so many words before a place in its line, and in its brackets or the element around it.
func (f *finder) before(at, count int) (kinds word) {
	s, first := f.s, max(f.line, at-64)
	for ; at > first && count > 0 && strings.IndexByte(")]", s[at-1]) < 0 && (s[at-1] != '>' || s[at] == '<'); at-- {
		if class[s[at-1]]&inName != 0 && (class[s[at]]&inName == 0 || isHump(s, at)) {
			k, _ := f.word(at)
			kinds |= k
			count--
		}
	}
	return kinds
}

// word returns the kinds of the longest word before a value that ends at the place, and the place of its first letter.
func (f *finder) word(at int) (kinds word, from int) {
	var buf [maxWord]byte
	s, n, joint := f.s, len(buf), false
	for i, parts := at, 0; i > 0 && parts < maxParts; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
		if joins(r) && !joint && n < len(buf) {
			joint = true
			continue
		}
		lower := unicode.ToLower(r)
		if n -= utf8.RuneLen(lower); n < 0 || !isNamePart(r) || r == utf8.RuneError {
			break
		}
		utf8.EncodeRune(buf[n:], lower)
		joint = false
		left := lastRune(s[:i])
		if i > 0 && !noSpaces(r) && isNamePart(left) && (!unicode.IsUpper(r) || unicode.IsUpper(left)) {
			continue // within a word
		}
		if k := words[string(buf[n:])]; k&(labels|leadWord|agentWord|providerWord|prepositionWord) != 0 {
			kinds, from = k, i
		}
		if !noSpaces(r) {
			parts++
		}
	}
	return kinds, from
}

// connection is the text between a word and its value.
type connection struct {
	word, at int    // the places of the word and of its end
	strength int    // 2: a sign, 1: a word such as "is", 0: spaces or quotes, -1: no connection
	from     int    // the place of the value
	closing  string // the quote after the value, "" for none
	sign     byte
}

var (
	// specified matches further words before a sign: "owner of the file:".
	specified = text.Lazy(`^[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]*((?: [\pL\pM\pN_][\pL\pM\pN_.'’-]*){0,4}?)(?: ?[:=：]| [—–] )`)
	// leader matches the dots before a sign, or in place of one.
	leader   = text.Lazy(`^\.(?:[. ]*[:=]|\.{3})`)
	closings = map[string]string{"«": "»", "„": "“", "“": "”", "「": "」", "『": "』", "‘": "’"}
)

// further returns the place after further words before a sign, or at if there are none.
func (f *finder) further(at int, kinds word) int {
	s, m := f.s, specified().FindStringSubmatchIndex(f.s[at:min(len(f.s), at+maxBefore)])
	if m == nil {
		return at
	}
	first, _, _ := strings.Cut(strings.TrimLeft(s[at+m[2]:at+m[3]], " "), " ")
	value := strings.TrimLeft(s[at+m[3]:], ":=：—– ")
	if kinds&secretWord != 0 && !unsaid().MatchString(s[at:at+m[3]]) || is(first, prepositionWord) ||
		kinds&hostWord != 0 && upperName().MatchString(value) && !common(strings.ToLower(upperName().FindString(value))) ||
		kinds&idWord != 0 && machineValue().MatchString(value) ||
		kinds&(userWord|nounWord) != 0 && (is(first, platformWord) || isPerson(value) || firstRune(value) > 0xFF) {
		return at + m[3]
	}
	return at
}

// connect reads the text after a word before a value, which is between two places.
func (f *finder) connect(word, end int, kinds word) connection {
	s, at := f.s, end
	if kinds&idWord != 0 && strings.HasPrefix(s[at:], ". ") { // an abbreviation
		at++
	}
	if at == len(s) || strings.IndexByte(",.&|", s[at]) >= 0 && !leader().MatchString(s[at:]) {
		return connection{strength: -1}
	}
	at = f.further(at, kinds)
	m := joint().FindStringSubmatchIndex(s[at:])
	c := connection{word: word, at: end, from: at + m[1], closing: s[at+m[8] : at+m[9]]}
	c.closing = cmp.Or(closings[c.closing], c.closing)
	switch {
	case m[2] >= 0:
		if c.strength, c.sign = 2, s[at+m[2]]; s[at+m[3]-1] == '>' && m[3]-m[2] != len("->") { // an element of XML
			c.from, c.closing = at+m[3], "<"
		}
	case m[6] >= 0 && kinds&(userWord|hostWord|secretWord|idWord) != 0 &&
		(m[7]-m[6] > 1 || isColumn(s[at:c.from], kinds)):
		c.strength = 2
	case m[4] >= 0:
		c.strength = 1
		// The common words of English are known, so that others after its verbs are names.
		verb := strings.ToLower(strings.TrimSpace(s[at+m[4] : at+m[5]]))
		if kinds&userWord != 0 && common(verb) && !is(verb, prepositionWord) {
			c.strength = 2
		}
	case m[6] == 0 && m[7] == 0 && isWord(s, at):
		c.strength = -1
	case lastRune(s[:word]) == '-' && (word < 2 || !wordByte(s[word-2])): // an option of a command
		c.strength, c.sign = 2, '='
	}
	return c
}

// isWord reports whether the text at the place continues the word before it.
func isWord(s string, at int) bool {
	return s[at] != '(' && s[at] != '[' && !noSpaces(firstRune(s[at:])) || noSpaces(lastRune(s[:at]))
}

// isColumn reports whether the text between a word and its value has the sign of a column, or of a list.
func isColumn(between string, kinds word) bool {
	return strings.ContainsAny(between, "\t|") || kinds&secretWord == 0 && strings.ContainsAny(between, "-[")
}

// end returns the end of a value: its quote, or one of signs.
func (c connection) end(s string, signs string) int {
	n := strings.Index(s[c.from:min(len(s), c.from+maxQuoted)], c.closing)
	if n > 0 && !strings.ContainsAny(s[c.from:c.from+n], "\r\n") {
		return c.from + len(strings.TrimRight(s[c.from:c.from+n], `\`))
	}
	if n = strings.IndexAny(s[c.from:], signs+spaces); n >= 0 {
		return c.from + n
	}
	return len(s)
}

const (
	maxQuoted = 256
	spaces    = " \t\n\f\r" // \s
)

var (
	scheme = text.Lazy(`^(?i:bearer|basic|token|digest) `)
	// spelled matches a value that has a word, or the signs of a path, and code a number that is entered once, or such a
	// word in capitals.
	spelled    = text.Lazy(`[a-z]{5}|[A-Z]{5}|[.:]`)
	code       = text.Lazy(`^[A-Z-]*\d[A-Z\d-]{3,7}$`)
	isSentence = text.Lazy(`^[.!?:]* [^(]`)
)

// secret adds the value of a word for secrets.
func (f *finder) secret(c connection, bare bool) {
	s := f.s
	if n := len(scheme().FindString(s[c.from:])); n > 0 {
		c.from, bare = c.from+n, false
	}
	to := c.end(s, `"'&;,<>(){}[]»”`)
	if c.closing == "" {
		to = c.from + len(strings.TrimRight(s[c.from:to], ".,!?:"))
	}
	value := s[c.from:min(to, c.from+maxWide)] // by which all of it is judged
	if len(value) >= 4 && !isPlain(value) && !startsWithAny(value, "${", "$(", "%", "/", "0x") &&
		c.isSecret(s, to, value, bare) {
		f.add(Secret, c.from, to)
	}
}

// isSecret reports whether the value that ends at the place is secret. It has to look random if the word before it is
// bare, which has many meanings.
func (c connection) isSecret(s string, to int, value string, bare bool) bool {
	shape := shapeOf(strings.ReplaceAll(value, "/", ""))
	random := shape.kinds&6 == 6 && shape.bits() >= expected
	mixed := random || isMixed(value)
	switch {
	case bare:
		isName := isReadable(value) && strings.Trim(value, lowerLetters+digits) != ""
		return random && !isReadable(value) || mixed && c.strength == 2 && len(value) >= 6 && !isName &&
			(c.sign == '=' || !spelled().MatchString(value))
	case c.closing != "":
		return c.strength > 0 || !common(strings.ToLower(value))
	case c.strength == 2: // no sentence
		return strings.Trim(value, lowerLetters+upperLetters+".") != "" || c.sign != ':' ||
			!isSentence().MatchString(s[to:]) || !strings.HasPrefix(s[c.from-1:], " ")
	}
	return mixed || code().MatchString(value)
}

// id adds the value of a word for ids, and reports whether it is one: it has a digit.
func (f *finder) id(c connection) bool {
	m := idValue().FindString(f.s[c.from:])
	shape := shapeOf(m)
	isID := !strings.HasPrefix(m, "0x") && (shape.kinds&1 != 0 || c.strength == 2 && shape.isRandom(expected))
	if isID {
		f.add(ID, c.from, c.from+len(m))
	}
	return isID
}

var (
	// machineValue matches the number of a part of a machine.
	machineValue = text.Lazy(`^[A-Z-]*\d[A-Z\d-]{4,}(?:$|[\s,;)"'])`)

	idValue = text.Lazy(`^\w[\w:.-]{4,}\w=*`)
	// upperName matches the name of a computer as Windows has it.
	upperName = text.Lazy(`^[A-Z][A-Z\d-]{3,}\b`)
	hostName  = text.Lazy(`^[\pL\pM\pN][^/\\*%$@]*$`)
	// plainTitle matches words with a capital, as things of a game have.
	plainTitle = text.Lazy(`^\p{Lu}\p{Ll}+(?: \p{Lu}?\p{Ll}+)*$`)
	typed      = text.Lazy(`^\p{Lu}\w*\.\p{Lu}`)
)

// host adds the value of a word for computers or networks.
func (f *finder) host(c connection, kinds word) {
	s := f.s
	to := c.end(s, `"'’,;<>()[]{}|=`)
	if c.closing == "" && kinds&machineWord == 0 {
		to = max(to, c.from+len(fullName(s[c.from:min(len(s), c.from+maxQuoted)])))
	}
	value := strings.TrimRight(s[c.from:to], ".,:!?")
	if isHost(value) && (f.isNamed(c, kinds, value) ||
		port().MatchString(s[c.from+len(value):]) && !common(strings.ToLower(value))) {
		f.add(Computer, c.from, c.from+len(value))
	}
}

// isNamed reports whether the value of a word for computers is a name that an owner gave.
func (f *finder) isNamed(c connection, kinds word, value string) bool {
	isMarked, isQuoted := strings.ContainsAny(value, digits+"-_"), c.closing != ""
	isUpper := inCapitals(value)
	isTitle := !isMarked && plainTitle().MatchString(value)
	word := strings.ToLower(strings.TrimRight(value, digits))
	isOwn := !common(spaced.Replace(word))
	switch {
	case kinds&lookupWord != 0:
		return isOwn && !topLevel().MatchString(value)
	case kinds&machineWord == 0 && c.strength == 2: // an element has an attribute: <Machine name="Crusher">
		return !isTitle || c.sign != '=' || !strings.Contains(f.s[c.word:c.at], " ")
	case kinds&machineWord == 0:
		return isQuoted || isMarked || isUpper ||
			isOwn && (c.strength == 1 || f.before(c.at, 4)&prepositionWord != 0)
	case c.strength == 0:
		return isQuoted && isOwn && strings.ContainsAny(value, "'’-") || isUpper && (isMarked || len(value) > 5 && isOwn)
	}
	return (isQuoted || isMarked || isUpper) && !isTitle && isOwn
}

// inCapitals reports whether a name has no lower-case letter, and more than two signs.
func inCapitals(name string) bool { return strings.ToUpper(name) == name && len(name) > 2 }

// isHost reports whether a value may be the name of a computer, and no part of it or type in code.
func isHost(value string) bool {
	return hostName().MatchString(value) && !isHardware(value) && !isNoHost(value, 0, len(value)) &&
		!typed().MatchString(value) && !is(value, plainWord|nobodyWord)
}

// user adds the name after a word for users.
func (f *finder) user(c connection, kinds word) {
	s := f.s
	to := f.name(c.from, c.closing)
	if c.strength == 2 && c.closing == "" {
		to += len(lastNumber().FindString(s[to:]))
	}
	name, rest := s[c.from:to], strings.TrimLeft(s[to:], `"'»”`)
	lower := strings.ToLower(name)
	isNamed := c.closing != ""
	switch c.strength {
	case 2:
		isNamed = isNamed || kinds&nounWord == 0 || c.sign != ':' || name != lower || !sentence().MatchString(rest)
	case 0:
		isNamed = isNamed || !common(lower) && !isOrdinary(lower) && wordEnd().MatchString(s[to:]) &&
			(isHandle(name) || kinds&nounWord != 0 && (name != lower ||
				startsWithAny(s[c.word:c.from], "user", "player", "account", "login", "member", "client user") &&
					(!strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, " ("))))
	}
	if isNamed || (strings.HasPrefix(rest, " ") || noSpaces(firstRune(rest))) &&
		(pastTense().MatchString(rest) || startsWithAny(strings.TrimLeft(rest, " "), lists["deed"]...)) {
		f.addName(c.from, to)
	}
}

var (
	// lastNumber matches a number at the end of a name, which other people have as well.
	lastNumber = text.Lazy(`^ \d{1,6}$`)
	sentence   = text.Lazy(`^ [a-z]+ `)
	pastTense  = text.Lazy(`^ [a-z]{2,}ed\b`)
	wordEnd    = text.Lazy(`^(?:$|[\s,;!'")\]]|\.(?:$|\W))`)
)

var spaced = strings.NewReplacer("_", " ", ".", " ", "-", " ")

// isHandle reports whether a name has the form that accounts have and words do not: parts, of which one is not common.
func isHandle(name string) bool {
	return strings.ContainsAny(name, "_.-#0123456789") && !common(spaced.Replace(strings.ToLower(name)))
}

// greeted adds the name after a phrase.
func (f *finder) greeted(at int) {
	s := f.s
	from := skip(s, at, " ,:!@\t\"'«„“「`#，、！：")
	if strings.HasSuffix(s[:at], " user") {
		f.addName(from, f.name(from, ""))
	} else if from > at {
		f.addName(from, f.speaker(from))
	}
}

// speaker returns the end of the name at the place, or the place if there is none or a word that is common.
func (f *finder) speaker(from int) int {
	to := f.name(from, "")
	if common(strings.ToLower(f.s[from:to])) {
		return from
	}
	return to
}

// addName adds a name, or the domain before it, after whose mark the next pass finds it.
func (f *finder) addName(from, to int) {
	kind := User
	if strings.HasPrefix(f.s[to:], `\`) {
		kind = Computer
	}
	f.add(kind, from, to)
}

var (
	// noName matches a number, a version, an id, a type or a file, noNameEnd the rest of a call, a key or a namespace.
	noName = text.Lazy(`^(?:.|v?[\d._-]+|0x.*|S-1-.*|[^ ]*\.[^ ]*\..*|[^ .]*\.\p{Lu}.*|.*\.(?:es[lmp]|dll|jar))$`)
	dotted = text.Lazy(`^\p{Lu}\p{Ll}+\.\p{Lu}\p{Ll}+$`)
	// nameWord matches one word of a name.
	nameWord  = text.Lazy(`^[\pL\pM\pN_][\pL\pM\pN_.'’$~#·-]*`)
	noNameEnd = text.Lazy(`^(?:\((?:[^u]|$)|=|:[\pL\pN:])`)
)

// name returns the end of the name at the place, or the place if there is none.
func (f *finder) name(from int, closing string) int {
	s := f.s
	value := fullName(s[from:min(len(s), from+maxQuoted)])
	n := strings.Index(s[from:min(len(s), from+maxWord)], closing)
	if n > 0 && !strings.ContainsAny(s[from:from+n], "\r\n\\/:<>{}=@") &&
		!isNamePart(firstRune(s[from+n+len(closing):])) {
		value = s[from : from+n]
	}
	value = strings.TrimRight(value, ".-'’")
	first, others, _ := strings.Cut(value, " ")
	lower := strings.ToLower(strings.TrimRight(first, ".,!?"))
	isPair := dotted().MatchString(value) && isPerson(strings.Replace(value, ".", " ", 1))
	if is(lower, nobodyWord|plainWord) && (others == "" || common(strings.ToLower(others))) ||
		first == lower && (common(lower) || is(lower, labels|leadWord)) || is(value, labels) ||
		sharedHome(value) || !isPair && noName().MatchString(value) || noNameEnd().MatchString(s[from+len(value):]) {
		return from
	}
	return from + len(value)
}

// fullName returns the name that s begins with: a word, with the other names of a person.
func fullName(s string) string {
	name := nameWord().FindString(s)
	for range 3 {
		m := otherName().FindStringSubmatch(s[len(name):])
		if m == nil || len(name) > 3 && strings.HasSuffix(name, ".") || is(m[1], nobodyWord|plainWord) {
			break
		}
		isUpper := unicode.IsUpper(firstRune(m[1]))
		if isUpper && (!unicode.IsUpper(firstRune(name)) || strings.ToUpper(m[1]) == m[1] && len(m[1]) > 3) ||
			!isUpper && (!noSpaces(lastRune(name)) || noSpaces(firstRune(s[len(name)+len(m[0]):])) ||
				startsWithAny(m[1], lists["deed"]...)) {
			break
		}
		name += m[0]
	}
	return name
}

// tail adds the name before a phrase, or after it and a colon: "left the game: Maria".
func (f *finder) tail(at, end int) {
	s := f.s
	to := len(strings.TrimRight(s[:at], " \t\"'»”])>」"))
	apart := to < at && (end == len(s) || !isNamePart(firstRune(s[end:])) || !isNamePart(lastRune(s[:end]))) &&
		(s[to] != ']' || !upper(s[at])) || noSpaces(firstRune(s[at:])) // no part of a program: "[Voice] Joined"
	from := max(0, to-maxWord)
	if m := lastName().FindStringSubmatchIndex(s[from:to]); apart && m != nil {
		from += m[2]
		if from < to && !is(s[from:to], nounWord|userWord|platformWord) && f.before(to, 3)&noneWord == 0 &&
			f.speaker(from) > from && !common(strings.ToLower(s[from:to])) {
			f.add(User, from, to)
			return
		}
	}
	if after := skip(s, end, ":："); after > end {
		f.greeted(end)
	}
}

// startsWithAny reports whether s has one of the beginnings, in any case.
func startsWithAny(s string, beginnings ...string) bool {
	return slices.ContainsFunc(beginnings, func(w string) bool {
		return len(s) >= len(w) && strings.EqualFold(s[:len(w)], w)
	})
}

// common reports whether all words of s, which is in lower case, are common.
func common(s string) bool {
	for word := range strings.FieldsSeq(s) {
		if !vocabulary()[word] {
			return false
		}
	}
	return s != ""
}

// isPerson reports whether s begins with the two names of a person: words with a capital that are not common.
func isPerson(s string) bool {
	m := person().FindStringSubmatch(s)
	if m == nil || files().MatchString(fullName(s)) {
		return false
	}
	first, second := strings.ToLower(m[1]), strings.ToLower(m[2])
	return !common(first) && !common(second) && !isOrdinary(first) && !isOrdinary(second)
}
