// Package scrub takes out of log text what its owner would not want to share: names of
// users and computers, accounts, ids of devices, addresses, secrets, e-mail.
//
// [Text] looks for forms, not for values: who shares a log decides by a table of
// kinds ([Kinds]) what goes. What is taken out leaves its kind in angle brackets, so
// that a reader sees that something was there, and two users stay two words of one
// shape:
//
//	C:\Users\Maria\AppData\…      C:\Users\<user>\AppData\…
//	\\MARIA-PC\mods\x.dll         \\<computer>\mods\x.dll
//	76561198000000001             <steam-id>
//	deviceId: 0a1b2c3d4e5f        deviceId: <id>
//	192.168.178.20:27015          <address>:27015
//	token=0a1b2c3d                token=<secret>
//	maria@example.org             <email>
//
// A name that stands alone has no form. [Names] learns names from the texts that have
// them in such a form, and finds them in others.
//
// A form that could as well be something that a reader needs stays: a version such as
// 1.4.3.0 or 10.2.0.1 where nothing marks it as an address, the id of a Workshop
// item, the id of a package, a hash without a word that marks it as a secret, loopback
// addresses. A value in another text than its key is not found: a text
// should be a record rather than a line.
//
// All functions are pure and safe for concurrent use; a Names is for one goroutine.
// Scrubbing twice changes nothing more.
//
// # Cost
//
// A text is matched only against the expressions of which it has a hint, which one pass over
// it finds (look.go). A text in which nothing is private costs that pass, and no allocation.
package scrub

import "strings"

// Kind is a kind of private text.
type Kind string

// The kinds that [Text] takes out, by the mark that it leaves.
const (
	User     Kind = "<user>"
	Computer Kind = "<computer>"
	SteamID  Kind = "<steam-id>"
	ID       Kind = "<id>" // of a device, or of an account elsewhere than on Steam
	Address  Kind = "<address>"
	Secret   Kind = "<secret>"
	Email    Kind = "<email>"
)

// Kinds returns the kinds, for a message that lists what is taken out.
func Kinds() []Kind { return []Kind{User, Computer, SteamID, ID, Address, Secret, Email} }

// Text returns s without what is private in it. It allocates only where there is
// something to take out, or much looks as if there were.
func Text(s string) string {
	hinted := look(s)
	for i := range forms {
		f := &forms[i]
		if hinted&(1<<i) == 0 || f.may != nil && hinted != every && !f.may(s) {
			continue
		}
		if t := f.scrub(s, nil); t != s {
			s, hinted = t, look(t)
		}
	}
	return s
}

// scrub replaces all that f finds, and calls found with it, unless that is nil. Matches may
// share the signs around them, so each search begins where the last private text ended.
func (f *form) scrub(s string, found func(s string, from, to int)) string {
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
		if found != nil {
			found(s, from, to)
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
