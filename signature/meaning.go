package signature

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// kindOfWord is what a word of a statement looks like: how readily it is taken for a value where others have stood in
// its place.
type kindOfWord uint8

const (
	unknownWord kindOfWord = iota // not looked at yet
	fixedWord                     // another word in its place would mean something else
	value                         // it is a value
	plainWord                     // lower case, or of a script without case
	placedWord                    // a word where values often stand
	titleWord                     // Tobin
	capitalWord                   // ENOENT
	stateWord                     // of a thing that has one of several, by where it stands
	nameWord                      // acme.press, works/press, pressWheel
)

// kindOf returns the kind of word i.
//
// Fixed are states and participles in small letters (with a capital they may be names: Will, Max, Mohammed), types of
// exceptions, and names of functions that are called. The words of English that carry meaning are listed. All that the
// list misses, other languages, and compounds are plain: the number of distinct words decides.
func (t *tokens) kindOf(i int) kindOfWord {
	w := &t.words[i]
	text := bytes.TrimSuffix(w.text, []byte("'s"))
	if letters(text) < 2 || w.call || isFaultType(text) {
		return fixedWord
	}
	if isCapitals(text) {
		w.decides = true
		return capitalWord
	}
	title := isTitle(text)
	if state, participle := isState(text), isParticiple(text); state || participle {
		if !title && (!participle || w.gap != gapOpen) {
			return fixedWord
		}
		w.decides = true
		return stateWord
	}
	switch {
	case isQualified(text):
		w.decides = saysState(text)
		return nameWord
	case title:
		return titleWord
	case i > 0 && announcesState(t.words[i-1].text):
		w.decides = true
	case w.gap == gapValue || w.gap == gapOpen || bytes.IndexByte(text, '-') > 0:
		return placedWord
	}
	return plainWord
}

// enough is what the words of a column must count for together that it varies.
const enough = 60

// thresholds say what a word counts for that its column varies.
type thresholds struct {
	fewAnchors  int // so many other words hold the statement together that two names are enough
	nameAnchors int // so many words must be left without the names of a statement
	names       int // names, and words where values often stand
	states      int // states and capitals, and names beside fewer words
	plain       int // other words
	first       int // percent of that of the first word, which often says who reports, and beside one word only
}

// defaultThresholds are for all logs. On those of 26 programs the result is nearly the same for a wide range of them.
func defaultThresholds() thresholds {
	return thresholds{fewAnchors: 3, nameAnchors: 2, names: 30, states: 20, plain: 15, first: 40}
}

// counts returns what word i counts for, beside that many anchors.
func (t *tokens) counts(th *thresholds, i, anchors int) uint8 {
	n := th.states
	switch t.words[i].kind {
	case plainWord:
		n = th.plain
	case nameWord, titleWord, placedWord:
		if anchors >= th.fewAnchors {
			n = th.names
		}
	}
	switch {
	case i == 0 && anchors >= th.fewAnchors && (t.words[i].kind == nameWord || t.words[i].gap == gapOpen):
		n = th.states
	case i == 0 || anchors == 1:
		n = max(n*th.first/100, 1)
	}
	return uint8(n)
}

// isQualified reports whether w consists of parts: acme.press, works/press, press_wheel, pressWheel.
func isQualified(w []byte) bool {
	for i := 1; i < len(w); i++ {
		if i+1 < len(w) && bytes.IndexByte([]byte("./_\\"), w[i]) >= 0 || isUpper(w[i]) && isLower(w[i-1]) {
			return true
		}
	}
	return false
}

// isTitle reports whether w begins with a capital that others do not all follow.
func isTitle(w []byte) bool {
	r, _ := utf8.DecodeRune(w)
	return unicode.IsUpper(r) && !isCapitals(w)
}

// isCapitals reports whether w has two letters or more, none of them small.
func isCapitals(w []byte) bool {
	return len(w) > 1 && isUpper(w[0]) && bytes.IndexFunc(w, unicode.IsLower) < 0
}

// isConstant reports whether w is a boolean, or nothing.
func isConstant(w []byte) bool {
	switch string(w) {
	case "true", "false", "True", "False", "TRUE", "FALSE", "yes", "NaN", "undefined":
		return true
	}
	return string(w) != "none" && string(w) != "empty" && isNothing(w)
}

// isNothing reports whether w stands for no value.
func isNothing(w []byte) bool {
	switch string(w) {
	case "null", "NULL", "Null", "nil", "None", "none", "unset", "empty":
		return true
	}
	return false
}

// isEdge reports whether r may stand around a word: punctuation, and the mask.
func isEdge(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

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
	if hasSuffixFold(w, "default") {
		return false
	}
	for _, suffix := range [...]string{"exception", "error", "fault", "failure", "interrupt"} {
		if hasSuffixFold(w, suffix) {
			return true
		}
	}
	return false
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
	for _, set := range []map[string]struct{}{states, nouns, messages, levels} {
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

// announcesState reports whether after w a word is the state of something.
func announcesState(w []byte) bool {
	switch string(w) {
	case "is", "are", "was", "were", "be", "been", "now", "became", "becomes", "remains", "still",
		"ist", "sind", "war", "jetzt", "est", "sont", "es", "está", "son", "ora", "agora":
		return true
	}
	return false
}

// messages are the names of fields that are what a line says.
var messages = wordSet("msg message event text")

// levels are the words for how much an entry matters.
var levels = wordSet("trace debug info information notice warn warning error err fatal critical crit severe panic")
