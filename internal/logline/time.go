package logline

import (
	"slices"
	"strings"
)

// timeForms are the beginnings of dates and of times of day, and seconds with a fraction, as words without spaces. A
// digit is so many digits, # one or two, 3 three or more, + one or more; M is a month or a day in English, $ the end,
// and ! anything but a dot, which an address has.
var timeForms = [...]string{
	"#:2:+", "#:2.+", "#:2AM$", "#:2PM$",
	"4-#-+", "#-#-+", "#-M", "4/#/+", "#/#/+", "#/M", "4.2.2!", "#.2.2!", "#.2.4!", "#M", "4年",
	"8-2", "8-6", "8/2", "8T2", "8T6",
	"+.3$",
}

// isTime reports whether s, which begins with a digit, has one of the forms of a time.
func isTime(s string) bool {
	n := digits(s)
	return n < len(s) && slices.ContainsFunc(timeForms[:], func(form string) bool {
		return (form[1] == s[n] || form[1] == 'M') && hasForm(s, form)
	})
}

func hasForm(s, form string) bool {
	for i := range len(form) {
		c, n := form[i], digits(s)
		switch {
		case c == '$':
			return s == ""
		case c == '!':
			return s == "" || s[0] != '.'
		case c == 'M':
			if n = min(len(s), len("Jan")); !isDateWord(s[:n]) {
				return false
			}
		case c == '#' && n != 1 && n != 2, c == '+' && n == 0, c == '3' && n < 3, c != '3' && isDigit(c) && n != int(c-'0'):
			return false
		case c != '#' && c != '+' && !isDigit(c):
			if n = 1; s == "" || s[0] != c {
				return false
			}
		}
		s = s[n:]
	}
	return true
}

// timeLen returns the length of the time at the beginning of s, 0 without one: the date, the time of day and the zone,
// as far as they are there. Words of any language may belong to the date in front of a time of day; without a year only
// the English ones.
//
//	2031-04-05T10:00:00.123Z    Sat Apr  5 10:00:00 2031    5. April 2031 10:00:00    2031. 4. 5. 오전 10:00:00 +0900
func timeLen(s string) int {
	s = s[:min(len(s), maxPart)]
	if s == "" || !isDigit(s[0]) && !mayDate(s) {
		return 0
	}
	var d date
	end := 0
	for i := 0; i < len(s); {
		n := timeWord(s[i:])
		switch {
		case n > 0:
			if end == 0 && i > 0 && (!d.day || !d.year && d.foreign > 0) {
				return 0
			}
			end = i + n
		case end > 0:
			if n = d.after(s[i:]); n == 0 {
				return end
			}
			end = i + n
		default:
			if n = d.word(s[i:], i == 0); n == 0 {
				return 0
			}
		}
		for i += n; i < len(s) && (s[i] == ' ' || s[i] == ',' || s[i] == ';'); {
			i++
		}
	}
	return end
}

// timeWord returns the length of the word that s begins with, if it is a date or a time of day, maybe with a zone.
func timeWord(s string) int {
	run := timeRun(s)
	end := run + letters(s[run:])
	if isDigit(s[0]) && (end == run || isZone(s[run:end])) && isTime(s[:end]) {
		return end
	}
	return 0
}

// date is the part of a time that was read in words.
type date struct {
	day, year bool
	foreign   int // words that no list has
}

// word reads a word in front of a time of day, and returns its length, 0 if it is of no date.
func (d *date) word(s string, first bool) int {
	n, number := wordLen(s), digits(s)
	switch {
	case isDateWord(s[:n]):
	case number == 0:
		if d.foreign++; d.foreign > 3 || n == 0 || s[0] < 0x80 && !isLetter(s[0]) || first && !strings.HasPrefix(s[n:], ",") {
			return 0
		}
	case number > 4 || strings.Trim(s[number:n], ".") != "":
		return 0
	default:
		d.day, d.year = d.day || number < 3, d.year || number == 4
	}
	return n
}

// after returns the length of the zone or the year that s begins with, after the time of day.
func (d *date) after(s string) int {
	run, n := timeRun(s), letters(s)
	switch {
	case isSign(s[0]) && run > 2:
		return run + letters(s[run:])
	case isZone(s[:n]):
		return n
	case digits(s) == 4 && wordLen(s) == 4 && d.day && !d.year:
		return 4
	}
	return 0
}

// mayDate reports whether a time of day may be among the first bytes of s.
func mayDate(s string) bool {
	i := strings.IndexByte(s, ':')
	return i > 0 && i+1 < len(s) && isDigit(s[i-1]) && isDigit(s[i+1])
}

// timeRun returns the length of the digits that s begins with, and of those that signs and months join to them. A
// fraction follows a comma.
func timeRun(s string) int {
	n := 0
	for n < len(s) {
		follow := digits(s[n+1:])
		switch c := s[n]; {
		case isDigit(c), joins[c] && (follow > 0 || isDateWord(s[n+1:min(len(s), n+4)])),
			c == ',' && follow >= 3:
			n += 1 + follow
		case c-'A' < 26 && isDateWord(s[n:min(len(s), n+3)]),
			c >= 0x80 && n > 0 && len(s) > n+2 && strings.Contains("年月日", s[n:n+3]):
			n += 3
		default:
			return n
		}
	}
	return n
}

// joins are the signs between the digits of a time.
var joins = [256]bool{'-': true, '/': true, '.': true, ':': true, '_': true, 'T': true, '+': true}

// isZone reports whether s is the half of a day or the zone after a time.
func isZone(s string) bool { return s != "" && len(s) < 5 && slices.Contains(zones, s) }

var zones = strings.Fields("Z AM PM UTC GMT CET CEST EST EDT PST PDT")

// isDateWord reports whether s is a month or a day.
func isDateWord(s string) bool {
	switch s {
	case "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
		"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun":
		return true
	}
	return false
}
