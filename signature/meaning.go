package signature

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// role is what a word of a template may be.
type role uint8

const (
	fixed role = iota // another word in its place would mean something else
	plain             // it may be a value, or a state that nobody here knows
	name              // it looks like a name
	mask              // it is the mask
)

// roleOf returns the role of word i of a head.
//
// Never values are the state of something, a direction, a participle, the type
// of an exception, a qualified name of code, a call, a code, what a line states
// was thrown. Of a word that holds a mask, what is before the mask counts, and of
// state:open or state=open the end. The words of English that carry meaning are
// listed. All that the list misses, other languages, and compounds are plain:
// the number of distinct words decides.
func roleOf(words [][]byte, i int) role {
	word := words[i]
	if string(word) == Mask {
		return mask
	}
	var previous []byte
	if i > 0 {
		previous = bytes.TrimFunc(words[i-1], isEdge)
	}
	w := bytes.TrimFunc(word, isEdge)
	w = bytes.TrimSuffix(w, []byte("'s"))
	code := isCodeName(w)
	switch {
	case isCall(word) || !code && isFixed(w[bytes.LastIndexAny(w, ":/|=")+1:]) || announcesCode(previous):
		return fixed
	case announcesName(previous):
		return name
	case code || isFaultType(w):
		return fixed
	case bytes.Contains(word, []byte(Mask)) || announcesState(previous):
		return plain
	case isReverseDomain(w) && (i == 0 && word[len(word)-1] == ':' || isName(w)):
		return name // at the beginning it is who reports, whatever it ends in
	case isName(w) && (!isCaseless(w) || !isCaseless(previous)) || isSmall(w) && isAccount(words, i):
		return name
	}
	return plain
}

// isFixed reports whether another word in place of w would mean something else.
func isFixed(w []byte) bool {
	return isState(w) || isParticiple(w) || !bytes.Contains(w, []byte{'.'}) && isFaultType(w)
}

// isEdge reports whether r may stand around a word: punctuation, and the mask.
func isEdge(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// isName reports whether w is written like the name of someone or something: it
// begins with a capital that others do not all follow, or is of a script
// without case, or is dotted; and no part of it is a state.
func isName(w []byte) bool {
	first, size := utf8.DecodeRune(w)
	if !unicode.IsLetter(first) {
		return false
	}
	dotted, small := false, false
	for i := 0; i < len(w); {
		j := i
		for j < len(w) && w[j] != '.' && w[j] != '_' && w[j] != '-' {
			if w[j] < 0x80 && !isLetter(w[j]) && w[j] != '\'' {
				return false
			}
			j++
		}
		if saysState(w[i:j]) {
			return false
		}
		dotted = dotted || j+1 < len(w) && w[j] == '.'
		i = j + 1
	}
	if dotted || !unicode.IsUpper(first) {
		return dotted || !unicode.IsLower(first)
	}
	for _, r := range string(w[size:]) {
		small = small || unicode.IsLower(r)
	}
	return small
}

// saysState reports whether a part of a name is a state, or two words written as
// one of which either is: IsOpen, NotFound. Longer ones are rather names.
func saysState(part []byte) bool {
	if isState(part) || isParticiple(part) {
		return true
	}
	turn := 0
	for i := 1; i < len(part); i++ {
		if isUpper(part[i]) && !isUpper(part[i-1]) {
			if turn > 0 {
				return false
			}
			turn = i
		}
	}
	if turn == 0 {
		return false
	}
	a, b := part[:turn], part[turn:]
	return isState(a) || isState(b) || isParticiple(a) || isParticiple(b)
}

// isCaseless reports whether w begins with a letter of a script without case: a
// line in such a script has states in it, a line in another one names.
func isCaseless(w []byte) bool {
	r, _ := utf8.DecodeRune(w)
	return unicode.IsLetter(r) && !unicode.IsUpper(r) && !unicode.IsLower(r)
}

// isReverseDomain reports whether w is a name that begins with a top-level
// domain, such as com.acme.press.
func isReverseDomain(w []byte) bool {
	top, rest, _ := bytes.Cut(w, []byte{'.'})
	switch string(top) {
	case "com", "net", "org", "edu", "gov", "io", "dev", "app", "de", "fr", "uk", "jp", "cn", "ru":
		return len(rest) > 0
	}
	return false
}

// isState reports whether w is one of the words that come in opposites or in
// short closed lists.
func isState(w []byte) bool {
	return isWord(w, states) || len(w) > 1 && w[len(w)-1]|0x20 == 's' && isWord(w[:len(w)-1], states) // starts, stops
}

// isWord reports whether w, in letters of either case, is in a set.
func isWord(w []byte, set map[string]struct{}) bool {
	if len(w) == 0 || len(w) > maxState || heads[len(w)]>>(w[0]&31)&1 == 0 {
		return false
	}
	var lower [maxState]byte
	for i, b := range w {
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		lower[i] = b
	}
	_, ok := set[string(lower[:len(w)])]
	return ok
}

// isParticiple reports whether w is a plain word that ends like a verb in a
// tense: started, stopping. A name that happens to end so stays apart, but for
// some common nouns.
func isParticiple(w []byte) bool {
	if len(w) < 5 || !hasSuffixFold(w, "ed") && !hasSuffixFold(w, "ing") || hasSuffixFold(w, "eed") || isWord(w, nouns) {
		return false
	}
	for _, b := range w[1:] {
		if !isLetter(b) {
			return false
		}
	}
	return true
}

// hasSuffixFold reports whether w ends in suffix, in letters of either case.
func hasSuffixFold(w []byte, suffix string) bool {
	return len(w) >= len(suffix) && bytes.EqualFold(w[len(w)-len(suffix):], []byte(suffix))
}

// isFaultType reports whether w names a type of exception or error.
func isFaultType(w []byte) bool {
	w = bytes.TrimSuffix(w, []byte("s"))
	for _, suffix := range [...]string{"exception", "error", "fault", "failure", "interrupt"} {
		if hasSuffixFold(w, suffix) {
			return true
		}
	}
	return false
}

// isCall reports whether w is the call of a function, such as press.tick() or
// tick(int). Tobin(7) is somebody with a number.
func isCall(w []byte) bool {
	open := bytes.IndexByte(w, '(')
	return open > 0 && isLetter(w[open-1]) && bytes.IndexByte(w[open:], ')') > 0 &&
		(!isUpper(w[0]) || !bytes.Contains(w, []byte(Mask)))
}

// isCodeName reports whether w is a qualified name of code: a type or a method,
// such as Acme.Press or acme::press or works.press.Tick or press->tick. Names in
// reverse-domain style are values like others.
func isCodeName(w []byte) bool {
	if bytes.Contains(w, []byte("::")) || bytes.Contains(w, []byte("->")) {
		return true
	}
	dot := bytes.LastIndexByte(w, '.')
	return dot > 0 && dot+1 < len(w) && isUpper(w[dot+1]) && !isReverseDomain(w)
}

// letters counts the bytes of word that are letters or part of one beyond
// ASCII.
func letters(word []byte) int {
	n := 0
	for _, b := range word {
		if b|0x20 >= 'a' && b|0x20 <= 'z' || b >= 0x80 {
			n++
		}
	}
	return n
}

// nouns are words that end like a participle.
var nouns = wordSet("thing things something nothing anything everything building string king spring wing ring ceiling",
	"morning evening clothing wedding meeting lightning hundred shed sled")

// heads has, for each length, a bit for each letter that words of states and
// nouns begin with: most words are in neither, which this finds in a
// nanosecond where the map takes twenty.
var heads = func() (h [maxState + 1]uint32) {
	for _, set := range []map[string]struct{}{states, nouns} {
		for w := range set {
			h[len(w)] |= 1 << (w[0] & 31)
		}
	}
	return h
}()

// maxState is the length of the longest word in states.
const maxState = 14

// states are the words of English that carry the meaning of a log line by
// opposing another: answers, directions, positions, outcomes, commands,
// relations, quantities. Participles are found by their ending.
var states = wordSet(
	"true false yes no on off up down in out ok okay not none null nil never always",
	"open closed close start stop begin end enter leave exit pause resume enable disable",
	"lock unlock attach detach connect disconnect bind unbind mount unmount load unload save",
	"read write get set put add remove insert delete create destroy update upload download send receive",
	"push pop allow deny accept reject grant revoke pass fail retry commit abort rollback acquire release",
	"success failure successful unsuccessful complete incomplete valid invalid available unavailable",
	"active inactive online offline alive dead healthy unhealthy ready busy idle full empty",
	"new old first last next previous before after early late min max minimum maximum high low higher lower",
	"left right north south east west top bottom front back inner outer upper",
	"input output source destination src dst client server request response reply",
	"parent child local remote internal external public private master slave primary secondary leader follower",
	"info warning warn error fatal debug trace critical severe notice",
	"with without from to by at of for and or nor but if then else when while until unless",
	"is are was were be been has have had can cannot could will would may might must should",
	"a an the this that these those it its all any some each every more less than only",
	"missing lost sent held kept run ran done met known unknown unable able",
	"broke broken froze frozen shut cut hit built made took taken gave given found hid hidden won got gotten",
	"wrote written threw thrown drew drawn grew grown fell fallen woke woken chose chosen rose risen began begun",
	"went gone came become became left felt slept kept meant dealt spent lent bent caught taught thought brought",
	"fought sought bought sold told stood understood stuck struck swept swung hung spun split spread sunk sank",
	"stole stolen tore torn wore worn born shown known flown seen saw bled fed fled led rid shot beat beaten bit",
	"inbound outbound inward outward inside outside upward downward forward backward here there",
	"double single once twice half whole same different equal unequal",
	"friendly hostile enemy neutral male female day night hot cold absent present victory defeat draw won",
	"spawn kill halt reboot permit forbid verbose quiet alert emergency admin guest owner viewer",
	"northwest northeast southwest southeast",
)

func wordSet(lines ...string) map[string]struct{} {
	set := map[string]struct{}{}
	for _, l := range lines {
		for w := range bytes.FieldsSeq([]byte(l)) {
			set[string(w)] = struct{}{}
		}
	}
	return set
}

// announcesName reports whether a name follows w, be it that
// of a type: "no type named Acme.Press".
func announcesName(w []byte) bool {
	switch string(w) {
	case "named", "called", "name":
		return true
	}
	return false
}

// announcesCode reports whether after w another word means something else: a code,
// what was thrown, the name of a method or of something that happened.
func announcesCode(w []byte) bool {
	switch string(w) {
	case "code", "status", "errno", "hresult", "signal", "threw", "thrown", "caught", "panic", "exception", "Exception",
		"method", "Method", "function", "Function", "handler", "callback", "event", "action", "command", "state", "mode":
		return true
	}
	return false
}

// announcesState reports whether after w a word is the state of something.
func announcesState(w []byte) bool {
	switch string(w) {
	case "is", "are", "was", "were", "be", "been", "now", "became", "becomes", "remains", "still",
		"ist", "sind", "war", "jetzt", "est", "sont", "es", "está", "son", "ora", "agora":
		return true
	}
	return false
}

// isAccount reports whether word i is the name of an account: a line is about
// accounts, and the word is whom something is for.
func isAccount(words [][]byte, i int) bool {
	switch string(words[max(i-1, 0)]) {
	case "user", "user:", "account", "login":
		return i > 0
	case "for":
		for _, w := range words[:i-1] {
			switch string(w) {
			case "user", "account", "login", "password", "authentication", "session", "publickey":
				return true
			}
		}
	}
	return false
}

// isSmall reports whether w is of small letters alone.
func isSmall(w []byte) bool {
	for _, b := range w {
		if !isLetter(b) || isUpper(b) {
			return false
		}
	}
	return len(w) > 0
}
