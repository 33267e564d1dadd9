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
	results  []Status     // by stage, of its latest run
	kept     [][]Fragment // by stage, of all its runs
	trace    []StageResult
	warnings []string
	untraced []string // warnings that are not in the trace yet
	more     int      // warnings beyond the bound

	stopped string // the budget that was exceeded
	halted  bool   // a halting stage was satisfied
}

// What may be exceeded.
const (
	byTokens  = "max_context_tokens"
	byQueries = "max_queries"
	byTime    = "timeout"
)

func (a *assembly) elapsed() time.Duration { return max(0, a.service.config.Now().Sub(a.started)) }

// warn records a warning, "" for none. It stands in the trace with the stage at hand, or else the next.
func (a *assembly) warn(warning string) {
	warning = texts.Safe(warning, maxLineRunes)
	switch {
	case warning == "" || slices.Contains(a.warnings, warning):
	case len(a.warnings) == maxList:
		a.more++
	default:
		a.warnings, a.untraced = append(a.warnings, warning), append(a.untraced, warning)
	}
}

// record adds the result of a stage to the trace.
func (a *assembly) record(i int, res *StageResult, began time.Time) {
	reason := res.Detail
	for _, w := range a.untraced {
		if reason == "" || !strings.HasSuffix(w, reason) {
			res.Detail = strings.TrimPrefix(res.Detail+"; "+w, "; ")
		}
	}
	a.untraced, a.results[i] = nil, res.Status
	res.Duration = max(0, a.service.config.Now().Sub(began))
	a.trace = append(a.trace, *res)
}

// timed is a context that ends with the time of an assembly, by the clock of [Config]: sources that ask Err see it.
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

// run runs the stages. Once the budget is exceeded or a halting stage is satisfied, only those still run that read
// nothing; and while there is time those of attention, since what blocks displaces other fragments.
func (a *assembly) run() error {
	a.results, a.kept = make([]Status, len(a.stages)), make([][]Fragment, len(a.stages))
	for i := range a.stages {
		if err := a.stage(i, ""); err != nil {
			return err
		}
	}
	return nil
}

// stage runs one stage and records its result.
func (a *assembly) stage(i int, rerun string) error {
	s := &a.stages[i]
	began, queries := a.service.config.Now(), a.queries
	res := StageResult{Stage: s.Stage + rerun, Type: s.Type, Status: StatusOK}
	var err error
	switch {
	case s.Disabled:
		res.Status, res.Detail = StatusSkipped, "disabled"
	case s.Type == TypeTierSelect:
		a.selectTiers(s.Config.(*TierSelect), &res)
	case s.Type == TypeStructuring:
		err = a.structure(s.Config.(*Structuring), &res)
	case s.Type == TypeHalting:
		return a.halt(i, s.Config.(*Halting), &res, began)
	case a.halted:
		res.Status, res.Detail = StatusSkipped, "halted before"
	case !a.mayRead(s.Type):
		res.Status, res.Detail = StatusSkipped, "the budget is exceeded: "+a.stopped
	default:
		err = a.gather(i, &res)
		if res.Status != StatusSkipped && a.late() {
			res.Status = StatusTimeout
		}
	}
	res.Queries = a.queries - queries
	a.record(i, &res, began)
	return err
}

// mayRead reports whether the budget lets a stage read, and stops where it does not.
func (a *assembly) mayRead(t StageType) bool {
	switch {
	case a.late():
		return false
	case t == TypeAttention:
		return true
	case a.stopped == "" && a.left() == 0:
		a.stop(byTokens)
	}
	return a.stopped == ""
}

// selectTiers sets the scope of later queries.
func (a *assembly) selectTiers(c *TierSelect, res *StageResult) {
	a.tiers, a.strategy = c.Tiers, c.Strategy
	if !slices.ContainsFunc(c.Tiers, func(tier string) bool { return a.service.config.Ledgers[tier] != nil }) {
		res.Status, res.Detail = StatusFailed, "no ledger of the tiers "+strings.Join(c.Tiers, ", ")
		a.warn(fmt.Sprintf("stage %s failed: %s", res.Stage, res.Detail))
	}
}

// gather calls the source of a stage, and keeps of what it returns what fits.
func (a *assembly) gather(i int, res *StageResult) error {
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
		return nil
	case err != nil:
		res.Status, res.Detail = StatusFailed, texts.Safe(err.Error(), maxLineRunes)
		a.warn(fmt.Sprintf("stage %s failed: %s", s.Stage, err))
	}
	required := 0
	for k := range got.Fragments {
		f := &got.Fragments[k]
		if f.Relevance = min(f.Relevance, 1); !(f.Relevance >= 0) { // also what is no number
			f.Relevance = 0
		}
		a.scrub(f)
		render(f, &a.template.Tokens)
		if f.Required {
			short := shortened(f, 0, &a.template.Tokens)
			required += short.TokenEstimate
		}
	}
	// What is required is kept beyond the stage's share, and displaces what was found before.
	var kept []Fragment
	cut := len(got.Fragments) > 0
	if room := max(limit, required); room > 0 {
		if kept, cut, err = fit(got.Fragments, room, &a.template.Tokens); err != nil {
			return err
		}
	}
	if a.found = slices.Concat(a.found, kept); total(kept) > before {
		if a.found, _, err = fit(a.found, a.maxTokens, &a.template.Tokens); err != nil {
			return err
		}
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
	return nil
}

// scrub removes private data from what is shown of a fragment, where the template or the request asks for it. Its lines
// are new, since the source may keep those that it has.
func (a *assembly) scrub(f *Fragment) {
	if !a.scrubs() {
		return
	}
	f.Title = a.service.config.Scrub(f.Title)
	for _, lines := range []*[]Line{&f.Lines, &f.Short} {
		*lines = slices.Clone(*lines)
		for i := range *lines {
			(*lines)[i].Text = a.service.config.Scrub((*lines)[i].Text)
		}
	}
}

func (a *assembly) scrubs() bool { return a.template.Scrub || a.request.Scrub }

// skipped is why a stage had nothing to ask, or could not ask.
type skipped struct{ why string }

func (e *skipped) Error() string { return e.why }

func noValue(variable string) error { return &skipped{variable + " has no value"} }

// noQuery is that none is left.
func noQuery() error { return &skipped{"the budget is exceeded: " + byQueries} }

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
		source := a.service.config.Registries[q.Registry]
		if source == nil {
			return Found{}, fmt.Errorf("no registry %q", q.Registry)
		}
		if !a.ask() {
			return Found{}, noQuery()
		}
		return source.Rows(a.ctx, in, &q)
	case *FileRead:
		return readFiles(a.ctx, a.service.roots, c)
	case *HorizontalSearch:
		return a.search(in, c, vars)
	case *AttentionQuery:
		if a.service.config.Attention == nil {
			return Found{}, errors.New("no attention to read")
		}
		return a.service.config.Attention.Items(a.ctx, in, c)
	case *Custom:
		h := a.service.config.Handlers[c.Handler]
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
			return nil, noValue(missing)
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
	return slices.Sorted(maps.Keys(a.service.config.Ledgers)), AllParallel
}

// tiersRead returns the tiers that the pipeline may read. It is for before the first stage.
func (a *assembly) tiersRead() []string {
	scope, _ := a.scope("")
	var all []string
	for i := range a.stages {
		switch c := a.stages[i].Config.(type) {
		case *TierSelect:
			if !a.stages[i].Disabled {
				scope = c.Tiers
			}
		case *LedgerQuery:
			if c.Tier != "" {
				all = append(all, c.Tier)
			} else {
				all = append(all, scope...)
			}
		case *HorizontalSearch:
			all = append(all, c.Tiers...)
			if len(c.Tiers) == 0 {
				all = append(all, scope...)
			}
		case *Custom:
			all = append(all, scope...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ledgers asks the ledgers of a query's tiers, each for as many entries.
func (a *assembly) ledgers(in *Input, q *LedgerQuery) (Found, error) {
	tiers, strategy := a.scope(q.Tier)
	return a.each("ledger of tier", tiers, func(tier string) func() (Found, error) {
		ledger := a.service.config.Ledgers[tier]
		if ledger == nil {
			return nil
		}
		return func() (Found, error) { return ledger.Entries(a.ctx, in, q) }
	}, strategy == HighestFirst)
}

// each asks sources by their names, one query for each, and with first only until one has anything. It fails where none
// answered; else what failed is a warning.
func (a *assembly) each(kind string, names []string, of func(string) func() (Found, error), first bool) (Found, error) {
	var all Found
	var errs []error
	answered := false
	for _, name := range names {
		source := of(name)
		if source == nil {
			errs = append(errs, fmt.Errorf("no %s %q", kind, name))
			continue
		}
		if !a.ask() {
			if all.More = answered; !answered {
				return all, noQuery()
			}
			break
		}
		got, err := source()
		if err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", kind, name, err))
		}
		answered = answered || err == nil || len(got.Fragments) > 0
		all.Fragments = append(all.Fragments, got.Fragments...)
		all.Warnings = append(all.Warnings, got.Warnings...)
		all.More = all.More || got.More
		if first && len(got.Fragments) > 0 || a.late() {
			break
		}
	}
	switch {
	case len(names) == 0:
		return all, errors.New("no " + kind)
	case !answered:
		return all, errors.Join(errs...)
	}
	for _, err := range errs {
		all.Warnings = append(all.Warnings, err.Error())
	}
	return all, nil
}

// search asks the searchers.
func (a *assembly) search(in *Input, c *HorizontalSearch, vars variables) (Found, error) {
	query, missing := vars.expand(c.Query)
	if missing != "" {
		return Found{}, noValue(missing)
	}
	if in.Tiers = c.Tiers; len(c.Tiers) == 0 {
		in.Tiers, _ = a.scope("")
	}
	names := c.Sources
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(a.service.config.Searchers))
	}
	all, err := a.each("searcher", names, func(name string) func() (Found, error) {
		searcher := a.service.config.Searchers[name]
		if searcher == nil {
			return nil
		}
		return func() (Found, error) {
			return searcher.Search(a.ctx, in, query, c.MaxResults, c.RelevanceThreshold)
		}
	}, false)
	known := make(map[string]bool, len(a.found))
	for i := range a.found {
		known[a.found[i].key()] = true
	}
	all.Fragments = slices.DeleteFunc(all.Fragments, func(f Fragment) bool {
		return !(f.Relevance >= c.RelevanceThreshold) || known[f.key()]
	})
	for i := range all.Fragments {
		all.Fragments[i].Scored = true
	}
	slices.SortStableFunc(all.Fragments, func(x, y Fragment) int { return precedence(&x, &y) })
	if len(all.Fragments) > c.MaxResults {
		all.Fragments, all.More = all.Fragments[:c.MaxResults], true
	}
	return all, err
}

// key is by what a fragment is found again.
func (f *Fragment) key() string { return string(f.Source) + " " + f.SourceID }

// structure orders and cuts what was found.
func (a *assembly) structure(c *Structuring, res *StageResult) error {
	kept, cut, err := structure(a.found, c, a.maxTokens, &a.template.Tokens)
	if errors.Is(err, ErrRequired) { // by its own limit: nothing but what is required stays
		required := slices.DeleteFunc(slices.Clone(a.found), func(f Fragment) bool { return !f.Required })
		for i := range required {
			required[i] = shortened(&required[i], 0, &a.template.Tokens)
		}
		kept, _, err = structure(required, &Structuring{Strategy: c.Strategy}, a.maxTokens, &a.template.Tokens)
		cut = true
	}
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
func (a *assembly) halt(i int, c *Halting, res *StageResult, began time.Time) error {
	lacks := a.lacks(c)
	var reruns int
	for ; lacks != "" && reruns < c.MaxReruns && a.stopped == "" && !a.halted && a.searched(i); reruns++ {
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
		a.warn(fmt.Sprintf("stage %s %s", res.Stage, res.Detail))
	}
	res.Fragments, res.Tokens = len(a.found), total(a.found)
	a.record(i, res, began)
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

// has reports whether an item is in what was found, in whatever revision: its own fragment, or named in the words of
// another.
func (a *assembly) has(item string) bool {
	id := itemOf(item)
	return slices.ContainsFunc(a.found, func(f Fragment) bool {
		return f.Source == SourceAttention && (itemOf(f.SourceID) == id || names(f.Title, id) ||
			slices.Contains(strings.Fields(f.Refs["items"]), id) ||
			slices.ContainsFunc(f.Lines, func(l Line) bool { return !l.Data && names(l.Text, id) }))
	})
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

// itemOf returns the item of a SourceID of attention, without its revision.
func itemOf(id string) string {
	if at := strings.LastIndexByte(id, '@'); at > 0 {
		return id[:at]
	}
	return id
}

// covered returns how many parts the contract requires, each file one, and how many of them are in what was found, as
// they are or by a fragment that stands for them.
func (a *assembly) covered() (covered, required int) {
	parts := a.request.Contract.stages()
	if len(parts) == 0 {
		return 0, 0
	}
	there := map[string]bool{}
	keys := func(f *Fragment) []string {
		same, signature := identities(f)
		return append(same, f.key(), signature)
	}
	for i := range a.found {
		for _, key := range keys(&a.found[i]) {
			there[key] = key != ""
		}
	}
	for _, p := range parts {
		files, read := 1, 0
		if c, ok := p.Config.(*FileRead); ok {
			files = len(c.Paths)
		}
		i := slices.IndexFunc(a.stages, func(s Stage) bool { return !s.Disabled && reflect.DeepEqual(s.Config, p.Config) })
		for k := range a.kept[i] {
			if slices.ContainsFunc(keys(&a.kept[i][k]), func(key string) bool { return there[key] }) {
				read++
			}
		}
		covered, required = covered+min(read, files), required+files
	}
	return covered, required
}

// searched reports whether a search before a halting stage was made.
func (a *assembly) searched(i int) bool {
	for j, s := range a.stages[:i] {
		if s.Type == TypeHorizontalSearch && a.results[j] != StatusSkipped && a.results[j] != StatusFailed {
			return true
		}
	}
	return false
}

// rerun runs the searches before a halting stage again, with a lower threshold and a higher limit, and what structures
// them.
func (a *assembly) rerun(i int, relax float64, n int) error {
	for j := range a.stages[:i] {
		s := &a.stages[j]
		if r := a.results[j]; r == StatusSkipped || r == StatusFailed {
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
