package scrub

import "strings"

// every stands for all forms: no look decides.
const every = ^uint64(0)

// hint is one of the hints of a form.
type hint struct {
	text string // in lower case
	form uint64 // its bit
}

// The hints of all forms by their first two letters, whatever their case. A letter
// that no hint begins with has class 0, and so has every pair with it.
var (
	classes [256]byte
	pairs   [64 * 64]byte // index of bucket by the classes of two letters, 0 for none
	buckets = [][]hint{nil}

	// always are the forms without hints, teaching those that find names.
	always, teaching uint64
)

func init() {
	if len(forms) > 63 {
		panic("BUG: scrub: a word has no room for the bits of all forms")
	}
	class := func(b byte) byte {
		b = lower(b)
		if classes[b] == 0 {
			next := byte(0)
			for _, c := range classes {
				next = max(next, c)
			}
			classes[b] = next + 1
			if 'a' <= b && b <= 'z' {
				classes[b-'a'+'A'] = next + 1
			}
		}
		return classes[b]
	}
	for i := range forms {
		f := &forms[i]
		if f.hints == nil {
			always |= 1 << i
		}
		if f.teaches {
			teaching |= 1 << i
		}
		for _, text := range f.hints {
			h := hint{text: text, form: 1 << i}
			at := &pairs[uint(class(text[0]))<<6|uint(class(text[1]))]
			if *at == 0 {
				*at = byte(len(buckets))
				buckets = append(buckets, nil)
			}
			buckets[*at] = append(buckets[*at], h)
		}
	}
}

// look returns the bits of the forms that s has a hint of, in one pass. Where s has
// a letter that is the other case of one in ASCII, which is all that looks know, it
// returns every.
func look(s string) uint64 {
	found := always
	before, high := byte(0), byte(0)
	for i := range len(s) {
		b := s[i]
		high |= b
		c := classes[b]
		if at := pairs[uint(before)<<6|uint(c)]; at != 0 {
			for j := range buckets[at] {
				if h := &buckets[at][j]; found&h.form == 0 && h.stands(s[i-1:]) {
					found |= h.form
				}
			}
		}
		before = c
	}
	if high >= 0x80 && (strings.Contains(s, "\u212a") || strings.Contains(s, "\u017f")) { // K and s
		return every
	}
	return found
}

// stands reports whether s begins with h, in any case.
func (h *hint) stands(s string) bool {
	return len(s) >= len(h.text) && equalFold(s[:len(h.text)], h.text)
}

// equalFold reports whether s is t, which is in lower case and as long.
func equalFold(s, t string) bool {
	for i := range len(t) {
		if lower(s[i]) != t[i] {
			return false
		}
	}
	return true
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b - 'A' + 'a'
	}
	return b
}

// hasAt looks for the sign "@", and for how others write it.
func hasAt(s string) bool {
	if strings.IndexByte(s, '@') >= 0 || strings.Contains(s, "＠") || strings.Contains(s, "&#64;") {
		return true
	}
	for i := 0; ; i += len("40") {
		n := strings.Index(s[i:], "40")
		if n < 0 {
			break
		}
		if i += n; i > 0 && strings.IndexByte("%05xX", s[i-1]) >= 0 {
			return true
		}
	}
	return strings.Contains(s, "&commat;")
}

var (
	hasSecret = assigned("&;,<>(){}[]", "token", "secret", "ticket", "password", "passwd", "passphrase", "pwd", "psk",
		"key", "id", "credential", "credentials", "authorization")
	hasUser = assigned(",;<>", "username", "user name", "user_name", "userdomain", "user domain", "user_domain",
		"logname", "personaname", "persona name", "persona_name",
		"persona", "accountname", "account name", "account_name", "loginname", "login name", "login_name", "gamertag", "user.name",
		"utzername", "utilisateur", "usuario", "usuário", "nome utente", "gebruikersnaam", "ndarnamn", "пользователя", "用户名", "ユーザー名")
	hasName = assigned(",;<>", "user", "login", "nick", "nickname", "nick name", "nick_name", "playername", "player name",
		"player_name")
	hasComputer = assigned(",;<>", "computername", "computer name", "computer_name", "hostname", "host name",
		"host_name", "machinename", "machine name", "machine_name",
		"clientname", "client name", "client_name")
)

// with returns each of words before each of ends.
func with(words []string, ends ...string) []string {
	var all []string
	for _, w := range words {
		for _, e := range ends {
			all = append(all, w+e)
		}
	}
	return all
}

// hasDomain looks for a word between a word for an account and a backslash.
func hasDomain(s string) bool {
	for i := 1; i < len(s); i++ {
		if s[i] != '\\' {
			continue
		}
		from := i
		for from > 0 && (wordByte(s[from-1]) || s[from-1] == '-' || s[from-1] == '<' || s[from-1] == '>') {
			from--
		}
		before := strings.TrimRight(s[:from], spaces+`:="'`)
		if n := len(before) - 2; n >= 0 && equalFold(before[n:], "is") {
			before = strings.TrimRight(before[:n], spaces)
		}
		if from < i && endsIn(before, accounts) {
			return true
		}
	}
	return false
}

var accounts = []string{"user", "account", "identity", "identity.name", "host", "owner", "principal", "for", "to", "by", "of"}

// hasSpoken looks for a word for a secret, and behind it a word that isMixed.
func hasSpoken(s string) bool {
	for i := 2; i < len(s); i++ {
		if !spokenLast[lower(s[i-1])] || lower(s[i]) >= 'a' && lower(s[i]) <= 'z' || !isSpoken(s[:i]) {
			continue
		}
		return hasMixed(s[i:])
	}
	return false
}

// isSpoken reports whether s ends in a word for a secret.
func isSpoken(s string) bool {
	for _, w := range spoken {
		start := len(s) - len(w.text)
		if start < 0 || !equalFold(s[start:], w.text) {
			continue
		}
		before := s[:start]
		if start == 0 || lower(before[start-1]) < 'a' || lower(before[start-1]) > 'z' { // a word by itself
			if w.alone || start > 0 && before[start-1] == '_' {
				return true
			}
		}
		if start > 0 && strings.IndexByte(" _-", before[start-1]) >= 0 {
			before = before[:start-1]
		}
		if endsIn(before, w.after) {
			return true
		}
	}
	return false
}

// spoken are the words for secrets: those that are one alone, and those that take a word before them.
var (
	spoken = []struct {
		text  string
		alone bool
		after []string
	}{
		{"key", false, secretOf},
		{"token", true, secretOf},
		{"secret", true, secretOf},
		{"code", false, append([]string{"pass"}, secretOf...)},
		{"pass", true, secretOf},
		{"pw", true, nil},
		{"pwd", true, nil},
		{"word", false, []string{"pass"}},
		{"phrase", false, []string{"pass"}},
		{"ticket", true, nil},
		{"credential", true, nil},
		{"credentials", true, nil},
	}
	secretOf = []string{
		"api", "app", "access", "auth", "private", "secret", "encryption", "license", "licence", "client", "server", "session",
		"bot", "master",
	}
	spokenLast = lastOf([]string{"key", "token", "secret", "code", "pass", "pw", "pwd", "credential", "credentials"})
)

// hasMixed looks for a word of four signs or more that isMixed, with what may stand before it.
func hasMixed(s string) bool {
	for i := 0; i < len(s); {
		from := i
		for i < len(s) && strings.IndexByte(spaces+`"'&;,<>(){}[]`, s[i]) < 0 {
			i++
		}
		word := s[from:i]
		if len(word) >= 4 && isMixed(word) && (!strings.HasPrefix(word, "0x") || strings.ContainsAny(word, ":=")) {
			return true
		}
		i++
	}
	return false
}

// lastOf returns the set of the last bytes of words.
func lastOf(words []string) (last [256]bool) {
	for _, w := range words {
		last[w[len(w)-1]] = true
	}
	return last
}

// hasRandom looks for a word that isRandom.
func hasRandom(s string) bool {
	from := 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && (wordByte(s[i]) || strings.IndexByte("+/=~-", s[i]) >= 0) {
			continue
		}
		if i-from >= 10 && isRandom(s[from:i]) {
			return true
		}
		from = i + 1
	}
	return false
}

// hasGroups looks for two dashes with four or five capitals and digits between them.
func hasGroups(s string) bool {
	run := -1 // since a dash
	for i := range len(s) {
		switch b := s[i]; {
		case b == '-':
			if run == 4 || run == 5 {
				return true
			}
			run = 0
		case run >= 0 && (digit(b) || 'A' <= b && b <= 'Z'):
			run++
		default:
			run = -1
		}
	}
	return false
}

// assigned returns a look for one of words, in any case, that a sign or a quote behind it gives
// a value which isWord does not keep. Quotes, of whatever level, and spaces may stand around
// the sign. Outside quotes a value
// ends at spaces, quotes and what else is in ends.
func assigned(ends string, words ...string) func(string) bool {
	ends += spaces + `"'`
	last := lastOf(words)
	return func(s string) bool {
		for i := range len(s) {
			if s[i] != '=' && s[i] != ':' && s[i] != '"' && s[i] != '\'' && s[i] != '%' && s[i] != wide[2] ||
				i == 0 || wordByte(s[i-1]) && !last[lower(s[i-1])] ||
				!endsIn(strings.TrimRight(strings.TrimSuffix(s[:i], wide[:2]), spaces+"()."), words) {
				continue
			}
			value := strings.TrimLeft(s[i+1:], spaces)
			if strings.HasPrefix(value, ">") { // of YAML
				return true
			}
			bare := strings.TrimLeft(value, `\"'[(`)
			if isValue(upTo(value, ends)) || isValue(upTo(bare, ends)) ||
				bare != value && isValue(upTo(bare, "\"'\\<>\r\n")) { // all between the quotes
				return true
			}
		}
		return false
	}
}

// upTo returns s up to the first of ends.
func upTo(s, ends string) string {
	if n := strings.IndexAny(s, ends); n >= 0 {
		return s[:n]
	}
	return s
}

// wide is the colon of Chinese and Japanese.
const wide = "："

// isValue reports whether s is more than a word which isWord keeps. The name of a
// scheme has its value behind it.
func isValue(s string) bool {
	return s != "" && (!isWord(s, 0, len(s)) || strings.EqualFold(s, "bearer") || strings.EqualFold(s, "basic") ||
		strings.EqualFold(s, "digest"))
}

// spaces are those of \s.
const spaces = " \t\n\f\r"

// endsIn reports whether s ends in one of words, in any case, and perhaps a quote.
func endsIn(s string, words []string) bool {
	s = strings.TrimRight(s, `\"'`)
	for _, w := range words {
		if n := len(s) - len(w); n >= 0 && equalFold(s[n:], w) {
			return true
		}
	}
	return false
}

// wordByte reports whether b is one of \w.
func wordByte(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= lower(b) && lower(b) <= 'z' || b == '_'
}

func digit(b byte) bool { return '0' <= b && b <= '9' }

// hexDigit reports whether b is a digit of hexadecimal.
func hexDigit(b byte) bool { return digit(b) || 'a' <= lower(b) && lower(b) <= 'f' }

// mayBeBot looks for six or seven signs between two dots, after and before longer words.
func mayBeBot(s string) bool {
	const before, after = 23, 27
	for dot := 0; ; dot++ {
		n := strings.IndexByte(s[dot:], '.')
		if n < 0 || dot+n+after > len(s) {
			return false
		}
		if dot += n; dot < before || !wordByte(s[dot-1]) && s[dot-1] != '-' {
			continue
		}
		next := strings.IndexByte(s[dot+1:min(dot+9, len(s))], '.')
		if next >= 6 && isToken(s[dot-before:dot]) && len(s) >= dot+next+2+after && isToken(s[dot+next+2:dot+next+2+after]) {
			return true
		}
	}
}

// isToken reports whether s is one word, which may have dashes.
func isToken(s string) bool {
	for i := range len(s) {
		if !wordByte(s[i]) && s[i] != '-' {
			return false
		}
	}
	return true
}

// isStart reports whether a path may begin after s.
func isStart(s string) bool { return s == "" || strings.IndexByte(spaces+`"'=([`, s[len(s)-1]) >= 0 }

// hasID looks for a word of six signs that has a digit.
func hasID(s string) bool {
	run, digits := 0, false
	for i := range len(s) {
		b := s[i]
		if !wordByte(b) && b != '-' {
			run, digits = 0, false
			continue
		}
		run++
		if digits = digits || digit(b); digits && run >= 6 {
			return true
		}
	}
	return false
}

// mayBeHardware looks for six pairs of digits with dashes or colons between them.
func mayBeHardware(s string) bool {
	const length = len("00:00:00:00:00:00")
	for i := 2; i+length-2 <= len(s); i++ {
		if sep := s[i]; sep != ':' && sep != '-' || s[i+3] != sep {
			continue
		}
		n := 0
		for n < length && (n%3 == 2 && s[i-2+n] == s[i] || n%3 != 2 && hexDigit(s[i-2+n])) {
			n++
		}
		if n == length {
			return true
		}
	}
	return false
}

// mayBeIPv4 looks for four numbers of up to three digits with dots between them, in
// no longer word or number, that isVersion does not keep.
func mayBeIPv4(s string) bool {
	for i := 0; i < len(s); i++ {
		if !digit(s[i]) || i > 0 && (wordByte(s[i-1]) || s[i-1] == '.') {
			continue
		}
		n, numbers := i, 0
		for numbers < 4 {
			from := n
			for n < len(s) && n < from+3 && digit(s[n]) {
				n++
			}
			if n == from {
				break
			}
			if numbers++; numbers == 4 || n == len(s) || s[n] != '.' {
				break
			}
			n++
		}
		if numbers == 4 && (n == len(s) || !wordByte(s[n])) && !isVersion(s, i, n) {
			return true
		}
	}
	return false
}

// mayBeIPv6 looks for groups of up to four digits with colons between them, in no
// longer word. Those of an address are eight, or two colons stand for some.
func mayBeIPv6(s string) bool {
	for colon := strings.IndexByte(s, ':'); colon >= 0; {
		from := colon
		for from > 0 && hexDigit(s[from-1]) {
			from--
		}
		to, colons, double := colon, 0, false
		for to < len(s) && (s[to] == ':' || hexDigit(s[to])) {
			if s[to] == ':' {
				colons++
				double = double || to+1 < len(s) && s[to+1] == ':'
			}
			to++
		}
		if (double && colons >= 2 || colons == 7) && (from == 0 || !wordByte(s[from-1]) && s[from-1] != '.') &&
			(to == len(s) || !wordByte(s[to])) {
			return true
		}
		next := strings.IndexByte(s[to:], ':')
		if next < 0 {
			return false
		}
		colon = to + next
	}
	return false
}

// runOf returns a look for n letters, digits and signs of others without anything between them.
func runOf(n int, others string) func(string) bool {
	return func(s string) bool {
		run := 0
		for i := range len(s) {
			if b := s[i]; digit(b) || 'a' <= lower(b) && lower(b) <= 'z' || strings.IndexByte(others, b) >= 0 {
				if run++; run == n {
					return true
				}
			} else {
				run = 0
			}
		}
		return false
	}
}
