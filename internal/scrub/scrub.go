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
// loopback addresses. A name that stands alone, outside a path, is not found.
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

	// hints are strings of which one is in every text that matches, and may reports
	// whether a text that has one may match: looks that cost less than the
	// expression, which most texts never see. Hints are in the case that the
	// expression asks for; one that begins with (?i) takes any.
	hints []string
	may   func(text string) bool

	expr *regexp.Regexp
	keep func(text string, from, to int) bool
}

// forms are in the order in which they are looked for: what an earlier one took out
// is a mark, which no later one matches.
var forms = []form{
	{
		// A signed token of three parts; the first two begin as {" does in base64.
		kind: Secret, hints: []string{"eyJ"},
		expr: regexp.MustCompile(`(?P<private>\beyJ[\w-]{5,}\.eyJ[\w-]{5,}\.[\w-]+)`),
	},
	{
		// Keys that say by their first letters whose they are.
		kind: Secret, hints: []string{"ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "glpat-", "xox", "AKIA", "sk-", "k_live_", "k_test_"},
		expr: regexp.MustCompile(`(?P<private>\b(?:gh[opsu]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeoprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|sk-[\w-]{20,}|[spr]k_(?:live|test)_\w{10,}))`),
	},
	{
		kind: Secret, hints: []string{"bearer", "basic"},
		expr: regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+(?P<private>[\w.~+/=-]{8,})`),
	},
	{
		// The password in the user part of an address.
		kind: Secret, hints: []string{"://"}, may: hasAt,
		expr: regexp.MustCompile(`://(?P<private>[^\s/@:<>"']*:[^\s/@<>"']+)@`),
	},
	{
		kind: Secret, hints: []string{"token", "secret", "ticket", "passw", "pwd", "key", "session", "cookie", "credential", "authorization"},
		may:  assigned("&;,<>(){}[]", "token", "secret", "ticket", "password", "passwd", "pwd", "key", "id", "cookie", "credential", "credentials", "authorization"),
		expr: regexp.MustCompile(`(?i)(?:^|[^a-z])["']?(?:[\w-]*[_-])?(?:(?:access|auth|refresh|id|api|bot|client|user|session|login)?[_-]?(?:token|secret|ticket|password|passwd|pwd)|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key|session[_-]?id|set-cookie|cookie|credentials?|authorization)["']?\s*(?:=|:)\s*["']?(?P<private>[^\s"'&;,<>(){}\[\]]{4,})`),
		keep: isWord,
	},
	{
		kind: Secret, hints: []string{"discord"},
		expr: regexp.MustCompile(`(?i)discord(?:app)?\.com/api/(?:v\d+/)?webhooks/(?P<private>\d+/[\w-]+)`),
	},
	{
		kind: Email, may: hasAt,
		expr: regexp.MustCompile(`(?P<private>[\pL\pN._%+-]+@[\pL\pN-]+(?:\.[\pL\pN-]+)*\.\pL{2,})`),
	},
	{
		// Homes: the first part below Users or home. A name may hold spaces, so it ends
		// at the next separator where there is one on the line.
		kind: User, hints: []string{`users\`, "users/", `settings\`, "settings/"},
		expr: regexp.MustCompile(`(?i)\b[a-z]:[\\/]+(?:users|documents and settings)[\\/]+(?P<private>[^\\/:*?"<>|\r\n]+)`),
		keep: isSharedHome,
	},
	{
		kind: User, hints: []string{"/Users/", "/home/", "/run/user/", "/media/"},
		expr: regexp.MustCompile(`(?:^|[^\w.~-])(?:/var)?/(?:home|Users|run/user|run/media|media)/(?P<private>[^/\s:"'<>|)\]]+(?: [^/\s:"'<>|)\]]+){0,3}/|[^/\s:"'<>|)\],]+)`),
		keep: isSharedHome,
	},
	{
		// The same below a prefix of Wine or a share of Windows.
		kind: User, hints: []string{"drive_c", `\\`},
		expr: regexp.MustCompile(`(?i)(?:drive_c|\\\\[\w.-]+(?:\\c\$)?)[\\/]+users[\\/]+(?P<private>[^\\/:*?"<>|\r\n]+)`),
		keep: isSharedHome,
	},
	{
		// What the environment of a process says of its user.
		kind: User, hints: []string{"name", "domain"},
		may: assigned(",;<>", "username", "user name", "user_name", "userdomain", "user domain", "user_domain", "logname", "computername", "computer name", "computer_name",
			"hostname", "host name", "host_name", "devicename", "device name", "device_name"),
		expr: regexp.MustCompile(`(?i)\b(?:user[_ ]?name|user[_ ]?domain|logname|computer[_ ]?name|host[_ ]?name|device[_ ]?name)["']?\s*[:=]\s*["']?(?P<private>[^\s"',;<>]{2,})`),
		keep: isWord,
	},
	{
		// Individual accounts: universe 1, type 1.
		kind: SteamID, hints: []string{"7656119"},
		expr: regexp.MustCompile(`\b(?P<private>7656119\d{10})\b`),
	},
	{
		kind: SteamID, hints: []string{"STEAM_"},
		expr: regexp.MustCompile(`\b(?P<private>STEAM_[0-5]:[01]:\d+)\b`),
	},
	{
		kind: SteamID, hints: []string{"[U:"},
		expr: regexp.MustCompile(`(?P<private>\[U:1:\d+\])`),
	},
	{
		kind: SteamID, hints: []string{"userdata"},
		expr: regexp.MustCompile(`(?i)[\\/]userdata[\\/]+(?P<private>\d{3,})`),
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
		if from < to && s[to-1] == '/' {
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
