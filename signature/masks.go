package signature

import "strings"

// Mask is what stands in a canonical template for every variable.
const Mask = "<*>"

func isMask(s string, i int) bool {
	return i+len(Mask) <= len(s) && s[i:i+len(Mask)] == Mask
}

// hexMin is how long a word of hexadecimal letters alone must be to be a
// number. English has no such word of eight letters that turns up in logs.
const hexMin = 8

// isHexWord reports whether t, which holds no digit, is a hexadecimal number
// all the same.
func isHexWord(t string) bool {
	for i := range len(t) {
		if classes[t[i]]&hexa == 0 {
			return false
		}
	}
	return true
}

// digitOutsideArity reports whether t holds a digit that is not part of a
// generic arity, such as the 1 of List`1.
func digitOutsideArity(t string) bool {
	for i := 0; i < len(t); i++ {
		switch {
		case t[i] == '`':
			for i+1 < len(t) && classes[t[i+1]]&digit != 0 {
				i++
			}
		case classes[t[i]]&digit != 0:
			return true
		}
	}
	return false
}

func hasDot(t string) bool {
	for i := range len(t) {
		if t[i] == '.' {
			return true
		}
	}
	return false
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }

func isLower(b byte) bool { return 'a' <= b && b <= 'z' }

// isCalendar reports whether the word s[i:j] is a month or a day of the week.
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
		for j < len(s) && classes[s[j]]&space != 0 {
			j++
		}
		return at(s, j)&digit != 0
	}
	return false
}

// unitWords belong to a number right before them: units of measurement, halves
// of the day and time zones.
var unitWords = []string{
	"ns", "us", "ms", "s", "sec", "secs", "second", "seconds",
	"min", "mins", "minute", "minutes", "h", "hr", "hrs", "hour", "hours", "day", "days",
	"nanoseconds", "microseconds", "milliseconds", "millisecond", "ticks",
	"B", "b", "byte", "bytes", "bit", "bits",
	"kB", "KB", "MB", "GB", "TB", "kb", "mb", "gb", "KiB", "MiB", "GiB", "TiB", "K", "M", "G",
	"Hz", "kHz", "MHz", "GHz", "px", "fps", "percent",
	"AM", "PM", "am", "pm",
	"UTC", "GMT", "EST", "EDT", "CST", "CDT", "MST", "MDT", "PST", "PDT", "CET", "CEST", "BST", "IST", "JST", "KST", "MSK",
}

// constantWords are answers, states, outcomes and levels: words that are one of
// few where they stand, so that they are what a message means, not what it is
// about. In capitals, or with the first letter as one, they are constants too.
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
	constants = newWords(constantWords, capitalized(constantWords), upper(constantWords))
)

func capitalized(list []string) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return out
}

func upper(list []string) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = strings.ToUpper(w)
	}
	return out
}

// isTelling reports whether the narrow token t carries meaning even
// where most tokens are values, alone in quotation marks or after "key=": it is a
// constant, or the name of a type of fault.
//
// Such tokens are literal wherever they stand, so the answer is the same for
// the template.
func isTelling(t string) bool { return constants.has(t) || mayBeFault(t) && isFault(t) }

// mayBeFault reports whether the last byte of t permits isFault to be true. It is
// inlined, and nearly every token needs no call.
func mayBeFault(t string) bool {
	last := t[len(t)-1]
	return last == 'n' || last == 'r' || classes[last]&digit != 0
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

// isRate reports whether t is a unit per unit, as KB/s is. What has two slashes
// is a path.
func isRate(t string) bool {
	a, b, ok := strings.Cut(t, "/")
	return ok && a != "" && b != "" && units.has(a) && units.has(b)
}

// afterKeyword reports whether the token at i carries meaning, since
// it follows a word such as "code" or "status": error 404 is not error 500.
//
// On the hot path, mayFollowKeyword is asked first.
func (sc *scanner) afterKeyword(i int) bool {
	s, floor := sc.s, max(sc.masked, 0)
	j := i
	for j > floor && classes[s[j-1]]&precede != 0 {
		j--
	}
	if j == i || j == floor {
		return false
	}
	// The last two letters rule out nearly every word.
	if j-floor < 2 {
		return false
	}
	switch uint(s[j-2]|0x20)<<8 | uint(s[j-1]|0x20) {
	case 'd'<<8 | 'e', 'u'<<8 | 's', 'l'<<8 | 't', 'n'<<8 | 'o', 'a'<<8 | 's':
	default:
		return false
	}
	t := s[floor:j]
	return isKeyword(t) || len(t) > 3 && t[len(t)-3:] == "was" && afterError(t[:len(t)-3])
}

// mayFollowKeyword reports whether the three bytes before i permit afterKeyword to
// be true: the last may stand before a value, and so may the one before it, or the
// two before it end a keyword. It is inlined, and most tokens need no call.
func mayFollowKeyword(s string, i int) bool {
	if i < 3 {
		return false
	}
	b := classes[s[i-2]]
	return classes[s[i-1]]&(b>>1)&(b|classes[s[i-3]]>>2)&precede != 0
}

// isKeyword reports whether t, which is not empty, ends in a word that names a
// code: "code", "status", "HRESULT" or "errno" in any case,
// alone or as the last part of a compound such as errorCode or exit_code.
func isKeyword(t string) bool {
	switch t[len(t)-1] {
	case 'e', 'E':
		return endsWord(t, "code")
	case 's', 'S':
		return endsWord(t, "status")
	case 't', 'T':
		return endsWord(t, "hresult")
	case 'o', 'O':
		return endsWord(t, "errno")
	}
	return false
}

// endsWord reports whether t is word, in any case, or a compound that ends in
// it: after a byte that is no lower-case letter, or with a capital.
func endsWord(t, word string) bool {
	n := len(t) - len(word)
	if n < 0 {
		return false
	}
	for i := range len(word) {
		if t[n+i]|0x20 != word[i] {
			return false
		}
	}
	return n == 0 || !isLetter(t[n-1]) || isUpper(t[n]) && !isUpper(t[n-1])
}

// afterError reports whether s ends in the word "error" and white space.
func afterError(s string) bool {
	n := len(s)
	for n > 0 && classes[s[n-1]]&space != 0 {
		n--
	}
	return n < len(s) && n > 0 && endsWord(s[:n], "error")
}

// groupMax is how many digits a group of an IPv6 address has at most.
const groupMax = 4

// addressEnd returns the end of the hardware or IPv6 address at i, or 0 if
// there is none: three to eight groups of up to four hexadecimal digits with
// colons between them, at least one of the digits no letter. A time of day has
// the same form and may pass for one.
func addressEnd(s string, i int) int {
	groups, digits, end := 0, false, 0
	for groups < 8 {
		j, some := i, false
		for j < len(s) && j-i <= groupMax && classes[s[j]]&(hexa|digit) != 0 {
			some = some || classes[s[j]]&digit != 0
			j++
		}
		if j == i || j-i > groupMax || at(s, j)&narrow != 0 || at(s, j)&glue != 0 && at(s, j+1)&narrow != 0 {
			break
		}
		groups++
		digits = digits || some
		end = j
		if j == len(s) || s[j] != ':' {
			break
		}
		i = j + 1
		if i < len(s) && s[i] == ':' {
			i++
		}
	}
	if groups < 3 || !digits {
		return 0
	}
	return end
}

// isHostName reports whether the token t is the name of a host or domain: it
// has small letters only and ends in a top-level domain that nothing else ends
// in.
func isHostName(t string) bool {
	last := 0
	for i := range len(t) {
		switch {
		case t[i] == '.':
			last = i + 1
		case !isLower(t[i]) && t[i] != '-':
			return false
		}
	}
	if last == 0 {
		return false
	}
	switch t[last:] {
	case "com", "net", "org", "edu", "gov", "mil", "info", "biz", "local", "localdomain", "arpa":
		return true
	}
	return false
}

// accountAfter returns where the name of an account begins, if the word at i is
// the "user" of "for user NAME" or the like, or -1. Such names are as variable
// as any id; few of them hold a digit.
func accountAfter(s string, i, floor int) int {
	j := i + len("user")
	if s[i:j] != "user" || at(s, j)&space == 0 {
		return -1
	}
	k := i
	for k > floor && classes[s[k-1]]&space != 0 {
		k--
	}
	n := k
	for n > floor && isLetter(s[n-1]) {
		n--
	}
	switch s[n:k] {
	case "for", "invalid", "Invalid", "unknown", "Unknown", "illegal", "Illegal":
	default:
		return -1
	}
	if k == i || n > floor && classes[s[n-1]]&space == 0 {
		return -1
	}
	for j < len(s) && classes[s[j]]&space != 0 {
		j++
	}
	return j
}
