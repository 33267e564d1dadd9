package briefing

import (
	"fmt"
	"reflect"
	"slices"
)

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
