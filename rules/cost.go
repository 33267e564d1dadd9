package rules

import (
	"regexp/syntax"

	"github.com/expr-lang/expr/ast"

	"github.com/heedlog/heed/rules/internal/compiled"
)

// The cost of a condition is the number of steps that it takes at worst for an
// entry with entryBytes in every text. A step is to look at one byte: about
// a nanosecond at worst, and far less in most texts. It is counted in the
// expanded tree, as if and, or and ?: evaluated all their operands.
const (
	entryBytes = compiled.EntryBytes
	maxCost    = 250_000_000 // a condition that costs more is refused
)

// Steps besides those for bytes, as BenchmarkCost measures them.
const (
	nodeSteps    = 20 // one part of an expression
	itemSteps    = 40 // an item of a list, in a loop
	pieceSteps   = 15 // one piece of a text that is split
	foldSteps    = 4  // a byte in another case
	patternSteps = 6  // an instruction of a regular expression at one byte
	tableSteps   = 2  // a byte at which the texts of a list may begin
	triedSteps   = 4  // one text of a list that is tried there
)

const (
	dearPattern = "use fewer alternatives and smaller counts than in {1,500}, or contains and contains_any"
	dearLoop    = "take out of the loop what does not need #, or use contains_any"
	dearParts   = "use fewer parts, or lists in place of them"
)

// estimate finds a cost. In a loop, every count includes all items.
type estimate struct {
	r     *resolver
	times float64 // how often the current part is evaluated
	item  float64 // bytes of all values of #
	most  float64 // steps of found.most
	found compiled.Cost
}

// cost returns the cost of an expanded tree.
func (r *resolver) cost(tree ast.Node) compiled.Cost {
	e := &estimate{r: r, times: 1}
	e.walk(tree)
	return e.found
}

func (e *estimate) add(n ast.Node, steps float64) {
	e.found.Steps += steps
	if steps <= e.most {
		return
	}
	e.most, e.found.Most, e.found.Hint = steps, n, dearParts
	if b, ok := n.(*ast.BinaryNode); ok && b.Operator == "matches" {
		e.found.Hint = dearPattern
	} else if e.times > 1 {
		e.found.Hint = dearLoop
	}
}

// walk adds the cost of n and of all that is below it.
func (e *estimate) walk(n ast.Node) {
	own := e.times * nodeSteps
	switch n := n.(type) {
	case *ast.UnaryNode:
		e.walk(n.Node)
	case *ast.BinaryNode:
		e.walk(n.Left)
		e.walk(n.Right)
		own += e.relation(n.Operator, n.Left, n.Right)
	case *ast.ConditionalNode:
		e.walkAll(n.Cond, n.Exp1, n.Exp2)
	case *ast.ArrayNode:
		e.walkAll(n.Nodes...)
	case *ast.MemberNode:
		e.walkAll(n.Node, n.Property)
	case *ast.SliceNode:
		e.walkAll(n.Node, n.From, n.To)
	case *ast.PredicateNode:
		e.walk(n.Node)
	case *ast.CallNode:
		e.walk(n.Arguments[0])
		own += e.call(n)
	case *ast.BuiltinNode:
		if closures[n.Name] && len(n.Arguments) == 2 {
			e.closure(n.Arguments[0], n.Arguments[1])
			break
		}
		e.walkAll(n.Arguments...)
		own += e.builtin(n)
	}
	e.add(n, own)
}

func (e *estimate) walkAll(nodes ...ast.Node) {
	for _, n := range nodes {
		if n != nil {
			e.walk(n)
		}
	}
}

// closure adds the cost of a loop. There is none in another.
func (e *estimate) closure(list, body ast.Node) {
	e.walk(list)
	times, item := e.times, e.item
	e.times, e.item = e.items(list), e.bytes(list)
	e.add(body, e.times*itemSteps)
	e.walk(body)
	e.times, e.item = times, item
}

// relation returns the cost of an operator without its operands.
func (e *estimate) relation(op string, left, right ast.Node) float64 {
	switch op {
	case "matches":
		re, err := syntax.Parse(right.(*ast.StringNode).Value, syntax.Perl)
		if err != nil {
			return 0 // the machine's compiler reports it
		}
		return patternCost(re, e.bytes(left)+e.times)
	case "in":
		if constants(right) == nil {
			return e.bytes(left) + e.items(right)*nodeSteps
		}
		return e.bytes(left)
	case "contains":
		return e.bytes(left) + e.bytes(right)
	}
	return min(e.bytes(left), e.bytes(right))
}

// call returns the cost of a function of the language with a list.
func (e *estimate) call(n *ast.CallNode) float64 {
	name, items := n.Callee.(*ast.IdentifierNode).Value, n.Arguments[1].(*ast.ConstantNode).Value.([]string)
	if name != "contains_any" {
		return e.times * triedSteps * float64(len(items))
	}
	return e.bytes(n.Arguments[0]) * e.r.anyOf(name, items).steps
}

// builtin returns the cost of a function of expr without its arguments.
func (e *estimate) builtin(n *ast.BuiltinNode) float64 {
	switch n.Name {
	case "split":
		return e.bytes(n) + e.items(n)*pieceSteps
	case "first", "last":
		return 0
	}
	own := 0.0
	for _, arg := range n.Arguments {
		own += e.bytes(arg)
	}
	switch n.Name {
	case "lower", "upper":
		own *= foldSteps
	case "len", "indexOf", "lastIndexOf":
		own *= 2
	}
	return own
}

// bytes returns the length of a text, or of all texts of a list.
func (e *estimate) bytes(n ast.Node) float64 {
	switch n := n.(type) {
	case *ast.StringNode:
		return e.times * float64(len(n.Value))
	case *ast.ConstantNode:
		all := 0
		for _, item := range n.Value.([]string) {
			all += len(item)
		}
		return e.times * float64(all)
	case *ast.IdentifierNode:
		if enums[n.Value] != nil {
			return e.times * maxName
		}
		return e.times * entryBytes
	case *ast.PointerNode:
		return e.item
	case *ast.ConditionalNode:
		return max(e.bytes(n.Exp1), e.bytes(n.Exp2))
	case *ast.ArrayNode:
		all := 0.0
		for _, item := range n.Nodes {
			all += e.bytes(item)
		}
		return all
	case *ast.MemberNode:
		return e.bytes(n.Node)
	case *ast.SliceNode:
		return e.bytes(n.Node)
	case *ast.BuiltinNode:
		return e.bytes(n.Arguments[0])
	}
	return 0
}

// items returns the length of a list.
func (e *estimate) items(n ast.Node) float64 {
	switch n := n.(type) {
	case *ast.ConstantNode:
		return e.times * float64(len(n.Value.([]string)))
	case *ast.ArrayNode:
		return e.times * float64(len(n.Nodes))
	case *ast.ConditionalNode:
		return max(e.items(n.Exp1), e.items(n.Exp2))
	case *ast.SliceNode:
		return e.items(n.Node)
	case *ast.BuiltinNode:
		if n.Name != "split" {
			break
		}
		sep := 1
		if s, ok := n.Arguments[1].(*ast.StringNode); ok {
			sep = max(len(s.Value), 1)
		}
		return e.bytes(n.Arguments[0])/float64(sep) + e.times
	}
	return e.bytes(n) + e.times
}

// patternCost returns the cost of a regular expression for so many bytes: each byte
// may run every instruction.
func patternCost(re *syntax.Regexp, bytes float64) float64 {
	return patternSteps * float64(instructions(re)) * bytes
}

// instructions returns how many instructions re is compiled to, or a few more.
// It does not compile it: a short expression can have millions.
func instructions(re *syntax.Regexp) int {
	n := 0
	for _, sub := range re.Sub {
		n += instructions(sub)
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpConcat:
		return n
	case syntax.OpAlternate:
		return n + len(re.Sub)
	case syntax.OpCapture, syntax.OpStar, syntax.OpPlus, syntax.OpQuest:
		return n + 2
	case syntax.OpRepeat:
		return max(re.Min, re.Max, 1)*(n+1) + 2
	}
	return 1
}
