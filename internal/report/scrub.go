package report

import (
	"slices"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/text/scrub"
)

// A Scrubber removes private text from a log: names of users and computers, accounts, ids of devices, addresses,
// secrets, e-mail, cards. It remembers the kinds, so that a report can list them.
//
// Names have no form. They are learned from texts that have one, such as the path of a home, and are removed everywhere
// from then on: give it every text of a log by Learn, as it goes by. A Replay does so, and scrubs its texts again once
// the log has ended; lines that are written while a log is read may hold names that come later.
//
// A nil Scrubber leaves text as it is. One Scrubber may serve the replays of
// several files, one after another; it is for one goroutine.
//
// Log text that the engine has cut is scrubbed as it was cut: half of a network
// address or of an account is none any more, and stays.
type Scrubber struct {
	// Strict keeps of text only what no person typed: see the level "strict" of the programs. Names of mods stay.
	Strict bool

	kinds []scrub.Kind
	names scrub.Names
}

// Text returns a text without its private parts. A text without one
// is returned as it is.
func (s *Scrubber) Text(text string) string {
	scrubbed := s.Mod(text)
	if s != nil && s.Strict {
		return scrub.Strict(scrubbed)
	}
	return scrubbed
}

// Learn records the names of users and computers that log text shows. Text that
// was scrubbed before may still have them. Most text costs a look at each byte.
func (s *Scrubber) Learn(texts ...string) {
	for _, text := range texts {
		if s != nil {
			s.names.Learn(text)
		}
	}
}

// Home records the home of the user who runs the program, whatever its form: it and the name of its folder are removed.
func (s *Scrubber) Home(folder string) {
	s.names.Home(folder)
}

// lines returns the scrubbed lines of text. Another line may show that a line is private: the value of a key may be on
// the next. Lines are scrubbed one by one in a text of more than maxWhole bytes, and if several lines are one secret.
func (s *Scrubber) lines(text string) []string {
	lines := strings.Split(text, "\n")
	if len(text) <= maxWhole {
		if scrubbed := strings.Split(s.Text(text), "\n"); len(scrubbed) == len(lines) {
			return scrubbed
		}
	}
	return each(lines, s.Text)
}

const maxWhole = 64 << 10

// scrub removes private text and remembers its kinds.
func (s *Scrubber) scrub(text string) string {
	scrubbed := s.names.Text(scrub.Text(text))
	s.remember(text, scrubbed)
	return scrubbed
}

// remember remembers the kinds that scrubbed has marks of and text has not.
func (s *Scrubber) remember(text, scrubbed string) {
	if scrubbed == text {
		return
	}
	for _, kind := range scrub.Kinds() {
		if !slices.Contains(s.kinds, kind) && strings.Count(scrubbed, string(kind)) > strings.Count(text, string(kind)) {
			s.kinds = append(s.kinds, kind)
		}
	}
}

// Suspects returns suspects with scrubbed names.
func (s *Scrubber) Suspects(suspects []heed.Suspect) []heed.Suspect {
	suspects = slices.Clone(suspects)
	for i := range suspects {
		suspects[i].Mod = s.Mod(suspects[i].Mod)
	}
	return suspects
}

func (s *Scrubber) attention(a heed.Item) heed.Item {
	if s == nil {
		return a
	}
	a.EachText(func(text *string, mod bool) {
		if mod {
			*text = s.Mod(*text)
		} else {
			*text = s.Text(*text)
		}
	})
	return a
}

// Mod returns the name or the package id of a mod without private data. It is the same at both levels.
func (s *Scrubber) Mod(name string) string {
	if s == nil || name == "" {
		return name
	}
	s.Learn(name)
	return s.scrub(name)
}

// Removed returns the kinds that were taken out so far, in words and a fixed order; nil
// where there was nothing.
func (s *Scrubber) Removed() []string { return inWords(s.removed()) }

func inWords(kinds []scrub.Kind) []string {
	return each(kinds, func(kind scrub.Kind) string { return kindWords[kind] })
}

// removed returns the kinds that were taken out so far, which are the marks in their place, in a fixed order.
func (s *Scrubber) removed() []scrub.Kind {
	if s == nil {
		return nil
	}
	return slices.DeleteFunc(scrub.Kinds(), func(kind scrub.Kind) bool { return !slices.Contains(s.kinds, kind) })
}

// kindWords are the kinds in the plural.
var kindWords = map[scrub.Kind]string{
	scrub.User:     "user names",
	scrub.Computer: "computer names",
	scrub.SteamID:  "Steam ids",
	scrub.ID:       "ids of devices and accounts",
	scrub.Address:  "network addresses",
	scrub.Secret:   "secrets",
	scrub.Email:    "e-mail addresses",
	scrub.Money:    "numbers of cards and bank accounts",
	scrub.Folder:   "names of folders",
}

// rescrub removes from the kept texts the names that were learned later: once the log has ended, before groups are
// made, and for each document, since later logs may show more. The texts are then the same as if all names had been
// known from the first line on.
func (r *Replay) rescrub() {
	s := r.config.Scrub
	if s == nil {
		return
	}
	again := func(text *string, _ bool) {
		scrubbed := s.names.Text(*text)
		s.remember(*text, scrubbed)
		*text = scrubbed
	}
	again(&r.config.File, false)
	again(&r.unread, false)
	r.eachText(again)
	if r.environment != nil {
		r.environment = r.environment.clean(s)
	}
}

// safe returns text of a log, or of a file of rules, escaped, on one line.
func safe(s string) string { return text.Safe(s, 0) }

// safeAll returns texts escaped, nil for none.
func safeAll(texts []string) []string { return each(texts, safe) }

// each returns what f returns for each of all, nil for none.
func each[T any](all []T, f func(T) string) (out []string) {
	for _, of := range all {
		out = append(out, f(of))
	}
	return out
}

// safeLines escapes each line of a template. The line feeds
// between them stay: JSON writes them as \n, and the result still hashes to
// the signature wherever the template held nothing that had to be escaped.
func safeLines(template string) string {
	return strings.Join(safeAll(strings.Split(template, "\n")), "\n")
}
