package briefing

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	texts "github.com/heedlog/heed/internal/text"
)

// assembly makes one context.
type assembly struct {
	service   *Service
	ctx       context.Context
	request   *Request
	template  *Template
	stages    []stage
	maxTokens int
	scrubs    bool // the template or the request asks for it
	open      []Item
	started   time.Time

	found    []Fragment
	tiers    []string // of tier_select, nil before it
	strategy string
	queries  int
	trace    []stageResult
	warnings []string
	traced   int // warnings that are in the trace
	more     int // warnings beyond the bound

	stopped string // the budget that was exceeded
	halted  bool   // a halting stage was satisfied
	err     error  // after which there is no context
}

// The budgets that a context can exceed.
const (
	byTokens  = "max_context_tokens"
	byQueries = "max_queries"
	byTime    = "timeout"
)

// Reasons why a stage does not run.
const (
	exceeded     = "the budget is exceeded: "
	haltedBefore = "halted before"
)

// ErrRequired is in the error of a context if its required fragments in short exceed the budget.
var ErrRequired = errors.New("more is required than the budget allows")

func (a *assembly) elapsed() time.Duration { return max(0, a.service.config.Now().Sub(a.started)) }

// warn records a warning, "" for none. The trace has it with the current stage, or else the next.
func (a *assembly) warn(warning string) {
	warning = texts.Safe(warning, maxLineRunes)
	switch {
	case warning == "" || slices.Contains(a.warnings, warning):
	case len(a.warnings) == maxList:
		a.more++
	default:
		a.warnings = append(a.warnings, warning)
	}
}

// detail adds the warnings that the trace does not have to the result of a stage.
func (a *assembly) detail(res *stageResult) {
	reason := res.Detail
	for _, w := range a.warnings[a.traced:] {
		if reason == "" || !strings.HasSuffix(w, reason) {
			res.Detail = strings.TrimPrefix(res.Detail+"; "+w, "; ")
		}
	}
	a.traced = len(a.warnings)
}

// timed is a context whose Err is an error after the time of an assembly is up, by the clock of [Config].
type timed struct {
	context.Context
	a *assembly
}

func (t timed) Err() error {
	err, most := t.Context.Err(), t.a.template.Budget.Timeout
	if err == nil && most > 0 && t.a.elapsed() >= most {
		return context.DeadlineExceeded
	}
	return err
}

// left returns how many tokens are left.
func (a *assembly) left() int { return max(0, a.maxTokens-total(a.found)) }

// ask counts a query, and reports false where none is left.
func (a *assembly) ask() bool {
	if most := a.template.Budget.MaxQueries; most > 0 && a.queries >= most {
		a.stop(byQueries)
		return false
	}
	a.queries++
	return true
}

func (a *assembly) stop(reason string) {
	if a.stopped == "" {
		a.stopped = reason
		a.warn(exceeded + reason)
	}
}

// late reports whether the time is up, the template's or the caller's, and stops then.
func (a *assembly) late() bool {
	if a.ctx.Err() == nil {
		return false
	}
	a.stop(byTime)
	return true
}

// stage runs one stage and records its result.
func (a *assembly) stage(i int, rerun string) {
	s := &a.stages[i]
	began, queries := a.service.config.Now(), a.queries
	res := stageResult{Stage: s.Stage + rerun, Type: s.Type, Status: StatusOK}
	config := s.Config
	if s.Disabled {
		config = nil
	}
	switch c := config.(type) {
	case nil:
		res.Status, res.Detail = StatusSkipped, "disabled"
	case *tierSelect:
		a.selectTiers(c, &res)
	case *structuring:
		var cut bool
		a.found, cut = structure(a.found, c, a.maxTokens, &a.template.Tokens)
		res.keep(a.found, cut)
	case *halting:
		a.halt(i, c, &res)
		queries = a.queries // the searches that ran again have them
	default:
		a.gather(s, &res)
	}
	s.ran = res.Status != StatusSkipped && res.Status != StatusFailed
	res.Queries = a.queries - queries
	res.Duration = max(0, a.service.config.Now().Sub(began))
	a.detail(&res)
	a.trace = append(a.trace, res)
}

// keep sets the fragments that a stage found or left, and whether it cut others.
func (r *stageResult) keep(fs []Fragment, cut bool) {
	r.Fragments, r.Tokens = len(fs), total(fs)
	switch {
	case r.Status != StatusOK:
	case cut:
		r.Status = StatusTruncated
	case len(fs) == 0:
		r.Status = StatusEmpty
	}
}

// bars returns why a stage that reads does not run, "" if it may. After the budget is exceeded only attention is read,
// while there is time: items that block displace other fragments.
func (a *assembly) bars(s *stage) string {
	_, attention := s.Config.(*AttentionQuery)
	switch {
	case a.halted:
		return haltedBefore
	case a.late():
	case attention:
		return ""
	case a.stopped == "" && a.left() == 0:
		a.stop(byTokens)
	}
	if a.stopped == "" {
		return ""
	}
	return exceeded + a.stopped
}

// selectTiers sets the scope of later queries.
func (a *assembly) selectTiers(c *tierSelect, res *stageResult) {
	a.tiers, a.strategy = c.Tiers, c.Strategy
	if !slices.ContainsFunc(c.Tiers, func(tier string) bool { return a.service.config.Ledgers[tier] != nil }) {
		res.Status, res.Detail = StatusFailed, "no ledger of the tiers "+strings.Join(c.Tiers, ", ")
		a.warn(fmt.Sprintf("stage %s failed: %s", res.Stage, res.Detail))
	}
}

// gather calls the source of a stage, and keeps the fragments that fit.
func (a *assembly) gather(s *stage, res *stageResult) {
	before := a.left()
	limit := before
	if s.Share > 0 {
		limit = int(float64(before) * s.Share)
	}
	tokens := &a.template.Tokens
	got, err := a.call(s, &Input{
		Request: a.request, Tiers: a.tiers, Tokens: limit, Estimate: tokens.Estimate, Found: slices.Clip(a.found),
	})
	for _, w := range got.Warnings {
		a.warn(w)
	}
	if skip, ok := errors.AsType[skipped](err); ok {
		res.Status, res.Detail = StatusSkipped, string(skip)
		return
	}
	if err != nil {
		res.Status, res.Detail = StatusFailed, texts.Safe(err.Error(), maxLineRunes)
		a.warn(fmt.Sprintf("stage %s failed: %s", s.Stage, err))
	}
	for k := range got.Fragments {
		f := &got.Fragments[k]
		if f.Relevance = min(f.Relevance, 1); !(f.Relevance >= 0) { // also NaN
			f.Relevance = 0
		}
		if a.scrubs {
			a.scrub(f)
		}
		render(f, tokens)
	}
	// Required fragments are kept beyond the stage's share, and displace earlier fragments.
	kept, cut := fit(got.Fragments, limit, tokens)
	if a.found = slices.Concat(a.found, kept); total(kept) > before {
		a.found, _ = fit(a.found, a.maxTokens, tokens)
		if takes := total(a.found); takes > a.maxTokens {
			a.err = fmt.Errorf("%w: %d tokens, of %d", ErrRequired, takes, a.maxTokens)
		}
	}
	s.kept = append(s.kept, kept...)
	res.keep(kept, cut || got.More)
	if cut && limit == before {
		a.stop(byTokens)
	}
	if a.late() {
		res.Status = StatusTimeout
	}
}

// scrub removes private data from the title and the lines of a fragment. The lines are copied, since the source may
// keep its own.
func (a *assembly) scrub(f *Fragment) {
	f.Title = a.service.config.Scrub(f.Title)
	for _, lines := range []*[]Line{&f.Lines, &f.Short} {
		*lines = slices.Clone(*lines)
		for i := range *lines {
			line, scrub := &(*lines)[i], a.service.config.Scrub
			if own := a.service.config.ScrubData; own != nil && line.Data && line.Kind != Hex {
				scrub = own
			}
			line.Text = scrub(line.Text)
		}
	}
}

// halt ends the pipeline if all requirements are met. Otherwise it runs the searches again, relaxed, while the budget
// allows it.
func (a *assembly) halt(i int, c *halting, res *stageResult) {
	reruns := 0
	for a.lacks(c) != "" && reruns < c.MaxReruns && a.stopped == "" && !a.halted && a.err == nil && a.searched(i) {
		reruns++
		a.rerun(i, c.Relax, reruns)
	}
	lacks := a.lacks(c)
	switch {
	case a.halted:
		res.Status, res.Detail = StatusSkipped, haltedBefore
	case lacks == "":
		res.Detail, a.halted = fmt.Sprintf("satisfied: %d fragments, %d tokens", len(a.found), total(a.found)), true
	case a.stopped != "":
		res.Detail = fmt.Sprintf("budget: %s was exceeded; %s", a.stopped, lacks)
	default:
		res.Detail = fmt.Sprintf("completed after %d reruns, not satisfied: %s", reruns, lacks)
		a.warn(fmt.Sprintf("stage %s %s", res.Stage, res.Detail))
	}
	res.Fragments, res.Tokens = len(a.found), total(a.found)
}

// lacks returns the unmet requirements of a halting stage, "" for none.
func (a *assembly) lacks(c *halting) string {
	var all []string
	for _, it := range a.open {
		if it.Blocking && !a.has(it.SourceID) {
			all = append(all, fmt.Sprintf("open item %s, which blocks, is not in it", it.SourceID))
		}
	}
	if covered, required := a.covered(); float64(covered) < c.SatisfactionThreshold*float64(required) {
		all = append(all, fmt.Sprintf("%d of %d parts of the required context were found", covered, required))
	}
	if n := len(a.found); n < c.MinFragments {
		all = append(all, fmt.Sprintf("%d of %d fragments", n, c.MinFragments))
	}
	if n := total(a.found); n < c.MinTokens {
		all = append(all, fmt.Sprintf("%d of %d tokens", n, c.MinTokens))
	}
	return strings.Join(all, "; ")
}

// has reports whether a fragment is about an item in any revision, or names it.
func (a *assembly) has(item string) bool {
	id := itemOf(item)
	return slices.ContainsFunc(a.found, func(f Fragment) bool {
		return f.Source == SourceAttention &&
			(itemOf(f.SourceID) == id || slices.Contains(strings.Fields(f.Refs["items"]), id))
	})
}

// itemOf returns the item of a SourceID of attention, without its revision.
func itemOf(id string) string {
	if at := strings.LastIndexByte(id, '@'); at > 0 {
		return id[:at]
	}
	return id
}

// covered returns how many parts the contract requires, each file one, and how many of them were found: by themselves
// or by a duplicate.
func (a *assembly) covered() (covered, required int) {
	there := map[string]bool{}
	keys := func(f *Fragment) []string { return append(identities(f), f.key()) }
	for i := range a.found {
		for _, key := range keys(&a.found[i]) {
			there[key] = true
		}
	}
	for _, p := range a.request.Contract.stages() {
		parts, read := 1, 0
		if c, ok := p.Config.(*FileRead); ok {
			parts = len(c.Paths)
		}
		i := slices.IndexFunc(a.stages, func(s stage) bool { return s.meets(&p) })
		for _, f := range a.stages[i].kept {
			if slices.ContainsFunc(keys(&f), func(key string) bool { return there[key] }) {
				read++
			}
		}
		covered, required = covered+min(read, parts), required+parts
	}
	return covered, required
}

// searched reports whether a search before a halting stage was made.
func (a *assembly) searched(i int) bool {
	return slices.ContainsFunc(a.stages[:i], func(s stage) bool {
		_, search := s.Config.(*horizontalSearch)
		return search && s.ran
	})
}

// rerun runs the searches before a halting stage again, with a lower threshold and a higher limit, and what structures
// them.
func (a *assembly) rerun(i int, relax float64, n int) {
	for j := range a.stages[:i] {
		s := &a.stages[j]
		if !s.ran {
			continue
		}
		switch c := s.Config.(type) {
		case *horizontalSearch:
			relaxed := *c
			relaxed.RelevanceThreshold *= relax
			relaxed.MaxResults = int(math.Ceil(min(float64(c.MaxResults)/relax, math.MaxInt32)))
			s.Config = &relaxed
		case *structuring:
		default:
			continue
		}
		a.stage(j, fmt.Sprintf(" (rerun %d)", n))
	}
}
