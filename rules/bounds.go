package rules

import (
	"regexp/syntax"

	"github.com/expr-lang/expr/ast"
)

// maxParts bounds the parts of a condition after macros are expanded. A part passes once over the texts of an entry.
// The kinds that take longer count as several parts. So a condition takes at most about a second for an entry with
// texts of 64 KiB; real ones take a thousandth.
const maxParts = 4000

// The parts that some kinds of syntax count as.
const (
	callParts    = 20 // a function such as lower or split; anything in a loop over parts of a text
	patternParts = 8  // an instruction of a regular expression
	tableSteps   = 2  // a byte of a text at which the items of a list for contains_any may begin
	triedSteps   = 4  // an item that is tried there
)

const partsHint = "use lists in place of chains of or, and smaller counts in regular expressions; a function counts as 20"

// maxInstructions bounds a regular expression: each byte of a text may run every instruction.
const maxInstructions = 400

// shortVars are the variables that a loop over parts of a text may read. With the others, a condition could take the
// product of two lengths.
const shortVars = varLevel | varKind | varStatus | varPhase

// parts returns how many parts the expanded tree of a condition counts as.
func (r *resolver) parts(tree ast.Node) int {
	total := 0
	each(tree, func(n ast.Node) {
		total++
		switch n := n.(type) {
		case *ast.BuiltinNode:
			total += callParts
			if closures[n.Name] && len(n.Arguments) == 2 {
				total += r.loopParts(n.Arguments[0], n.Arguments[1])
			}
		case *ast.CallNode:
			if name := n.Callee.(*ast.IdentifierNode).Value; name == "contains_any" {
				total += r.anyOf(name, constants(n.Arguments[1])).steps
			}
		case *ast.BinaryNode:
			if n.Operator == "matches" {
				instructions, _ := instructions(n.Right.(*ast.StringNode).Value) // it was parsed before
				total += patternParts * instructions
			}
		}
	})
	return total
}

// spelledOut returns how many items a list that a condition spells out has, and 0 for other lists.
func spelledOut(list ast.Node) int {
	if array, ok := list.(*ast.ArrayNode); ok {
		return len(array.Nodes)
	}
	return len(constants(list))
}

// loopParts returns how many more parts the body of a loop counts as, since it runs for each item: of a list that is
// spelled out a text as long as others, else a part of one.
func (r *resolver) loopParts(list, body ast.Node) int {
	if n := spelledOut(list); n > 0 {
		return (n - 1) * r.parts(body)
	}
	total := 0
	each(body, func(n ast.Node) {
		total += callParts
		switch n := n.(type) {
		case *ast.StringNode:
			total += len(n.Value)
		case *ast.ConstantNode:
			total += triedSteps * len(constants(n))
		}
	})
	return total
}

// instructions returns how many instructions a regular expression is compiled to, or a few more. It does not compile
// it: a short expression can have millions.
func instructions(pattern string) (int, error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, err
	}
	return instructionsOf(re), nil
}

func instructionsOf(re *syntax.Regexp) int {
	n := 0
	for _, sub := range re.Sub {
		n += instructionsOf(sub)
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
