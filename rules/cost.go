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

// size is the size of a value: its bytes, and its items if it is a list.
type size struct{ bytes, items float64 }

// walk adds the cost of n and of all that is below it, and returns the size of its value.
func (e *estimate) walk(n ast.Node) (value size) {
	own := e.times * nodeSteps
	switch n := n.(type) {
	case *ast.StringNode:
		value.bytes = e.times * float64(len(n.Value))
	case *ast.ConstantNode:
		value = e.list(n.Value.([]string))
	case *ast.IdentifierNode:
		value.bytes = e.times * entryBytes
		if enums[n.Value] != nil {
			value.bytes = e.times * maxName
		}
	case *ast.PointerNode:
		value.bytes = e.item
	case *ast.UnaryNode:
		e.walk(n.Node)
	case *ast.BinaryNode:
		own += e.relation(n, e.walk(n.Left), e.walk(n.Right))
	case *ast.ConditionalNode:
		e.walk(n.Cond)
		a, b := e.walk(n.Exp1), e.walk(n.Exp2)
		value = size{max(a.bytes, b.bytes), max(a.items, b.items)}
	case *ast.ArrayNode:
		for _, item := range n.Nodes {
			value.bytes += e.walk(item).bytes
		}
		value.items = e.times * float64(len(n.Nodes))
	case *ast.MemberNode:
		value.bytes = e.walk(n.Node).bytes
		e.walk(n.Property)
	case *ast.SliceNode:
		value = e.walk(n.Node)
		for _, bound := range []ast.Node{n.From, n.To} {
			if bound != nil {
				e.walk(bound)
			}
		}
	case *ast.PredicateNode:
		e.walk(n.Node)
	case *ast.CallNode:
		own += e.call(n, e.walk(n.Arguments[0]).bytes)
	case *ast.BuiltinNode:
		if closures[n.Name] && len(n.Arguments) == 2 {
			value.bytes = e.closure(n.Arguments[0], n.Arguments[1])
			break
		}
		steps := 0.0
		value, steps = e.builtin(n)
		own += steps
	}
	e.add(n, own)
	if value.items == 0 {
		value.items = value.bytes + e.times
	}
	return value
}

// list returns the size of a list of constants.
func (e *estimate) list(items []string) size {
	all := 0
	for _, item := range items {
		all += len(item)
	}
	return size{e.times * float64(all), e.times * float64(len(items))}
}

// closure adds the cost of a loop, and returns the bytes of its list. There is no loop in another.
func (e *estimate) closure(list, body ast.Node) float64 {
	over := e.walk(list)
	times, item := e.times, e.item
	e.times, e.item = over.items, over.bytes
	e.add(body, e.times*itemSteps)
	e.walk(body)
	e.times, e.item = times, item
	return over.bytes
}

// relation returns the cost of an operator without its operands.
func (e *estimate) relation(n *ast.BinaryNode, left, right size) float64 {
	switch n.Operator {
	case "matches":
		re, err := syntax.Parse(n.Right.(*ast.StringNode).Value, syntax.Perl)
		if err != nil {
			return 0 // the machine's compiler reports it
		}
		return patternCost(re, left.bytes+e.times)
	case "in":
		if constants(n.Right) == nil {
			return left.bytes + right.items*nodeSteps
		}
		return left.bytes
	case "contains":
		return left.bytes + right.bytes
	}
	return min(left.bytes, right.bytes)
}

// call returns the cost of a function of the language with a list, for a text of so many bytes.
func (e *estimate) call(n *ast.CallNode, bytes float64) float64 {
	name, items := n.Callee.(*ast.IdentifierNode).Value, n.Arguments[1].(*ast.ConstantNode).Value.([]string)
	if name != "contains_any" {
		return e.times * triedSteps * float64(len(items))
	}
	return bytes * e.r.anyOf(name, items).steps
}

// builtin adds the cost of the arguments of a function of expr, and returns the size of its value and its own cost.
func (e *estimate) builtin(n *ast.BuiltinNode) (value size, own float64) {
	for i, arg := range n.Arguments {
		bytes := e.walk(arg).bytes
		if own += bytes; i == 0 {
			value.bytes = bytes
		}
	}
	switch n.Name {
	case "split":
		sep := 1
		if s, ok := n.Arguments[1].(*ast.StringNode); ok {
			sep = max(len(s.Value), 1)
		}
		value.items = value.bytes/float64(sep) + e.times
		return value, value.bytes + value.items*pieceSteps
	case "first", "last":
		return value, 0
	case "lower", "upper":
		own *= foldSteps
	case "len", "indexOf", "lastIndexOf":
		own *= 2
	}
	return value, own
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
