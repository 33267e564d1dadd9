package scrub

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// keeps are the functions of forms.tsv by name. Each returns true if the match of a form has to stay.
var keeps = map[string]func(s string, from, to int) bool{
	"":        nil,
	"mailbox": isNoMailbox,
	"host":    isNoHost,
	"share": func(s string, from, to int) bool {
		return isNoHost(s, from, to) || inShare.MatchString(s[max(0, from-8):from])
	},
	"bot":      func(s string, from, to int) bool { return !startsWithNumber(s[from:to]) },
	"personal": func(s string, from, to int) bool { return strings.EqualFold(s[from:to], "personal") },
	"word":     func(s string, from, to int) bool { return isPlain(s[from:to]) || lowerWord.MatchString(s[from:to]) },
	"plain":    func(s string, from, to int) bool { return isPlain(s[from:to]) },
	"home":     func(s string, from, to int) bool { return sharedHome(s[from:to]) },
	"mixed":    func(s string, from, to int) bool { return !isMixed(s[from:to]) },
	"random":   func(s string, from, to int) bool { return !isToken(s[from:to]) },
	"person":   func(s string, from, to int) bool { f := finder{s: s}; return f.name(from, "") == from },
	"ordinary": func(s string, from, to int) bool { return isOrdinary(strings.ToLower(s[from:to])) },
}

const (
	lowerLetters = "abcdefghijklmnopqrstuvwxyz"
	upperLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

var (
	inShare   = regexp.MustCompile(`(?:[^\s"'=(\[,;\\C]|[^N]C|[^U]NC)\\+$`)
	lowerWord = regexp.MustCompile(`^.[a-z]*\.?$`)
	noPerson  = regexp.MustCompile(`^(?:git|hg)@|(?i:@\dx\.[a-z]+$)`)
	nonWords  = regexp.MustCompile(`[^\pL]+`)
	authority = regexp.MustCompile(`://[^\s/?#]*$`)

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
	name = strings.Trim(name, " /")
	return name == "" || is(name, sharedWord)
}

// isNoMailbox keeps an account of all people, the name of a file, the version of a package, and a part of a URL.
func isNoMailbox(s string, from, to int) bool {
	at := from + max(0, strings.IndexByte(s[from:to], '@'))
	inPath := from > 0 && strings.IndexByte("/\\@", s[from-1]) >= 0 && !domain.MatchString(s[from:to])
	return inPath || noPerson.MatchString(s[from:to]) || files.MatchString(s[from:to]) ||
		!domain.MatchString(s[from:to]) && common(strings.ToLower(strings.TrimSpace(nonWords.ReplaceAllString(s[from:at], " ")))) ||
		authority.MatchString(s[max(0, from-96):from])
}

// startsWithNumber reports whether s begins with a number in base64, as the token of a bot does.
func startsWithNumber(s string) bool {
	id, _, _ := strings.Cut(s, ".")
	number, err := base64.RawStdEncoding.DecodeString(id)
	return err == nil && strings.Trim(string(number), "0123456789") == ""
}

// isNoHost keeps a word or a number in the place of the name of a computer.
func isNoHost(s string, from, to int) bool {
	return is(s[from:to], sharedWord) || strings.Trim(s[from:to], "0123456789.:") == ""
}

// isMixed reports whether s has letters and digits, or letters and signs, as few words do.
func isMixed(s string) bool {
	s = strings.TrimRight(s, "+=?!")
	return strings.ContainsFunc(s, unicode.IsLetter) &&
		(strings.ContainsAny(s, "0123456789") || strings.ContainsAny(s, "!#$%^*+=?") && len(s) >= 6)
}

// isRandom reports whether s is as machines make up words: of capitals, small letters and digits, which change often.
// A hash, which is in one case, is not.
func isRandom(s string) bool {
	kinds, changes, longest := mixture(s)
	return len(s) >= 8 && kinds&6 == 6 && (kinds&1 != 0 && len(s) >= 10 || changes*2 > len(s)) &&
		changes*100 > len(s)*30 && (longest < 4 || len(s) >= 20 && longest < 8)
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

// isHardware keeps the name of a part of a computer, which its maker gave it.
func isHardware(s string, from, to int) bool {
	first, _, _ := strings.Cut(s[from:to], " ")
	return is(first, plainWord|nobodyWord) || part.MatchString(s[from:to]) || part.MatchString(s[max(0, from-40):from])
}

// isToken reports whether the part of a token after its prefix is as machines make up words.
func isToken(s string) bool {
	rest := s[strings.IndexAny(s[:min(len(s), 12)], "_-.:")+1:]
	return strings.ContainsAny(rest, "0123456789") && strings.Count(rest, "-") < 4 &&
		(isRandom(rest) || strings.Trim(rest, "0123456789abcdef") == "" || !strings.ContainsAny(rest, "_-"))
}

var (
	numbers = regexp.MustCompile(`\d+`)
	hexTail = regexp.MustCompile(`[_-][\da-fA-F-]+$`)
)

// parts matches the parts of a name that are words.
var parts = regexp.MustCompile(`\p{Lu}?\p{Ll}{3,}|\p{Lu}{4,}`)

// isReadable reports whether s has a common word, as few random words do.
func isReadable(s string) bool {
	return slices.ContainsFunc(parts.FindAllString(s, -1), func(part string) bool {
		return len(part) > 3 && common(strings.ToLower(part))
	})
}

// isHex reports whether s is in hexadecimal.
func isHex(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF_-") == "" }

// isOpaque reports whether the kinds of signs in s change as often as in random words, and s is no hash.
func isOpaque(s string) bool {
	separators := strings.Count(s, "-") + strings.Count(s, "_")
	kinds, changes, longest := mixture(s)
	n := len(s) - separators
	switch {
	case kinds&1 == 0 || separators > 4+len(s)/16 || n < 16 || len(s) < 20 || isHex(s) || isReadable(s):
		return false
	case kinds == 7:
		return longest < 8 && (separators < 2 || len(numbers.FindAllString(s, 2)) > 1) &&
			(changes*100 > n*52 || changes*100 > n*42 && separators == 0 && len(numbers.FindAllString(s, 3)) > 2)
	}
	// Of one case: no word with a hash, and no id that begins with a time.
	return changes*100 > n*28 && n >= 24 && separators < 2 && len(numbers.FindAllString(s, 4)) > 3 &&
		!hexTail.MatchString(s) && (n != 26 || s[0] != '0')
}
