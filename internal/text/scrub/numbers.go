package scrub

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

var (
	// cardNumber has the first digits of the issuers by length, accountNumber the groups of an IBAN.
	cardNumber    = regexp.MustCompile(`^(?:(?:4\d|5[1-5]|2[2-7]|35|6[045])\d\d(?:[ -]?\d{4}){3}|3[47]\d\d[ -]?\d{6}[ -]?\d{5}|3[068]\d{12})`)
	accountNumber = regexp.MustCompile(`^[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b`)
	macNumber     = regexp.MustCompile(`^(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$`)
)

// number adds the address, account, card or IBAN whose first digit is at the place.
func (f *finder) number(at int) {
	s, to := f.s, at
	for to < len(s) && digit(s[to]) {
		to++
	}
	f.digits = to
	switch {
	case f.iban(at, to):
	case at > 0 && (wordByte(s[at-1]) && s[at-1] != '_' || s[at-1] == '.'):
	case to-at >= 13 || to-at == 4 && to+1 < len(s) && (s[to] == ' ' || s[to] == '-') && digit(s[to+1]):
		if m := cardNumber.FindString(s[at:]); m != "" && !goesOn(s, at+len(m)) && luhn(m) {
			f.digits = at + len(m)
			f.add(Money, at, f.digits, false)
		}
	case to < len(s) && s[to] == '.':
		f.dotted(at, to)
	}
}

// iban reports whether the digits between two places follow the two letters of a country, and adds the account.
func (f *finder) iban(at, to int) bool {
	s := f.s
	if at < 2 || to-at < 2 || !upper(s[at-1]) || !upper(s[at-2]) || at > 2 && wordByte(s[at-3]) {
		return false
	}
	for m := accountNumber.FindString(s[at-2:]); m != ""; m = m[:max(0, strings.LastIndexByte(m, ' '))] {
		if mod97(strings.ReplaceAll(m, " ", "")) {
			f.add(Money, at-2, at-2+len(m), false)
			break
		}
	}
	return true
}

// dotted adds the address whose first number is between two places.
func (f *finder) dotted(at, to int) {
	s := f.s
	for to < len(s) && (digit(s[to]) || s[to] == '.') {
		to++
	}
	to = len(strings.TrimRight(s[:to], "."))
	if f.digits = to; strings.Count(s[at:to], ".") == 3 && !goesOn(s, to) && !isVersion(s, at, to) {
		f.add(Address, at, to, false)
	}
}

func upper(b byte) bool { return 'A' <= b && b <= 'Z' }

// luhn reports whether the last digit of s is the check digit of the others.
func luhn(s string) bool {
	sum, weight := 0, 1
	for i := len(s) - 1; i >= 0; i-- {
		if digit(s[i]) {
			d := int(s[i]-'0') * weight
			sum, weight = sum+d/10+d%10, 3-weight
		}
	}
	return sum%10 == 0
}

// mod97 reports whether the check digits of an IBAN are right.
func mod97(s string) bool {
	rest := 0
	for _, b := range []byte(s[4:] + s[:4]) {
		if rest = rest*10 + int(b-'0'); !digit(b) {
			rest = (rest-int(b-'0'))*10 + int(b-'A') + 10
		}
		rest %= 97
	}
	return len(s) >= 15 && rest == 1
}

// goesOn reports whether a number continues at the place.
func goesOn(s string, end int) bool {
	return end < len(s) && (wordByte(s[end]) || s[end] == '.' && end+1 < len(s) && digit(s[end+1]))
}

// hardware adds the address of a network card, the address in IPv6 whose first colon or dash is at the place.
func (f *finder) hardware(at int) {
	s, from, to := f.s, at, at
	for from > 0 && hexDigit(s[from-1]) {
		from--
	}
	for to < len(s) && (s[to] == s[at] || hexDigit(s[to])) {
		to++
	}
	switch run := strings.TrimSuffix(s[from:to], ":"); {
	case from > 0 && (wordByte(s[from-1]) || s[from-1] == '.'):
	case to < len(s) && wordByte(s[to]):
	case macNumber.MatchString(run):
		if strings.Trim(run, "0:-") != "" && strings.Trim(run, "fF:-") != "" {
			f.add(Address, from, from+len(run), false)
		}
		f.colons = to
	case strings.Contains(run, "::") || strings.Count(run, ":") == 7:
		f.colons = to
		f.ipv6(from, from+len(run))
	}
}

// ipv6 adds the address between two places, with its zone.
func (f *finder) ipv6(from, to int) {
	s := f.s
	if strings.HasPrefix(s[to:], "%") {
		for to++; to < len(s) && wordByte(s[to]); to++ {
		}
	}
	if a, err := netip.ParseAddr(s[from:to]); err == nil && !isEverybodys(a) &&
		strings.ContainsAny(s[from:to], "0123456789") {
		f.add(Address, from, to, false)
	}
}

// isEverybodys reports whether an address is no one's: the machine itself, or several machines.
func isEverybodys(a netip.Addr) bool {
	return a.IsLoopback() || a.IsUnspecified() || a.IsMulticast() || a == netip.AddrFrom4([4]byte{255, 255, 255, 255})
}

var (
	// sure matches the text before a version, and suffix the text after it.
	sure   = regexp.MustCompile(`(?i)version[\s:="'(\[]*$`)
	suffix = regexp.MustCompile(`(?i)^(?:\.(?:dll|exe|zip|nupkg|jar|pdb|tar|7z)\b|[-+](?:alpha|beta|rc|pre|dev|build)|\s+or (?:later|newer|higher))`)
	// updated matches the text before a version, if next, another one, follows.
	updated = regexp.MustCompile(`(?i)\b(?:updat|upgrad|downgrad|migrat|bump)`)
	next    = regexp.MustCompile(`(?i)^\s*(?:->|=>|→|to)\s*v?\d+(?:\.\d+){2,3}`)
	// deed matches an act of a peer.
	deed = regexp.MustCompile(`(?i)^\s*(?:->|(?:has |was |is )?(?:left|joined|(?:dis|re)?connect|timed? ?out|refused|unreachable|lost|closed|kicked|banned|replied|failed to (?:respond|connect)))`)
	// version matches a word for versions, or for the change of one.
	version = regexp.MustCompile(`(?i)(?:(?:\b(?:ver|v)|assembly\w*|build|release|file|rev|[a-z]\w*\s*,)[\s:="'(\[]*|\b(?:updat|upgrad|downgrad|migrat|bump)\w*\b.*\b(?:from|to)\s+)$`)
	port    = regexp.MustCompile(`^(?::| port )\d{2,5}\b`)
	between = regexp.MustCompile(`(?i)\b(?:from|to|at)\s+$`)
	// context matches a word for addresses.
	context = regexp.MustCompile(`(?i)(?:\bip(?:v4)?(?: is)?|address|addr|host|server|endpoint|peer|connect\w*|bind\w*|bound|listen\w*|remote|client|gateway|dns|ping\w*|udp|tcp|from|to|at|://|@)[\s:="'(\[/]*$`)
)

// isVersion reports whether four numbers are no address of a person: more than 255, the machine itself, or a version.
func isVersion(s string, from, to int) bool {
	a, err := netip.ParseAddr(s[from:to])
	if err != nil || isEverybodys(a) {
		return true
	}
	before, after := s[max(0, from-48):from], s[to:]
	n := a.As4()
	most := max(n[0], n[1], n[2], n[3])
	switch {
	case sure.MatchString(before), suffix.MatchString(after), next.MatchString(after) && updated.MatchString(before):
		return true
	case deed.MatchString(after):
		return false
	case version.MatchString(before):
		return true
	case port.MatchString(after):
		return false
	case n[3] == 0 || most < 10 && between.MatchString(before): // a network, or the usual end of a version
		return true
	case n[0] != 10 && a.IsPrivate() || context.MatchString(before):
		return false
	}
	slices.Sort(n[:3]) // versions begin with small numbers, addresses rarely do
	return n[1] < 10 || most < 100 && min(n[0], n[3]) < 10
}
