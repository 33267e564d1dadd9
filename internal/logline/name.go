package logline

import (
	"strings"

	"github.com/heedlog/heed/event"
)

// isThread reports whether a tag next to a time or a level names a thread, a process, a request or a logger,
// and not a mod.
func isThread(tag string) bool {
	return tag == "main" || tag == "null" || strings.ContainsFunc(tag, marksThread) ||
		strings.Contains(tag, "hread") || strings.Contains(tag, "pool") || strings.Contains(tag, "orker")
}

// marksThread reports whether c is in the names of threads, processes, requests and loggers.
func marksThread(c rune) bool {
	return c < 0x80 && (isDigit(byte(c)) || strings.IndexByte("./@#", byte(c)) >= 0)
}

// isPosition reports whether word is a place in a source file: "Press.cpp:12:", "press.go:12", "{press.py:12}".
func isPosition(word string) bool {
	if inner, ok := strings.CutSuffix(word, "}"); ok && strings.HasPrefix(inner, "{") {
		word = inner[1:]
	}
	if n := len(word); n < 4 || !isDigit(word[n-1]) && !isDigit(word[n-2]) {
		return false
	}
	dot := strings.IndexByte(word, '.')
	colon := strings.LastIndexByte(strings.TrimSuffix(word, ":"), ':')
	if dot < 1 || colon < dot || word[0] == '{' {
		return false
	}
	d := digits(word[colon+1:])
	return d > 0 && (colon+1+d == len(word) || word[colon+1+d:] == ":")
}

// isLogger reports whether word, maybe with a colon at its end, is the name of a logger with its packages, and not that
// of a file.
func isLogger(word string) bool {
	word = strings.TrimSuffix(word, ":")
	dot := strings.LastIndexByte(word, '.')
	if dot < 1 || dot+1 == len(word) || !isLetter(word[0]) {
		return false
	}
	last := word[dot+1:]
	isException := strings.HasSuffix(last, "Exception") || strings.HasSuffix(last, "Error")
	return !isException && isName(word) && (last[0]-'A' < 26 || len(last) > 4 || strings.Count(word, ".") > 1)
}

// isName reports whether s consists of names with dots between them.
func isName(s string) bool { return s != "" && strings.IndexFunc(s, notInName) < 0 }

// notInName reports whether c is in no name.
func notInName(c rune) bool {
	return c >= 0x80 || !isLetter(byte(c)) && !isDigit(byte(c)) && strings.IndexByte("._$-", byte(c)) < 0
}

// isTitle reports whether a line is a name with its version, without a verb: "Fatal Lamps v1.2".
func isTitle(line string) bool {
	for word := range strings.FieldsSeq(line) {
		if c := word[0]; c-'A' >= 26 && !isDigit(c) && (c != 'v' || len(word) < 2 || !isDigit(word[1])) {
			return false
		}
	}
	return digits(line[len(line)-1:]) > 0
}

// isHost reports whether s may be the name of a host.
func isHost(s string) bool { return isName(s) && (isLetter(s[0]) || isDigit(s[0])) }

// Source returns the source of e that is a part of its signature: the source of a log record.
func Source(e *event.Entry) string {
	if e.Kind != event.KindLog {
		return ""
	}
	return e.Source
}

// logger takes the name of a logger at p.s[at].
func (p *parser) logger(at int, name string) { p.head.Logger, p.head.LoggerEnd = at, at+len(name) }

// name reads a word that may be the name of a thread, or else of a logger, before the level. It reports whether more of
// a head may follow.
func (p *parser) name(word string) bool {
	p.names++
	p.named = true
	if p.head.LoggerEnd == 0 && (isLogger(word) || !isThread(word)) {
		p.logger(p.i-len(word), word)
	}
	return (isLetter(word[0]) || strings.HasSuffix(word, "init>")) && p.names <= maxNames
}

// thread reads the tag of a thread, or of a logger, with which s begins.
func (p *parser) thread(s string) bool {
	end := strings.IndexByte(s[:min(len(s), maxPart)], ']')
	if end < 2 || !isThread(s[1:end]) {
		return false
	}
	if name, _, marker := strings.Cut(s[1:end], "/"); marker || isLogger(name) {
		if p.tagged {
			return false
		}
		p.logger(p.i+1, name)
	}
	p.i += end + 1
	p.colon()
	return true
}

// loggerIn takes the name in a tag at p.s[at] after the level or before it: "Error  :   Lamps", "12:30:01 ERROR Lamps",
// "core:emerg".
func (p *parser) loggerIn(at int, tag string) {
	for i, n := 0, 0; i < len(tag); i += n + 1 {
		n = tagWordLen(tag[i:])
		if _, ok := find(tag[i:i+n], timed); !ok {
			continue
		}
		after, before := strings.TrimLeftFunc(tag[i+n:], betweenWords), strings.TrimRightFunc(tag[:i], betweenWords)
		switch {
		case after != "" && !isDigit(after[0]):
			p.logger(at+len(tag)-len(after), strings.TrimRight(after, " "))
			p.tagged = true
		case before != "" && !isDigit(before[0]):
			p.logger(at, before)
			p.tagged = true
		}
		return
	}
}
