package rules

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/optimizer"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/heedlog/heed/internal/yamlfile"
)

// memoryBudget bounds, in the units of expr (one per item of a list that is built), the memory of one evaluation.
// No condition within maxParts meets it for an entry with texts of 64 KiB.
const memoryBudget = maxParts * 64 << 10 / callParts

// newMachine returns a virtual machine with the variables of conditions, by index.
func newMachine() vm.VM {
	return vm.VM{MemoryBudget: memoryBudget, Variables: make([]any, len(variables))}
}

// condition is a compiled "when", of a rule or an exception.
type condition struct {
	expr *exprText // as written, with its place
	code
	need     need
	possible shapeSet // where it may hold
	certain  shapeSet // where it surely does
	prints   []string // fingerprints of the parts that "and" joins
	parts    []string // the same, sorted, each once; none of a condition that always holds
}

// code is what runs of an expression.
type code struct {
	program *vm.Program
	reads   varSet
}

// condition compiles an expression. It returns nil when there are errors,
// which have then been reported. That it never holds is one, with the given
// consequence.
func (r *resolver) condition(e *exprText, consequence string) *condition {
	tree := r.resolve(e)
	if tree == nil {
		return nil
	}
	x := &expansion{r: r, expr: e}
	if n := r.parts(tree); n > maxParts {
		x.fail(file.Location{}, partsHint, "the condition counts as %d parts, more than the %d allowed", n, maxParts)
		return nil
	}
	c := &condition{expr: e, need: r.needs.need(tree, true)}
	var known []ast.Node // parts that read only a shape
	operands(tree, "&&", func(n ast.Node) {
		c.prints = append(c.prints, fingerprint(n))
		if reads(n)&^shapeVars == 0 {
			known = append(known, copyTree(n))
		}
	})
	c.reads = reads(tree)
	if c.program = x.program(tree); c.program == nil {
		return nil
	}
	c.possible = allShapes
	for _, n := range known {
		c.possible &= x.holding(n)
	}
	if len(known) == len(c.prints) {
		c.certain = c.possible
	}
	if x.failed {
		return nil
	}
	if c.certain != allShapes {
		c.parts = slices.Compact(slices.Sorted(slices.Values(c.prints)))
	}
	if c.possible == 0 {
		subject, _, _ := strings.Cut(consequence, " ")
		x.fail(file.Location{}, "correct it, or remove the "+subject, "the condition is never true, so the %s", consequence)
		return nil
	}
	return c
}

// program compiles an expanded tree, which it changes, and returns the program, nil if it has an error.
func (x *expansion) program(tree ast.Node) *vm.Program {
	defer x.failPanic("compiled")
	if !x.check(tree) {
		return nil
	}
	t := &parser.Tree{Node: tree, Source: file.NewSource(x.expr.text)}
	ast.Walk(&t.Node, matchers{x.r.bindings})
	config := x.r.conf
	if err := optimizer.Optimize(&t.Node, config); err != nil {
		x.failExpr(err)
		return nil
	}
	p, err := compiler.Compile(t, config)
	if err != nil {
		msg, _, _ := strings.Cut(err.Error(), "\n")
		x.fail(file.Location{}, "", "%s", yamlfile.Clean(msg))
		return nil
	}
	for i, op := range p.Bytecode {
		if op == vm.OpLoadFast { // of the environment, by name: slower than of the machine's variables, by index
			name := p.Constants[p.Arguments[i]].(string)
			p.Bytecode[i], p.Arguments[i] = vm.OpLoadVar, slices.Index(variables, name)
		}
	}
	return p
}
