package rules

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"github.com/heedlog/heed/internal/yamlfile"
)

// unityGames are the families whose logs Unity writes: a file for "unity" holds for them too.
var unityGames = []string{"bepinex", "ksp", "rimworld"}

// Families returns the names of the families of logs that a rule file can name, sorted. A family exists once an
// embedded file names it.
func Families() []string { return slices.Clone(families()) }

var families = sync.OnceValue(func() (names []string) {
	for _, f := range slices.Concat(Defaults(), Generic()) {
		if m := familiesLine.FindSubmatch(f.Data); m != nil {
			names = append(names, strings.Split(string(m[1]), ", ")...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
})

var familiesLine = regexp.MustCompile(`(?m)^families: \[(.+)\]$`)

// parseFamilies returns the families that a file names.
func parseFamilies(p at, n *yaml.Node, errs *collector) (given []string) {
	known := families()
	for i, item := range items(p, n, errs) {
		name, ok := text(p.item(i), item, errs)
		switch at := p.item(i).here(item); {
		case !ok:
		case !slices.Contains(known, name):
			errs.addf(at, yamlfile.DidYouMean(name, known), "unknown family %s", yamlfile.Quote(name))
		case slices.Contains(given, name):
			errs.addf(at, "remove one of the two", "%s is in the list twice", yamlfile.Quote(name))
		default:
			given = append(given, name)
		}
	}
	if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		errs.add(p.here(n), "the list is empty", "remove it: a file that names no family holds for all")
	}
	return given
}

// holdsFor reports whether a file that names some families holds for one.
func holdsFor(families []string, family string) bool {
	return len(families) == 0 || family == "" || slices.Contains(families, family) ||
		slices.Contains(families, "unity") && slices.Contains(unityGames, family)
}

// For returns the set for the logs of one family: of files for other families, the rules are disabled, and the
// defaults, overrides and names of code have no effect. All files hold for the family "". An error names a family that
// is not among [Families], or a file that is wrong without the files of other families.
func (s *Set) For(family string) (*Set, error) {
	if family == s.family {
		return s, nil
	}
	s.own.Lock()
	defer s.own.Unlock()
	if own := s.own.sets[family]; own != nil {
		return own, nil
	}
	if known := families(); family != "" && !slices.Contains(known, family) {
		return nil, &unknownFamily{family, known}
	}
	files := make([]File, 0, len(s.sources))
	for _, src := range s.sources {
		files = append(files, File{Name: src.name, Data: []byte(src.text)})
	}
	own, err := compile(family, files)
	if err == nil {
		if s.own.sets == nil {
			s.own.sets = map[string]*Set{}
		}
		s.own.sets[family] = own
	}
	return own, err
}

// ownSets are the sets for families that were made of one set.
type ownSets struct {
	sync.Mutex
	sets map[string]*Set
}

// unknownFamily is the error of a family that no embedded file names.
type unknownFamily struct {
	name  string
	known []string
}

func (e *unknownFamily) Error() string {
	return "unknown family " + yamlfile.Quote(e.name) + ": " + yamlfile.DidYouMean(e.name, e.known)
}

// leave removes the effects of a document whose families do not include the family of the set. Its rules, lists and
// macros keep their names, so that other files can refer to them.
func (d *document) leave() {
	d.src.elsewhere = true
	d.gameCode, d.defaults = nil, nil
	d.rules = slices.DeleteFunc(d.rules, func(r *ruleDecl) bool { return r.override })
	d.lists = slices.DeleteFunc(d.lists, func(l listDecl) bool { return l.override || l.extend })
	d.macros = slices.DeleteFunc(d.macros, func(m macroDecl) bool { return m.override })
}
