package scrub

import (
	"strings"
	"unicode"

	"github.com/heedlog/heed/internal/text"
)

// keeps are the functions of forms.tsv by name. Each returns true if the match of a form has to stay.
var keeps = map[string]func(s string, from, to int) bool{
	"":        nil,
	"mailbox": isNoMailbox,
	"host":    isNoHost,
	"share": func(s string, from, to int) bool {
		return isNoHost(s, from, to) || inShare().MatchString(s[max(0, from-8):from])
	},
	"word":    func(s string, from, to int) bool { return isPlain(s[from:to]) || lowerWord().MatchString(s[from:to]) },
	"plain":   func(s string, from, to int) bool { return isPlain(s[from:to]) },
	"home":    func(s string, from, to int) bool { return sharedHome(s[from:to]) },
	"mixed":   func(s string, from, to int) bool { return !isMixed(s[from:to]) },
	"person":  func(s string, from, to int) bool { f := finder{s: s}; return f.name(from, "") == from },
	"device":  isNoDevice,
	"common":  func(s string, from, to int) bool { return common(spaced.Replace(strings.ToLower(s[from:to]))) },
	"speaker": func(s string, from, to int) bool { f := finder{s: s}; return f.speaker(from) == from },
	"display": func(s string, from, to int) bool { return !isPerson(s[from:to]) && !isMixed(s[from:to]) },
	"own": func(s string, from, _ int) bool { // the end of a word
		return from > 0 && wordByte(s[from-1]) && s[from-1] != '_' && !strings.HasSuffix(s[:from], "%3D")
	},
	"type": func(s string, from, to int) bool { // a printed object has its type, "@" and a number, which is masked
		local, _, _ := strings.Cut(s[from:to], "@")
		return strings.Count(local, ".") >= 2 || humps().MatchString(local)
	},
	"readable": func(s string, from, to int) bool { return isReadable(s[from:to]) },
	"ordinary": func(s string, from, to int) bool { return isOrdinary(strings.ToLower(s[from:to])) },
	"domain": func(s string, from, to int) bool {
		return isOrdinary(strings.ToLower(s[from:to])) || isInPath(s, from, to)
	},
	"account": func(s string, from, to int) bool {
		f := finder{s: s}
		return f.name(from, "") == from || isInPath(s, from, to)
	},
}

const (
	lowerLetters = "abcdefghijklmnopqrstuvwxyz"
	digits       = "0123456789"
	upperLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

var (
	inShare   = text.Lazy(`(?:[^\s"'=(\[,;\\C]|[^N]C|[^U]NC)\\+$`)
	lowerWord = text.Lazy(`^.[a-z]*\.?$`)
	// ordinaryDevice matches a plural before another word, and owned an owner and a thing that other things are called.
	ordinaryDevice = text.Lazy(`^[^'’-]*s [a-hj-z]`)
	ownedThing     = text.Lazy(`(?i)^([\pL\pN_-]+?)(?:['’]s?|s)[ -](?:(Quest|TV|Watch|Galaxy|Pixel|Switch|Surface|Phone|Tablet|Computer|Notebook|Desktop|Mac|Kindle)(?:$|[ -])|Laptop|PC)`)
	deviceWord     = text.Lazy(`(?i)device|blue|pair|connect|stream|cast|host|computer|machine|name|remote|air(?:drop|play)|discover|found|ger[äa]t|appar|dispositivo|urządzenie|устройство|network|wi-?fi|\d$`)
	noPerson       = text.Lazy(`^(?:git|hg)@|(?i:@\dx\.[a-z]+$)`)
	// topLevel are the ends of domains that are no endings of files.
	topLevel = text.Lazy(`(?i)\.(?:[a-z]{2}|com|org|net|edu|gov|info|app|dev|example|test|mail|online|xn--.*)$`)
	// humps matches a word in camel case.
	humps   = text.Lazy(`\p{Ll}\p{Lu}`)
	pathEnd = text.Lazy(`^[\\\pL\pN_.$-]*`)
	// capitalWords matches a part of the name of a folder that has a space after it.
	capitalWords = text.Lazy(`^(?:[\p{Lu}\d][\pL\pM\pN'’&._-]* )+$`)
	nonWords     = text.Lazy(`[^\pL]+`)
	authority    = text.Lazy(`://[^\s/?#]*$`)

	number = text.Lazy(`(?i)^(?:localhost|(?:eu|us|na|sa|ap|af|me|asia|oce)(?:[-_](?:north|south|east|west|central)\w*)?(?:-\d\w?)?|[\da-f]*\d[\da-f]*|[\d.]*)(?::\d*)?$`)
	part   = text.Lazy(`(?i)\b(?:nvidia|geforce|(?:gtx|rtx|rx|dx|gpu|cpu)\d*|amd|radeon|intel|arc|graphics|gpu|render\w*|mali|adreno|apple m\d|llvmpipe|swiftshader|` +
		`audio|sound|speakers?|headphones?|headset|microphone|realtek|hdmi|display|monitor|input|output|controller|gamepad|joystick|mouse|keyboard|usb|bluetooth adapter|` +
		`direct3d|vulkan|opengl|metal|microsoft|virtual|vmware|virtio|default|adapter|driver|disk|drive|camera)\b`)
	files = text.Lazy(`(?i)\.(?:ogg|wav|mp3|png|jpe?g|tga|dds|gif|svg|json|xml|ya?ml|txt|log|dll|exe|so|js|ts|css|html?|mat|prefab|asset|unity|shader|anim|fbx|obj|ttf|otf|bank|pak|zip|jar|esp|esm|esl|bsa|ba2|vpk|wad|class|java|cs|lua|py|ini|cfg|conf|service|socket|timer|target|slice|scope|mount|nupkg|tgz|gz)$`)
)

// isPlain reports whether s is no value of a key: "token: expected ';'", "password = null".
func isPlain(s string) bool {
	word := strings.Trim(s, ".,!?:()[]")
	isPlaceholder := strings.ToUpper(word) == word && common(strings.ToLower(word))
	return is(word, plainWord) || isPlaceholder || strings.Trim(word, "*•●xX.…-") == ""
}

// sharedHome reports whether a home belongs to no person.
func sharedHome(name string) bool {
	return strings.Trim(name, " /") == "" || is(strings.Trim(name, "/"), sharedWord)
}

// isNoMailbox keeps an account of all people, the name of a file, the version of a package, and a part of a URL.
func isNoMailbox(s string, from, to int) bool {
	at := from + max(0, strings.IndexByte(s[from:to], '@'))
	inPath := from > 0 && strings.IndexByte("/\\@", s[from-1]) >= 0 && !topLevel().MatchString(s[from:to])
	name := strings.TrimSpace(nonWords().ReplaceAllString(s[from:at], " "))
	return inPath || noPerson().MatchString(s[from:to]) || files().MatchString(s[from:to]) ||
		!topLevel().MatchString(s[from:to]) && common(strings.ToLower(name)) ||
		authority().MatchString(s[max(0, from-96):from])
}

// isNoHost keeps a word or a number in the place of the name of a computer.
func isNoHost(s string, from, to int) bool {
	return is(s[from:to], sharedWord) || number().MatchString(s[from:to])
}

// isInPath reports whether a word in capitals and the word after its backslash, with the place in one, are parts of
// a path: a folder with capitals comes before them, "Mods\Fancy UI\", or the second has the ending of a file.
func isInPath(s string, from, to int) bool {
	from = len(strings.TrimRight(s[:from], upperLetters+digits+`-\`))
	last := pathEnd().FindString(s[to:])
	folder := strings.LastIndexByte(s[:from], '\\')
	return files().MatchString(s[from:to]+last) ||
		folder >= 0 && capitalWords().MatchString(s[folder+1:from]) && !isDomain(s[:folder])
}

// isMixed reports whether s has letters and digits, as few words do.
func isMixed(s string) bool {
	return strings.ContainsFunc(s, unicode.IsLetter) && strings.ContainsAny(s, "0123456789")
}

// isNoDevice keeps a part of a computer, and a thing in a game that has an owner: "the Dead Man's Switch".
func isNoDevice(s string, from, to int) bool {
	value := s[from:to]
	m := ownedThing().FindStringSubmatch(value)
	return ordinaryDevice().MatchString(value) || part().MatchString(value) ||
		m != nil && (common(strings.ToLower(m[1])) ||
			m[2] != "" && !deviceWord().MatchString(s[max(0, from-48):from]+" "+value))
}

// isHardware keeps the name of a part of a computer, which its maker gave it.
func isHardware(value string) bool {
	first, _, hasMore := strings.Cut(value, " ")
	return hasMore && part().MatchString(value) || part().FindString(first) == first
}
