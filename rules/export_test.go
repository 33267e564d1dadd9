package rules

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

// Lint is what [Lint] does with a set that compiled.
func (s *Set) Lint() []Finding { return s.lint() }

// Variables returns the names of the variables that r reads.
func (r *Rule) Variables() []string { return r.reads.list() }
