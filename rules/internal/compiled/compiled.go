// Package compiled carries the parts of a compiled rule set that package lint reads, and that
// no other code sees: syntax trees of conditions with their places in the files.
package compiled

import (
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/heedlog/heed/signature"
)

// Set holds the parts of a compiled set.
type Set struct {
	Conditions [][]Condition // of each rule in order, those that are off included: its own, then of its exceptions
	Tests      []Test
	Notes      []Note
	Normalizer *signature.Normalizer // with the protected words
}

// Condition is a condition with its lists and macros expanded.
type Condition struct {
	Tree  ast.Node               // never changed
	Place func(offset int) Place // of a character of the expression
}

// Test is one inline test.
type Test struct {
	Rule    int // index in Set.Conditions
	Match   bool
	Phase   string
	PhaseAt Place
}

// Note is a finding that only linking sees.
type Note struct {
	Place
	Rule, Check, Hint, Msg string
}

// The checks of notes.
const (
	Unused    = "unused"    // a list or macro that nothing uses
	Blindness = "blindness" // a rule is off that alone ends the blindness of another
)

// Place is a place in a rule file.
type Place struct {
	Name      string // of the file
	Line, Col int
}

// Fit is the part of a text that a relation compares.
type Fit struct{ Start, End bool }

// Has reports whether a text has another one there.
func (f Fit) Has(text, other string) bool {
	switch f {
	case Whole:
		return text == other
	case Fit{Start: true}:
		return strings.HasPrefix(text, other)
	case Fit{End: true}:
		return strings.HasSuffix(text, other)
	}
	return strings.Contains(text, other)
}

// Whole is the fit of a relation between whole texts.
var Whole = Fit{true, true}

// Fits are the relations of one text to others, by operator and function.
var Fits = map[string]Fit{
	"==": Whole, "!=": Whole, "in": Whole,
	"startsWith": {Start: true}, "hasPrefix": {Start: true}, "starts_with_any": {Start: true},
	"endsWith": {End: true}, "hasSuffix": {End: true}, "ends_with_any": {End: true},
	"contains": {}, "contains_any": {}, "indexOf": {}, "lastIndexOf": {},
}

// Relation returns the operator or function of n with its operands, and "" if n has none.
func Relation(n ast.Node) (op string, args []ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryNode:
		return n.Operator, []ast.Node{n.Left, n.Right}
	case *ast.BuiltinNode:
		return n.Name, n.Arguments
	case *ast.CallNode:
		return n.Callee.(*ast.IdentifierNode).Value, n.Arguments
	}
	return "", nil
}

// Texts returns the constant texts in n, a text or a list of texts.
func Texts(n ast.Node) []string {
	switch n := n.(type) {
	case *ast.StringNode:
		return []string{n.Value}
	case *ast.ConstantNode:
		items, _ := n.Value.([]string)
		return items
	case *ast.ArrayNode:
		var items []string
		for _, item := range n.Nodes {
			if s, ok := item.(*ast.StringNode); ok {
				items = append(items, s.Value)
			}
		}
		return items
	}
	return nil
}
