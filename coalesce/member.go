package coalesce

import (
	"cmp"
	"slices"
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/signature"
)

// Member sums up the entries of one rule in an item or in a run of the game.
type Member struct {
	Rule        string
	Title       string // the summary of the rule, or the severity in words
	Advice      string
	Disposition event.Disposition
	Severity    event.Severity
	Invalidates bool
	Effects     Effects
	Entries     uint64
	First, Last uint64 // positions

	Early bool // all entries came while the game started
	Over  bool // a rule resolved it, or no item of it is open

	Accused   Accused
	Signature signature.Signature // of the dominant group
	Message   string              // its text, as in a [Sample]
	Seq       uint64              // number of the entry that has the text
	Because   []string            // the rules whose earlier entries explain it

	began uint64 // number of the first entry
}

// EachText calls f as [Item.EachText] does.
func (m *Member) EachText(f func(s *string, mod bool)) {
	f(&m.Message, false)
	m.Accused = slices.Clone(m.Accused)
	for i := range m.Accused {
		f(&m.Accused[i].Name, true)
	}
}

// Effects are what entries do to the game, as their decision has it.
type Effects uint8

// The effects that weigh.
const (
	crash     Effects = 1 << iota // the process ends
	hang                          // the game does not go on, until a rule resolves this
	breaks                        // once is enough, but while the game starts: a load, a save or a map failed as a whole
	levels                        // none is known: only the level of a log record decided, or words
	memory                        // none is left: the code that asks for it is running and not at fault
	explained                     // a crash, by the lack of memory before
)

// EffectsOf returns the effects that a decision names by its tags; docs/rules.md lists them.
func EffectsOf(d *event.Decision) (all Effects) {
	for i, tag := range [...]string{"crash", "hang", "breaks", "words", "memory"} {
		if slices.Contains(d.Tags, tag) {
			all |= 1 << i
		}
	}
	if strings.HasPrefix(d.Rule, "default.log.") { // no rule decided, only the level
		all |= levels
	}
	return all
}

// starting reports whether the game starts: what breaks then is tried again.
func (in *Input) starting() bool { return in.Phase == "start" || in.Phase == "boot" }

// The harm of a member, the least first: above 0 it breaks play.
const (
	word    = iota - 1 // a level, with no form of a fault
	trifle             // a few entries that pass
	recurs             // it comes back
	damages            // it changes the game for good: objects are gone
	loses              // a load or a save failed
	halts              // the game does not go on
	crashes            // the process ended
)

// recurring is the number of entries of one rule from which on they are no trifle.
const recurring = 10

// Harm returns how bad m is for the game; more is worse. It is positive if m breaks play, 0 if m merely shows that
// something is wrong, and negative if only a level is known of m.
func (m *Member) Harm() int {
	has := func(e Effects) bool { return m.Effects&e != 0 }
	switch {
	case has(levels):
		return word
	case m.Disposition != event.Blocking:
		return trifle
	case has(crash):
		return crashes
	case m.Severity == event.SeverityFatal, has(hang) && !m.Over:
		return halts
	case has(breaks) && !m.Early:
		return loses
	case m.Invalidates && m.Entries >= recurring:
		return damages
	case m.Entries >= recurring:
		return recurs
	}
	return trifle
}

// ExplainedBy reports whether o explains m: the lack of memory the crash, or as the rule of m has it.
func (m *Member) ExplainedBy(o *Member) bool {
	return m.Effects&explained != 0 && o.Effects&(memory|crash) == memory || slices.Contains(m.Because, o.Rule)
}

// Hangs reports whether the game does not go on because of m.
func (m *Member) Hangs() bool { return m.Effects&hang != 0 && !m.Over }

// Compare orders members by weight, the dominant first: what blocks, the worst harm, the highest severity, the most
// entries, the earliest. It is the one order of all that heed names first.
func (m *Member) Compare(o *Member) int {
	return cmp.Or(
		cmp.Compare(o.Disposition, m.Disposition),
		cmp.Compare(o.Harm(), m.Harm()),
		cmp.Compare(o.Severity, m.Severity),
		cmp.Compare(o.Entries, m.Entries),
		cmp.Compare(m.began, o.began),
		cmp.Compare(m.First, o.First),
		cmp.Compare(m.Rule, o.Rule),
	)
}

// members returns the members of an item, the dominant first.
func (c *Coalescer) members(it *item) []Member {
	all := make([]Member, 0, len(it.Rules))
	for _, r := range it.Counters.Rows {
		m := Member{
			Rule: r.Rule, Disposition: r.Disposition, Severity: r.Severity, Invalidates: r.Invalidates, Entries: r.Count,
			First: r.First.Pos, Last: r.LastPos, Early: r.Early, Accused: r.Accused, began: r.First.Seq,
		}
		if n := slices.IndexFunc(all, func(m Member) bool { return m.Rule == r.Rule }); n >= 0 {
			all[n].Join(&m)
		} else {
			all = append(all, m)
		}
	}
	for i := range all {
		m := &all[i]
		m.Over = !it.open()
		if r := it.rule(m.Rule); r != nil {
			m.Title, m.Advice, m.Effects, m.Over = r.Summary, r.Advice, r.Effects, m.Over || r.Resolved
			m.Because = r.ExplainedBy
			m.Entries += r.Untracked
		}
		m.Title = cmp.Or(m.Title, Reported(m.Rule, m.Severity))
		likely, perhaps := m.Mods()
		if m.Effects&crash != 0 && len(likely) > 0 && !strings.HasPrefix(likely[0], text.Code) { // the mod is the cause
			m.Advice = text.DefaultAdvice(true, false)
		}
		m.Advice = text.Advice(m.Advice, slices.Concat(likely, perhaps)...)
	}
	slices.SortFunc(all, func(a, b Member) int { return a.Compare(&b) })
	return all
}

// Join adds a member of the same rule whose entries came later.
func (m *Member) Join(o *Member) {
	m.Disposition, m.Severity = max(m.Disposition, o.Disposition), max(m.Severity, o.Severity)
	m.Invalidates, m.Effects = m.Invalidates || o.Invalidates, m.Effects|o.Effects
	m.Early, m.Over = m.Early && o.Early, m.Over && o.Over
	m.Entries += o.Entries
	m.First, m.Last = min(m.First, o.First), max(m.Last, o.Last)
	m.Accused = m.Accused.join(o.Accused)
}

// Mods returns the mods that at least half of the entries point at, and those that fewer do, but a quarter.
// If memory ran out, there are none.
func (m *Member) Mods() (likely, perhaps []string) {
	if m.Effects&memory != 0 {
		return nil, nil
	}
	return m.Accused.pointed(m.Entries)
}

// Running returns the mods whose code was running when memory ran out.
func (m *Member) Running() []string {
	if m.Effects&memory == 0 {
		return nil
	}
	names, _ := m.Accused.pointed(m.Entries)
	return names
}

// Reported returns the title of entries for which the author of a rule has none: "operation timed out" for the rule
// default.operation.timed_out, and the severity in words for records of the log.
func Reported(rule string, severity event.Severity) string {
	if of, byDefault := strings.CutPrefix(rule, "default."); byDefault && !strings.HasPrefix(of, "log.") {
		return strings.NewReplacer(".", " ", "_", " ").Replace(of)
	}
	switch severity {
	case event.SeverityFatal:
		return "a fatal problem was reported"
	case event.SeverityError:
		return "an error was reported"
	case event.SeverityWarning:
		return "a warning was reported"
	}
	return "something was reported"
}

// dominant returns the row that shows a member of an item: of the severest group, or of these the one with most
// entries, the most frequent variant.
func (it *item) dominant(rule string) (row *counter) {
	var most counter
	for _, r := range it.Counters.Rows {
		if r.Rule != rule {
			continue
		}
		group := it.Counters.group(r)
		if row == nil || cmp.Or(cmp.Compare(group.Severity, most.Severity), cmp.Compare(group.Count, most.Count)) > 0 ||
			row.Sig == r.Sig && r.Count > row.Count {
			row, most = r, group
		}
	}
	return row
}

// group returns the sum of all variants of the group of a row, with its text, for display.
func (t *counters) group(of *counter) (sum counter) {
	for _, row := range t.Rows {
		if row.Sig != of.Sig || row.Rule != of.Rule {
			continue
		}
		r := *row
		r.Recurrence, r.FirstBy, r.Text, r.of = nil, nil, of.Text, nil
		if sum.Count == 0 {
			sum = r
		} else {
			sum.combine(&r)
		}
	}
	return sum
}

// Accused are mods that entries point at, the first that was named first.
type Accused []AccusedMod

// AccusedMod is a mod with the number of entries that point at it.
type AccusedMod struct {
	Name    string
	Entries uint64
	First   uint64 // position of the first
}

// The bounds of the mods that are counted for a group, and of those that are named for it.
const (
	maxAccused = 4
	maxBlame   = 2
)

// Add counts an entry at a position that points at mods.
func (a *Accused) Add(names []string, at uint64) {
	for _, name := range names {
		a.count(AccusedMod{name, 1, at})
	}
}

func (a *Accused) count(o AccusedMod) {
	for i := range *a {
		if s := &(*a)[i]; s.Name == o.Name {
			s.Entries, s.First = s.Entries+o.Entries, min(s.First, o.First)
			return
		}
	}
	if len(*a) < maxAccused {
		*a = append(*a, o)
	}
}

// join returns a with the entries of o, and changes neither.
func (a Accused) join(o Accused) Accused {
	if len(o) == 0 {
		return a
	}
	a = slices.Clone(a)
	for _, s := range o {
		if i := slices.IndexFunc(a, func(o AccusedMod) bool { return blame.Same(o.Name, s.Name) }); i >= 0 {
			s.Name = a[i].Name
		}
		a.count(s)
	}
	return a
}

// pointed returns the mods that at least half of all entries point at, and those that fewer do, but a quarter, the
// most frequent first.
func (a Accused) pointed(all uint64) (likely, perhaps []string) {
	a = slices.Clone(a)
	slices.SortStableFunc(a, func(x, y AccusedMod) int { return cmp.Compare(y.Entries, x.Entries) })
	for _, s := range a {
		to := &perhaps
		if 2*s.Entries >= all {
			to = &likely
		}
		if 4*s.Entries >= all && len(*to) < maxBlame {
			*to = append(*to, s.Name)
		}
	}
	return likely, perhaps
}
