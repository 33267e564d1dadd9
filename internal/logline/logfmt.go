package logline

import (
	"strconv"
	"strings"
)

// pair reads a pair of logfmt, "level=warn", if it is the time or the level: only these belong to the head.
func (p *parser) pair() bool {
	key, value, n := cutPair(p.rest())
	switch key {
	case "level", "lvl", "severity", "loglevel":
		l, ok := ParseLevel(value)
		if !ok || isDigit(value[0]) { // a player's, or a building's
			return false
		}
		p.level(l)
		p.head.Sure = true
	case "time", "ts", "timestamp", "t":
		p.timed, p.head.Sure = true, true
		n = max(n, len(key)+1+timeLen(p.rest()[len(key)+1:]))
	default:
		return false
	}
	if n > 2*maxPart {
		return false
	}
	p.i += n
	p.commit()
	return true
}

// maxPairs bounds the pairs in front of the level.
const maxPairs = 32

// pairs reads a pair of logfmt, or further ones up to the level, in a line that has a time or a message.
func (p *parser) pairs() bool {
	if p.pair() {
		return true
	}
	if p.names > 0 || !p.timed && !strings.Contains(p.s, "msg=") && !strings.Contains(p.s, "event=") {
		return false
	}
	p.text = true
	for i := 0; !p.head.Leveled && i < maxPairs; i++ {
		key, _, n := cutPair(p.rest())
		if key != "" && !p.pair() {
			n += max(strings.IndexByte(p.rest()[n:], ' '), 0)
			p.i += n
		}
		if p.skipSpace(); n == 0 {
			break
		}
	}
	return p.head.Leveled
}

// cutPair returns the key, the value and the length of the pair of logfmt that s begins with; no key without one.
func cutPair(s string) (key, value string, n int) {
	eq := strings.IndexByte(s[:min(len(s), maxPart)], '=')
	if eq < 1 || !isName(s[:eq]) {
		return "", "", 0
	}
	key, value = s[:eq], s[eq+1:]
	if quoted, err := strconv.QuotedPrefix(value); err == nil {
		return key, quoted[1 : len(quoted)-1], eq + 1 + len(quoted)
	}
	value = value[:wordLen(value)]
	return key, value, eq + 1 + len(value)
}
