package briefing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	results  []string     // by stage, of its latest run
	kept     [][]Fragment // by stage, of all its runs
	trace    []stageResult
	warnings []string
	traced   int // warnings that are in the trace
	more     int // warnings beyond the bound

	stopped string // the budget that was exceeded
	halted  bool   // a halting stage was satisfied
	err     error  // the first one, after which there is no context
}

// The budgets that a context can exceed.
const (
	byTokens  = "max_context_tokens"
	byQueries = "max_queries"
	byTime    = "timeout"
)

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

// record adds the result of a stage to the trace.
func (a *assembly) record(i int, res *stageResult, began time.Time) {
	a.results[i] = res.Status
	res.Duration = max(0, a.service.config.Now().Sub(began))
	a.detail(res)
	a.trace = append(a.trace, *res)
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
	if err := t.Context.Err(); err != nil || !t.a.over() {
		return err
	}
	return context.DeadlineExceeded
}

func total(fs []Fragment) (tokens int) {
	for i := range fs {
		tokens += fs[i].TokenEstimate
	}
	return tokens
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
		a.warn("the budget is exceeded: " + reason)
	}
}

// over reports whether the template's time is up.
func (a *assembly) over() bool {
	most := a.template.Budget.Timeout
	return most > 0 && a.elapsed() >= most
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
	switch {
	case s.Disabled:
		res.Status, res.Detail = StatusSkipped, "disabled"
	case s.Type == typeTierSelect:
		a.selectTiers(s.Config.(*tierSelect), &res)
	case s.Type == typeStructuring:
		a.structure(s.Config.(*structuring), &res)
	case s.Type == typeHalting:
		a.halt(i, s.Config.(*halting), &res, began)
		return
	case a.halted:
		res.Status, res.Detail = StatusSkipped, "halted before"
	case !a.mayRead(s.Type):
		res.Status, res.Detail = StatusSkipped, "the budget is exceeded: "+a.stopped
	default:
		a.gather(i, &res)
		if res.Status != StatusSkipped && a.late() {
			res.Status = StatusTimeout
		}
	}
	res.Queries = a.queries - queries
	a.record(i, &res, began)
}

// mayRead reports whether the budget lets a stage read, and stops where it does not.
func (a *assembly) mayRead(t string) bool {
	switch {
	case a.late():
		return false
	case t == typeAttention:
		return true
	case a.stopped == "" && a.left() == 0:
		a.stop(byTokens)
	}
	return a.stopped == ""
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
func (a *assembly) gather(i int, res *stageResult) {
	s, before := &a.stages[i], a.left()
	limit := before
	if s.Share > 0 {
		limit = int(float64(before) * s.Share)
	}
	got, err := a.call(s, &Input{
		Request: a.request, Tiers: a.tiers, Tokens: limit, Estimate: a.template.Tokens.Estimate,
		Found: slices.Clip(a.found),
	})
	for _, w := range got.Warnings {
		a.warn(w)
	}
	var skip *skipped
	switch {
	case errors.As(err, &skip):
		res.Status, res.Detail = StatusSkipped, skip.why
		return
	case err != nil:
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
		render(f, &a.template.Tokens)
	}
	// Required fragments are kept beyond the stage's share, and displace earlier fragments.
	kept, cut := a.fit(got.Fragments, limit, unbounded)
	if a.found = slices.Concat(a.found, kept); total(kept) > before {
		a.found, _ = a.fit(a.found, a.maxTokens, a.maxTokens)
	}
	a.kept[i] = append(a.kept[i], kept...)
	res.Fragments, res.Tokens = len(kept), total(kept)
	switch {
	case res.Status != StatusOK:
	case cut || got.More:
		res.Status = StatusTruncated
	case len(kept) == 0:
		res.Status = StatusEmpty
	}
	if cut && limit == before {
		a.stop(byTokens)
	}
}

// fit cuts fragments as [fit] does.
func (a *assembly) fit(fs []Fragment, limit, most int) (kept []Fragment, cut bool) {
	kept, cut, err := fit(fs, limit, most, &a.template.Tokens)
	a.err = cmp.Or(a.err, err)
	return kept, cut
}

// scrub removes private data from the title and the lines of a fragment. The lines are copied, since the source may
// keep its own.
func (a *assembly) scrub(f *Fragment) {
	f.Title = a.service.config.Scrub(f.Title)
	for _, lines := range []*[]Line{&f.Lines, &f.Short} {
		*lines = slices.Clone(*lines)
		for i := range *lines {
			(*lines)[i].Text = a.service.config.Scrub((*lines)[i].Text)
		}
	}
}

// structure runs a structuring stage.
func (a *assembly) structure(c *structuring, res *stageResult) {
	kept, cut, err := structure(a.found, c, a.maxTokens, &a.template.Tokens)
	a.found, a.err = kept, cmp.Or(a.err, err)
	res.Fragments, res.Tokens = len(kept), total(kept)
	switch {
	case cut:
		res.Status = StatusTruncated
	case len(kept) == 0:
		res.Status = StatusEmpty
	}
}
