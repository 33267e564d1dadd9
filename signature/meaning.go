package signature

import "bytes"

// meaningful reports whether a word of a template says something that another
// word in its place would contradict, so that the two must never be taken for
// values of one variable: the state of something, a direction, a participle,
// the type of an exception, a qualified name of code. Of a word that holds a mask,
// what is before the mask counts.
//
// It knows the words of English that it lists; others, and parts of compound
// words (state=started, logged-in), are kept apart only by the number of distinct
// words that a column must show.
func meaningful(word []byte) bool {
	w := bytes.TrimFunc(word, func(r rune) bool {
		switch r {
		case '.', ',', ':', ';', '!', '?', '(', ')', '[', ']', '{', '}', '<', '>', '"', '\'', '`':
			return true
		}
		return false
	})
	w = bytes.TrimRight(w, "<*>()[]:=#, ")
	return isState(w) || isParticiple(w) || isFaultType(w) || isCodeName(w)
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
	_, ok := states[string(lower[:len(w)])]
	return ok
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

// isCodeName reports whether w is a qualified name of code: a type or a method,
// such as Acme.Press or Acme::press or Press.Tick(). Names in reverse-domain
// style, which begin in lower case, are values like others.
func isCodeName(w []byte) bool {
	if bytes.Contains(w, []byte("::")) {
		return true
	}
	dot := bytes.IndexByte(w, '.')
	return dot > 0 && dot+1 < len(w) && isUpper(w[0]) && isUpper(w[dot+1])
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
