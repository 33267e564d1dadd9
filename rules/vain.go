package rules

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
)

// Comparisons that are valid, and say something else than who wrote them meant:
// all are refused, since a rule with one would be wrong in silence.

// ordered refuses to compare what has names by which comes first in the
// alphabet: level >= "error" would hold for every level but debug.
func (x *expansion) ordered(n *ast.BinaryNode, loc file.Location) ast.Node {
	for i, side := range []ast.Node{n.Left, n.Right} {
		v, ok := side.(*ast.IdentifierNode)
		if !ok || enums[v.Value] == nil && v.Value != "phase" {
			continue
		}
		other, op := n.Right, n.Operator
		if i == 1 {
			other = n.Left
			op = strings.NewReplacer("<", ">", ">", "<").Replace(op)
		}
		x.fail(loc, "write "+orderedHint(v.Value, op, other), "%s is a text, which %s compares by the alphabet", v.Value, n.Operator)
	}
	return n
}

// orderedHint returns what a comparison of a variable by its order was meant to
// be, as far as that is known.
func orderedHint(variable, op string, other ast.Node) string {
	var meant []string
	if s, ok := other.(*ast.StringNode); ok && variable == "level" {
		at := slices.Index(levels, s.Value)
		for i, l := range levels {
			if at < 0 || l == levels[0] {
				continue
			}
			if strings.HasPrefix(op, ">") && i > at || strings.HasPrefix(op, "<") && i < at || strings.HasSuffix(op, "=") && i == at {
				meant = append(meant, l)
			}
		}
	}
	if meant == nil {
		meant = map[string][]string{"level": {"error", "fatal"}, "phase": {"load", "play"}, "kind": {"state", "notice"}, "status": {"failed", "timed_out"}}[variable]
	}
	return variable + ` in ["` + strings.Join(meant, `", "`) + `"]`
}

// vain refuses to look for the empty text in another: it is in all of them.
func (x *expansion) vain(op string, in ast.Node) {
	if how, ok := fits[op]; !ok || how == fitWhole || in == nil || op == "indexOf" || op == "lastIndexOf" || !slices.Contains(textsIn(in), "") {
		return
	}
	x.fail(in.Location(), `what is empty is compared with == ""`, `%s "" always holds`, op)
}

// folded refuses to compare a text in lower case with one that is not, and the
// like: they are never the same.
func (x *expansion) folded(op string, a, b ast.Node) {
	if _, ok := fits[op]; !ok {
		return
	}
	for _, side := range [][2]ast.Node{{a, b}, {b, a}} {
		call, ok := side[0].(*ast.BuiltinNode)
		if !ok || side[1] == nil {
			continue
		}
		fold := map[string]func(string) string{"lower": strings.ToLower, "upper": strings.ToUpper}[call.Name]
		if fold == nil {
			continue
		}
		for _, s := range textsIn(side[1]) {
			if fold(s) != s {
				x.fail(side[1].Location(), "write "+quote(fold(s)), "%s(…) never holds %s", call.Name, quote(s))
				break
			}
		}
	}
}

// textsIn returns the texts that n, a text or a list of them, consists of.
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
