// Package scrub takes out of log text what its owner would not want to share: user
// names in paths, accounts, addresses, secrets, e-mail.
//
// It looks for forms, not for values: whoever shares a log decides by a table of
// kinds ([Kinds]) what goes. What is taken out leaves its kind in angle brackets, so
// that a reader sees that something was there, and two users stay two words of one
// shape:
//
//	C:\Users\Maria\AppData\…      C:\Users\<user>\AppData\…
//	/home/maria/.config           /home/<user>/.config
//	76561198000000001             <steam-id>
//	192.168.178.20:27015          <address>:27015
//	token=0a1b2c3d                token=<secret>
//	maria@example.org             <email>
//
// A form that could as well be something that a reader needs stays: a version such as
// 1.4.3.0, the id of a Workshop item, a hash without a word that says it is a secret,
// loopback addresses. A name that stands alone, outside a path, is not found, nor is a
// value on another line than its key, where the text is given line by line.
//
// All functions are pure and safe for concurrent use. Scrubbing twice changes nothing
// more.
//
// # Cost
//
// A text sees only the expressions of which it has a hint, which one pass over it
// finds (look.go): some 5 ns for each byte of a text in which nothing is private, and
// no allocation. Where something is, tens of microseconds may go by.
package scrub

import (
	"net/netip"
	"regexp"
	"strings"
)

// Kind is a kind of private text.
type Kind string

// The kinds that [Text] takes out, by the mark that it leaves.
const (
	User    Kind = "<user>"
	SteamID Kind = "<steam-id>"
	Address Kind = "<address>"
	Secret  Kind = "<secret>"
	Email   Kind = "<email>"
)

// form is one form of private text. What matches the group "private" is replaced,
// where keep does not want it kept.
type form struct {
	kind Kind

	// hints are strings, in lower case, of which one is in every text that matches,
	// in whatever case; may reports whether a text that has one may match. They are
	// looks that cost less than the expression, which most texts never see.
	hints []string
	may   func(text string) bool

	expr *regexp.Regexp
	keep func(text string, from, to int) bool
}

// forms are in the order in which they are looked for: what an earlier one took out
// is a mark, which no later one matches.
var forms = []form{
	{
		// A signed token of up to three parts, of which the log may have the beginning
		// only; the first begins as {" does in base64.
		kind: Secret, hints: []string{"eyj"},
		expr: regexp.MustCompile(`(?P<private>\beyJ[\w-]{9,}(?:\.[\w-]+\.?[\w-]*|[\w-]{10,}))`),
	},
	{
		// Keys that say by their first letters whose they are.
		kind: Secret, hints: []string{
			"ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-", "xox", "xapp-", "akia", "asia", "aiza", "npm_", "hf_",
			"sk-", "pk_", "rk_", "sk_", "oauth:",
		},
		expr: regexp.MustCompile(`\b(?P<private>gh[oprsu]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeoprs]-[\w-]{10,}|xapp-[\w-]{10,}|` +
			`A(?:KI|SI)A[0-9A-Z]{16,}|AIza[\w-]{30,}|npm_\w{30,}|hf_\w{30,}|sk-[\w-]{20,}|[spr]k_(?:live|test)_\w{10,}|oauth:[0-9a-z]{20,})`),
	},
	{
		// The token of a bot: its id, a time and a signature.
		kind: Secret, hints: []string{"discord", "token"}, may: runOf(27, "_-"),
		expr: regexp.MustCompile(`\b(?P<private>[MNO][\w-]{22,28}\.[\w-]{6,7}\.[\w-]{27,})`),
	},
	{
		// A private key, to its end or to that of the text.
		kind: Secret, hints: []string{"private key"},
		expr: regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?P<private>[^<-](?:[^-]|-[^-])*)`),
	},
	{
		// A line of one that stands alone, since a log is shown line by line.
		kind: Secret, may: runOf(60, "+/"),
		expr: regexp.MustCompile(`(?m)^[ \t]*(?P<private>[A-Za-z0-9+/]{60,76}={0,2})[ \t\r]*$`),
		keep: isNoArmor,
	},
	{
		kind: Secret, hints: []string{"bearer", "basic"},
		expr: regexp.MustCompile(`(?i)\b(?:bearer|basic)(?:\s+|\s*[:=]\s*)(?P<private>[\w.~+/=-]{8,})`),
		keep: isPlainWord,
	},
	{
		// What stands before the host of a URL: a name, a token, or a name and a
		// password, in which people leave an "@" as it is.
		kind: Secret, hints: []string{"://"}, may: hasAt,
		expr: regexp.MustCompile(`://(?P<private>[^\s/?#<>"']+)@[\pL\pN\[]`),
		keep: isAddressee,
	},
	{
		// All of a cookie, which is names and values.
		kind: Secret, hints: []string{"cookie"},
		expr: regexp.MustCompile(`(?i)\bcookies?["']?\s*[:=]\s*["']?(?P<private>[\w.-]+=[^\r\n"'<>]+)`),
	},
	{
		// A value in quotes may be of several words.
		kind: Secret, hints: secretHints, may: hasSecret,
		expr: regexp.MustCompile(`(?i)` + secretKey + `(?:\\*["'])?\s*(?:=|:)\s*\\*["'](?P<private>[^"'\\<>\r\n]+)\\*["']`),
		keep: isNoSecret,
	},
	{
		kind: Secret, hints: []string{"</"},
		expr: regexp.MustCompile(`(?i)<[\w.-]*(?:token|password|passwd|pwd|(?:client|app|api|shared)[_-]?secret|api[_-]?key)>(?P<private>[^<>]+)</`),
		keep: isNoSecret,
	},
	{
		kind: Secret, hints: secretHints, may: hasSecret,
		expr: regexp.MustCompile(`(?i)` + secretKey + `(?:\\*["'])?\s*(?:=|:)\s*` + `(?:(?:bearer|basic|token|digest)\s+)?(?P<private>[^\s"'&;,<>(){}\[\]]{4,})`),
		keep: isNoSecret,
	},
	{
		// An option of a command.
		kind: Secret, hints: []string{"token", "secret", "passw", "passphrase", "apikey", "api-key"}, may: hasOption,
		expr: regexp.MustCompile(`(?i)(?:^|[\s"'(=\[])--(?:[\w-]*-)?(?:token|secret|password|passwd|passphrase|api-?key)\s+(?P<private>[^\s"'<>-][^\s"'<>]{3,})`),
		keep: isWord,
	},
	{
		// A value of the query of a URL.
		kind: Secret, hints: []string{"sig=", "signature=", "key=", "code=", "auth=", "pass=", "credential="},
		expr: regexp.MustCompile(`(?i)[?&](?:[\w-]*[_-])?(?:sig|signature|key|code|auth|pass|credential)=(?P<private>[^\s&"'<>]{6,})`),
	},
	{
		kind: Secret, hints: []string{"discord"},
		expr: regexp.MustCompile(`(?i)discord(?:app)?\.com/api/(?:v\d+/)?webhooks/(?P<private>\d+/[\w-]+)`),
	},
	{
		kind: Secret, hints: []string{"hooks.slack"},
		expr: regexp.MustCompile(`(?i)hooks\.slack\.com/[a-z]+/(?P<private>[\w/-]+)`),
	},
	{
		kind: Email, may: hasAt,
		expr: regexp.MustCompile(`(?P<private>(?:[\pL\pN._%+-]+(?:'[\pL\pN._%+-]+)*|"[^"@\r\n]{1,64}")(?:@|%40)` +
			`(?:[\pL\pN-]+(?:\.[\pL\pN-]+)*\.(?:xn--[\pL\pN-]+|\pL{2,})|\[?\d{1,3}(?:\.\d{1,3}){3}\b\]?))`),
		keep: isService,
	},
	{
		// Homes: the first part below Users or home, on a drive, in a prefix of Wine, or
		// on a share. A name may hold spaces, so it ends at the next separator where there
		// is one on the line.
		kind: User, hints: []string{`users\`, "users/", "users%", `home\`, "home/", "home%", `settings\`, "settings/", "settings%"},
		expr: regexp.MustCompile(`(?i)(?:\b[a-z](?::|%3a)|drive_c|\\\\[\w.-]+(?:\\+[a-z]\$)?|\\\\wsl(?:\$|\.localhost)[\\/]+[\w.-]+)` +
			`(?:[\\/]|%5c|%2f)+(?:users|home|documents and settings)(?:[\\/]|%5c|%2f)+` +
			`(?P<private>(?:[^\\/:*?"<>|\r\n%]|%(?:2[0-9a-e]|5[0-9abdef]|[013-46-9a-f][0-9a-f]))+)`),
		keep: isSharedHome,
	},
	{
		kind: User, hints: []string{"/users", "/home", "/run/user", "/media"}, may: hasHome,
		expr: regexp.MustCompile(`(?:^|[^\w.~-])(?:/(?:var|export|usr|System/Volumes/Data|Volumes/[^/\r\n]{1,64}|(?:mnt/|cygdrive/|host_mnt/)?[a-z]))?` +
			`/(?:home|Users|run/user|run/media|media)\\*/(?P<private>[^/\s:"'<>|)\]]+(?: [^/\s:"'<>|)\]]+){0,3}/|[^/\s:"'<>|)\],;]+)`),
		keep: isSharedHome,
	},
	{
		kind: User, hints: []string{"%2fhome", "%2fusers"},
		expr: regexp.MustCompile(`(?i)%2f(?:home|users)%2f(?P<private>[\w.+-]+(?:%20[\w.+-]+){0,3})`),
		keep: isSharedHome,
	},
	{
		// A folder that is synchronized bears the name of the company.
		kind: User, hints: []string{"onedrive - "},
		expr: regexp.MustCompile(`OneDrive - (?P<private>[^\\/:*?"<>|\r\n]+)`),
	},
	{
		// What the environment of a process says of its user.
		kind: User, hints: []string{"name", "domain"}, may: hasUser,
		expr: regexp.MustCompile(`(?i)\b(?:user[_ ]?name|user[_ ]?domain|logname|computer[_ ]?name|host[_ ]?name|machine[_ ]?name|persona[_ ]?name)["']?(?:\s*:\s*|=|\s+=\s+)["']?(?P<private>[^\s"',;<>]{2,})`),
		keep: isWord,
	},
	{
		kind: User, hints: []string{"user="},
		expr: regexp.MustCompile(`\bUSER=["']?(?P<private>[^\s"',;<>]{2,})`),
		keep: isWord,
	},
	{
		kind: User, hints: []string{"logged in as", "logged on as"},
		expr: regexp.MustCompile(`(?i)\blogged (?:in|on) as\s*:?\s*["']?(?P<private>[^\s"',;<>]{2,})`),
		keep: isWord,
	},
	{
		// Individual accounts: universe 1, type 1.
		kind: SteamID, hints: []string{"7656119"},
		expr: regexp.MustCompile(`(?:^|[^0-9])(?P<private>7656119\d{10})(?:$|[^0-9])`),
	},
	{
		kind: SteamID, hints: []string{"steam_"},
		expr: regexp.MustCompile(`(?i)\b(?P<private>STEAM_[0-5]:[01]:\d+)\b`),
	},
	{
		kind: SteamID, hints: []string{"u:1", "u%3a1"},
		expr: regexp.MustCompile(`(?i)(?:^|[^a-z0-9:]|%5b)(?P<private>\[U:1:\d{3,}\]|U(?::|%3a)1(?::|%3a)\d{3,}\b)`),
	},
	{
		kind: SteamID, hints: []string{"steamcommunity"},
		expr: regexp.MustCompile(`(?i)steamcommunity\.com/id/(?P<private>[\w-]+)`),
	},
	{
		kind: SteamID, hints: []string{"userdata"},
		expr: regexp.MustCompile(`(?i)\buserdata[\\/]+(?P<private>\d{3,})`),
	},
	{
		// Hardware addresses of network cards.
		kind: Address, may: mayBeHardware,
		expr: regexp.MustCompile(`(?i)(?:^|[^0-9a-f:-])(?P<private>[0-9a-f]{2}(?::[0-9a-f]{2}){5}|[0-9a-f]{2}(?:-[0-9a-f]{2}){5})(?:$|[^0-9a-f:-])`),
	},
	{
		kind: Address, may: mayBeIPv4,
		expr: regexp.MustCompile(`(?:^|[^\w.])(?P<private>\d{1,3}(?:\.\d{1,3}){3})(?:$|[^\w.]|\.(?:$|\D))`),
		keep: isVersion,
	},
	{
		kind: Address, may: mayBeIPv6,
		expr: regexp.MustCompile(`(?i)(?:^|[^\w:.])(?P<private>[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?:%\w+)?)(?:$|[^\w:.]|\.(?:$|\s))`),
		keep: isNoIPv6,
	},
}

// secretKey matches a name of a value that is nobody's business, after something that
// is no letter, so that the end of "PublicKeyToken" is none.
const secretKey = `(?:^|[^a-z])(?:[\w-]*[_-])?(?:` +
	`(?:access|auth|refresh|id|api|bot|client|user|session|login)?[_-]?(?:token|secret|ticket)|` +
	`pass(?:word|wd|phrase)|pwd|` +
	`(?:api|access|private|auth|secret|encryption|signing|licen[cs]e|master|shared|account|consumer)[_-]?key|` +
	`(?:[\w-]*sess|session)[_-]?id|credentials?|authorization)`

var secretHints = []string{"token", "secret", "passw", "passphrase", "pwd", "key", "sess", "ticket", "credential", "authorization"}

// Kinds returns the kinds, for a message that says what is taken out.
func Kinds() []Kind { return []Kind{User, SteamID, Address, Secret, Email} }

// Text returns s without what is private in it. It allocates only where there is
// something to take out, or much looks as if there were.
func Text(s string) string {
	hinted := look(s)
	for i := range forms {
		f := &forms[i]
		if hinted&(1<<i) == 0 || f.may != nil && hinted != every && !f.may(s) {
			continue
		}
		if t := f.scrub(s); t != s {
			s, hinted = t, look(t)
		}
	}
	return s
}

// scrub replaces all that f finds. Matches may share the signs around them, so each
// search begins where the last private text ended.
func (f *form) scrub(s string) string {
	group := 2 * f.expr.SubexpIndex("private")
	var b strings.Builder
	done, at := 0, 0
	for at < len(s) {
		m := f.expr.FindStringSubmatchIndex(s[at:])
		if m == nil {
			break
		}
		from, to := at+m[group], at+m[group+1]
		if from < to && s[to-1] == '/' && f.kind == User {
			to-- // the separator that a name with spaces ends at
		}
		at = max(to, at+1)
		if strings.HasPrefix(s[from:to], string(f.kind)) || f.keep != nil && f.keep(s, from, to) {
			continue
		}
		b.WriteString(s[done:from])
		b.WriteString(string(f.kind))
		done = to
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// isNoArmor keeps a long word, path or hash: a line of a key mixes all kinds of signs.
func isNoArmor(s string, from, to int) bool {
	s = s[from:to]
	return !strings.ContainsAny(s, "0123456789") || strings.ToLower(s) == s || strings.ToUpper(s) == s || strings.Count(s, "/") > 6
}

// isService keeps the account of everybody, in "git@host".
func isService(s string, from, to int) bool {
	name, _, _ := strings.Cut(s[from:to], "@")
	return name == "git" || name == "hg"
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
	if isWord(s, from, to) {
		return true
	}
	return to-from < 20 && bareToken.MatchString(s[max(0, from-24):from]) &&
		strings.Trim(s[from:to], lowerLetters+"ABCDEFGHIJKLMNOPQRSTUVWXYZ. ") == ""
}

// bareToken is a key that may well not be about a secret, before its value.
var bareToken = regexp.MustCompile(`(?i)(?:^|[^a-z_-])(?:token|ticket)["'\\]*\s*[:=]\s*["'\\]*$`)

// isWord keeps what is no value of a key: "token: expected ';'", "password = null".
func isWord(s string, from, to int) bool {
	switch strings.ToLower(strings.TrimRight(s[from:to], ".,!?:")) {
	case "null", "none", "true", "false", "empty", "missing", "invalid", "expired", "unknown", "expected", "unexpected",
		"not", "required", "failed", "nothing", "undefined", "the", "is", "was", "and", "for", "bearer", "basic", "string", "object",
		"system.string":
		return true
	}
	return false
}

// isSharedHome keeps the homes that belong to nobody.
func isSharedHome(s string, from, to int) bool {
	switch strings.ToLower(strings.Trim(s[from:to], " /")) {
	case "", "public", "default", "default user", "all users", "shared", "guest", "root", "user", "username", "%username%", "$user", "runner", "deck", "steamuser":
		return true
	}
	return false
}

// context is what has to stand shortly before four small numbers so that they are an
// address: versions have four numbers too.
var context = regexp.MustCompile(`(?i)(?:\bip(?:v4)?|address|addr|host|server|endpoint|peer|connect\w*|bind\w*|listen\w*|remote|client|gateway|dns|ping\w*|from|to|at|://|@)[\s:="'(\[]*$`)

// version is what stands before a version.
var version = regexp.MustCompile(`(?i)(?:version|ver|v|assembly\w*|build|release|file|rev|[a-z]\w*\s*,)[\s:="'(\[]*$`)

// isVersion keeps four numbers that are no address of somebody: more than 255, the
// machine itself, or a version.
func isVersion(s string, from, to int) bool {
	a, err := netip.ParseAddr(s[from:to])
	if err != nil || a.IsLoopback() || a.IsUnspecified() {
		return true
	}
	before := s[max(0, from-24):from]
	// Nearly all that gets here says "Version=", which takes an expression long to find.
	if endsIn(strings.TrimRight(before, spaces+`:="'([`), []string{"version"}) || version.MatchString(before) {
		return true
	}
	if a.IsPrivate() || context.MatchString(before) || port.MatchString(s[to:]) {
		return false
	}
	for _, n := range a.As4() {
		if n >= 100 { // versions seldom get there, three of four addresses do
			return false
		}
	}
	return true
}

var port = regexp.MustCompile(`^:\d{2,5}\b`)

// isNoIPv6 keeps what only looks like an address: a time, a name with two colons, the
// machine itself.
func isNoIPv6(s string, from, to int) bool {
	a, err := netip.ParseAddr(s[from:to])
	return err != nil || a.IsLoopback() || a.IsUnspecified() || !strings.ContainsAny(s[from:to], "0123456789") || strings.Count(s[from:to], ":") < 2
}
