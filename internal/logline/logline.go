// Package logline reads what loggers write in front of a text: time, level, process, thread and name. It says where
// the text begins, so that a line is the same with and without them, what level the line gives itself, and which logger
// wrote it.
package logline

import (
	"strings"

	"github.com/heedlog/heed/event"
)

// Head is the part of a line in front of its text.
type Head struct {
	// Len counts the bytes before the text. All that is before the text is a logger's: the name of
	// a mod in brackets is a part of the text.
	Len int

	// Level is the level that the line gives itself, if Leveled.
	Level   event.Level
	Leveled bool

	// The name of the logger is line[Logger:LoggerEnd]. It is empty if the head has none.
	Logger, LoggerEnd int

	// Sure reports that the line has a form that text does not have by chance: a time, or a level as a tag in brackets.
	Sure bool
}

// Text returns the message of an entry with a level, without the head of its first line.
func Text(message string, level event.Level) string {
	if !mayHave(message) {
		return message
	}
	line, _, _ := strings.Cut(message, "\n")
	h := Parse(line)
	return message[h.TextAt(message, level):]
}

// TextAt returns where the text begins of a message with a level, whose first line has the head h. A head with a level
// other than the level of the message is text, and so is all of a message without other text.
func (h *Head) TextAt(message string, level event.Level) int {
	switch {
	case !mayHave(message), h.Leveled && h.Level != level && level != event.LevelUnknown,
		h.Len >= len(message), !h.Sure && (h.Level != level || level < event.LevelError):
		return 0
	}
	return h.Len
}

// Of returns the text by which e is known: the message, of a log record without its head.
func Of(e *event.Entry) string {
	switch {
	case e.Kind != event.KindLog:
		return e.Message
	case e.Head > 0 && e.Head <= len(e.Message):
		return e.Message[e.Head-1:]
	}
	return Text(e.Message, e.Level)
}

// mayHave reports whether a text may have a head: of most it is known by their first bytes that they have none.
func mayHave(s string) bool {
	if len(s) < minHead {
		return false
	}
	switch c := s[0]; {
	case c < 'A', c == '[', c|s[1]|s[2] >= 0x80:
		return true
	case c-'A' < 26: // a level in capitals, a day or a month, or a letter
		return s[1]-'A' < 26 || isDigit(s[1]) || s[1] == '/' || s[3] == ' ' || s[3] == ',' ||
			strings.HasPrefix(s, "Log") || strings.IndexByte(s[:min(len(s), maxDay)], ',') > 0
	case c-'a' < 26: // "time=", "level=", "fail: "
		return s[4] == ':' || strings.IndexByte(s[:min(len(s), maxKey)], '=') > 0
	}
	return false
}

// minHead is the length of the shortest head with a text.
const minHead = 8

// maxKey is where the first pair of logfmt has its sign at the latest.
const maxKey = 16

// maxDay is the length of the longest name of a day, with a comma.
const maxDay = len("Wednesday,")

// Bounds of a head: how many words and tags a head may have, how many of them may be names, and how long
// one may be.
const (
	maxParts = 12
	maxNames = 2
	maxPart  = 64
)

// Parse reads the head of a line.
func Parse(line string) Head {
	p := parser{s: line}
	p.read()
	level := p.head.Level
	p.tail()
	p.head.Level = level // before the level of another logger
	if p.head.LoggerEnd > p.head.Len {
		p.head.Logger, p.head.LoggerEnd = 0, 0 // a word of the text
	}
	return p.head
}

// parser reads a head from left to right.
type parser struct {
	s    string
	i    int // next byte to be read
	head Head

	timed  bool // a time has been read
	number bool // or something that may be a part of one
	named  bool // a name after it
	names  int  // how many
	text   bool // something of the text has been read, so that the head goes no further
	tagged bool // the last tag may name a mod: a class or a dash after it is text
}

// commit makes all that has been read, and the separators that follow, a part of the head.
func (p *parser) commit() {
	if p.text {
		return
	}
	i := p.i
	for i < len(p.s) && (p.s[i] == ' ' || p.s[i] == '\t' || i == p.i && ends[p.s[i]]) {
		i++
	}
	p.head.Len = i
}

func (p *parser) level(l event.Level) { p.head.Level, p.head.Leveled = l, true }

// sure takes a level that the next n bytes give, in a form that text does not have by chance. It returns true.
func (p *parser) sure(l event.Level, n int) bool {
	p.level(l)
	p.head.Sure = true
	p.i += n
	p.commit()
	return true
}

func (p *parser) skipSpace() {
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\t') {
		p.i++
	}
}

func (p *parser) rest() string { return p.s[p.i:] }

// read reads the head up to the level.
func (p *parser) read() {
	p.skipSpace()
	s := p.rest()
	n := wordLen(s)
	switch {
	case n <= 1 || n < len(s) && s[n] == ',' || len(s) < minHead || mayHave(s):
		if !p.special() {
			p.parts()
		}
	case strings.IndexByte(s[:n], ':') > 0: // maybe a level, as some texts begin
		p.word()
	}
}

// parts reads times, tags, names and the level, in any order, up to the text.
func (p *parser) parts() {
	for range maxParts {
		p.skipSpace()
		if p.i == len(p.s) || p.head.Leveled || !p.part() {
			return
		}
	}
}

func (p *parser) part() bool {
	s := p.rest()
	switch c := s[0]; {
	case c == '[', c == '"', (c == '(' || c == '<') && p.names == 0 && (p.timed || digits(s[1:]) > 0 || opensLevel(s)):
		return p.tag()
	case !p.timed && !p.number && plainWord(s) && s[1]-'a' < 26 && letters(s) != len("Sat"):
		return false // as most texts begin
	case p.names == 0 && (isDigit(c) || !p.timed) && p.time():
		return true
	case isDigit(c):
		p.i += wordLen(s)
		p.number = true
		return true
	case strings.IndexByte("|,;:-", c) >= 0:
		return p.separator()
	}
	return p.word()
}

// opensLevel reports whether s begins with a level in round or angle brackets: "(warning) ", "<error> ".
func opensLevel(s string) bool {
	end := strings.IndexAny(s[:min(len(s), maxLevel+2)], ")>")
	if end < 0 {
		return false
	}
	_, ok := find(s[1:end], anywhere)
	return ok && end+1 < len(s) && s[end+1] == ' '
}

// separator reads the signs between the parts of a head.
func (p *parser) separator() bool {
	s := p.rest()
	n := 1
	for n < len(s) && s[n] == s[0] {
		n++
	}
	if !p.timed && !p.number || n > 3 || s[0] == '-' && n < len(s) && s[n] != ' ' {
		return false
	}
	p.i += n
	if p.head.Len >= p.i-n { // after a part of the head
		p.commit()
	}
	return true
}

// tag reads a tag in brackets, or a field in quotes.
func (p *parser) tag() bool {
	s := p.rest()
	end := strings.IndexByte(s[1:min(len(s), maxPart)], "])>\""[strings.IndexByte("[(<\"", s[0])])
	if end < 0 {
		return false
	}
	tag, after := s[1:1+end], s[end+2:]
	quoted := s[0] == '"'
	if quoted && (after == "" || !ends[after[0]]) {
		return false
	}
	at := p.i + 1
	p.i += end + 2
	if l, ok := Tag(tag, p.timed); ok && (s[0] == '[' || len(tag) > 1) {
		p.level(l)
		p.loggerIn(at, tag)
		p.head.Sure = true
		p.colon()
		p.commit()
		return true
	}
	t := strings.TrimLeft(tag, " ")
	p.tagged = false
	switch {
	case t == "", s[0] != '[' && timeLen(t) < len(t):
		return false
	case p.names == 0 && timeLen(t) == len(t) || p.timed && digits(t) == len(t):
		p.timed, p.head.Sure = true, true
		p.commit()
	case p.timed && p.names == 0 && isThread(tag): // after words it is text, unless a level follows
		p.commit()
	default:
		p.number = p.number || isDigit(t[0])
		p.text, p.tagged = true, !isPosition(t)
	}
	return true
}

// colon reads a colon that ends the head.
func (p *parser) colon() {
	if p.i < len(p.s) && p.s[p.i] == ':' {
		p.i++
	}
}

// time reads a time.
func (p *parser) time() bool {
	n := timeLen(p.rest())
	if n == 0 {
		return false
	}
	clock := strings.IndexByte(p.rest()[:n], ':') > 0
	p.i += n
	p.timed, p.head.Sure = true, true
	p.commit()
	if clock {
		p.host()
	}
	return true
}

// host reads the host and the program with its process, as syslog writes them after the time: "lamp press[123]:".
func (p *parser) host() {
	s := strings.TrimLeft(p.rest(), " ")
	host, program, _ := strings.Cut(s[:min(len(s), 2*maxPart)], " ")
	program, _, ok := strings.Cut(program, ":")
	name, _, numbered := strings.Cut(program, "[")
	switch {
	case !ok || !isHost(host) || name == "" || !isLetter(name[0]) && name[0] != '(':
		return
	case numbered && !isBracketed(program[len(name):], '['), !numbered && name != "kernel" && name != "systemd",
		strings.ContainsFunc(name, func(c rune) bool { return notInName(c) && !strings.ContainsRune("/()@", c) }):
		return
	}
	if _, ok := find(host, timed); ok {
		return // no host, but a level
	}
	p.i = len(p.s) - len(s) + len(host) + 1
	p.logger(p.i, name)
	p.i += len(program) + 1
	p.commit()
	p.named = true
}

// word reads a word that begins with neither a digit nor a bracket.
func (p *parser) word() bool {
	s := p.rest()
	if p.timed && p.console() {
		return true
	}
	n := wordLen(s)
	word := s[:n]
	if strings.IndexByte(word, '=') > 0 {
		return p.pairs()
	}
	name, colon := word, strings.IndexByte(word, ':')
	if colon >= 0 {
		name = word[:colon]
	}
	if l, ok := p.compound(name, colon >= 0); ok {
		return p.sure(l, min(n, len(name)+1))
	}
	if colon > 0 && p.constant(name) { // the whole word is text
		return false
	}
	if p.levelWord(name, colon, word) {
		return true
	}
	if l, ok := ofLetter(word[0]); ok && p.timed && (n == 1 && p.letter(l) || p.logcat(l)) {
		return true
	}
	p.i += n
	switch {
	case p.timed && isPosition(word), p.timed && colon+1 == n && p.label():
		p.commit()
	case p.category(word):
		p.number, p.text = colon > 0, colon < 0
	case !p.timed && !p.number, colon >= 0:
		return false
	default:
		return p.name(word)
	}
	return true
}

// compound returns the level in a word after a time: after the channel of Monolog, "press.ERROR:", or in front of a
// thread, "ERROR[Main]:".
func (p *parser) compound(name string, colon bool) (event.Level, bool) {
	level, thread, ok := strings.Cut(name, "[")
	upTo := timed
	if dot := strings.LastIndexByte(name, '.'); !ok && dot > 0 {
		level, upTo = name[dot+1:], abridged
		ok = colon
	} else {
		ok = ok && strings.HasSuffix(thread, "]")
	}
	if !ok || !p.timed || !isCapitals(level) {
		return event.LevelUnknown, false
	}
	if len(level) == 1 && colon {
		return ofLetter(level[0]) // E[Main]:
	}
	return find(level, upTo)
}

// levelWord reads a word that names a level, with the colon after it.
func (p *parser) levelWord(name string, colon int, word string) bool {
	after := p.rest()[len(name):]
	next := strings.TrimPrefix(after, " ")
	next = next[:wordLen(next)]
	plain := colon < 0 && (!isCapitals(name) || p.tagged && isCapitals(next)) // "FATAL FURY"
	if plain && (p.named || !p.timed && !p.number) {
		return false
	}
	upTo := abridged
	if p.timed {
		upTo = timed
	}
	l, ok := find(name, upTo)
	switch {
	case !ok, name == "panic", p.speaksOf(word), l == event.LevelDebug && undetailed(after),
		plain && (isTitle(p.rest()) || p.begins(l, after, next)):
		return false // "panic:" is Go's text
	}
	p.leveled(l, name, colon, word)
	return true
}

// begins reports whether a word that names level l, before the texts after and next, begins a sentence,
// "Critical hit!", or after the tag of a mod "Error handler ready". Else programs report errors and warnings so.
func (p *parser) begins(l event.Level, after, next string) bool {
	isReport := !p.tagged && (l == event.LevelError || l == event.LevelWarning) || isPosition(next)
	return len(after) < 2 || !isReport && !setOff(after)
}

// category reports whether word, before a level and a colon, names what reports it: "LogPress: Error:", "PRESS ERROR:".
func (p *parser) category(word string) bool {
	log, ok := strings.CutPrefix(word, "Log")
	if ok = ok && len(log) > 1 && strings.HasSuffix(log, ":"); !ok && !isCapitals(word) {
		return false
	}
	rest := strings.TrimLeft(p.rest(), " ")
	level, _, colon := strings.Cut(rest[:min(len(rest), maxLevel+1)], ":")
	_, known := find(level, anywhere)
	return colon && known && (ok || isCapitals(level))
}

// constant reads the level of a constant before a colon, the gravest that it names: "PRESS_CRITICAL_ERROR:".
func (p *parser) constant(name string) (ok bool) {
	last := strings.LastIndexByte(name, '_')
	if _, ok = find(name[last+1:], abridged); !ok || last < 1 || name[0] == '_' {
		return false
	}
	worst := event.LevelUnknown
	for word := range strings.SplitSeq(name, "_") {
		if l, known := find(word, abridged); known && isCapitals(word) {
			worst = max(worst, l)
		}
	}
	if ok = worst > event.LevelUnknown; ok {
		p.level(worst)
	}
	return ok
}

// label reads the number of a word with a colon, before an arrow: "Thread:   1 ->  ".
func (p *parser) label() bool {
	rest := p.rest()
	number, after, ok := strings.Cut(rest[:min(len(rest), maxPart)], "->")
	number = strings.Trim(number, " ")
	if ok = ok && number != "" && digits(number) == len(number); ok {
		p.i += min(len(rest), maxPart) - len(after)
	}
	return ok
}

// speaksOf reports whether the next word is FATAL or Fatal and begins a sentence: "FATAL errors: 0", "Fatal fall: x". A
// logger or a place begins none: "FATAL acme.Press - stuck".
func (p *parser) speaksOf(word string) bool {
	rest := strings.TrimPrefix(p.rest(), word)
	fatal := word == "FATAL" || word == "Fatal" && !strings.HasPrefix(rest, " error")
	next, ok := strings.CutPrefix(rest, " ")
	next = next[:wordLen(next)]
	return fatal && ok && next != "" && next[0]-'a' < 26 && !isLogger(next) && !isPosition(next)
}

// leveled takes the level that the next word names.
func (p *parser) leveled(l event.Level, name string, colon int, word string) {
	p.level(l)
	p.i += len(name)
	switch {
	case colon >= 0:
		if (p.named || !p.timed && !p.number) && !isCapitals(name) {
			return // as some texts begin
		}
		p.i++
		if i := strings.IndexByte(word[colon+1:], ':'); i > 0 && isName(word[colon+1:colon+1+i]) { // ERROR:root:text
			p.logger(p.i, word[colon+1:colon+1+i])
			p.i += i + 1
		}
	case isCapitals(name) && (p.timed || p.number), setOff(p.rest()):
		if !p.timed {
			p.head.Sure = true
		}
	default:
		return // the first word of the text, in a line with a time
	}
	p.commit()
}

// setOff reports whether more than a space separates s from the word before it.
func setOff(s string) bool {
	return len(s) < 2 || s[0] != ' ' || strings.IndexByte(" [|", s[1]) >= 0 || strings.HasPrefix(s, " - ") ||
		timeLen(s[1:]) > 0
}

// tail reads the parts between the level and the text: the time, the process, the thread, the logger and the place.
func (p *parser) tail() {
	for range 4 {
		p.i = p.head.Len
		switch {
		case !p.head.Leveled, p.text, p.i == 0, p.i >= len(p.s):
			return
		case p.further():
			continue
		}
		s := p.rest()
		if !p.head.Sure || plainWord(s) || // as most texts begin
			p.tagged && s[0] != '[' || strings.HasSuffix(strings.TrimRight(p.s[:p.i], " "), ":") {
			return // the text follows a colon, or the tag of a mod
		}
		n := wordLen(s)
		switch {
		case s[0] == '[':
			if !p.thread(s) {
				return
			}
		case strings.HasPrefix(s, "- "), strings.HasPrefix(s, "| "), strings.HasPrefix(s, "--- "):
			p.i += strings.IndexByte(s, ' ')
		case digits(s) == n && (strings.HasPrefix(s[n:], " --- ") || strings.HasPrefix(s[n:], " [")):
			p.i += n
		case isPosition(s[:n]):
			p.i += n
		case isLogger(s[:n]):
			after := strings.TrimLeft(s[n:], " ")
			name := strings.TrimSuffix(s[:n], ":")
			switch {
			case s[n-1] == ':', strings.HasPrefix(after, "[") && strings.Count(s[:n], ".") >= 2:
				p.i += n
			case strings.HasPrefix(after, "- "), strings.HasPrefix(after, ": "):
				p.i = len(p.s) - len(after) + 1
			default:
				return
			}
			p.logger(len(p.s)-len(s), name)
		default:
			return
		}
		if p.i >= len(p.s) {
			return
		}
		p.commit()
	}
}

// further reads a time below the level, and a colon after it.
func (p *parser) further() bool {
	s := p.rest()
	if p.timed {
		return false
	}
	if strings.IndexByte(s[:wordLen(s)], '=') > 0 {
		return p.pair()
	}
	n := timeLen(s)
	if open := strings.IndexByte("[(\"", s[0]); open >= 0 {
		if end := strings.IndexByte(s[1:min(len(s), maxPart)], "])\""[open]); end > 0 && timeLen(s[1:1+end]) == end {
			n = end + 2
		}
	}
	if n == 0 || n == len(s) {
		return false
	}
	p.i += n
	p.timed, p.head.Sure = true, true
	p.colon()
	p.commit()
	return true
}

// plainWord reports whether s begins with a word of letters before a space, which is neither a logger nor a place.
func plainWord(s string) bool {
	n := letters(s)
	return n > 0 && n < len(s) && s[n] == ' '
}

// wordLen returns the length of the word that s begins with, up to what separates words, and no more than maxPart.
func wordLen(s string) int {
	s = s[:min(len(s), maxPart)]
	for i := range len(s) {
		if ends[s[i]] {
			return i
		}
	}
	return len(s)
}

// ends are the bytes that end a word.
var ends = [256]bool{' ': true, '\t': true, '|': true, ',': true, ';': true}

func letters(s string) int {
	n := 0
	for n < len(s) && isLetter(s[n]) {
		n++
	}
	return n
}

func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}
