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
		out = append(out, fmt.Sprintf("%s:%d:%d: %s", c.expr.at.src.name, c.expr.at.line, c.expr.at.col, c.expr.text))
	}
	return out
}

// Variables returns the names of the variables that r reads.
func (r *Rule) Variables() []string { return r.reads.list() }
