package rules

import (
	"fmt"
	"sync"

	"github.com/heedlog/heed/internal/testkit"
)

// defaultSet returns the set of the default rules, compiled once.
var defaultSet = sync.OnceValue(func() *Set { return testkit.Must(Compile(Defaults()...)) })

// DefaultSet is defaultSet for tests from outside.
func DefaultSet() *Set { return defaultSet() }

// Families are families for tests from outside.
var Families = families

// What tests from outside look at.
const (
	MaxFiles       = maxFiles
	MaxRules       = maxRules
	MaxErrors      = maxErrors
	MaxNesting     = maxNesting
	MaxExpression  = maxExpression
	MaxExceptions  = maxExceptions
	MaxEscalations = maxEscalations
)

// Exceptions returns the places and the texts of the exceptions.
func (r *Rule) Exceptions() []string {
	var out []string
	for _, c := range r.exceptions {
		at := placeOf(c.expr.value)
		out = append(out, fmt.Sprintf("%s:%d:%d: %s", at.src.name, at.line, at.col, c.expr.text))
	}
	return out
}

// Decide returns the outcome for in, whose plan is p.
func (ev *Evaluator) Decide(p *Plan, in *Input) Outcome {
	if p.known != nil {
		return *p.known
	}
	return ev.Evaluate(in)
}

// Variables returns the names of the variables that r reads.
func (r *Rule) Variables() []string { return r.reads.list() }

// Checks are the checks of findings, as the reference lists them.
var Checks = []string{
	checkCompile, checkShadowed, checkTests, checkMasked,
	checkPhase, checkUnused, checkBreaks, checkBlindness,
}
