package signature

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// role is what a word of a template may be.
type role uint8

const (
	fixed role = iota // it says what another word in its place would contradict
	plain             // it may be a value, or a state that nobody here knows
	name              // it looks like a name
	mask              // it is the mask
)

// roleOf returns the role of a word after the previous one.
//
// Never values are the state of something, a direction, a participle, the type
// of an exception, a qualified name of code, a call. Of a word that holds a
// mask, what is before the mask counts. The words of English that carry meaning
// are listed. All that the list misses, other languages, and compounds
// (state-started) are plain: the number of distinct words must tell.
func roleOf(word, previous []byte) role {
	if string(word) == Mask {
		return mask
	}
	w := bytes.TrimFunc(word, isEdge)
	w = bytes.TrimRight(w, "<*>()[]:=#, ")
	switch {
	case announcesName(previous):
		return name
	case isCall(word) || isState(w) || isParticiple(w) || isFaultType(w) || isCodeName(w):
		return fixed
	case bytes.Contains(word, []byte(Mask)):
		return plain
	case isName(w) || isReverseDomain(w) || announcesAccount(previous) && isSmall(w):
		return name
	}
	return plain
}

// isEdge reports whether r is punctuation around a word.
func isEdge(r rune) bool {
	switch r {
	case '.', ',', ':', ';', '!', '?', '(', ')', '[', ']', '{', '}', '<', '>', '"', '\'', '`':
		return true
	}
	return false
}

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
		if part := w[i:j]; isState(part) || isParticiple(part) {
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
	if len(w) > maxState {
		return false
	}
	var lower [maxState]byte
	for i, b := range w {
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		lower[i] = b
	}
	if _, ok := states[string(lower[:len(w)])]; ok {
		return true
	}
	_, ok := states[string(lower[:max(len(w)-1, 0)])] // starts, stops
	return ok && lower[len(w)-1] == 's'
}

// isParticiple reports whether w is a plain word that ends like a verb in a
// tense: started, stopping. A name that happens to end so stays apart.
func isParticiple(w []byte) bool {
	if len(w) < 5 || !hasSuffixFold(w, "ed") && !hasSuffixFold(w, "ing") {
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
// tick(int).
func isCall(w []byte) bool {
	open := bytes.IndexByte(w, '(')
	return open > 0 && isLetter(w[open-1]) && bytes.IndexByte(w[open:], ')') > 0
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
	"friendly hostile enemy neutral male female day night",
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

// announcesName reports whether w says that the next word is a name, which is a
// value whatever it looks like: "no type named Acme.Press".
func announcesName(w []byte) bool {
	switch string(w) {
	case "named", "called", "name", "name:":
		return true
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
	return true
}

// announcesAccount reports whether after w a word in lower case names somebody
// or something: "password for alice".
func announcesAccount(w []byte) bool {
	switch string(w) {
	case "for", "by", "of", "user", "user:", "account", "host":
		return true
	}
	return false
}
