package briefing

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	texts "github.com/heedlog/heed/internal/text"
)

// assembly is the making of one context.
type assembly struct {
	service   *Service
	ctx       context.Context
	request   *Request
	template  *Template
	stages    []Stage
	maxTokens int // 0: no bound
	open      []Item
	started   time.Time

	found    []Fragment
	tiers    []string // of tier_select, nil before it
	strategy string
	queries  int
	results  map[int]Status // by stage
	trace    []StageResult
	warnings []string
	said     []string // of them, by the stage that runs

	stopped string // the budget that was exceeded
	halted  bool   // a halting stage was satisfied
}

// What may be exceeded.
const (
	byTokens  = "max_context_tokens"
	byQueries = "max_queries"
	byTime    = "timeout"
)

func (a *assembly) elapsed() time.Duration { return a.service.Now().Sub(a.started) }

// warn records a warning, "" for none.
func (a *assembly) warn(warning string) {
	if warning = texts.Safe(warning, maxText); warning == "" {
		return
	}
	if !slices.Contains(a.warnings, warning) {
		a.warnings = append(a.warnings, warning)
	}
	a.said = append(a.said, warning)
}

// record adds the result of a stage to the trace, with what it warned of.
func (a *assembly) record(i int, res StageResult, began time.Time, queries int) {
	if len(a.said) > 0 {
		if res.Detail != "" {
			res.Detail += "; "
		}
		res.Detail += strings.Join(a.said, "; ")
	}
	a.said = nil
	res.Queries, res.Duration = a.queries-queries, a.service.Now().Sub(began)
	a.results[i] = res.Status
	a.trace = append(a.trace, res)
}

func total(fs []Fragment) (tokens int) {
	for i := range fs {
		tokens += fs[i].TokenEstimate
	}
	return tokens
}

// left returns how many tokens are left.
func (a *assembly) left() int {
	if a.maxTokens <= 0 {
		return math.MaxInt32
	}
	return max(0, a.maxTokens-total(a.found))
}

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
		a.warn("the budget was exceeded: " + reason)
	}
}

// late reports whether the time is up.
func (a *assembly) late() bool {
	most := a.template.Budget.Timeout
	if a.ctx.Err() == nil && (most <= 0 || a.elapsed() < most) {
		return false
	}
	a.stop(byTime)
	return true
}

// exceeded reports whether nothing is left of what a stage needs, and stops the pipeline then.
func (a *assembly) exceeded(t StageType) bool {
	asks := t == TypeLedgerQuery || t == TypeRegistryQuery || t == TypeHorizontalSearch
	most := a.template.Budget.MaxQueries
	switch {
	case a.late():
	case a.left() == 0:
		a.stop(byTokens)
	case asks && most > 0 && a.queries >= most:
		a.stop(byQueries)
	}
	return a.stopped != ""
}

// run runs the stages. Once the budget is exceeded or a halting stage is satisfied, only those still run that read
// nothing.
func (a *assembly) run() error {
	for i := range a.stages {
		if err := a.stage(i, ""); err != nil {
			return err
		}
	}
	return nil
}

// reads reports whether a stage gathers fragments.
func reads(t StageType) bool { return t != TypeTierSelect && t != TypeStructuring && t != TypeHalting }

// stage runs one stage and records its result.
func (a *assembly) stage(i int, rerun string) error {
	s := &a.stages[i]
	began, queries := a.service.Now(), a.queries
	a.said = nil
	res := StageResult{Stage: s.Stage + rerun, Type: s.Type, Status: StatusOK}
	var err error
	switch {
	case s.Disabled:
		res.Status, res.Detail = StatusSkipped, "disabled"
	case s.Type == TypeTierSelect:
		c := s.Config.(*TierSelect)
		a.tiers, a.strategy = c.Tiers, c.Strategy
	case s.Type == TypeStructuring:
		err = a.structure(s.Config.(*Structuring), &res)
	case s.Type == TypeHalting:
		return a.halt(i, s.Config.(*Halting), res, began)
	case a.halted:
		res.Status, res.Detail = StatusSkipped, "halted before"
	case a.stopped != "" || a.exceeded(s.Type):
		res.Status, res.Detail = StatusSkipped, "the budget is exceeded: "+a.stopped
		a.said = nil
	default:
		err = a.gather(s, &res)
	}
	if reads(s.Type) && res.Status != StatusSkipped && a.late() {
		res.Status = StatusTimeout
	}
	a.record(i, res, began, queries)
	return err
}

// gather calls the source of a stage, and keeps of what it returns what fits.
func (a *assembly) gather(s *Stage, res *StageResult) error {
	limit := a.left()
	if s.Share > 0 {
		limit = int(float64(limit) * s.Share)
	}
	in := &Input{
		Request: a.request, Tiers: a.tiers, Tokens: limit, Estimate: a.template.Tokens.Estimate,
		Found: slices.Clip(a.found),
	}
	got, err := a.call(s, in)
	for _, w := range got.Warnings {
		a.warn(w)
	}
	var skip *noValue
	switch {
	case errors.As(err, &skip):
		res.Status, res.Detail = StatusSkipped, skip.Error()
		return nil
	case err != nil:
		res.Status = StatusFailed
		a.warn(fmt.Sprintf("stage %s failed: %s", s.Stage, err))
	}
	for i := range got.Fragments {
		a.scrub(&got.Fragments[i])
		render(&got.Fragments[i], &a.template.Tokens)
	}
	kept, cut, err := fit(got.Fragments, max(1, limit), &a.template.Tokens)
	all := slices.Concat(a.found, kept)
	if errors.Is(err, ErrRequired) { // what must be in it displaces other fragments
		n := len(got.Fragments)
		kept = slices.DeleteFunc(got.Fragments, func(f Fragment) bool { return !f.Required })
		got.More = got.More || len(kept) < n
		all, cut, err = fit(slices.Concat(a.found, kept), a.maxTokens, &a.template.Tokens)
		limit = a.left()
	}
	if err != nil {
		return err
	}
	before := a.left()
	a.found = all
	res.Fragments, res.Tokens = len(kept), total(all[len(all)-len(kept):])
	switch {
	case res.Status != StatusOK:
	case cut || got.More:
		res.Status = StatusTruncated
	case len(kept) == 0:
		res.Status = StatusEmpty
	}
	if cut && limit >= before {
		a.stop(byTokens)
	}
	return nil
}

// scrub removes private data from what is shown of a fragment, where the template or the request asks for it. Its lines
// are new, since the source may keep those that it has.
func (a *assembly) scrub(f *Fragment) {
	if !a.scrubs() {
		return
	}
	f.Title = a.service.Scrub(f.Title)
	for _, lines := range []*[]Line{&f.Lines, &f.Short} {
		*lines = slices.Clone(*lines)
		for i := range *lines {
			(*lines)[i].Text = a.service.Scrub((*lines)[i].Text)
		}
	}
}

func (a *assembly) scrubs() bool { return a.template.Scrub || a.request.Scrub }

// noValue is that a variable has no value, so that a stage has nothing to ask.
type noValue struct{ name string }

func (e *noValue) Error() string { return e.name + " has no value" }

// call calls the source of a stage. Some of what it returns may be there beside an error.
func (a *assembly) call(s *Stage, in *Input) (Found, error) {
	vars := variables{a.request, a.found}
	switch c := s.Config.(type) {
	case *LedgerQuery:
		q := *c
		var err error
		if q.Filters, err = vars.filters(q.Filters); err != nil {
			return Found{}, err
		}
		return a.ledgers(in, &q)
	case *RegistryQuery:
		q := *c
		var err error
		if q.Filters, err = vars.filters(q.Filters); err != nil {
			return Found{}, err
		}
		source := a.service.Registries[q.Registry]
		if source == nil {
			return Found{}, fmt.Errorf("no registry %q", q.Registry)
		}
		if !a.ask() {
			return Found{}, nil
		}
		return source.Rows(a.ctx, in, &q)
	case *FileRead:
		return readFiles(a.ctx, a.service.roots, c)
	case *HorizontalSearch:
		return a.search(in, c, vars)
	case *AttentionQuery:
		if a.service.Attention == nil {
			return Found{}, errors.New("no attention to read")
		}
		return a.service.Attention.Items(a.ctx, in, c)
	case *Custom:
		h := a.service.Handlers[c.Handler]
		if h == nil {
			return Found{}, fmt.Errorf("no handler %q", c.Handler)
		}
		return h(a.ctx, in, c.Args)
	}
	panic("BUG: briefing: stage of type " + string(s.Type))
}

// filters returns filters with the values of their variables.
func (v variables) filters(of map[string]string) (map[string]string, error) {
	out := make(map[string]string, len(of))
	for _, name := range slices.Sorted(maps.Keys(of)) {
		value, missing := v.expand(of[name])
		if missing != "" {
			return nil, &noValue{missing}
		}
		out[name] = value
	}
	return out, nil
}

// scope returns the tiers that a query reads, and how.
func (a *assembly) scope(tier string) (tiers []string, strategy string) {
	switch {
	case tier != "":
		return []string{tier}, HighestFirst
	case a.tiers != nil:
		return a.tiers, a.strategy
	case a.request.Tier != "":
		return []string{a.request.Tier}, HighestFirst
	}
	return slices.Sorted(maps.Keys(a.service.Ledgers)), AllParallel
}

// tiersRead returns the tiers that the pipeline may read.
func (a *assembly) tiersRead() []string {
	var all []string
	for i := range a.stages {
		switch c := a.stages[i].Config.(type) {
		case *TierSelect:
			all = append(all, c.Tiers...)
		case *LedgerQuery:
			tiers, _ := a.scope(c.Tier)
			all = append(all, tiers...)
		case *HorizontalSearch:
			tiers, _ := a.scope("")
			if all = append(all, c.Tiers...); len(c.Tiers) == 0 {
				all = append(all, tiers...)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ledgers asks the ledgers of a query's tiers.
func (a *assembly) ledgers(in *Input, q *LedgerQuery) (Found, error) {
	tiers, strategy := a.scope(q.Tier)
	var all Found
	var errs []error
	for _, tier := range tiers {
		ledger := a.service.Ledgers[tier]
		if ledger == nil {
			errs = append(errs, fmt.Errorf("no ledger of tier %q", tier))
			continue
		}
		if !a.ask() {
			all.More = true
			break
		}
		got, err := ledger.Entries(a.ctx, in, q)
		if err != nil {
			errs = append(errs, fmt.Errorf("tier %s: %w", tier, err))
		}
		all.add(got)
		if strategy == HighestFirst && len(got.Fragments) > 0 {
			break
		}
	}
	if len(all.Fragments) > 0 { // of another tier
		for _, err := range errs {
			all.Warnings = append(all.Warnings, err.Error())
		}
		return all, nil
	}
	return all, errors.Join(errs...)
}

func (f *Found) add(other Found) {
	f.Fragments = append(f.Fragments, other.Fragments...)
	f.Warnings = append(f.Warnings, other.Warnings...)
	f.More = f.More || other.More
}

// search asks the searchers.
func (a *assembly) search(in *Input, c *HorizontalSearch, vars variables) (Found, error) {
	query, missing := vars.expand(c.Query)
	if missing != "" {
		return Found{}, &noValue{missing}
	}
	if in.Tiers = c.Tiers; len(c.Tiers) == 0 {
		in.Tiers, _ = a.scope("")
	}
	names := c.Sources
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(a.service.Searchers))
	}
	var all Found
	var errs []error
	for _, name := range names {
		searcher := a.service.Searchers[name]
		if searcher == nil {
			errs = append(errs, fmt.Errorf("no searcher %q", name))
			continue
		}
		if !a.ask() {
			all.More = true
			break
		}
		got, err := searcher.Search(a.ctx, in, query, c.MaxResults, c.RelevanceThreshold)
		if err != nil {
			errs = append(errs, fmt.Errorf("searcher %s: %w", name, err))
		}
		for i := range got.Fragments {
			f := &got.Fragments[i]
			if f.Scored = true; !(f.Relevance > 0) {
				f.Relevance = 0 // nor is it not a number
			}
			f.Relevance = min(f.Relevance, 1)
		}
		all.add(got)
	}
	all.Fragments = slices.DeleteFunc(all.Fragments, func(f Fragment) bool {
		return f.Relevance < c.RelevanceThreshold || slices.ContainsFunc(in.Found, func(o Fragment) bool {
			return o.Source == f.Source && o.SourceID == f.SourceID
		})
	})
	slices.SortStableFunc(all.Fragments, func(x, y Fragment) int { return precedence(&x, &y) })
	if len(all.Fragments) > c.MaxResults {
		all.Fragments, all.More = all.Fragments[:c.MaxResults], true
	}
	if len(all.Fragments) > 0 {
		for _, err := range errs {
			all.Warnings = append(all.Warnings, err.Error())
		}
		return all, nil
	}
	return all, errors.Join(errs...)
}

// structure orders and cuts what was found.
func (a *assembly) structure(c *Structuring, res *StageResult) error {
	kept, cut, err := structure(a.found, c, a.maxTokens, &a.template.Tokens)
	if err != nil {
		return err
	}
	a.found = kept
	res.Fragments, res.Tokens = len(kept), total(kept)
	switch {
	case cut:
		res.Status = StatusTruncated
	case len(kept) == 0:
		res.Status = StatusEmpty
	}
	return nil
}

// halt ends the pipeline where what is required was found, and else runs the searches again, relaxed, while the budget
// allows it.
func (a *assembly) halt(i int, c *Halting, res StageResult, began time.Time) error {
	queries := a.queries
	lacks := a.lacks(c)
	var reruns int
	for ; lacks != "" && reruns < c.MaxReruns && a.stopped == "" && !a.halted && a.searchesBefore(i); reruns++ {
		if err := a.rerun(i, c.Relax, reruns+1); err != nil {
			return err
		}
		lacks = a.lacks(c)
	}
	switch {
	case a.halted:
		res.Status, res.Detail = StatusSkipped, "halted before"
	case lacks == "":
		res.Detail, a.halted = fmt.Sprintf("satisfied: %d fragments, %d tokens", len(a.found), total(a.found)), true
	case a.stopped != "":
		res.Detail = fmt.Sprintf("budget: %s was exceeded; %s", a.stopped, lacks)
	default:
		res.Detail = fmt.Sprintf("completed after %d reruns, not satisfied: %s", reruns, lacks)
		a.warn("what is required was not all found: " + lacks)
	}
	res.Fragments, res.Tokens = len(a.found), total(a.found)
	a.said = nil
	a.record(i, res, began, queries)
	return nil
}

// lacks returns what a halting stage lacks, "" where it is satisfied.
func (a *assembly) lacks(c *Halting) string {
	var all []string
	for _, it := range a.open {
		if it.Blocking && !a.has(it.SourceID) {
			all = append(all, fmt.Sprintf("open item %s, which blocks, is not in it", it.SourceID))
		}
	}
	if covered, required := a.covered(); required > 0 && float64(covered) < c.SatisfactionThreshold*float64(required) {
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

// has reports whether an item is in what was found, in whatever revision.
func (a *assembly) has(item string) bool {
	id := itemID(item)
	return slices.ContainsFunc(a.found, func(f Fragment) bool {
		return f.Source == SourceAttention && (itemID(f.SourceID) == id || names(f.Content, id))
	})
}

// itemID returns what stands before the revision in the SourceID of an item.
func itemID(source string) string {
	if at := strings.LastIndexByte(source, '@'); at > 0 {
		return source[:at]
	}
	return source
}

// names reports whether a text has an id, and not only as a part of a word.
func names(text, id string) bool {
	inWord := func(s string, at int) bool { return at >= 0 && at < len(s) && (s[at] == '-' || isWord(s[at])) }
	for from := 0; id != ""; {
		at := strings.Index(text[from:], id)
		if at < 0 {
			break
		}
		if from += at; !inWord(text, from-1) && !inWord(text, from+len(id)) {
			return true
		}
		from++
	}
	return false
}

// covered returns how many parts the contract requires, and how many of them were found.
func (a *assembly) covered() (covered, required int) {
	parts := a.request.Contract.stages()
	for _, p := range parts {
		for i := range a.stages {
			if s := a.results[i]; (s == StatusOK || s == StatusTruncated) &&
				reflect.DeepEqual(a.stages[i].Config, p.Config) {
				covered++
				break
			}
		}
	}
	return covered, len(parts)
}

func (a *assembly) searchesBefore(i int) bool {
	return slices.ContainsFunc(a.stages[:i], func(s Stage) bool { return s.Type == TypeHorizontalSearch && !s.Disabled })
}

// rerun runs the searches before a halting stage again, with a lower threshold and a higher limit, and what structures
// them.
func (a *assembly) rerun(i int, relax float64, n int) error {
	for j := range a.stages[:i] {
		s := &a.stages[j]
		if s.Disabled {
			continue
		}
		switch c := s.Config.(type) {
		case *HorizontalSearch:
			relaxed := *c
			relaxed.RelevanceThreshold *= relax
			relaxed.MaxResults = int(math.Ceil(min(float64(c.MaxResults)/relax, math.MaxInt32)))
			s.Config = &relaxed
		case *Structuring:
		default:
			continue
		}
		if err := a.stage(j, fmt.Sprintf(" (rerun %d)", n)); err != nil {
			return err
		}
	}
	return nil
}
