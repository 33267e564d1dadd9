package logline

import (
	"regexp"
	"strings"

	"github.com/heedlog/heed/event"
)

// special reads the forms that begin with a letter, a word or a number for the level. It reports whether only the tail
// is left to be read.
//
//	E0405 10:00:00.000001   123 press.go:12] stuck
//	E/Press( 123): stuck
//	<11>Apr  5 10:00:00 host press[12]: stuck
//	<11>1 2031-04-05T10:00:00Z host press 12 - - stuck
//	ERRO[0012] stuck
//	E, [2031-04-05T10:00:00.123456 #12] ERROR -- press: stuck
//	fail: Acme.Press[12]
//	*** ERROR *** stuck
//	·E 0:01:02.123456 {PPU} stuck
func (p *parser) special() bool {
	s := p.rest()
	if len(s) < 7 {
		return p.decorated(s)
	}
	if l, ok := ofLetter(s[0]); ok {
		n := digits(s[1:])
		if (n == 4 || n == 8) && len(s) > n+2 && s[n+1] == ' ' && timeLen(s[n+2:]) > 0 {
			if end := strings.Index(s[:min(len(s), 2*maxPart)], "] "); end > 0 {
				return p.sure(l, end+1)
			}
			return p.sure(l, n+2+wordLen(s[n+2:]))
		}
		if p.logcat(l) {
			return true
		}
	}
	switch {
	case strings.HasPrefix(s, "·") && s[3] == ' ' && timeLen(s[4:]) > 0:
		l, ok := ofLetter(s[2])
		if p.i += 4; !ok {
			return false
		}
		p.timed = true
		return p.sure(l, timeLen(s[4:]))
	case s[0] == '<':
		if number, _, ok := strings.Cut(s[1:5], ">"); ok {
			if l, ok := Priority(number); ok {
				p.sure(l, len(number)+2)
				p.syslog()
				return true
			}
		}
	case s[4] == '[' && isCapitals(s[:4]):
		l, ok := find(s[:4], field)
		if n := max(digits(s[5:]), timeLen(s[5:])); ok && n >= 4 && strings.HasPrefix(s[5+n:], "]") {
			return p.sure(l, 6+n)
		}
	case p.console(), p.ruby():
		return true
	}
	return p.decorated(s)
}

// console reads a level of four small letters before a category with a number, as .NET's console logger writes them.
func (p *parser) console() bool {
	s := p.rest()
	if len(s) < 7 || s[0]-'a' >= 26 || s[4] != ':' || s[5] != ' ' {
		return false
	}
	name := s[6:][:wordLen(s[6:])]
	l, ok := find(s[:4], field)
	open := strings.IndexByte(name, '[')
	if ok = ok && open > 0 && isBracketed(name[open:], '['); ok {
		p.logger(p.i+6, name[:open])
	}
	return ok && p.sure(l, 6+len(name))
}

// ruby reads the head that Ruby's logger writes: "E, [2031-04-05T10:00:00.123456 #12] ERROR -- press: ".
func (p *parser) ruby() bool {
	s := p.rest()
	if s[0]-'A' >= 26 || !strings.HasPrefix(s[1:], ", [") || timeLen(s[4:]) == 0 {
		return false
	}
	head, rest, _ := strings.Cut(s[:min(len(s), 3*maxPart)], " -- ")
	program, _, ended := strings.Cut(rest, ": ")
	l, ok := find(head[strings.LastIndexByte(head, ' ')+1:], anywhere)
	at := len(head) + len(" -- ")
	p.logger(p.i+at, program)
	return ok && ended && p.sure(l, at+len(program)+1)
}

// decorated reads a level in capitals between signs: "*** ERROR ***", "=ERROR=", "<ERROR>".
func (p *parser) decorated(s string) bool {
	if s == "" || strings.IndexByte("*=#<!~", s[0]) < 0 {
		return false
	}
	word := strings.TrimLeft(s, s[:1])
	open := len(s) - len(word)
	word = strings.TrimLeft(word, " ")
	n := wordLen(word)
	name := strings.TrimRight(word[:n], "*=#>!~")
	l, ok := find(name, abridged)
	rest := strings.TrimLeft(word[len(name):], " ")
	if !ok || !isCapitals(name) || open > 8 || rest == "" || strings.IndexByte("*=#>!~", rest[0]) < 0 {
		return false
	}
	rest = strings.TrimLeft(rest, rest[:1])
	return p.sure(l, len(s)-len(rest))
}

// isBracketed reports whether s is a number in brackets that begin with open.
func isBracketed(s string, open byte) bool {
	n := len(s) - 1
	return n > 1 && s[0] == open && digits(s[1:]) == n-1 && s[n] == open+2
}

// syslog reads the part of a line of syslog below its priority.
func (p *parser) syslog() {
	if n := len(rfc5424.FindString(p.rest())); n > 0 {
		p.i += n
		p.commit()
		return
	}
	level := p.head.Level
	p.head.Leveled = false
	p.parts()
	p.level(level)
}

// rfc5424 matches the version, the time, the host, the program, the process and the message of RFC 5424, and its data.
var rfc5424 = regexp.MustCompile(`^1 [\d-]\S*(?: \S+){4} (?:\[[^\]]*\])*(?:-(?: |$))?`)

// logcat reads the letter, the tag and the process of a line of logcat: "E/Press( 123): ".
func (p *parser) logcat(l event.Level) bool {
	s := p.rest()
	open := strings.IndexByte(s[:min(len(s), maxPart)], '(')
	if open < 3 || s[1] != '/' {
		return false
	}
	number, after, ok := strings.Cut(s[open+1:], "):")
	if number = strings.TrimLeft(number, " "); !ok || number == "" || digits(number) < len(number) {
		return false
	}
	p.logger(p.i+2, s[2:open])
	return p.sure(l, len(s)-len(after))
}

// letter reads the level of a line of logcat or MongoDB after its time:
//
//	04-05 10:00:00.000   123   456 E Press   : stuck
//	2031-04-05T10:00:00.000+0000 E STORAGE  [main] stuck
func (p *parser) letter(l event.Level) bool {
	s := strings.TrimLeft(p.s[p.i+1:], " ")
	tag := s[:wordLen(s)]
	after := strings.TrimLeft(s[len(tag):], " ")
	switch {
	case tag == "":
		return false
	case tag[len(tag)-1] == ':':
		after = s[len(tag):]
	case strings.HasPrefix(after, ": "):
		after = after[1:]
	case !isCapitals(tag) || !strings.HasPrefix(after, "["):
		return false
	}
	p.level(l)
	p.i = len(p.s) - len(after)
	p.commit()
	return true
}
