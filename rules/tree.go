package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
)

// lower replaces the parts of a tree that expr cannot run: a function with a
// list becomes one function bound to that list, and "in" with a list becomes a
// look-up in a set.
func lower(tree *ast.Node, r *resolver) { ast.Walk(tree, lowering{r}) }

type lowering struct{ r *resolver }

// Visit implements [ast.Visitor].
func (v lowering) Visit(n *ast.Node) {
	switch t := (*n).(type) {
	case *ast.CallNode:
		name, ok := t.Callee.(*ast.IdentifierNode)
		if !ok || len(t.Arguments) != 2 {
			return
		}
		list := v.r.anyOf(name.Value, t.Arguments[1].(*ast.ConstantNode).Value.([]string))
		callee := &ast.ConstantNode{Value: list.holds}
		callee.SetLocation(name.Location())
		t.Callee, t.Arguments = callee, t.Arguments[:1]
	case *ast.BinaryNode:
		if c, ok := t.Right.(*ast.ConstantNode); ok && t.Operator == "in" {
			if items, ok := c.Value.([]string); ok {
				set := &ast.ConstantNode{Value: v.r.setOf(items)}
				set.SetLocation(c.Location())
				t.Right = set
			}
		}
	}
}

// bind returns test with its list given. Its type is one that the virtual
// machine calls without reflection.
func bind(test func(s, item string) bool, items []string) func(string) bool {
	return func(s string) bool {
		return slices.ContainsFunc(items, func(item string) bool { return test(s, item) })
	}
}

// bindings hold lists in the forms in which conditions run them, made once for
// each list and function, wherever conditions use them.
type bindings struct {
	sets  map[listKey]map[string]struct{}
	tests map[listKey]boundList
}

// listKey is the identity of a list that is not empty, and a function, "in" for none.
type listKey struct {
	function string
	first    *string
	items    int
}

// setOf returns the set of items.
func (b *bindings) setOf(items []string) map[string]struct{} {
	if len(items) == 0 {
		return nil
	}
	key := listKey{"in", &items[0], len(items)}
	set, known := b.sets[key]
	if !known {
		set = toSet(items)
		b.sets[key] = set
	}
	return set
}

// anyOf returns a function of the language with its list bound.
func (b *bindings) anyOf(name string, items []string) boundList {
	key := listKey{name, &items[0], len(items)}
	bound, known := b.tests[key]
	if !known {
		bound = anyOf(name, items)
		b.tests[key] = bound
	}
	return bound
}

func toSet(items []string) map[string]struct{} {
	set := make(map[string]struct{}, len(items))
	for _, item := range items {
		set[item] = struct{}{}
	}
	return set
}

// copyTree returns a copy of an expanded tree, without what the checker noted
// in it. Constants are shared.
func copyTree(n ast.Node) ast.Node {
	var out ast.Node
	switch n := n.(type) {
	case *ast.BoolNode:
		out = &ast.BoolNode{Value: n.Value}
	case *ast.IntegerNode:
		out = &ast.IntegerNode{Value: n.Value}
	case *ast.FloatNode:
		out = &ast.FloatNode{Value: n.Value}
	case *ast.StringNode:
		out = &ast.StringNode{Value: n.Value}
	case *ast.ConstantNode:
		out = &ast.ConstantNode{Value: n.Value}
	case *ast.IdentifierNode:
		out = &ast.IdentifierNode{Value: n.Value}
	case *ast.UnaryNode:
		out = &ast.UnaryNode{Operator: n.Operator, Node: copyTree(n.Node)}
	case *ast.BinaryNode:
		out = &ast.BinaryNode{Operator: n.Operator, Left: copyTree(n.Left), Right: copyTree(n.Right)}
	case *ast.BuiltinNode:
		out = &ast.BuiltinNode{Name: n.Name, Arguments: copyTrees(n.Arguments), Throws: n.Throws}
	case *ast.PredicateNode:
		out = &ast.PredicateNode{Node: copyTree(n.Node)}
	case *ast.PointerNode:
		out = &ast.PointerNode{}
	case *ast.CallNode:
		out = &ast.CallNode{Callee: copyTree(n.Callee), Arguments: copyTrees(n.Arguments)}
	case *ast.ConditionalNode:
		out = &ast.ConditionalNode{Ternary: n.Ternary, Cond: copyTree(n.Cond), Exp1: copyTree(n.Exp1), Exp2: copyTree(n.Exp2)}
	case *ast.ArrayNode:
		out = &ast.ArrayNode{Nodes: copyTrees(n.Nodes)}
	case *ast.MemberNode:
		out = &ast.MemberNode{Node: copyTree(n.Node), Property: copyTree(n.Property)}
	case *ast.SliceNode:
		s := &ast.SliceNode{Node: copyTree(n.Node)}
		if n.From != nil {
			s.From = copyTree(n.From)
		}
		if n.To != nil {
			s.To = copyTree(n.To)
		}
		out = s
	default:
		panic(fmt.Sprintf("BUG: rules: a %T in an expanded tree", n))
	}
	out.SetLocation(n.Location())
	return out
}

// constants returns the items of a list of constant texts, nil where n is
// something else.
func constants(n ast.Node) []string {
	switch n := n.(type) {
	case *ast.ConstantNode:
		items, _ := n.Value.([]string)
		return items
	case *ast.ArrayNode:
		items := make([]string, len(n.Nodes))
		for i, item := range n.Nodes {
			s, ok := item.(*ast.StringNode)
			if !ok {
				return nil
			}
			items[i] = s.Value
		}
		return items
	}
	return nil
}

func copyTrees(nodes []ast.Node) []ast.Node {
	out := make([]ast.Node, len(nodes))
	for i, n := range nodes {
		out[i] = copyTree(n)
	}
	return out
}

// relocate gives every node of tree the place loc, so that an error in what a
// macro stands for is reported where the macro is used.
func relocate(tree ast.Node, loc file.Location) { ast.Walk(&tree, relocation{loc}) }

type relocation struct{ loc file.Location }

// Visit implements [ast.Visitor].
func (v relocation) Visit(n *ast.Node) { (*n).SetLocation(v.loc) }

// fingerprint returns a text that two expanded trees share exactly when they
// are the same tree.
func fingerprint(tree ast.Node) string {
	var b strings.Builder
	writeTree(&b, tree)
	return b.String()
}

func writeTree(b *strings.Builder, n ast.Node) {
	open := func(head string, nodes ...ast.Node) {
		b.WriteByte('(')
		b.WriteString(head)
		for _, c := range nodes {
			b.WriteByte(' ')
			writeTree(b, c)
		}
		b.WriteByte(')')
	}
	switch n := n.(type) {
	case nil:
		b.WriteByte('_')
	case *ast.BoolNode:
		b.WriteString(strconv.FormatBool(n.Value))
	case *ast.IntegerNode:
		b.WriteString(strconv.Itoa(n.Value))
	case *ast.FloatNode:
		b.WriteString(strconv.FormatFloat(n.Value, 'e', -1, 64))
	case *ast.StringNode:
		b.WriteString(strconv.Quote(n.Value))
	case *ast.ConstantNode:
		b.WriteByte('[')
		for _, s := range n.Value.([]string) {
			b.WriteString(strconv.Quote(s))
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case *ast.IdentifierNode:
		b.WriteString(n.Value)
	case *ast.UnaryNode:
		open(n.Operator, n.Node)
	case *ast.BinaryNode:
		open(n.Operator, n.Left, n.Right)
	case *ast.BuiltinNode:
		open(n.Name, n.Arguments...)
	case *ast.PredicateNode:
		open("{}", n.Node)
	case *ast.PointerNode:
		b.WriteByte('#')
	case *ast.CallNode:
		open("call", append([]ast.Node{n.Callee}, n.Arguments...)...)
	case *ast.ConditionalNode:
		open("?", n.Cond, n.Exp1, n.Exp2)
	case *ast.ArrayNode:
		open("array", n.Nodes...)
	case *ast.MemberNode:
		open("item", n.Node, n.Property)
	case *ast.SliceNode:
		open("slice", n.Node, n.From, n.To)
	default:
		panic(fmt.Sprintf("BUG: rules: a %T in an expanded tree", n))
	}
}
