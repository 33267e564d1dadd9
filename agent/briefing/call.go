package briefing

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/heedlog/heed/internal/text"
)

// skipped is the reason why a stage asked nothing.
type skipped string

func (s skipped) Error() string { return string(s) }

// call calls the source of a stage. It may return fragments and an error.
func (a *assembly) call(s *stage, in *Input) (Found, error) {
	if why := a.bars(s); why != "" {
		return Found{}, skipped(why)
	}
	values, missing := a.expand(s.texts())
	if missing != "" {
		return Found{}, skipped(missing + " has no value")
	}
	config := &a.service.config
	switch c := s.Config.(type) {
	case *LedgerQuery:
		q := *c
		q.Filters = values
		tiers, strategy := a.scope(q.Tier)
		return each(a, "ledger of tier", tiers, config.Ledgers, strategy == HighestFirst,
			func(l Ledger) (Found, error) { return l.Entries(a.ctx, in, &q) })
	case *RegistryQuery:
		q := *c
		q.Filters = values
		return each(a, "registry", []string{q.Registry}, config.Registries, true,
			func(r Registry) (Found, error) {
				found, err := r.Rows(a.ctx, in, &q)
				return found.first(q.MaxRows), err
			})
	case *FileRead:
		return readFiles(a.ctx, a.service.roots, c)
	case *horizontalSearch:
		return a.search(in, c, values[queryField])
	case *AttentionQuery:
		if config.Attention == nil {
			return Found{}, errors.New("no attention to read")
		}
		return config.Attention.Items(a.ctx, in, c)
	case *custom:
		h := config.Handlers[c.Handler]
		if h == nil {
			return Found{}, fmt.Errorf("no handler %q", c.Handler)
		}
		return h(a.ctx, in, c.Args)
	}
	panic("BUG: briefing: stage of type " + s.Type)
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

// each asks sources by their names, one query for each, and with first only until one has anything. It fails where none
// answered; else what failed is a warning.
func each[T comparable](a *assembly, kind string, names []string, sources map[string]T, first bool,
	read func(T) (Found, error),
) (Found, error) {
	var all Found
	var errs []error
	answered := false
	for _, name := range names {
		source := sources[name]
		if source == *new(T) {
			errs = append(errs, fmt.Errorf("no %s %q", kind, name))
			continue
		}
		if !a.ask() {
			if all.More = answered; !answered {
				return all, skipped(exceeded + byQueries)
			}
			break
		}
		got, err := read(source)
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

// search asks the searchers, and drops results that are known or not relevant enough.
func (a *assembly) search(in *Input, c *horizontalSearch, query string) (Found, error) {
	if in.Tiers = c.Tiers; len(c.Tiers) == 0 {
		in.Tiers, _ = a.scope("")
	}
	names := c.Sources
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(a.service.config.Searchers))
	}
	all, err := each(a, "searcher", names, a.service.config.Searchers, false, func(s Searcher) (Found, error) {
		return s.Search(a.ctx, in, query, c.MaxResults, c.RelevanceThreshold)
	})
	all.Fragments = slices.DeleteFunc(all.Fragments, func(f Fragment) bool {
		return !(f.Relevance >= c.RelevanceThreshold) ||
			slices.ContainsFunc(a.found, func(known Fragment) bool { return known.key() == f.key() })
	})
	for i := range all.Fragments {
		all.Fragments[i].Scored = true
	}
	slices.SortStableFunc(all.Fragments, func(x, y Fragment) int { return precedence(&x, &y) })
	return all.first(c.MaxResults), err
}

// first returns at most so many fragments.
func (f Found) first(most int) Found {
	if len(f.Fragments) > most {
		f.Fragments, f.More = f.Fragments[:most], true
	}
	return f
}

// key identifies a fragment among sources.
func (f *Fragment) key() string { return f.Source + " " + f.SourceID }

// attentionPrefix begins a variable that a fragment of attention has.
const attentionPrefix = "attention."

// variables returns the values of the variables that a request has, by their names.
func (r *Request) variables() map[string]string {
	return map[string]string{
		"agent": r.AgentID, "class": r.AgentClass, "framework": r.FrameworkID, "tier": r.Tier,
		"work_order": r.WorkOrderID, "session": r.SessionID,
	}
}

// queryField is the field of a search that may hold variables.
const queryField = "query"

// texts returns the texts of a stage's configuration that may hold variables, by their names.
func (s *stage) texts() map[string]string {
	switch c := s.Config.(type) {
	case *LedgerQuery:
		return c.Filters
	case *RegistryQuery:
		return c.Filters
	case *horizontalSearch:
		return map[string]string{queryField: c.Query}
	}
	return nil
}

// expand replaces variables in texts by their values. Values are not expanded again. missing is the first variable that
// has no value, as written, "" for none.
func (a *assembly) expand(texts map[string]string) (out map[string]string, missing string) {
	out = make(map[string]string, len(texts))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		out[name] = replace(texts[name], func(variable string) string {
			value := a.value(variable)
			if value == "" {
				missing = cmp.Or(missing, "$"+variable)
			}
			return value
		})
	}
	return out, missing
}

func (a *assembly) value(name string) string {
	if ref, ok := strings.CutPrefix(name, attentionPrefix); ok {
		for i := range a.found {
			if f := &a.found[i]; f.Source == SourceAttention && f.Refs[ref] != "" {
				return f.Refs[ref]
			}
		}
		return ""
	}
	return a.request.variables()[name]
}

// variable is a dollar sign and a word of letters, digits and underscores that does not begin with a digit. After
// attention come a full stop and another word. Two dollar signs are one.
var variable = text.Lazy(`\$(?:\$|attention\.[A-Za-z_]\w*|[A-Za-z_]\w*)`)

// replace calls value for each [variable] in s. A dollar sign before anything else is one.
func replace(s string, value func(name string) string) string {
	return variable().ReplaceAllStringFunc(s, func(found string) string {
		if found == "$$" {
			return "$"
		}
		return value(found[1:])
	})
}
