package signature

import "strings"

// Mask replaces every variable in a canonical template.
const Mask = "<*>"

func isMask[T string | []byte](s T, i int) bool {
	return i+len(Mask) <= len(s) && string(s[i:i+len(Mask)]) == Mask
}

// hexMin is how long a word of hexadecimal letters alone must be to be a
// number. English has no such word of eight letters that turns up in logs.
const hexMin = 8

// isHexWord reports whether t, which holds no digit, is a hexadecimal number.
func isHexWord(t string) bool { return skip(t, 0, hexa) == len(t) }

// digitOutsideArity reports whether t holds a digit that is not part of a
// generic arity, such as the 1 of List`1.
func digitOutsideArity(t string) bool {
	for i := 0; i < len(t); i++ {
		switch {
		case t[i] == '`':
			i = skip(t, i+1, digit) - 1
		case classes[t[i]]&digit != 0:
			return true
		}
	}
	return false
}

func hasDot(t string) bool { return strings.IndexByte(t, '.') >= 0 }

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }

func isLower(b byte) bool { return 'a' <= b && b <= 'z' }

// isBeginning reports whether the word at i, whose first letter is an initial, may be more than a word, by how it
// begins: like a month, a day of the week, "NaN", or "user".
func isBeginning(s string, i int) bool {
	if i+3 > len(s) {
		return false
	}
	switch s[i : i+3] {
	case "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
		"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "NaN", "use":
		return true
	}
	return false
}

// isCalendar reports whether the word s[i:j] is a month or a day of the week, or no
// number.
// May and March are words of English too, and count only before a number.
func isCalendar(s string, i, j int) bool {
	switch s[i:j] {
	case "Jan", "Feb", "Mar", "Apr", "Jun", "Jul", "Aug", "Sep", "Sept", "Oct", "Nov", "Dec",
		"January", "February", "April", "June", "July", "August",
		"September", "October", "November", "December",
		"Mon", "Tue", "Tues", "Wed", "Thu", "Thur", "Thurs", "Fri", "Sat", "Sun",
		"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday":
		return true
	case "May", "March":
		return at(s, skip(s, j, space))&digit != 0
	}
	return s[i:j] == "NaN"
}

// unitWords belong to a number right before them: units of measurement, halves
// of the day and time zones.
var unitWords = []string{
	"ns", "us", "\u00b5s", "\u03bcs", "ms", "s", "nsec", "usec", "msec", "msecs", "sec", "secs", "second", "seconds",
	"min", "mins", "minute", "minutes", "h", "hr", "hrs", "hour", "hours", "day", "days",
	"week", "weeks", "month", "months", "year", "years",
	"nanosecond", "nanoseconds", "microsecond", "microseconds", "millisecond", "milliseconds", "tick", "ticks",
	"B", "b", "byte", "bytes", "bit", "bits",
	"kB", "KB", "MB", "GB", "TB", "kb", "mb", "gb", "KiB", "MiB", "GiB", "TiB", "K", "M", "G",
	"Hz", "kHz", "MHz", "GHz", "px", "fps", "bps", "kbps", "Mbps", "Gbps", "percent",
	"AM", "PM", "am", "pm",
	"UTC", "GMT", "EST", "EDT", "CST", "CDT", "MST", "MDT", "PST", "PDT", "CET", "CEST", "BST", "IST", "JST", "KST", "MSK",
}

// isUnit reports whether the token t, which holds the classes all, is a unit if it is after a number, or a rate: one or
// anything else by one.
func isUnit(t string, all class) bool {
	if all&slash != 0 {
		t = t[strings.LastIndexByte(t, '/')+1:]
	}
	return units.has(t)
}

// constantWords are answers, states, outcomes and levels: one of few words in their
// place, so that they make the meaning of a message and not its subject. In capitals,
// or with the first letter as one, they are constants too.
var constantWords = []string{
	"true", "false", "yes", "no", "on", "off", "null", "nil", "none", "ok",
	"open", "closed", "started", "stopped", "paused", "resumed", "running",
	"enabled", "disabled", "active", "inactive", "up", "down",
	"connected", "disconnected", "online", "offline",
	"success", "failure", "succeeded", "failed",
	"trace", "debug", "info", "notice", "warn", "warning", "error", "fatal", "critical",
}

// A table of words answers nearly every token from one load, where a switch
// takes a call and a search by length.
var (
	units     = newWords(unitWords)
	constants = func() *words {
		var forms []string
		for _, w := range constantWords {
			forms = append(forms, w, strings.ToUpper(w), strings.ToUpper(w[:1])+w[1:])
		}
		return newWords(forms)
	}()
)

// isTelling reports whether the narrow token t carries meaning even
// where most tokens are values, alone in quotation marks or after "key=": it is a
// constant, or the name of a type of fault.
//
// Such tokens are literal everywhere, so the answer is the same for the template.
func isTelling(t string) bool { return constants.has(t) || isFault(t) }

// inCapitals reports whether the narrow token t is two or more capitals, with '_'
// or not, as the constants of programs are, and no hexadecimal number. After "key="
// it carries meaning; quoted, it is as often a name.
func inCapitals(t string) bool {
	plain := len(t) < hexMin
	for i := range len(t) {
		if !isUpper(t[i]) && t[i] != '_' {
			return false
		}
		plain = plain || classes[t[i]]&hexa == 0
	}
	return plain && len(t) > 1
}

// isFault reports whether the narrow token t names a type of fault, such as
// System.NullReferenceException, KeyError or FaultException`1.
func isFault(t string) bool {
	if classes[t[len(t)-1]]&digit != 0 {
		name, arity := strings.CutSuffix(strings.TrimRight(t, "0123456789"), "`")
		if !arity {
			return false
		}
		t = name
	}
	return (strings.HasSuffix(t, "Exception") || strings.HasSuffix(t, "Error")) &&
		!strings.ContainsAny(t, `/\`) && !digitOutsideArity(t)
}

// groupMax is how many digits a group of an IPv6 address has at most.
const groupMax = 4

// groupsMax is how many groups the longest hardware address has.
const groupsMax = 20

// addressEnd returns the end of the hardware or IPv6 address at i, or 0 if there is none: groups of up to four
// hexadecimal digits with colons between them. Six or more of two digits are one, or eight, or fewer with two colons
// somewhere or at the end, with one digit that is no letter; a time of day is none. If all are none, the first of two
// digits may be. The zone follows '%'.
func addressEnd(s string, i int) int {
	groups, pairs, digits, short, end, hardware := 0, 0, false, false, 0, 0
	for groups < groupsMax {
		j, some := groupEnd(s, i)
		if j == i {
			if groups > 1 && endsOpen(s, i) {
				short, end = true, i
			}
			break
		}
		groups++
		if j-i == 2 {
			pairs++
		}
		digits = digits || some
		short = short || i > 1 && groups > 1 && s[i-2] == ':'
		end = j
		if pairs == groups && groups >= 6 {
			hardware = end
		}
		if j == len(s) || s[j] != ':' {
			break
		}
		i = j + 1
		if i < len(s) && s[i] == ':' {
			i++
		}
	}
	if groups < 2 || groups > 8 || !digits || groups < 8 && !short {
		if end = hardware; end == 0 {
			return 0
		}
	}
	if at(s, end+1)&narrow != 0 && s[end] == '%' {
		end, _ = narrowEnd(s, end+1)
	}
	return end
}

// endsOpen reports whether the colon before i is the second one, and no word follows.
func endsOpen(s string, i int) bool { return s[i-2] == ':' && at(s, i)&wordlike == 0 && !isMask(s, i) }

// groupEnd returns the end of the hexadecimal digits at i if a token of up to groupMax ends there, else i, and whether
// one is no letter.
func groupEnd(s string, i int) (j int, some bool) {
	for j = i; j < len(s) && j-i <= groupMax && classes[s[j]]&(hexa|digit) != 0; j++ {
		some = some || classes[s[j]]&digit != 0
	}
	if j-i > groupMax || at(s, j)&narrow != 0 || at(s, j)&glue != 0 && at(s, j+1)&narrow != 0 {
		return i, some
	}
	return j, some
}

// isHostName reports whether the token t is the name of a host or domain: it
// has small letters only and ends in a top-level domain that nothing else ends
// in.
func isHostName(t string) bool {
	switch t[strings.LastIndexByte(t, '.')+1:] {
	case "com", "net", "org", "edu", "gov", "mil", "info", "biz", "local", "localdomain", "internal", "arpa":
		return hasDot(t) && ofHost(t)
	}
	return false
}

// isPortHost reports whether the token t, before a colon and a digit, is the name of
// a host: localhost, or three or more names in small letters, the last one of two
// letters, as a country has. With fewer names, it may be a file and a line.
func isPortHost(t string) bool {
	return t == "localhost" || strings.Count(t, ".") > 1 && t[len(t)-3] == '.' && ofHost(t)
}

// ofHost reports whether t has the bytes of the name of a host alone.
func ofHost(t string) bool {
	return !strings.ContainsFunc(t, func(r rune) bool { return (r < 'a' || r > 'z') && r != '.' && r != '-' })
}

// isDomain reports whether the token t, which follows '@', makes an e-mail
// address: it begins with no digit, and holds a point and no slash.
func isDomain(t string) bool {
	return classes[t[0]]&letter != 0 && hasDot(t) && !strings.ContainsAny(t, "/\\`")
}

// isMessageNumber reports whether the token s[i:j] is the number of a message, such as
// ORA-00942, TNS-12541 or CS0246: up to six capitals and three to six digits, with a colon and
// space after them. After two or more capitals and a dash, a 0 does as well. Ids count, and are not padded.
func isMessageNumber(s string, i, j int) bool {
	return isNumbered(s, i, j) && (strings.Contains(s[i:j], "-0") || j < len(s) && s[j] == ':' && at(s, j+1)&space != 0)
}

// isNumbered reports whether the token s[i:j] is capitals with a number after them.
func isNumbered(s string, i, j int) bool {
	n := i
	for n < j && isUpper(s[n]) {
		n++
	}
	capitals := n - i
	if capitals > 1 && n < j && s[n] == '-' {
		n++
	}
	return capitals > 0 && capitals <= 6 && j-n >= 3 && j-n <= 6 && skip(s, n, digit) == j
}

// paddingMin is how long a text with padding must be to be base64.
const paddingMin = 8

// assigns reports whether '=' is at i.
func assigns(s string, i int) bool { return i < len(s) && s[i] == '=' }

// paddingEnd returns the end of the padding of base64, one '=' or two, at j, where
// the variable that begins at i ends, or j.
func paddingEnd(s string, i, j int) int {
	if j-i < paddingMin || classes[s[j-1]]&narrow == 0 {
		return j
	}
	k := j + 1
	if k < len(s) && s[k] == '=' {
		k++
	}
	if at(s, k)&(ends|space) == 0 {
		return j
	}
	return k
}

// accountAfter returns where the name of an account begins, if the word at i is
// the "user" of "for user NAME" or a similar text, or -1. Such names are as variable
// as any id; few of them hold a digit.
func (sc *scanner) accountAfter(i int) int {
	s, floor, j := sc.s, max(sc.masked, 0), i+len("user")
	if i == sc.account { // user is the name
		return i
	}
	if s[i:j] != "user" || at(s, j)&space == 0 {
		return -1
	}
	k := skipBack(s, floor, i, space)
	n := k
	for n > floor && isLetter(s[n-1]) {
		n--
	}
	switch s[n:k] {
	case "for", "invalid", "Invalid", "unknown", "Unknown", "illegal", "Illegal":
		if k < i && (n == floor || classes[s[n-1]]&space != 0) {
			return skip(s, j, space)
		}
	}
	return -1
}
