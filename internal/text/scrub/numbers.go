package scrub

import (
	"math/big"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/heedlog/heed/internal/text"
)

var (
	// cardNumber has the first digits of the issuers by length, accountNumber the groups of an IBAN.
	cardNumber    = text.Lazy(`^(?:(?:4\d|5[1-5]|2[2-7]|35|6[045])\d\d(?:[ -]?\d{4}){3}|3[47]\d\d[ -]?\d{6}[ -]?\d{5}|3[068]\d{12})`)
	accountNumber = text.Lazy(`^[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b`)
	macNumber     = text.Lazy(`^(?i:[0-9a-f]{2}(?:(?::[0-9a-f]{2}){5}|(?:-[0-9a-f]{2}){5}))$`)
	hexRun        = text.Lazy(`^[\dA-Fa-f]*(?:(?::[\dA-Fa-f]*)+|(?:-[\dA-Fa-f]*)+)(?:%\w+)?`)
	dottedNumber  = text.Lazy(`^\d+(?:\.\d+){3}\b`)

	// sure matches the text before a version, build the one after it, "1.2.3.4+2031.04", and peer the text after an
	// address: a port, or the act of a peer.
	sure  = text.Lazy(`(?i)(?:version[\s:="'(\[]*|\b(?:updat|upgrad|downgrad|migrat|bump)\w*\b.*)$`)
	build = text.Lazy(`^\+\d+\.\d`)
	peer  = text.Lazy(`(?i)^(?:(?::| port )\d{2,5}\b|\s*(?:->|(?:has |was |is )?(?:left|joined|(?:dis|re)?connect|timed? ?out|refused|unreachable|lost|closed|kicked|banned|replied|failed to (?:respond|connect))|\s\d{1,5} typ\b| - \S+ \[))`)
	port  = text.Lazy(`^(?:(?::| port )\d{2,5}\b| \((?:<address>|\d+\.\d+\.))`)
	// context matches a word for addresses.
	context = text.Lazy(`(?i)(?:\bip(?:v?[46])?(?: is|[^\w\r\n][^\d\r\n]{0,20})?|<address>|address=["']?|сервер|serveur|服务器|サーバー|\sот|\bvon|depuis|desde|\bz|来自|(?:closed|reset|refused|blocked) by|banned|proxy|src|dst|via|route|ssh|raddr|\b(?:tun|tap|wg|eth|en[ps]?|wlp?|docker|br|utun|tailscale)\d\w*|\binet|\b[wl]an|rcon|address|addr|host|server|endpoint|peer|connect\w*|bind\w*|bound|listen\w*(?: on)?|remote|client|gateway|dns|ping\w*|udp|tcp|from|to|at|://|@)[\s:="'(\[/]*$`)
)

// number adds the address, account or card whose first digit is at the place.
func (f *finder) number(at int) {
	s, to := f.s, skip(f.s, at, digits)
	f.digits = to
	if at > 1 && upper(s[at-1]) && upper(s[at-2]) && (at == 2 || !wordByte(s[at-3])) {
		for m := accountNumber().FindString(s[at-2:]); m != ""; m = m[:max(0, strings.LastIndexByte(m, ' '))] {
			if isAccount(strings.ReplaceAll(m, " ", "")) {
				f.add(Money, at-2, at-2+len(m))
				break
			}
		}
	}
	if at > 0 && (wordByte(s[at-1]) && s[at-1] != '_' || s[at-1] == '.') {
		return
	}
	expr, kind := cardNumber, Money
	if strings.HasPrefix(s[to:], ".") {
		expr, kind = dottedNumber, Address
	} else if to-at < 13 && (to-at != 4 || to == len(s) || s[to] != ' ' && s[to] != '-') {
		return
	}
	m := expr().FindString(s[at:])
	f.digits = max(to, at+len(m))
	end := at + len(m)
	if m != "" && !goesOn(s, end) && (kind == Money && isCard(m) || kind == Address && !isVersion(s, at, end)) {
		f.add(kind, at, end)
	}
}

func upper(b byte) bool { return 'A' <= b && b <= 'Z' }

// isCard reports whether the last digit of a number is the check digit of the others, after Luhn.
func isCard(s string) bool {
	sum, weight := 0, 1
	for i := len(s) - 1; i >= 0; i-- {
		if digit(s[i]) {
			d := int(s[i]-'0') * weight
			sum, weight = sum+d/10+d%10, 3-weight
		}
	}
	return sum%10 == 0
}

// isAccount reports whether the check digits of an IBAN are right. A letter counts as a number of two digits.
func isAccount(s string) bool {
	var number strings.Builder
	for _, r := range s[4:] + s[:4] {
		number.WriteString(strconv.Itoa(strings.IndexRune(digits+upperLetters, r)))
	}
	n, ok := new(big.Int).SetString(number.String(), 10)
	return ok && len(s) >= 15 && n.Mod(n, big.NewInt(97)).Int64() == 1
}

// goesOn reports whether a number continues at the place.
func goesOn(s string, end int) bool {
	return end < len(s) && (wordByte(s[end]) || s[end] == '.' && end+1 < len(s) && digit(s[end+1]))
}

// hardware adds the address of a network card, or the address in IPv6 with its zone, whose first sign is at the place.
func (f *finder) hardware(at int) {
	s, from := f.s, at
	near := s[at:min(len(s), at+40)]
	if (len(near) < 13 || near[12] != s[at]) && !strings.Contains(near, "::") && strings.Count(near, ":") < 7 {
		return
	}
	for from > 0 && hexDigit(s[from-1]) {
		from--
	}
	run := strings.TrimSuffix(hexRun().FindString(s[from:]), ":")
	to := from + len(run)
	if f.colons = max(to, at+1); from > 0 && (wordByte(s[from-1]) || s[from-1] == '.') || to < len(s) && wordByte(s[to]) {
		return
	}
	private := macNumber().MatchString(run) && strings.Trim(run, "0:-") != "" && strings.Trim(run, "fF:-") != ""
	if strings.Contains(run, "::") || strings.Count(run, ":") == 7 {
		a, err := netip.ParseAddr(run)
		private = err == nil && !isEverybodys(a) && strings.ContainsAny(run, digits)
	}
	if private {
		f.add(Address, from, to)
	}
}

// isEverybodys reports whether an address is no one's: the machine itself, or several machines.
func isEverybodys(a netip.Addr) bool {
	return a.IsLoopback() || a.IsUnspecified() || a.IsMulticast() || a == netip.AddrFrom4([4]byte{255, 255, 255, 255})
}

// isVersion reports whether four numbers are no address of a person: more than 255, the machine itself, or a version.
func isVersion(s string, from, to int) bool {
	a, err := netip.ParseAddr(s[from:to])
	if err != nil || isEverybodys(a) {
		return true
	}
	before := s[max(0, from-48):from]
	n := a.As4()
	switch {
	case sure().MatchString(before), build().MatchString(s[to:]):
		return true
	case peer().MatchString(s[to:]):
		return false
	case n[3] == 0: // a network has no person
		return true
	case context().MatchString(before):
		return false
	}
	slices.Sort(n[:3]) // versions begin with small numbers, addresses rarely do
	return n[1] < 10 || max(n[2], n[3]) < 100 && min(n[0], n[3]) < 10
}
