package scrub

import (
	"encoding/base64"
	"net/netip"
	"regexp"
	"strings"
	"unicode"

	"github.com/heedlog/heed/internal/text"
)

// isNoArmor keeps a long word, path or hash: a line of a key mixes all kinds of signs.
func isNoArmor(s string, from, to int) bool {
	s = s[from:to]
	return !strings.ContainsAny(s, "0123456789") || strings.ToLower(s) == s || strings.ToUpper(s) == s ||
		strings.Count(s, "/") > 6
}

// isService keeps the account of everybody, in "git@host".
func isService(s string, from, to int) bool {
	name, _, _ := strings.Cut(s[from:to], "@")
	return name == "git" || name == "hg"
}

// isNoMailbox keeps what isService does, and an image for screens of twice the dots.
func isNoMailbox(s string, from, to int) bool {
	return isService(s, from, to) || scale.MatchString(s[from:to])
}

var scale = regexp.MustCompile(`(?i)@\dx\.[a-z]+$`)

// isNoBot keeps what does not begin with a number in base64, as the token of a bot does.
func isNoBot(s string, from, to int) bool {
	id, _, _ := strings.Cut(s[from:to], ".")
	number, err := base64.RawStdEncoding.DecodeString(id)
	return err != nil || strings.Trim(string(number), "0123456789") != ""
}

// isPersonal keeps the folder of those who have no company.
func isPersonal(s string, from, to int) bool { return strings.EqualFold(s[from:to], "personal") }

// isNoShare keeps what stands further down in a path, and what isNoHost does.
func isNoShare(s string, from, to int) bool {
	top := strings.TrimRight(s[:from], `\`)
	if n := len(top) - len(`\UNC`); n >= 0 && strings.EqualFold(top[n:], `\UNC`) {
		top = strings.TrimRight(strings.TrimRight(top[:n], `\`), "?")
		top = strings.TrimRight(top, `\`)
	}
	return top != "" && !isStart(top) && strings.IndexByte(",;", top[len(top)-1]) < 0 || isNoHost(s, from, to)
}

// isNoHost keeps what a share may have where a host is, and is none with a name.
func isNoHost(s string, from, to int) bool {
	switch host := strings.ToLower(s[from:to]); host {
	case "localhost", "wsl.localhost", "tsclient", "unc", "home", "users":
		return true
	default:
		return strings.Trim(host, "0123456789.") == ""
	}
}

// isGivenByNobody keeps words that are no random signs: those are in one case, and have
// a digit or are in capitals.
func isGivenByNobody(s string, from, to int) bool {
	s = s[from:to]
	random := s[strings.IndexByte(s, '-')+1:]
	if strings.ContainsAny(random, "0123456789") {
		return strings.ToUpper(s) != s && strings.ToLower(s) != s
	}
	return strings.ToUpper(s) != s || strings.HasPrefix(s, "WIN")
}

// isNoID keeps words, and numbers of kinds of devices, which are in hexadecimal.
func isNoID(s string, from, to int) bool {
	s = s[from:to]
	return !strings.ContainsAny(s, "0123456789") || strings.HasPrefix(s, "0x")
}

// isAddressee keeps a name alone, but where the scheme is one for which it may be all
// that is needed: actors and services have names before a host, too.
func isAddressee(s string, from, to int) bool {
	return isService(s, from, to) || !strings.Contains(s[from:to], ":") && !login.MatchString(s[max(0, from-12):from])
}

var login = regexp.MustCompile(`(?i)\b(?:https?|s?ftps?|smb|wss?|svn)://$`)

// isPlainWord keeps what a sentence goes on with: "basic training".
func isPlainWord(s string, from, to int) bool {
	rest := strings.TrimRight(s[from+1:to], ".")
	return strings.TrimLeft(rest, lowerLetters) == "" || isWord(s, from, to)
}

const lowerLetters = "abcdefghijklmnopqrstuvwxyz"

// isNoSecret keeps what is no value of a key, as isWord does, and the words that
// parsers have for tokens and people for tickets: "unexpected token: StartObject".
func isNoSecret(s string, from, to int) bool {
	if isWord(s, from, to) || to-from < 4 && !strings.ContainsFunc(s[from:to], isNamePart) {
		return true
	}
	before := s[max(0, from-32):from]
	return to-from < 20 && bareToken.MatchString(before) && (parsing.MatchString(before) && !isMixed(s[from:to]) ||
		strings.Trim(s[from:to], lowerLetters+"ABCDEFGHIJKLMNOPQRSTUVWXYZ. ") == "")
}

// isNoQuoted keeps what isNoSecret does, and what is in quotes without a sign behind another key than that of a
// password.
func isNoQuoted(s string, from, to int) bool {
	before := strings.TrimRight(s[:from], `\"'`)
	return isNoSecret(s, from, to) || !strings.HasSuffix(strings.TrimRight(before, spaces), "=") &&
		!strings.HasSuffix(strings.TrimRight(before, spaces), ":") && !endsIn(strings.TrimRight(before, spaces), passwords)
}

var passwords = []string{"password", "passphrase", "passwd", "pwd"}

// bareToken is a key that may well not be about a secret, before its value.
var bareToken = regexp.MustCompile(`(?i)(?:^|[^a-z_-])(?:token|ticket)["'\\]*\s*[:=]\s*["'\\]*$`)

// isWord keeps what is no value of a key: "token: expected ';'", "password = null".
func isWord(s string, from, to int) bool {
	switch strings.ToLower(strings.Trim(s[from:to], ".,!?:()[]")) {
	case "null", "none", "true", "false", "empty", "missing", "invalid", "expired", "unknown", "expected", "unexpected",
		"not", "required", "failed", "nothing", "undefined", "the", "is", "was", "and", "for", "bearer", "basic", "digest",
		"string", "object", "system.string", "rejected", "accepted", "incorrect", "wrong", "denied", "disabled", "enabled",
		"unavailable", "changed", "field", "has", "must", "with", "set", "localhost", "unset", "hidden", "redacted", "n/a", "default":
		return true
	}
	return strings.Trim(s[from:to], "*•●") == "" // hidden already
}

// isSharedHome keeps the homes that belong to nobody.
func isSharedHome(s string, from, to int) bool {
	switch strings.ToLower(strings.Trim(s[from:to], " /")) {
	case "", "public", "default", "default user", "all users", "shared", "guest", "root", "user", "username",
		"%username%", "$user", "runner", "deck", "steamuser", "users":
		return true
	}
	return false
}

// context is what has to stand shortly before four small numbers so that they are an
// address: versions have four numbers too.
var context = regexp.MustCompile(`(?i)(?:\bip(?:v4)?(?: is)?|address|addr|host|server|endpoint|peer|connect\w*|bind\w*|bound|listen\w*|remote|client|gateway|dns|ping\w*|udp|tcp|from|to|at|://|@)[\s:="'(\[/]*$`)

// version is what stands before a version.
var version = regexp.MustCompile(`(?i)(?:(?:\b(?:ver|v)|version|assembly\w*|build|release|file|rev|[a-z]\w*\s*,)[\s:="'(\[]*|\b(?:updat|upgrad|downgrad|migrat|bump)\w*\b.*\b(?:from|to)\s+)$`)

// isVersion keeps four numbers that are no address of somebody: more than 255, the
// machine itself, or a version.
func isVersion(s string, from, to int) bool {
	a, err := netip.ParseAddr(s[from:to])
	if err != nil || a.IsLoopback() || a.IsUnspecified() {
		return true
	}
	before := s[max(0, from-48):from]
	// Nearly all that gets here has "Version=", which takes an expression long to find.
	if endsIn(strings.TrimRight(before, spaces+`:="'([`), []string{"version"}) || suffix.MatchString(s[to:]) {
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

// isNoIPv6 keeps what only looks like an address: a time, a name with two colons, the
// machine itself.
func isNoIPv6(s string, from, to int) bool {
	a, err := netip.ParseAddr(s[from:to])
	return err != nil || a.IsLoopback() || a.IsUnspecified() || !strings.ContainsAny(s[from:to], "0123456789") ||
		strings.Count(s[from:to], ":") < 2
}

// isMixed reports whether s has letters and digits, as what nobody chose to read.
func isMixed(s string) bool {
	s = strings.TrimRight(s, "+=?!")
	letters := strings.ContainsFunc(s, unicode.IsLetter)
	return letters && strings.ContainsAny(s, "0123456789") || letters && strings.ContainsAny(s, "!#$%^*+=?") && len(s) >= 6
}

// isNoMixed keeps what is said of a secret and is none: words, names with a dot or a slash, ids of what is no secret,
// and after a token or a ticket what is short or what a parser did not expect.
func isNoMixed(s string, from, to int) bool {
	if before := s[max(0, from-48):from]; spokenToken.MatchString(before) && (to-from < 8 || parsing.MatchString(before)) {
		return true
	}
	v := strings.TrimRight(s[from:to], ".,!?:")
	return !isMixed(v) || strings.ContainsAny(v, "`\\/|") || strings.HasPrefix(v, "0x") || isWord(v, 0, len(v)) ||
		strings.HasSuffix(v, "ms") && v[0] <= '9'
}

var (
	spokenToken = regexp.MustCompile(`(?i)(?:^|[^a-z_-])(?:token|ticket)\b[^a-z]*(?:is|was)?[^a-z]*$`)
	parsing     = regexp.MustCompile(`(?i)expected|syntax|pars(?:e|ing)|(?:^|[^.\w])(?:json|xml)\b`)
)

// isRandom reports whether s is as machines make up words: of capitals, small letters and digits, which change often.
// A hash, which is in one case, is not.
func isRandom(s string) bool {
	capital, small, changes, run := false, false, 0, 0
	for i := range len(s) {
		capital = capital || 'A' <= s[i] && s[i] <= 'Z'
		if run++; s[i] < 'a' || s[i] > 'z' {
			run = 0
		}
		small = small || run > 0
		if run > 3 && len(s) < 20 {
			return false // a word
		}
		if i > 0 && digit(s[i]) != digit(s[i-1]) {
			changes++
		}
	}
	return len(s) >= 10 && capital && small && changes >= 3
}

func isNoRandom(s string, from, to int) bool { return !isRandom(s[from:to]) }

// isNoCode keeps a word of five letters, as in "PIN WRONG".
func isNoCode(s string, from, to int) bool { return !strings.ContainsAny(s[from:to], "0123456789") }

// isOneKind keeps what has letters or digits alone, or is a date.
func isOneKind(s string, from, to int) bool {
	digits := 0
	for i := from; i < to; i++ {
		if digit(s[i]) {
			digits++
		}
	}
	return digits < 2 || digits == to-from-strings.Count(s[from:to], "-")
}

// isNumber keeps twelve digits, and words that have the letters of hexadecimal.
func isNumber(s string, from, to int) bool { return !isMixed(s[from:to]) }

// isThing keeps what has a name of two words and is nobody.
func isThing(s string, from, to int) bool {
	before := strings.ToLower(s[max(0, from-20):from])
	return strings.Contains(before, "display") && !strings.ContainsAny(before, ":=")
}

// isNoUser keeps words for users, and what stands where a name may.
func isNoUser(s string, from, to int) bool {
	first := from + len(upTo(s[from:to], " "))
	name := strings.ToLower(strings.TrimRight(s[from:first], "."))
	return isWord(s, from, first) || isSharedHome(s, from, to) || nobody[name] ||
		strings.Trim(name, "0123456789.") == "" || remote.MatchString(s[:from]) && (to == len(s) || s[to] != '@')
}

// remote is a command before the name of a user, which the name of a computer follows.
var remote = regexp.MustCompile(`(?i)\b(?:ssh|scp|sftp|rsync)\s+(?:[^\s@]+\s+)*$`)

// nobody are words that stand where the name of a user may.
var nobody = text.Words("admin administrator system guest anonymous nobody root daemon local you me us it in on to of by as at id " +
	"ids name names data folder input interface settings defined requested cancelled canceled error errors found logged signed " +
	"connected disconnected joined left has have had is are was were will with without who that this from or if does did can " +
	"cannot unavailable disabled enabled started stopped loaded initialized account accounts authentication api app overlay " +
	"integration server client workshop cloud level count list group groups profile type agent mode space action events event " +
	"friends inventory connection controller deck input runtime library libraries achievements stats file files web x86_64 amd64 x64 x86 i686 i386 aarch64 arm64 version kernel due after because set changed faction online offline taken team ok yes no off available valid blank unique long short case-sensitive too already")

// isNoComputer keeps what people do not call computers: a name of one has a digit, a dash or only capitals.
func isNoComputer(s string, from, to int) bool {
	name := s[from:to]
	if isWord(s, from, to) || nobody[strings.ToLower(name)] || to < len(s) && s[to] == '.' {
		return true
	}
	if strings.HasSuffix(s[:from], "x ") || strings.HasSuffix(s[:from], "n ") && strings.HasSuffix(s[:from], "Darwin ") {
		return !kernel.MatchString(s[to:]) // after the name of a system, before its version
	}
	return !strings.ContainsAny(name, "0123456789-") && (len(name) < 3 || strings.ToUpper(name) != name) &&
		(!strings.ContainsAny(s[max(0, from-3):from], ":=") || device.MatchString(s[max(0, from-16):from]))
}

// device is a word for a computer before what may be its name, or how it is.
var device = regexp.MustCompile(`(?i)\b(?:machine|computer|pc)\s*[:=]\s*["']?$`)

var kernel = regexp.MustCompile(`^(?:\.\S+)? \d+\.\d+`)

// isHardware keeps the name of a part of a computer, which its maker gave it.
func isHardware(s string, from, to int) bool {
	first, _, _ := strings.Cut(s[from:to], " ")
	return isWord(first, 0, len(first)) || nobody[strings.ToLower(first)] || part.MatchString(s[from:to]) ||
		part.MatchString(s[max(0, from-40):from])
}

var part = regexp.MustCompile(`(?i)\b(?:nvidia|geforce|gtx|rtx|amd|radeon|intel|arc|graphics|gpu|render\w*|mali|adreno|apple m\d|llvmpipe|swiftshader|` +
	`audio|sound|speakers?|headphones?|headset|microphone|realtek|hdmi|display|monitor|input|output|controller|gamepad|joystick|mouse|keyboard|usb|bluetooth|` +
	`direct3d|vulkan|opengl|metal|microsoft|virtual|vmware|virtio|default|adapter|driver|disk|drive|camera)\b`)
