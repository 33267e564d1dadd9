package scrub

import (
	"encoding/base64"
	"regexp"
	"strings"
	"unicode"
)

// keeps are the functions of forms.tsv by their name. One returns true if what a form found has to stay.
var keeps = map[string]func(s string, from, to int) bool{
	"":         nil,
	"armor":    isNoArmor,
	"mailbox":  isNoMailbox,
	"bot":      isNoBot,
	"personal": func(s string, from, to int) bool { return strings.EqualFold(s[from:to], "personal") },
	"share":    isNoShare,
	"host":     func(s string, from, to int) bool { return isNoHost(s, from, to) },
	"given":    isGivenByNobody,
	"userinfo": isAddressee,
	"word":     isPlainWord,
	"plain":    func(s string, from, to int) bool { return isPlain(s[from:to]) },
	"home":     func(s string, from, to int) bool { return sharedHome(s[from:to]) },
	"groups":   isOneKind,
	"mixed":    func(s string, from, to int) bool { return !isMixed(s[from:to]) },
	"random2":  func(s string, from, to int) bool { return !isUnread(s[from:to]) },
	"random":   func(s string, from, to int) bool { return !isRandom(s[from:to]) },
	"id":       isNoID,
	"person":   func(s string, from, to int) bool { f := finder{s: s}; return f.name(from, "") == from },
	"kernel":   func(s string, from, to int) bool { return is(s[from:to], nobodyWord) || !kernel.MatchString(s[to:]) },
	"ordinary": func(s string, from, to int) bool { return isOrdinary(strings.ToLower(s[from:to])) },
}

const (
	lowerLetters = "abcdefghijklmnopqrstuvwxyz"
	upperLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

var (
	authority = regexp.MustCompile(`://[^\s/?#]*$`)

	kernel = regexp.MustCompile(`^(?:\.\S+)? \d+\.\d+`)
	scale  = regexp.MustCompile(`(?i)@\dx\.[a-z]+$`)
	login  = regexp.MustCompile(`(?i)\b(?:https?|s?ftps?|smb|wss?|svn|rtmps?)://$`)

	parsing      = regexp.MustCompile(`(?i)expected|syntax|pars(?:e|ing)|(?:^|[^.\w])(?:json|xml)\b`)
	ownersDevice = regexp.MustCompile(`^[\pL\pN]+(?: [\pL\pN]+)?['’]s? ?[\pL\pN]+(?: (?:[\pL]+|\d+))*|^[\pL\pN]+(?:[ -][\pL\pN]+)? (?:von|de|di|van|da|do|od|of|från|fra) \p{Lu}[\pL\pN]+`)
	clauseEnd    = regexp.MustCompile(`[,;()"\r\n]|  | [\w-]+[=:]| -> `)
	local        = regexp.MustCompile(`(?i)\.(?:local|localdomain|lan|home|internal|corp|intra|fritz\.box|home\.arpa)$`)
	part         = regexp.MustCompile(`(?i)\b(?:nvidia|geforce|gtx|rtx|amd|radeon|intel|arc|graphics|gpu|render\w*|mali|adreno|apple m\d|llvmpipe|swiftshader|` +
		`audio|sound|speakers?|headphones?|headset|microphone|realtek|hdmi|display|monitor|input|output|controller|gamepad|joystick|mouse|keyboard|usb|bluetooth adapter|` +
		`direct3d|vulkan|opengl|metal|microsoft|virtual|vmware|virtio|default|adapter|driver|disk|drive|camera)\b`)
	files = regexp.MustCompile(`(?i)\.(?:ogg|wav|mp3|png|jpe?g|tga|dds|gif|svg|json|xml|ya?ml|txt|log|dll|exe|so|js|ts|css|html?|mat|prefab|asset|unity|shader|anim|fbx|obj|ttf|otf|bank|pak|zip|jar|class|java|cs|lua|py|ini|cfg|conf|service|socket|timer|target|slice|scope|mount|nupkg|tgz|gz)$`)
)

// isPlain reports whether s is no value of a key: "token: expected ';'", "password = null".
func isPlain(s string) bool {
	word := strings.Trim(s, ".,!?:()[]")
	return is(word, plainWord) || strings.Trim(word, "*•●xX.…-") == ""
}

// sharedHome reports whether a home belongs to no person.
func sharedHome(name string) bool {
	switch strings.ToLower(strings.Trim(name, " /")) {
	case "", "public", "default", "default user", "all users", "shared", "guest", "root", "user", "username", "%username%", "$user", "runner", "deck",
		"steamuser", "users", "runneradmin", "runner~1", "containeradministrator", "containeruser", "circleci", "vsts", "vagrant", "ubuntu", "linuxbrew", "gast", "defaultapppool":
		return true
	}
	return false
}

// isNoArmor keeps a long word, path or hash: a line of a key mixes all kinds of signs.
func isNoArmor(s string, from, to int) bool {
	s = s[from:to]
	return !strings.ContainsAny(s, "0123456789") || strings.ToLower(s) == s || strings.ToUpper(s) == s || strings.Count(s, "/") > 6
}

// isService keeps the account that all people share, in "git@host".
func isService(s string, from, to int) bool {
	name, _, _ := strings.Cut(s[from:to], "@")
	return name == "git" || name == "hg"
}

// isNoMailbox keeps the account that all people share, the name of a file, and the version of a package.
func isNoMailbox(s string, from, to int) bool {
	inPath := from > 0 && strings.IndexByte("/\\@", s[from-1]) >= 0 && !domain.MatchString(s[from:to])
	return inPath || isService(s, from, to) || scale.MatchString(s[from:to]) || files.MatchString(s[from:to]) || authority.MatchString(s[max(0, from-96):from])
}

// isNoBot keeps a word that does not begin with a number in base64, as the token of a bot does.
func isNoBot(s string, from, to int) bool {
	id, _, _ := strings.Cut(s[from:to], ".")
	number, err := base64.RawStdEncoding.DecodeString(id)
	return err != nil || strings.Trim(string(number), "0123456789") != ""
}

// isNoShare keeps the part of a path that is not its first, and what isNoHost does.
func isNoShare(s string, from, to int) bool {
	top := strings.TrimRight(s[:from], `\`)
	if n := len(top) - len(`\UNC`); n >= 0 && strings.EqualFold(top[n:], `\UNC`) {
		top = strings.TrimRight(strings.TrimRight(strings.TrimRight(top[:n], `\`), "?"), `\`)
	}
	return top != "" && strings.IndexByte(spaces+`"'=([,;`, top[len(top)-1]) < 0 || isNoHost(s, from, to)
}

// isNoHost keeps a word or a number in the place of the name of a computer.
func isNoHost(s string, from, to int) bool {
	switch host := strings.ToLower(s[from:to]); host {
	case "localhost", "wsl.localhost", "tsclient", "unc", "home", "users":
		return true
	default:
		return strings.Trim(host, "0123456789.:") == ""
	}
}

// isGivenByNobody keeps words that are no random signs: those are in one case, and have a digit or are in capitals.
func isGivenByNobody(s string, from, to int) bool {
	s = s[from:to]
	if strings.ContainsAny(s[strings.IndexByte(s, '-')+1:], "0123456789") {
		return strings.ToUpper(s) != s && strings.ToLower(s) != s
	}
	return strings.ToUpper(s) != s || strings.HasPrefix(s, "WIN")
}

// isNoID keeps words, and numbers of kinds of devices, which are in hexadecimal.
func isNoID(s string, from, to int) bool {
	return !strings.ContainsAny(s[from:to], "0123456789") || strings.HasPrefix(s[from:to], "0x")
}

// isAddressee keeps a name alone before a host, except in schemes where it may be all that is needed.
func isAddressee(s string, from, to int) bool {
	return isService(s, from, to) || !strings.Contains(s[from:to], ":") && !login.MatchString(s[max(0, from-12):from])
}

// isPlainWord keeps the next word of a sentence: "basic training".
func isPlainWord(s string, from, to int) bool {
	rest := strings.TrimRight(s[from+1:to], ".")
	return strings.TrimLeft(rest, lowerLetters) == "" || isPlain(s[from:to])
}

// isMixed reports whether s has letters and digits, as a word that was not made to be read.
func isMixed(s string) bool {
	s = strings.TrimRight(s, "+=?!")
	letters := strings.ContainsFunc(s, unicode.IsLetter)
	return letters && strings.ContainsAny(s, "0123456789") || letters && strings.ContainsAny(s, "!#$%^*+=?") && len(s) >= 6
}

// isRandom reports whether s is as machines make up words: of capitals, small letters and digits, which change often.
// A hash, which is in one case, is not.
func isRandom(s string) bool {
	kinds, changes, longest := mixture(s)
	return len(s) >= 8 && kinds&6 == 6 && (kinds&1 != 0 && len(s) >= 10 || changes*100 > len(s)*50) && changes*100 > len(s)*30 && (longest < 4 || len(s) >= 20 && longest < 8) && !strings.HasPrefix(s, "0x")
}

// mixture returns the kinds of signs in s as bits, 1 for digits, 2 for capitals and 4 for small letters, how often they
// change, and the longest run of letters of one kind.
func mixture(s string) (kinds, changes, longest int) {
	last, run := 0, 0
	for i := range len(s) {
		kind := 4
		switch b := s[i]; {
		case digit(b):
			kind = 1
		case upper(b):
			kind = 2
		case !wordByte(b) || b == '_':
			continue
		}
		if run++; kind != last {
			changes, run = changes+1, 1
		}
		if kind != 1 {
			longest = max(longest, run)
		}
		kinds, last = kinds|kind, kind
	}
	return kinds, changes, longest
}

// isCode reports whether s is a number that is entered once, or such a word in capitals.
func isCode(s string) bool {
	s = strings.TrimRight(s, ".,")
	return len(s) >= 4 && len(s) <= 8 && strings.ContainsAny(s, "0123456789") && strings.Trim(s, "0123456789-"+upperLetters) == ""
}

// isVersionLike reports whether s is numbers with dots.
func isVersionLike(s string) bool {
	return strings.Contains(s, ".") && strings.Trim(s, "0123456789.v") == ""
}

// isOneKind keeps groups of letters or of digits alone.
func isOneKind(s string, from, to int) bool {
	digits := 0
	for i := from; i < to; i++ {
		if digit(s[i]) {
			digits++
		}
	}
	return digits < 2 || digits == to-from-strings.Count(s[from:to], "-")
}

// isHardware keeps the name of a part of a computer, which its maker gave it.
func isHardware(s string, from, to int) bool {
	first, _, _ := strings.Cut(s[from:to], " ")
	return is(first, plainWord|nobodyWord) || part.MatchString(s[from:to]) || part.MatchString(s[max(0, from-40):from])
}

// isUnread reports whether the part of a token behind its prefix is as machines make up words.
func isUnread(s string) bool {
	n := strings.IndexAny(s[:min(len(s), 12)], "_-.:")
	rest := s[n+1:]
	digits := strings.IndexFunc(rest, unicode.IsDigit) >= 0
	return digits && strings.Count(rest, "-") < 4 && (isRandom(rest) || len(strings.Trim(rest, "0123456789abcdef")) == 0 || !strings.ContainsAny(rest, "_-"))
}

// isOpaque reports whether the kinds of signs in s change as often as in random words, and s is no hash.
func isOpaque(s string) bool {
	separators := strings.Count(s, "-") + strings.Count(s, "_")
	kinds, changes, longest := mixture(s)
	n := len(s) - separators
	if kinds&1 == 0 || separators > 4 || n < shortestToken-4 || strings.Trim(s, "0123456789abcdefABCDEF-") == "" {
		return false
	}
	groups := 0
	for i := range len(s) {
		if digit(s[i]) && (i == 0 || !digit(s[i-1])) {
			groups++
		}
	}
	if kinds == 7 {
		return (changes*100 > n*52 || changes*100 > n*42 && groups > 2 && separators == 0) && longest < 8
	}
	// Of one case: no word with a hash, and no id that begins with a time.
	_, tail, _ := strings.Cut(strings.ReplaceAll(s, "_", "-"), "-")
	return changes*100 > n*28 && groups > 3 && n >= 24 && longest < 10 && separators < 2 && strings.Trim(tail, "0123456789abcdefABCDEF-") == tail && (n != 26 || s[0] != '0')
}
