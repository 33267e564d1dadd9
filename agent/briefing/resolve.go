package briefing

import (
	"errors"
	"fmt"
	"reflect"
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

// resolve returns the template that a request names, or the most specific template that applies. If none applies, it
// returns the minimal default and a warning.
func resolve(templates []*Template, r *Request) (t *Template, warning string, err error) {
	var found []*Template
	best := 0
	for _, c := range templates {
		specific, applies := c.AppliesTo.match(r)
		if r.TemplateOverride != "" {
			specific, applies = 0, c.TemplateID == r.TemplateOverride
		}
		switch {
		case !applies || specific < best:
			continue
		case specific > best:
			best, found = specific, nil
		}
		found = append(found, c)
	}
	switch {
	case len(found) > 1:
		var ids []string
		for _, c := range found {
			ids = append(ids, texts.Safe(c.TemplateID, maxName))
		}
		return nil, "", fmt.Errorf("%w: %s: name one in the request, or let one name more of "+
			"framework_id, agent_class and tier", ErrAmbiguous, strings.Join(ids, ", "))
	case len(found) == 1:
		return found[0], "", nil
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
	for _, key := range []struct{ own, asked string }{
		{a.FrameworkID, r.FrameworkID}, {a.AgentClass, r.AgentClass}, {a.Tier, r.Tier},
	} {
		specific <<= 1
		switch key.own {
		case "":
		case key.asked:
			specific |= 1
		default:
			return 0, false
		}
	}
	return specific, true
}

// merged returns the pipeline of a template with stages for the contract's requirements: before the first stage that
// structures or halts, in the order of the contract, unless an enabled stage has the same configuration. The stages
// are the caller's, with their names and the defaults of their configurations.
func merged(t *Template, c *Contract) []stage {
	pipeline := slices.Clone(t.Pipeline)
	for i, s := range pipeline {
		pipeline[i].Stage, pipeline[i].Config = s.name(), canonical(s.Config)
	}
	var required []stage
	for _, s := range c.stages() {
		same := func(o stage) bool { return !o.Disabled && reflect.DeepEqual(o.Config, s.Config) }
		if !slices.ContainsFunc(pipeline, same) && !slices.ContainsFunc(required, same) {
			required = append(required, s)
		}
	}
	before := slices.IndexFunc(pipeline, func(s stage) bool {
		return s.Type == typeStructuring || s.Type == typeHalting
	})
	if before < 0 {
		before = len(pipeline)
	}
	return slices.Insert(pipeline, before, required...)
}

// stages returns a contract's requirements as stages, in its order, with the defaults of their configurations.
func (c *Contract) stages() (all []stage) {
	add := func(i int, kind string, config any) {
		all = append(all, stage{Stage: fmt.Sprintf("contract.%s.%d", kind, i+1), Type: kind, Config: canonical(config)})
	}
	for i := range c.RequiredContext.LedgerQueries {
		add(i, typeLedgerQuery, &c.RequiredContext.LedgerQueries[i])
	}
	for i := range c.RequiredContext.FrameworkRefs {
		add(i, typeRegistryQuery, &c.RequiredContext.FrameworkRefs[i])
	}
	for i := range c.RequiredContext.FileRefs {
		add(i, typeFileRead, &c.RequiredContext.FileRefs[i])
	}
	return all
}
