package briefing

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	texts "github.com/heedlog/heed/internal/text"
)

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
