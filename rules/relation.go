package rules

import (
	"strings"

	"github.com/expr-lang/expr/ast"
)

// fit is the part of a text that a relation compares.
type fit struct{ start, end bool }

// has reports whether a text has another one there.
func (f fit) has(text, other string) bool {
	switch f {
	case whole:
		return text == other
	case fit{start: true}:
		return strings.HasPrefix(text, other)
	case fit{end: true}:
		return strings.HasSuffix(text, other)
	}
	return strings.Contains(text, other)
}

// whole is the fit of a relation between whole texts.
var whole = fit{true, true}

// fits are the relations of one text to others, by operator and function.
var fits = map[string]fit{
	"==": whole, "!=": whole, "in": whole,
	"startsWith": {start: true}, "hasPrefix": {start: true}, "starts_with_any": {start: true},
	"endsWith": {end: true}, "hasSuffix": {end: true}, "ends_with_any": {end: true},
	"contains": {}, "contains_any": {}, "indexOf": {}, "lastIndexOf": {},
}

// relation returns the operator or function of n with its operands, and "" if n has none.
func relation(n ast.Node) (op string, args []ast.Node) {
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

// textsIn returns the constant texts in n, a text or a list of texts.
func textsIn(n ast.Node) []string {
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
