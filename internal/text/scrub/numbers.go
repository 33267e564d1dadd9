package scrub

import (
	"net/netip"
	"regexp"
	"strings"
)

// number adds the address, account, card or IBAN that has its first digit at a place.
func (f *finder) number(at int) {
	s := f.s
	to := at
	for to < len(s) && digit(s[to]) {
		to++
	}
	f.digits = to
	switch {
	case beginsIBAN(s, at) && to-at >= 2:
		if end := iban(s, at-2); end > 0 {
			f.add(Money, at-2, end, false)
		}
		return
	case at > 0 && (wordByte(s[at-1]) && s[at-1] != '_' || s[at-1] == '.'):
		return
	case to-at == len("76561198000000001") && strings.HasPrefix(s[at:], "7656119"):
		f.add(SteamID, at, to, false)
		return
	case to-at == len("2535400000000000") && (strings.HasPrefix(s[at:], "2535") || strings.HasPrefix(s[at:], "2533")):
		f.add(ID, at, to, false) // of Xbox
		return
	case to-at > 3:
		if end := card(s, at); end > 0 {
			f.digits = end
			f.add(Money, at, end, false)
		}
		return
	}
	f.dotted(at, to)
}

// dotted adds the address whose first number is between two places.
func (f *finder) dotted(at, to int) {
	s := f.s
	numbers, end := 1, to
	for numbers < 4 && end+1 < len(s) && s[end] == '.' && digit(s[end+1]) {
		end++
		for end < len(s) && digit(s[end]) {
			end++
		}
		numbers++
	}
	if numbers == 4 && !goesOn(s, end) && !isVersion(s, at, end) {
		f.add(Address, at, end, false)
	}
	f.digits = end
}

// beginsIBAN reports whether the two capitals of a country are before a place.
func beginsIBAN(s string, at int) bool {
	return at >= 2 && upper(s[at-1]) && upper(s[at-2]) && (at == 2 || !wordByte(s[at-3]))
}

func upper(b byte) bool { return 'A' <= b && b <= 'Z' }

// card returns where the number of a card ends, and 0 if none begins at a place.
func card(s string, at int) int {
	var digits []byte
	end, groups := at, 1
	var buf [20]byte
	for digits = buf[:0]; end < len(s) && len(digits) < len(buf); end++ {
		if b := s[end]; digit(b) {
			digits = append(digits, b)
		} else if (b == ' ' || b == '-') && end+1 < len(s) && digit(s[end+1]) && len(digits) >= 4 && len(digits) < 16 {
			groups++
		} else {
			break
		}
	}
	if goesOn(s, end) || groups != 1 && groups != 3 && groups != 4 {
		return 0
	}
	if !issued(string(digits)) || !luhn(digits) {
		return 0
	}
	return end
}

// issuers are the first digits of cards by their length.
var issuers = regexp.MustCompile(`^(?:(?:4\d|5[1-5]|2[2-7]|35|6[045])\d{14}|3[47]\d{13}|3[068]\d{12})$`)

func issued(number string) bool {
	return len(number) <= 16 && len(number) >= 14 && issuers.MatchString(number)
}

// luhn reports whether the last of digits is the check digit of the others.
func luhn(digits []byte) bool {
	sum := 0
	for i := range digits {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// goesOn reports whether a number does not end at a place.
func goesOn(s string, end int) bool {
	return end < len(s) && (wordByte(s[end]) || s[end] == '.' && end+1 < len(s) && digit(s[end+1]))
}

// iban returns where the number of a bank account ends, and 0 if none begins at a place.
func iban(s string, at int) int {
	const shortest, longest = 15, 34
	var code []byte
	rest, end := 0, at
	for last := at; end < len(s) && len(code) < longest; end++ {
		b := s[end]
		if b == ' ' && end-last == 4 {
			last = end + 1
			continue
		}
		if !digit(b) && !upper(b) {
			break
		}
		code = append(code, b)
	}
	for len(code) >= shortest {
		rest = 0
		for _, b := range append(append([]byte{}, code[4:]...), code[:4]...) {
			if digit(b) {
				rest = (rest*10 + int(b-'0')) % 97
			} else {
				rest = (rest*100 + int(b-'A') + 10) % 97
			}
		}
		end = at + len(strings.TrimRight(s[at:end], " "))
		if rest == 1 && (end == len(s) || !wordByte(s[end])) {
			return end
		}
		for end--; s[end] == ' '; end-- {
		}
		code = code[:len(code)-1]
	}
	return 0
}

// hardware adds the address of a network card, or in IPv6, that has its first colon or dash at a place.
func (f *finder) hardware(at int, sep byte) {
	s := f.s
	from := at
	for from > 0 && hexDigit(s[from-1]) && at-from < 5 {
		from--
	}
	if from > 0 && (wordByte(s[from-1]) || s[from-1] == '.') {
		if sep == '-' {
			f.product(at)
		}
		return
	}
	if to := f.card48(from, sep); to > 0 {
		f.colons = to
	} else if sep == ':' {
		f.ipv6(from, at)
	} else {
		f.product(at)
	}
}

// card48 adds the address of a network card that begins at a place, and returns where it ends, 0 for none.
func (f *finder) card48(from int, sep byte) int {
	const length = len("00:00:00:00:00:00")
	s, n := f.s, 0
	for n < length && from+n < len(s) && (n%3 == 2 && s[from+n] == sep || n%3 != 2 && hexDigit(s[from+n])) {
		n++
	}
	to := from + n
	if n != length || to < len(s) && (wordByte(s[to]) || s[to] == sep) || from > 0 && s[from-1] == sep {
		return 0
	}
	if strings.Trim(s[from:to], "0:-") != "" && strings.Trim(s[from:to], "fF:-") != "" {
		f.add(Address, from, to, false)
	}
	return to
}

// ipv6 adds the address that begins at a place and has its first colon at another.
func (f *finder) ipv6(from, at int) {
	s := f.s
	to, colons, double := at, 0, false
	for to < len(s) && (s[to] == ':' || hexDigit(s[to])) {
		if s[to] == ':' {
			colons++
			double = double || to+1 < len(s) && s[to+1] == ':'
		}
		to++
	}
	f.colons = to
	if colons < 2 || !double && colons != 7 {
		return
	}
	for s[to-1] == ':' && !strings.HasSuffix(s[:to], "::") {
		to--
	}
	if to < len(s) && s[to] == '%' {
		for to++; to < len(s) && wordByte(s[to]); to++ {
		}
	}
	if (to == len(s) || !wordByte(s[to]) && (s[to] != '/' || !strings.HasSuffix(s[:to], "::"))) && !isNoIPv6(s[from:to]) {
		f.add(Address, from, to, false)
	}
}

var product = regexp.MustCompile(`^(?:[A-Z0-9]{2}-(?:[A-Z0-9]{4}-){4}[A-Z0-9]{4}|[A-Z0-9]{5}(?:-[A-Z0-9]{5}){2,5}|[A-Z0-9]{4}(?:-[A-Z0-9]{4}){2,5})(?:$|[^\w-])`)

// product adds the key of a product that has its first dash at a place.
func (f *finder) product(at int) {
	s := f.s
	from := at
	for from > 0 && (digit(s[from-1]) || upper(s[from-1])) {
		from--
	}
	if n := at - from; (n == 2 || n == 4 || n == 5) && (from == 0 || !wordByte(s[from-1]) && s[from-1] != '-') {
		if m := product.FindString(s[from:]); m != "" {
			to := from + len(strings.TrimRight(m, "\"' ,;.)]}\t\r\n:<>&/|"))
			if !isOneKind(s, from, to) {
				f.add(Secret, from, to, false)
			}
		}
	}
}

// isNoIPv6 keeps what only looks like an address: a time, a name with two colons, the machine itself.
func isNoIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err != nil || a.IsLoopback() || a.IsUnspecified() || a.IsMulticast() || !strings.ContainsAny(s, "0123456789") || strings.Count(s, ":") < 2
}

// context is what must be shortly before four small numbers so that they are an
// address: versions have four numbers too.
var context = regexp.MustCompile(`(?i)(?:\bip(?:v4)?(?: is)?|address|addr|host|server|endpoint|peer|connect\w*|bind\w*|bound|listen\w*|remote|client|gateway|dns|ping\w*|udp|tcp|from|to|at|://|@)[\s:="'(\[/]*$`)

// version is what stands before a version.
var version = regexp.MustCompile(`(?i)(?:(?:\b(?:ver|v)|version|assembly\w*|build|release|file|rev|[a-z]\w*\s*,)[\s:="'(\[]*|\b(?:updat|upgrad|downgrad|migrat|bump)\w*\b.*\b(?:from|to)\s+)$`)

// isVersion keeps four numbers that are no address of somebody: more than 255, the
// machine itself, or a version.
func isVersion(s string, from, to int) bool {
	a, err := netip.ParseAddr(s[from:to])
	if err != nil || a.IsLoopback() || a.IsUnspecified() || a.IsMulticast() || a == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return true
	}
	before := s[max(0, from-48):from]
	// Most texts that get here have "Version=", which takes an expression long to find.
	if trimmed := strings.TrimRight(before, spaces+`:="'([`); len(trimmed) >= 7 && hasFold(trimmed[len(trimmed)-7:], "version") || suffix.MatchString(s[to:]) {
		return true
	}
	switch {
	case next.MatchString(s[to:]) && updated.MatchString(before):
		return true
	case deed.MatchString(s[to:]):
		return false
	case version.MatchString(before):
		return true
	}
	if port.MatchString(s[to:]) {
		return false
	}
	n := a.As4()
	// A network, or the usual end of a version; the numbers of one, between which something was updated.
	if n[3] == 0 || max(n[0], n[1], n[2], n[3]) < 10 && between.MatchString(before) {
		return true
	}
	if n[0] != 10 && a.IsPrivate() || context.MatchString(before) {
		return false
	}
	// Versions begin with small numbers, of which most addresses have none.
	small := 0
	for _, b := range n[:3] {
		if b < 10 {
			small++
		}
	}
	return small > 1 || max(n[0], n[1], n[2], n[3]) < 100 && min(n[0], n[1], n[2], n[3]) < 10
}

var (
	between = regexp.MustCompile(`(?i)\b(?:from|to|at)\s+$`)

	port = regexp.MustCompile(`^:\d{2,5}\b`)

	// updated is what stands before a version that next, another, follows.
	updated = regexp.MustCompile(`(?i)\b(?:updat|upgrad|downgrad|migrat|bump)`)
	next    = regexp.MustCompile(`(?i)^\s*(?:->|=>|→|to)\s*v?\d+(?:\.\d+){2,3}`)

	// suffix is what stands behind a version, deed what a peer does.
	suffix = regexp.MustCompile(`(?i)^(?:\.(?:dll|exe|zip|nupkg|jar|pdb|tar|7z)\b|[-+](?:alpha|beta|rc|pre|dev|build)|\s+or (?:later|newer|higher))`)
	deed   = regexp.MustCompile(`(?i)^\s*(?:->|(?:has |was |is )?(?:left|joined|(?:dis|re)?connect|timed? ?out|refused|unreachable|lost|closed|kicked|banned|replied|failed to (?:respond|connect)))`)
)
