package rules

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker/nature"

	texts "github.com/heedlog/heed/internal/text"
)

// lower replaces the parts of a tree that expr cannot run: a function with a
// list becomes one function bound to that list, and "in" with a list becomes a
// look-up in a set. A regular expression, known to be valid, becomes a constant that expr does not compile.
func lower(tree ast.Node, r *resolver) {
	each(tree, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.CallNode:
			name := n.Callee.(*ast.IdentifierNode)
			callee := &ast.ConstantNode{Value: r.anyOf(name.Value, constants(n.Arguments[1])).holds}
			callee.SetLocation(name.Location())
			n.Callee, n.Arguments = callee, n.Arguments[:1]
		case *ast.BinaryNode:
			right := n.Right
			switch c, isConstant := right.(*ast.ConstantNode); {
			case isConstant && n.Operator == "in":
				n.Right = &ast.ConstantNode{Value: r.setOf(constants(c))}
			case !isConstant && n.Operator == "matches":
				n.Right = &ast.ConstantNode{Value: right.(*ast.StringNode).Value}
			}
			n.Right.SetLocation(right.Location())
		}
	})
}

// matchers replaces each lowered comparison with a regular expression, once its types are checked, by a call of a
// function that compiles the expression for its first text.
type matchers struct{ bindings }

func (m matchers) Visit(node *ast.Node) {
	n, ok := (*node).(*ast.BinaryNode)
	if !ok || n.Operator != "matches" {
		return
	}
	pattern := n.Right.(*ast.ConstantNode).Value.(string)
	if m.patterns[pattern] == nil {
		expr := texts.Lazy(pattern)
		m.patterns[pattern] = func(s string) bool { return expr().MatchString(s) }
	}
	matches := &ast.ConstantNode{Value: m.patterns[pattern]}
	matches.SetType(reflect.TypeOf(matches.Value))
	call := &ast.CallNode{Callee: matches, Arguments: []ast.Node{n.Left}}
	call.SetType(n.Type())
	ast.Patch(node, call)
}

// bind returns test with its list given. The virtual machine calls functions of this
// type without reflection.
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

	patterns map[string]func(string) bool
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

// copyTree returns a copy of an expanded tree, without the notes of the checker. Constants are shared.
func copyTree(n ast.Node) ast.Node {
	to := reflect.New(reflect.TypeOf(n).Elem())
	to.Elem().Set(reflect.ValueOf(n).Elem())
	for _, field := range to.Elem().Fields() {
		if !field.CanInterface() {
			continue
		}
		switch below := field.Addr().Interface().(type) {
		case *ast.Node:
			if *below != nil {
				*below = copyTree(*below)
			}
		case *[]ast.Node:
			*below = slices.Clone(*below)
			for i, n := range *below {
				(*below)[i] = copyTree(n)
			}
		}
	}
	out := to.Interface().(ast.Node)
	out.SetNature(nature.Nature{})
	return out
}

// constants returns the items of a list of constant texts, nil where n is
// something else.
func constants(n ast.Node) []string {
	texts := textsIn(n)
	switch n := n.(type) {
	case *ast.StringNode:
		return nil
	case *ast.ArrayNode:
		if len(texts) < len(n.Nodes) {
			return nil
		}
	}
	return texts
}

// each calls visit for each node of tree, those below a node before the node.
func each(tree ast.Node, visit func(ast.Node)) {
	ast.Find(tree, func(n ast.Node) bool {
		visit(n)
		return false
	})
}

// fingerprint returns a text that two expanded trees share exactly when they
// are the same tree: its nodes, those below a node before the node.
func fingerprint(tree ast.Node) string {
	b := make([]byte, 0, 256)
	each(tree, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.ConstantNode:
			for _, item := range constants(n) {
				b = append(binary.AppendUvarint(b, uint64(len(item))), item...)
			}
			b = append(b, "list"...)
		case *ast.UnaryNode:
			b = append(b, "unary "+n.Operator...)
		case *ast.BinaryNode:
			b = append(b, n.Operator...)
		case *ast.BuiltinNode:
			b = fmt.Append(b, n.Name, len(n.Arguments))
		case *ast.ArrayNode:
			b = fmt.Append(b, "array", len(n.Nodes))
		case *ast.SliceNode:
			b = fmt.Append(b, "slice", n.From != nil, n.To != nil)
		case *ast.CallNode, *ast.ConditionalNode, *ast.MemberNode, *ast.PredicateNode:
			b = fmt.Appendf(b, "%T", n)
		case *ast.FloatNode:
			b = fmt.Append(b, "float", n.Value)
		default: // one value
			b = append(b, n.String()...)
		}
		b = append(b, ';')
	})
	return string(b)
}
