package rules

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/heedlog/heed/event"
	wording "github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/yamlfile"
)

// unityGames are the families whose logs Unity writes: a file for "unity" holds for them too.
var unityGames = []string{"bepinex", "ksp", "rimworld"}

// families are the names of the families of logs that a rule file can name, sorted. A family exists once an embedded
// file names it among those for which it holds, near its beginning.
var families = func() (names []string) {
	for _, f := range defaults {
		names = append(names, heldFor(f.Data)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}()

var familyList = regexp.MustCompile(`\nfamilies:([\s\w\[\],"'-]*)[\n#]`)

// heldFor returns the families that the beginning of a file names, without those that it leaves out. It reads no more
// of the file, since YAML takes long.
func heldFor(data []byte) (names []string) {
	if m := familyList.FindSubmatch(data[:min(len(data), 256)]); m != nil {
		names = strings.FieldsFunc(string(m[1]), func(r rune) bool { return strings.ContainsRune(" \r\n[],\"'", r) })
	}
	return slices.DeleteFunc(names, func(name string) bool { return name[0] == '-' })
}

// parseFamilies returns the families that a file names, with a "-" before each for which it does not hold.
func parseFamilies(v value) (given []string) {
	for _, w := range words(v) {
		name := strings.TrimPrefix(w.Value, "-")
		switch {
		case !slices.Contains(families, name):
			w.Fail(yamlfile.DidYouMean(name, families), "unknown family %s", yamlfile.Quote(name))
		case slices.Contains(given, name) || slices.Contains(given, "-"+name):
			w.Fail("remove one of the two", "%s is in the list twice", yamlfile.Quote(name))
		default:
			given = append(given, w.Value)
		}
	}
	if v.Kind == yaml.SequenceNode && len(v.Content) == 0 {
		v.Fail("remove it: a file that names no family holds for all", "the list is empty")
	}
	return given
}

// holdsFor reports whether a file that names some families holds for one: the last name of it decides, and without any
// the file holds if its list begins with a name that it leaves out.
func holdsFor(families []string, family string) bool {
	if len(families) == 0 || family == "" {
		return true
	}
	holds := families[0][0] == '-'
	for _, given := range families {
		name := strings.TrimPrefix(given, "-")
		if name == family || name == "unity" && slices.Contains(unityGames, family) {
			holds = name == given
		}
	}
	return holds
}

// For returns the set for the logs of one family: of files for other families, the rules are disabled, and the
// defaults, overrides and names of code have no effect. All files hold for the family "". An error names a family that
// does not exist, or a file that is wrong without the files of other families.
func (s *Set) For(family string) (*Set, error) {
	switch {
	case family == s.family:
		return s, nil
	case s.whole != nil:
		return s.whole.For(family)
	}
	if family != "" && !slices.Contains(families, family) {
		return nil, fmt.Errorf("unknown family %s: %s", yamlfile.Quote(family), yamlfile.DidYouMean(family, families))
	}
	var own *Set
	var err error
	if slices.ContainsFunc(s.docs, func(d *document) bool { return !holdsFor(d.families, family) && d.overrides() }) {
		own, err = compile(family, s.files())
	} else {
		own = s.narrowed(family)
	}
	if err == nil {
		own.whole = s
	}
	return own, err
}

// hashFamily returns the hash of a set for a family, from the hash of its files.
func hashFamily(hash uint64, family string) uint64 {
	if family == "" {
		return hash
	}
	return hashFiles([]File{{Name: strconv.FormatUint(hash, 10), Data: []byte(family)}})
}

// files returns the files that s was made of.
func (s *Set) files() []File {
	files := make([]File, 0, len(s.docs))
	for _, d := range s.docs {
		files = append(files, File{Name: d.src.name, Data: []byte(d.src.text), Today: d.src.today})
	}
	return files
}

// relink links the files of s again, whole, for callers that want more of them than decisions.
func (s *Set) relink() *linker {
	l := link(s.family, s.files(), true)
	if err := l.errs.err(); err != nil {
		panic("BUG: rules: default files: " + err.Error())
	}
	return l
}

// overrides reports whether d changes a rule, list or macro of another file.
func (d *document) overrides() bool {
	return slices.ContainsFunc(d.rules, func(r *ruleDecl) bool { return r.override }) ||
		slices.ContainsFunc(d.defined, (*definition).overrides)
}

// reword gives a rule its texts for programs, in a set for their logs.
func (s *Set) reword(r *Rule) {
	if !wording.IsProgram(s.family) {
		return
	}
	own := r.program
	r.Summary, r.Why = cmp.Or(own.summary, r.Summary), cmp.Or(own.why, r.Why)
	if own.advice != "" {
		r.Advice, r.AdviceAtStart = adviceOf(own.advice)
	}
}

// narrowed compiles a set of all families for one, where no override depends on the family: conditions stay.
func (s *Set) narrowed(family string) *Set {
	own := *s
	own.family, own.hash = family, hashFamily(s.hash, family)
	own.byID, own.rules, own.active, own.ended = map[string]*Rule{}, nil, nil, nil
	for _, old := range s.rules {
		r := *old
		r.Disabled = r.Disabled || !holdsFor(s.docs[r.home].families, family)
		if r.Disabled {
			r.possible, r.MatchesAll = 0, false
		}
		own.rules, own.byID[r.ID] = append(own.rules, &r), &r
	}
	for _, r := range own.rules {
		r.Resolves = slices.DeleteFunc(slices.Clone(r.Resolves), func(id string) bool { return own.byID[id].Disabled })
	}
	for _, r := range s.active {
		own.active = append(own.active, own.rules[r.index])
	}
	own.finish()
	return &own
}

// finish makes what depends on the family: defaults, names of code, and the texts and outcomes of the rules.
func (s *Set) finish() {
	s.setDefaults()
	s.gameCode = nil
	for _, d := range s.docs {
		if holdsFor(d.families, s.family) {
			s.gameCode = append(s.gameCode, d.gameCode...)
		}
	}
	slices.Sort(s.gameCode)
	s.gameCode = slices.Compact(s.gameCode)
	for _, r := range s.rules {
		s.reword(r)
		for sev := range r.outcomes {
			r.outcomes[sev] = Outcome{Rule: r, Advice: r.Advice, Decision: event.Decision{
				Rule: r.ID, Disposition: r.Disposition, Severity: event.Severity(sev),
				Invalidates: r.Invalidates, Tags: r.Tags,
			}, SetsPhase: r.SetsPhase}
		}
	}
}

// leave removes the overrides of a document whose families do not include the family of the set.
func (d *document) leave() {
	d.rules = slices.DeleteFunc(d.rules, func(r *ruleDecl) bool { return r.override })
	d.defined = slices.DeleteFunc(d.defined, (*definition).overrides)
}
