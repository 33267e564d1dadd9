package briefing

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	texts "github.com/heedlog/heed/internal/text"
)

// The errors of [Service.Assemble] by which a caller decides what to do.
var (
	ErrBudget = errors.New("briefing: the budget was exceeded") // and the template's on_timeout gives nothing then
	ErrEmpty  = errors.New("briefing: nothing was found")       // and the template's on_empty is fail
)

// cacheEntries bounds the cache.
const cacheEntries = 64

// Service assembles contexts. Make one with [New].
type Service struct {
	config Config
	roots  []*os.Root
	cache  *lru.Cache[[sha256.Size]byte, cached] // by [assembly.key]
}

// cached is the latest context of a key, and the state that it was made of.
type cached struct {
	context  *Context
	revision string
	at       time.Time
}

// New returns a service. It opens the roots, which [Service.Close] closes.
func New(c Config) (*Service, error) {
	if c.Now == nil {
		return nil, errors.New("briefing: Config.Now is required: pass time.Now")
	}
	c.Templates = slices.Clone(c.Templates)
	cache, _ := lru.New[[sha256.Size]byte, cached](cacheEntries) // the error is about another size
	s := &Service{config: c, cache: cache}
	ids := map[string]bool{minimalDefault().TemplateID: true}
	for _, t := range c.Templates {
		if ids[t.TemplateID] {
			return nil, fmt.Errorf("briefing: two templates are called %q", t.TemplateID)
		}
		ids[t.TemplateID] = true
	}
	for _, name := range c.Roots {
		root, err := os.OpenRoot(name)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("briefing: Config.Roots: %w", err), s.Close())
		}
		s.roots = append(s.roots, root)
	}
	return s, nil
}

// Close closes the roots. No context may be assembled any more.
func (s *Service) Close() error {
	var errs []error
	for _, root := range s.roots {
		errs = append(errs, root.Close())
	}
	return errors.Join(errs...)
}

// Assemble assembles the context for a request. It fails if several templates apply or the named one is missing, if the
// contract is wrong, and if the template's fallbacks say so: see [ErrAmbiguous], [ErrNoTemplate], [ErrRequired],
// [ErrBudget] and [ErrEmpty]. A stage that fails is a warning. The context belongs to the caller.
func (s *Service) Assemble(ctx context.Context, r Request) (*Context, error) {
	if err := checkRequest(&r); err != nil {
		return nil, err
	}
	t, warning, err := resolve(s.config.Templates, &r)
	if err != nil {
		return nil, err
	}
	a := &assembly{
		service: s, request: &r, template: t, stages: merged(t, &r.Contract), started: s.config.Now(),
		scrubs: t.Scrub || r.Scrub, maxTokens: cmp.Or(r.MaxContextTokens, t.Budget.MaxContextTokens, unbounded),
	}
	a.ctx = timed{ctx, a}
	if a.scrubs && s.config.Scrub == nil {
		return nil, errors.New("briefing: the context is to be scrubbed, and Config.Scrub is nil")
	}
	a.warn(warning)
	if s.config.Attention != nil {
		a.open = s.config.Attention.Open(a.ctx)
	}
	key, revision := a.key(), a.revision()
	if c, ok := s.cache.Get(key); ok && r.Template == nil && c.revision == revision && a.started.Sub(c.at) < t.CacheTTL {
		return c.context.clone(), nil
	}
	for i := range a.stages {
		if a.stage(i, ""); a.err != nil {
			return nil, a.err
		}
	}
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return nil, err
	}
	if a.stopped != "" && t.Fallback.OnTimeout != "" && t.Fallback.OnTimeout != ReturnPartial {
		return a.instead(key)
	}
	if len(a.found) == 0 && t.Fallback.OnEmpty == Fail {
		return nil, ErrEmpty
	}
	out := a.context()
	if a.ctx.Err() == nil && t.CacheTTL > 0 && r.Template == nil {
		s.cache.Add(key, cached{out.clone(), revision, a.started})
	}
	return out, nil
}

// key hashes all that decides a context, and the open items that block, but no other state that is read.
func (a *assembly) key() [sha256.Size]byte {
	all := []any{a.template.TemplateID, a.request}
	for _, it := range a.open {
		if it.Blocking {
			all = append(all, it.SourceID)
		}
	}
	text, _ := json.Marshal(all) // of texts and numbers
	return sha256.Sum256(text)
}

// revision identifies the state of the sources: the open items, and the latest entries of the ledgers.
func (a *assembly) revision() string {
	parts := []string{fmt.Sprint(a.open)}
	for _, tier := range slices.Sorted(maps.Keys(a.service.config.Ledgers)) {
		parts = append(parts, tier, a.service.config.Ledgers[tier].Revision(a.ctx))
	}
	return fmt.Sprintf("%q", parts)
}

// instead returns the cached context or the error for a context that exceeded its budget.
func (a *assembly) instead(key [sha256.Size]byte) (*Context, error) {
	err := fmt.Errorf("%w: %s", ErrBudget, a.stopped)
	if a.template.Fallback.OnTimeout == Fail {
		return nil, err
	}
	c, ok := a.service.cache.Get(key)
	if age := a.started.Sub(c.at); !ok || age >= a.template.CacheTTL {
		return nil, fmt.Errorf("%w, and no earlier context is cached that still holds", err)
	}
	out := c.context.clone()
	out.Warnings = append(out.Warnings, fmt.Sprintf("%s was exceeded: this is a context made %s ago", a.stopped,
		a.service.config.Now().Sub(c.at)))
	return out, nil
}

// context returns the found fragments as a context.
func (a *assembly) context() *Context {
	looked := slices.ContainsFunc(a.stages, func(s stage) bool { return s.ran && s.Type == SourceAttention })
	if len(a.found) == 0 && len(a.open) == 0 && looked {
		a.warn("nothing is open")
	} else if len(a.found) == 0 {
		a.warn("nothing was found")
	}
	if last := len(a.trace) - 1; last >= 0 {
		a.detail(&a.trace[last])
	}
	if a.more > 0 {
		a.warnings = append(a.warnings, fmt.Sprintf("%d more warnings", a.more))
	}
	var text strings.Builder
	for i := range a.found {
		text.WriteString(a.found[i].Content)
	}
	if a.scrubs {
		for i := range a.found {
			a.found[i].Refs = nil // later stages needed them as they are
		}
		for i := range a.warnings {
			a.warnings[i] = a.service.config.Scrub(a.warnings[i])
		}
		for i := range a.trace {
			a.trace[i].Detail = a.service.config.Scrub(a.trace[i].Detail)
		}
	}
	hash := sha256.Sum256([]byte(text.String()))
	return (&Context{
		Text: text.String(), Hash: hex.EncodeToString(hash[:]), Fragments: a.found, TemplateID: a.template.TemplateID,
		Trace: a.trace, Used: used{Tokens: total(a.found), Queries: a.queries, Elapsed: a.elapsed()}, Warnings: a.warnings,
	}).clone()
}

// clone returns a copy whose lists, empty where they are nil, are its own.
func (c *Context) clone() *Context {
	out := *c
	out.Fragments = append([]Fragment{}, c.Fragments...)
	for i := range out.Fragments {
		f := &out.Fragments[i]
		f.Refs, f.Lines, f.Short = maps.Clone(f.Refs), slices.Clone(f.Lines), slices.Clone(f.Short)
	}
	out.Trace = append([]stageResult{}, c.Trace...)
	out.Warnings = slices.Clone(append([]string{}, c.Warnings...))
	return &out
}

// The errors of a template's choice.
var (
	ErrAmbiguous  = errors.New("briefing: several templates apply alike")
	ErrNoTemplate = errors.New("briefing: no such template")
)

// maxName bounds, in characters, a name that a text repeats.
const maxName = 64

// resolve returns the template of a request, the template that it names, or the most specific template that applies. If
// none applies, it returns the minimal default and a warning.
func resolve(templates []*Template, r *Request) (t *Template, warning string, err error) {
	if r.Template != nil {
		return r.Template, "", nil
	}
	var ids []string // of the most specific ones
	best := 0
	for _, c := range templates {
		specific, applies := c.AppliesTo.match(r)
		if r.TemplateOverride != "" {
			specific, applies = 0, c.TemplateID == r.TemplateOverride
		}
		if !applies || specific < best {
			continue
		}
		if specific > best {
			best, ids = specific, nil
		}
		t, ids = c, append(ids, texts.Safe(c.TemplateID, maxName))
	}
	switch {
	case len(ids) > 1:
		return nil, "", fmt.Errorf("%w: %s: name one in the request, or let one name more of "+
			"framework_id, agent_class and tier", ErrAmbiguous, strings.Join(ids, ", "))
	case len(ids) == 1:
		return t, "", nil
	case r.TemplateOverride != "":
		return nil, "", fmt.Errorf("%w: %s", ErrNoTemplate, texts.Safe(r.TemplateOverride, maxName))
	}
	return minimalDefault(), fmt.Sprintf("no template applies to framework %q, class %q, tier %q: only what the "+
		"contract requires is read", texts.Safe(r.FrameworkID, maxName), texts.Safe(r.AgentClass, maxName),
		texts.Safe(r.Tier, maxName)), nil
}

// match reports whether each key of a equals the request's, and how specific a is: a framework counts more than a
// class, a class more than a tier.
func (a *appliesTo) match(r *Request) (specific int, applies bool) {
	own, asked := [...]string{a.FrameworkID, a.AgentClass, a.Tier}, [...]string{r.FrameworkID, r.AgentClass, r.Tier}
	for i := range own {
		specific <<= 1
		if own[i] == "" {
			continue
		}
		if own[i] != asked[i] {
			return 0, false
		}
		specific |= 1
	}
	return specific, true
}

// merged returns the pipeline of a template with stages for the contract's requirements: before the first stage that
// structures or halts, in the order of the contract, unless an enabled stage has the same configuration.
func merged(t *Template, c *Contract) []stage {
	pipeline := slices.Clone(t.Pipeline)
	before := slices.IndexFunc(pipeline, func(s stage) bool { return s.Type == "structuring" || s.Type == "halting" })
	if before < 0 {
		before = len(pipeline)
	}
	for _, required := range c.stages() {
		if !slices.ContainsFunc(pipeline, func(s stage) bool { return s.meets(&required) }) {
			pipeline = slices.Insert(pipeline, before, required)
			before++
		}
	}
	return pipeline
}

// stages returns a contract's requirements as stages, in its order.
func (c *Contract) stages() (all []stage) {
	required := func(i int, kind string, config any) {
		all = append(all, newStage(fmt.Sprintf("contract.%s.%d", kind, i+1), kind, config))
	}
	for i, q := range c.RequiredContext.LedgerQueries {
		required(i, "ledger_query", &q)
	}
	for i, q := range c.RequiredContext.FrameworkRefs {
		required(i, "registry_query", &q)
	}
	for i, q := range c.RequiredContext.FileRefs {
		q.Paths = slices.Clone(q.Paths)
		required(i, "file_read", &q)
	}
	return all
}
