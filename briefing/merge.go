package briefing

import (
	"fmt"
	"reflect"
	"slices"
)

// merged returns the pipeline of a template, and what the contract requires beside it: before the first stage that
// structures or halts, in the order of the contract, unless an enabled stage has the same configuration. The stages
// are the caller's, with their names and the defaults of their configurations.
func merged(t *Template, c *Contract) []Stage {
	pipeline := slices.Clone(t.Pipeline)
	for i, s := range pipeline {
		pipeline[i].Stage, pipeline[i].Config = s.name(), canonical(s.Config)
	}
	var required []Stage
	add := func(n int, config StageConfig) {
		s := Stage{Type: config.stageType(), Config: canonical(config)}
		s.Stage = fmt.Sprintf("contract.%s.%d", s.Type, n+1)
		same := func(o Stage) bool { return !o.Disabled && reflect.DeepEqual(o.Config, s.Config) }
		if !slices.ContainsFunc(pipeline, same) && !slices.ContainsFunc(required, same) {
			required = append(required, s)
		}
	}
	for i := range c.RequiredContext.LedgerQueries {
		add(i, &c.RequiredContext.LedgerQueries[i])
	}
	for i := range c.RequiredContext.FrameworkRefs {
		add(i, &c.RequiredContext.FrameworkRefs[i])
	}
	for i := range c.RequiredContext.FileRefs {
		add(i, &c.RequiredContext.FileRefs[i])
	}
	before := slices.IndexFunc(pipeline, func(s Stage) bool {
		return s.Type == TypeStructuring || s.Type == TypeHalting
	})
	if before < 0 {
		before = len(pipeline)
	}
	return slices.Insert(pipeline, before, required...)
}
