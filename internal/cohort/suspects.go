package cohort

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/heedlog/heed/internal/text"
)

// Mod is a mod of a session. Two with one Key are the same mod.
type Mod struct {
	Key     string
	Name    string // for people; "" is the Key
	Version string // "" for unknown
}

// Session is a compared session. Only sessions with a known list of mods belong here.
type Session struct {
	Mods  []Mod
	Game  string // its version, "" for unknown
	Fault bool
}

// Kind is the kind of a factor.
type Kind string

// The kinds of factors.
const (
	KindMod    Kind = "mod"    // a mod is there
	KindUpdate Kind = "update" // a mod is there since its update to the version of Factor
	KindGame   Kind = "game"   // the game has the version of Factor, or a later one
)

// Factor is a possible cause.
type Factor struct {
	Kind    Kind     `json:"kind" jsonschema:"A mod, an update of one, or a version of the game." enum:"mod,update,game"`
	Mods    []string `json:"mods,omitempty" jsonschema:"The name of the mod."`
	Keys    []string `json:"keys,omitempty" jsonschema:"Its key."`
	Version string   `json:"version,omitempty" jsonschema:"The version from which on."`
}

// Say returns an English text with its arguments, as [fmt.Sprintf] does, or the same in another language.
type Say func(english string, args ...any) string

// String returns the factor in words.
func (f *Factor) String() string { return f.words(fmt.Sprintf) }

func (f *Factor) words(say Say) string {
	switch f.Kind {
	case KindUpdate:
		return say("%s from version %s on", f.Mods[0], f.Version)
	case KindGame:
		return say("the game from version %s on", f.Version)
	}
	return f.Mods[0]
}

// level is how often a search may be wrong, with all of its comparisons together.
const level = 0.01

// MaxAlike bounds the equally likely factors that are still an answer.
const MaxAlike = 16

// Result is the evidence of the sessions about one fault.
type Result struct {
	// Factors are the possible causes, the likeliest first; nil if the sessions do not suffice.
	Factors []Factor `json:"factors,omitempty" jsonschema:"Any of these may be the cause, the likeliest first; absent if the sessions do not suffice."`

	Table       Table   `json:"table" jsonschema:"The sessions with and without the first of them."`
	P           float64 `json:"p,omitempty" jsonschema:"The chance of that if it had no effect, corrected for the comparisons."`
	Comparisons int     `json:"comparisons,omitempty" jsonschema:"How many there were."`
	Once        bool    `json:"changedOnce,omitempty" jsonschema:"The first of the factors came or went only once: anything else that changed then looks the same."`
	Text        string  `json:"text" jsonschema:"The evidence in words, or why there is none."`
}

// vector has a 1 for each session that has something, and a 0 for each other one.
type vector []byte

// switches counts the sessions that differ from the session before.
func (v vector) switches() (times int) {
	for i := 1; i < len(v); i++ {
		times += int(v[i] ^ v[i-1])
	}
	return times
}

// common returns how many sessions both have.
func (v vector) common(o vector) (n uint64) {
	for i := range v {
		n += uint64(v[i] & o[i])
	}
	return n
}

func (v vector) count() uint64 { return v.common(v) }

// candidate is a set of factors with the same division of the sessions.
type candidate struct {
	factors []Factor
	with    vector
	table   Table
	fit     float64 // the logarithm of its likelihood
}

// compare orders candidates by their fit. Equal likelihoods of other tables may differ by rounding.
func (k *candidate) compare(o *candidate) int {
	if math.Abs(k.fit-o.fit) > 1e-9 {
		return cmp.Compare(k.fit, o.fit)
	}
	return cmp.Or(cmp.Compare(k.table.WithFault, o.table.WithFault), cmp.Compare(o.table.With, k.table.With))
}

// cohort is the sessions of a search.
type cohort struct {
	n       int
	faults  vector
	byBits  map[string]*candidate
	ordered []*candidate
}

func (c *cohort) table(with vector) Table {
	all, faulty := with.count(), with.common(c.faults)
	faults := c.faults.count()
	return Table{all, faulty, uint64(c.n) - all, faults - faulty}
}

// before is the table of the fault in the session before as a factor; the first session has none before it.
func (c *cohort) before() Table {
	later := cohort{n: c.n - 1, faults: c.faults[1:]}
	return later.table(c.faults[:c.n-1])
}

func (c *cohort) add(f Factor, with vector) {
	if k := c.byBits[string(with)]; k != nil {
		k.factors = append(k.factors, f)
		return
	}
	t := c.table(with)
	k := &candidate{factors: []Factor{f}, with: with, table: t, fit: t.likelihood()}
	c.byBits[string(with)] = k
	c.ordered = append(c.ordered, k)
}

// Suspects returns the factors that go with the fault of some of the sessions, or the reason why they cannot be known.
// The order of the sessions is the order of versions, and shows whether the fault comes in runs. The cost grows with
// the factors times the sessions.
func Suspects(sessions []Session) Result {
	c := newCohort(sessions)
	faults := c.faults.count()
	switch {
	case len(sessions) == 0:
		return Result{Text: "There are no sessions to compare."}
	case faults == 0:
		return Result{Text: "It is in none of the sessions."}
	case c.n == 1:
		return Result{Text: "It is in the only session: there is nothing to compare it with."}
	case faults == uint64(c.n):
		return Result{Text: fmt.Sprintf("It is in all %d sessions: there is nothing to compare them with.", c.n)}
	}
	tests := c.comparisons()
	best := best(c.ordered)
	if tests == 0 || best == nil {
		return Result{Text: fmt.Sprintf(
			"%d with it and %d without are too few, or too much alike, to know.", faults, uint64(c.n)-faults)}
	}
	r := Result{Table: best.table, P: min(1, best.table.P()*float64(tests)), Comparisons: tests}
	var factors []Factor
	for _, k := range c.alike(best) {
		factors = append(factors, k.factors...)
	}
	numbers := fmt.Sprintf("%d of %d sessions with it, %d of %d without", best.table.WithFault, best.table.With,
		best.table.WithoutFault, best.table.Without)
	switch {
	case r.P > level:
		r.Text = fmt.Sprintf("No mod stands out. What goes with it most, %s (%s), may do so by chance (p = %s, corrected for %s).",
			&best.factors[0], numbers, chance(r.P), text.Count(tests, "comparison"))
	case best.fit < c.before().likelihood()+math.Log(3):
		r.Text = fmt.Sprintf("It comes in runs of sessions, which explain it as well as any mod does (the most: %s).", numbers)
	case len(factors) > MaxAlike:
		r.Text = fmt.Sprintf("%d mods or versions came and went alike (%s): the sessions do not distinguish them.",
			len(factors), numbers)
	default:
		r.Factors = factors
		r.Text = fmt.Sprintf("%s: %s (p = %s, corrected for %s).", words(factors, fmt.Sprintf), numbers, chance(r.P),
			text.Count(tests, "comparison"))
		if r.Once = best.with.switches() == 1; r.Once {
			r.Text += " That changed once only: anything else that changed then looks the same."
		}
	}
	return r
}

// InShort returns the factors with their sessions in a clause, and the caution if they changed only once; "" without a
// factor.
func (r *Result) InShort(say Say) string {
	if r.Factors == nil {
		return ""
	}
	const named = 3
	who := words(r.Factors[:min(len(r.Factors), named)], say)
	if more := len(r.Factors) - named; more > 0 {
		who += say(", or %d more", more)
	}
	t := &r.Table
	short := say("suspect: %s, in %d of %d sessions with it and in %d of %d without", who, t.WithFault, t.With,
		t.WithoutFault, t.Without)
	if r.Once {
		short += say("; it changed only once, so anything else that changed then looks the same")
	}
	return short
}

func chance(p float64) string { return fmt.Sprintf("%.2g", p) }

// words joins factors, each a possible cause.
func words(factors []Factor, say Say) string {
	all := make([]string, len(factors))
	for i := range factors {
		all[i] = factors[i].words(say)
	}
	return strings.Join(all, say(", or "))
}

// newCohort makes the candidates: each mod, each version of one, and each version of the game, from which on.
func newCohort(sessions []Session) *cohort {
	c := &cohort{n: len(sessions), byBits: map[string]*candidate{}}
	c.faults = make(vector, c.n)
	type factor struct {
		Factor
		versions []string // in the order in which they came
		at       []int    // for each session, the number of its version from 1 on, 1 if it is unknown, 0 without the factor
	}
	byKey := map[string]*factor{}
	var order []*factor
	see := func(i int, kind Kind, key, name, version string) {
		f := byKey[string(kind)+key]
		if f == nil {
			f = &factor{Factor: Factor{Kind: kind}, at: make([]int, c.n)}
			if kind == KindMod {
				f.Mods, f.Keys = []string{cmp.Or(name, key)}, []string{key}
			}
			byKey[string(kind)+key] = f
			order = append(order, f)
		}
		n := slices.Index(f.versions, version)
		if n < 0 && version != "" {
			n = len(f.versions)
			f.versions = append(f.versions, version)
		}
		f.at[i] = max(n, 0) + 1
	}
	for i := range sessions {
		if sessions[i].Fault {
			c.faults[i] = 1
		}
		for _, m := range sessions[i].Mods {
			see(i, KindMod, m.Key, m.Name, m.Version)
		}
		if sessions[i].Game != "" {
			see(i, KindGame, "", "", sessions[i].Game)
		}
	}
	for _, f := range order {
		for n := range max(len(f.versions), 1) {
			since, with := f.Factor, make(vector, c.n)
			switch {
			case n > 0 && since.Kind == KindMod:
				since.Kind, since.Version = KindUpdate, f.versions[n]
			case n > 0:
				since.Version = f.versions[n]
			case since.Kind == KindGame:
				continue
			}
			for i, at := range f.at {
				if at > n {
					with[i] = 1
				}
			}
			c.add(since, with)
		}
	}
	return c
}

// comparisons returns the divisor of the level, so that no more candidates than that could be significant with their
// sums (Tarone, "A modified Bonferroni method for discrete data", Biometrics 46, 1990); 0 if no candidate could.
func (c *cohort) comparisons() int {
	least := make([]float64, 0, len(c.ordered))
	for _, k := range c.ordered {
		least = append(least, k.table.least())
	}
	slices.Sort(least)
	for n := 1; ; n++ { // of so many comparisons no more than n could be
		could := sort.Search(len(least), func(i int) bool { return least[i] > level/float64(n) })
		switch {
		case could == 0:
			return 0
		case could <= n:
			return n
		}
	}
}

// best returns the candidate that fits best, among candidates with more frequent faults; nil for none.
func best(all []*candidate) (best *candidate) {
	for _, k := range all {
		t := &k.table
		more := t.With > 0 && t.Without > 0 && t.WithFault*t.Without > t.WithoutFault*t.With
		if more && (best == nil || k.compare(best) > 0) {
			best = k
		}
	}
	return best
}

// alikeWithin is how much less likely than the best a candidate may be, as a logarithm.
var alikeWithin = math.Log(20)

// alike returns the candidates that fit about as well as the best, which comes first.
func (c *cohort) alike(first *candidate) []*candidate {
	out := []*candidate{first}
	for _, k := range c.ordered {
		if k != first && k.fit >= first.fit-alikeWithin && best([]*candidate{k}) != nil {
			out = append(out, k)
		}
	}
	slices.SortStableFunc(out, func(a, b *candidate) int { return b.compare(a) })
	return out
}
