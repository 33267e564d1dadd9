package brief

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heedlog/heed/rules"
)

// moment is when a text is asked for.
type moment string

const (
	opened moment = "200 lines after it opened"
	ended  moment = "at the end of the log"

	later = 200 // lines
)

// approach is how a text comes about.
type approach string

const (
	named   approach = "brief about it"
	unnamed approach = "brief"
	last50  approach = "last 50 lines"
	grepped approach = "grep Exception | tail"
)

var (
	moments    = []moment{opened, ended}
	approaches = []approach{named, unnamed, last50, grepped}
	budgets    = []int{500, 1500, 4000}
	sets       = []set{ours, players, held}
)

// item returns the item that a brief is asked for about, and false for an approach without heed.
func (how approach) item(id string) (item string, brief bool) {
	if how == named {
		item = id
	}
	return item, how == named || how == unnamed
}

// excerpt returns what an agent without heed reads of lines of a log.
func (how approach) excerpt(lines []string, tokens int) string {
	if how == grepped {
		lines = exceptions(lines)
		return tail(lines, len(lines), tokens)
	}
	return tail(lines, lastLines, tokens)
}

// cell is the place of a figure in the table.
type cell struct {
	set      set
	moment   moment
	tokens   int
	approach approach
}

// quality is what texts about faults have.
type quality struct {
	wanted  map[set]tally // how often each fact is known, of all faults
	tallies map[cell]tally
	omitted left
	misses  []string // of briefs about logs on which things are developed
}

// folders are the folders of captures. The folders of real ones may be "".
type folders struct {
	captures, players string

	heldOut bool
}

// question asks for a brief: after a line of a log, about an item or about all for "".
type question struct {
	line   int
	item   string
	tokens int
}

// appointment is a line of a log after which texts are compared with the truth.
type appointment struct {
	line   int
	moment moment
	truth  truth
	set    set
}

// measure asks for texts about each fault, at each moment, by each approach and within each budget.
func measure(dirs folders, rules *rules.Set) (*quality, error) {
	q := &quality{wanted: map[set]tally{}, tallies: map[cell]tally{}, omitted: left{}}
	faults, err := ownFaults(dirs.captures)
	if err != nil {
		return nil, err
	}
	judged, err := judgedFaults(dirs.players, dirs.heldOut, q.omitted)
	if err != nil {
		return nil, err
	}
	byPath := map[string][]*fault{}
	for _, f := range append(faults, judged...) {
		byPath[f.path] = append(byPath[f.path], f)
	}
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		if err := q.log(path, byPath[path], rules); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
	}
	return q, nil
}

// log asks for briefs about a log while it is replayed, and compares all texts about its faults with the truth.
func (q *quality) log(path string, faults []*fault, rules *rules.Set) error {
	briefs := map[question]string{}
	var failed error
	ask := func(g *game, line int, items ...string) {
		for _, item := range append(items, "") {
			for _, tokens := range budgets {
				b, err := g.brief(item, tokens)
				if failed = cmp.Or(failed, err); err == nil {
					briefs[question{line, item, tokens}] = b.Text
				}
			}
		}
	}
	open := map[int][]string{} // items to ask about, by line
	for _, f := range faults {
		open[f.line+later] = nil
	}
	log, err := replayOf(path, rules, func(r *replayed, line int, blocking []string) {
		for at, items := range open {
			if at <= line && at < len(r.lines) {
				ask(r.game, at, items...)
				delete(open, at)
			}
		}
		open[line+later] = append(open[line+later], blocking...)
	})
	if err != nil {
		return err
	}
	ask(log.game, len(log.lines), slices.Collect(maps.Keys(log.blocking))...)
	var due []appointment
	for _, f := range faults {
		t, since := log.truth(f), f.line
		if t.item != "" {
			since = log.blocking[t.item]
		}
		known := q.wanted[f.set]
		known.add(t.wanted(), facts{true, true, true, true, true})
		q.wanted[f.set] = known
		due = append(due, appointment{min(since+later, len(log.lines)), opened, t, f.set},
			appointment{len(log.lines), ended, t, f.set})
	}
	slices.SortStableFunc(due, func(a, b appointment) int { return cmp.Compare(a.line, b.line) })
	for i := range due {
		q.compare(filepath.Base(path), log.lines[:due[i].line], briefs, &due[i])
	}
	return failed
}

// compare compares all texts of one appointment with the truth.
func (q *quality) compare(file string, lines []string, briefs map[question]string, a *appointment) {
	wanted := a.truth.wanted()
	for _, tokens := range budgets {
		for _, how := range approaches {
			var has facts
			if item, ok := how.item(a.truth.item); ok {
				has = a.truth.inBrief(briefs[question{a.line, item, tokens}])
				missing := has.missing(wanted)
				if wanted[nobody] && !has[nobody] {
					missing = append(missing, "doubt: somebody is blamed")
				}
				if len(missing) > 0 && a.set != held {
					q.misses = append(q.misses, fmt.Sprintf("%s:%d %s, %d tokens, %s: no %s", file, a.truth.line, how, tokens,
						a.moment, strings.Join(missing, ", ")))
				}
			} else {
				has = a.truth.inLog(how.excerpt(lines, tokens))
			}
			at := cell{a.set, a.moment, tokens, how}
			t := q.tallies[at]
			t.add(has, wanted)
			q.tallies[at] = t
		}
	}
}

// sum returns the tallies of several sets together.
func (q *quality) sum(sets []set, at cell) *tally {
	var t tally
	for _, at.set = range sets {
		t.plus(q.tallies[at])
	}
	return &t
}

// String returns the tables.
func (q *quality) String() string {
	var b []byte
	for _, s := range sets {
		if t := q.wanted[s]; t[all].of > 0 {
			b = fmt.Appendf(b, "%s: %d faults, culprit known of %d, operation or phase of %d\n",
				s, t[all].of, t[culprit].has, t[where].has)
		}
	}
	b = fmt.Appendf(b, "not measured: %s\n", q.omitted)
	for _, m := range moments {
		b = q.part(b, string(m), []set{ours, players}, m, budgets)
	}
	for _, s := range sets {
		for _, m := range moments {
			if q.wanted[s][all].of > 0 {
				b = q.part(b, fmt.Sprintf("%s, %s", s, m), []set{s}, m, budgets[1:2])
			}
		}
	}
	return string(b)
}

func (q *quality) part(b []byte, title string, sets []set, m moment, budgets []int) []byte {
	b = fmt.Appendf(b, "\n%s\n%6s  %-22s %7s %8s %19s %7s %7s %14s\n", title, "tokens", "", "cause", "culprit",
		"operation or phase", "next", "all", "none blamed")
	for _, tokens := range budgets {
		for _, how := range approaches {
			t := q.sum(sets, cell{moment: m, tokens: tokens, approach: how})
			if t[all].of > 0 {
				b = fmt.Appendf(b, "%6d  %-22s %7s %8s %19s %7s %7s %14s\n", tokens, how, t[cause], t[culprit], t[where],
					t[next], t[all], t[nobody])
			}
		}
	}
	return b
}
