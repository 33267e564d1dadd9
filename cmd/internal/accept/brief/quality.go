package brief

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
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

// appointment is a text that is due after a line of a log.
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
		log, err := replayOf(path, rules)
		if err != nil {
			return nil, err
		}
		if err := q.log(path, log, byPath[path], rules); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
	}
	return q, nil
}

// log asks for texts about the faults of one log.
func (q *quality) log(path string, log *replayed, faults []*fault, rules *rules.Set) error {
	var due []*appointment
	for _, f := range faults {
		rec := log.at(f.line)
		f.item = log.itemOf(rec)
		since := cmp.Or(log.blocking[f.item], f.line)
		t := log.truth(f)
		if rec != nil {
			t.advice = log.advice[f.item+" "+rec.rule]
		}
		known := q.wanted[f.set]
		known.add(t.wanted(), facts{true, true, true, true, true})
		q.wanted[f.set] = known
		due = append(due,
			&appointment{min(since+later, len(log.lines)), opened, t, f.set},
			&appointment{len(log.lines), ended, t, f.set})
	}
	slices.SortStableFunc(due, func(a, b *appointment) int { return cmp.Compare(a.line, b.line) })
	var failed error
	g, err := open(path, rules)
	if err != nil {
		return err
	}
	meet := func(through int) {
		for len(due) > 0 && due[0].line < through && failed == nil {
			failed = q.ask(filepath.Base(path), g, log, due[0])
			due = due[1:]
		}
	}
	g.before = func(rec *capture.Record) { meet(cmp.Or(rec.StartLine, int(rec.Pos))) }
	if err := g.play(func(*capture.Record, *heed.Outcome) {}); err != nil {
		return err
	}
	meet(len(log.lines) + 1)
	return failed
}

// ask compares all texts of one appointment with the truth.
func (q *quality) ask(file string, g *game, log *replayed, a *appointment) error {
	wanted := a.truth.wanted()
	lines := log.lines[:a.line]
	thrown := exceptions(lines)
	for _, tokens := range budgets {
		for _, how := range approaches {
			var has facts
			switch how {
			case named, unnamed:
				item := a.truth.item
				if how == unnamed {
					item = ""
				}
				b, err := g.brief(item, tokens)
				if err != nil {
					return err
				}
				has = a.truth.inBrief(b.Text)
				missing := has.missing(wanted)
				if wanted[nobody] && !has[nobody] {
					missing = append(missing, "doubt: somebody is blamed")
				}
				if len(missing) > 0 && a.set != held {
					q.misses = append(q.misses, fmt.Sprintf("%s:%d %s, %d tokens, %s: no %s", file, a.truth.line, how, tokens,
						a.moment, strings.Join(missing, ", ")))
				}
			case last50:
				has = a.truth.inLog(tail(lines, lastLines, tokens))
			case grepped:
				has = a.truth.inLog(tail(thrown, len(thrown), tokens))
			}
			at := cell{a.set, a.moment, tokens, how}
			t := q.tallies[at]
			t.add(has, wanted)
			q.tallies[at] = t
		}
	}
	return nil
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
