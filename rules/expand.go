package rules

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	texts "github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/yamlfile"
)

// expansion is the work on one expression.
type expansion struct {
	r      *resolver
	expr   *exprText
	via    []string // macros being expanded
	depth  int      // of closures
	fixed  bool     // the list of the closure has as many items as the condition says
	loops  bool
	failed bool
}

// fail reports an error at loc.
func (x *expansion) fail(loc file.Location, hint, format string, args ...any) ast.Node {
	x.failed = true
	x.r.errs.add(x.expr.place(loc.From), hint, format, args...)
	return nil
}

// failExpr reports an error of the expr library.
func (x *expansion) failExpr(err error) {
	if fe, ok := errors.AsType[*file.Error](err); ok {
		x.fail(fe.Location, exprHint(fe.Message), "%s", yamlfile.Clean(fe.Message))
		return
	}
	msg, _, _ := strings.Cut(err.Error(), "\n")
	x.fail(file.Location{}, "", "%s", yamlfile.Clean(msg))
}

// failPanic, deferred, reports a panic of the expr library as an error: a parser of untrusted input may panic. The
// deferring function then returns zero values.
func (x *expansion) failPanic(verb string) {
	if p := recover(); p != nil {
		x.fail(file.Location{}, "write it in another way", "the expression cannot be %s: %s", verb,
			yamlfile.Clean(fmt.Sprint(p)))
	}
}

// expand parses the expression and resolves its names.
func (x *expansion) expand() ast.Node {
	defer x.failPanic("parsed")
	parsed, err := parser.Parse(x.expr.text)
	if err != nil {
		x.failExpr(err)
		return nil
	}
	x.r.nodes = 0
	tree := x.node(parsed.Node)
	if x.failed {
		return nil
	}
	return tree
}

// count counts n nodes of the expanded tree.
func (x *expansion) count(n int, loc file.Location) {
	before := x.r.nodes
	x.r.nodes += n
	if x.r.nodes > maxParts && before <= maxParts {
		x.fail(loc, "use lists in place of long chains of or",
			"the expression, with macros expanded, has more than %d parts", maxParts)
	}
}

// node returns n, which it changes, with all names resolved, and nil if it is not known what it is. Where an error was
// reported, the rest of the tree is still looked through for more errors; such a tree is never used.
func (x *expansion) node(n ast.Node) ast.Node {
	if n == nil || x.r.nodes > maxParts {
		x.failed = true
		return nil
	}
	loc := n.Location()
	x.count(1, loc)
	switch n := n.(type) {
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.StringNode:
	case *ast.IdentifierNode:
		return x.identifier(n, loc)
	case *ast.UnaryNode:
		n.Operator, n.Node = cmp.Or(spelled[n.Operator], n.Operator), x.node(n.Node)
	case *ast.BinaryNode:
		return x.binary(n, loc)
	case *ast.BuiltinNode:
		return x.builtin(n, loc)
	case *ast.PredicateNode:
		n.Node = x.node(n.Node)
	case *ast.PointerNode:
		if n.Name != "" {
			return x.fail(loc, "# stands for the item of the list", "unknown name %s", yamlfile.Quote("#"+n.Name))
		}
	case *ast.CallNode:
		return x.call(n, loc)
	case *ast.ConditionalNode:
		n.Cond, n.Exp1, n.Exp2 = x.node(n.Cond), x.node(n.Exp1), x.node(n.Exp2)
	case *ast.ArrayNode:
		for i, item := range n.Nodes {
			n.Nodes[i] = x.node(item)
		}
	case *ast.MemberNode:
		if _, dot := n.Property.(*ast.StringNode); dot || n.Optional || n.Method {
			return x.fail(loc, "", "values have no fields or methods")
		}
		n.Node, n.Property = x.node(n.Node), x.node(n.Property)
	case *ast.SliceNode:
		n.Node = x.node(n.Node)
		for _, bound := range []*ast.Node{&n.From, &n.To} {
			if *bound != nil {
				*bound = x.node(*bound)
			}
		}
	default:
		fault, known := outside[reflect.TypeOf(n)]
		if !known {
			fault.name = "this"
		}
		return x.fail(loc, fault.hint, "%s is not part of the rule language", fault.name)
	}
	return n
}

// outside has the nodes of the expr library that are not part of the rule language, and what to write in their place.
var outside = map[reflect.Type]struct{ name, hint string }{
	reflect.TypeFor[*ast.NilNode]():                {"nil", `write "" for a value that is not known`},
	reflect.TypeFor[*ast.VariableDeclaratorNode](): {"let", "use a macro"},
	reflect.TypeFor[*ast.SequenceNode]():           {"a sequence with ';'", "join conditions with: and, or"},
	reflect.TypeFor[*ast.MapNode]():                {"a map", "use a list"},
	reflect.TypeFor[*ast.ChainNode]():              {"?.", ""},
}

func (x *expansion) identifier(n *ast.IdentifierNode, loc file.Location) ast.Node {
	if v := varOf(n.Value); v != 0 {
		x.looped(v, loc)
		return n
	}
	if l := x.r.lists[n.Value]; l != nil {
		return listNode(l, loc)
	}
	if m := x.r.macros[n.Value]; m != nil {
		x.r.expandMacro(m, x.via)
		if m.tree == nil {
			x.failed = true // reported at the macro
			return nil
		}
		if m.loops && x.depth > 0 {
			return x.nested(loc)
		}
		x.loops = x.loops || m.loops
		x.looped(reads(m.tree), loc)
		if x.count(m.nodes, loc); x.r.nodes > maxParts {
			return nil
		}
		tree := copyTree(m.tree)
		each(tree, func(n ast.Node) { n.SetLocation(loc) }) // an error in a macro is reported at its use
		return tree
	}
	if builtins[n.Value] || listFuncs[n.Value] != nil {
		return x.fail(loc, "call it: "+n.Value+"(…)", "%s is a function", yamlfile.Quote(n.Value))
	}
	hint := "variables: " + strings.Join(variables, ", ")
	near := cmp.Or(synonyms[n.Value], texts.Nearest(n.Value, variables), texts.Nearest(n.Value, x.r.names))
	if near != "" {
		hint = `did you mean "` + near + `"?`
	}
	return x.fail(loc, hint, "unknown name %s", yamlfile.Quote(n.Value))
}

func (x *expansion) binary(n *ast.BinaryNode, loc file.Location) ast.Node {
	op := cmp.Or(spelled[n.Operator], n.Operator)
	if !binaries[op] {
		return x.fail(loc, "", "the operator %s is not part of the rule language", op)
	}
	at := n.Right.Location()
	n.Operator, n.Left, n.Right = op, x.node(n.Left), x.node(n.Right)
	x.refuse(op, n.Left, n.Right)
	switch op {
	case "<", "<=", ">", ">=":
		x.ordered(n, loc)
	case "matches":
		s, ok := n.Right.(*ast.StringNode)
		if !ok && n.Right != nil {
			return x.fail(at, `such as: template matches "^a+$"`,
				"the pattern after matches must be a text, not an expression")
		}
		if ok { // before anything compiles it, which takes time and memory too
			x.pattern(s, loc)
		}
	case "==", "!=":
		x.enum(n.Left, n.Right)
		x.enum(n.Right, n.Left)
	case "in":
		x.enum(n.Left, n.Right)
	}
	return n
}

// pattern refuses a regular expression that is not valid, or takes too long by itself.
func (x *expansion) pattern(s *ast.StringNode, loc file.Location) {
	switch n, err := instructions(s.Value); {
	case err != nil:
		x.fail(loc, exprHint(err.Error()), "%s", yamlfile.Clean(err.Error()))
	case n > maxInstructions:
		x.fail(s.Location(), "use fewer alternatives and smaller counts than in {1,400}, or contains and contains_any",
			"the regular expression has %d instructions, more than the %d allowed", n, maxInstructions)
	}
}

// enum checks that a variable with a fixed set of values is compared with some
// of them.
func (x *expansion) enum(a, b ast.Node) {
	v, ok := a.(*ast.IdentifierNode)
	if !ok || enums[v.Value] == nil {
		return
	}
	if array, ok := b.(*ast.ArrayNode); ok {
		for _, item := range array.Nodes {
			x.enum(a, item)
		}
		return
	}
	for _, value := range textsIn(b) {
		if known := enums[v.Value]; !slices.Contains(known, value) {
			hint := cmp.Or(yamlfile.DidYouMean(value, known), "known: "+strings.Join(known, ", "))
			x.fail(b.Location(), hint, "there is no %s %s", v.Value, yamlfile.Quote(value))
		}
	}
}

func (x *expansion) builtin(n *ast.BuiltinNode, loc file.Location) ast.Node {
	if !builtins[n.Name] {
		return x.unknownFunc(n.Name, loc)
	}
	if closures[n.Name] {
		if x.depth > 0 {
			return x.nested(loc)
		}
		x.loops = true
	}
	for i, arg := range n.Arguments {
		_, body := arg.(*ast.PredicateNode)
		if body {
			x.depth++
			x.fixed = spelledOut(n.Arguments[0]) > 0
		}
		n.Arguments[i] = x.node(arg)
		if i == 1 && len(n.Arguments) == 2 {
			x.refuse(n.Name, n.Arguments[0], n.Arguments[1])
		}
		if body {
			x.depth--
		}
	}
	return n
}

// nested refuses a closure in a closure: its cost would be the product of the
// lengths of both lists.
func (x *expansion) nested(loc file.Location) ast.Node {
	return x.fail(loc, "use contains_any, starts_with_any or ends_with_any inside", "a loop over a list inside another loop")
}

// looped refuses long variables in a loop over the parts of a text: its cost would be the product of two lengths.
func (x *expansion) looped(vars varSet, loc file.Location) {
	if long := vars &^ shortVars; x.depth > 0 && !x.fixed && long != 0 {
		x.fail(loc, "use contains_any, starts_with_any, ends_with_any or in; a loop over parts of a text may read #, "+
			strings.Join(shortVars.list(), ", "), "a loop over parts of a text cannot read %s", long.list()[0])
	}
}

func (x *expansion) call(n *ast.CallNode, loc file.Location) ast.Node {
	name, ok := n.Callee.(*ast.IdentifierNode)
	switch {
	case !ok:
		return x.fail(loc, methodHint, "values have no fields or methods")
	case listFuncs[name.Value] == nil:
		return x.unknownFunc(name.Value, loc)
	case len(n.Arguments) != 2:
		return x.fail(loc, "such as: "+name.Value+`(template, ["a", "b"])`, "%s takes a text and a list", name.Value)
	}
	x.count(1, n.Callee.Location())
	at := n.Arguments[1].Location()
	s, arg := x.node(n.Arguments[0]), x.node(n.Arguments[1])
	if arg == nil {
		return nil
	}
	items := constants(arg)
	if len(items) == 0 {
		return x.fail(at, `the name of a list, or ["a", "b"]`,
			"the second argument of %s must be a list of texts", name.Value)
	}
	list := listNode(items, arg.Location())
	x.refuse(name.Value, s, list)
	n.Arguments = []ast.Node{s, list}
	return n
}

// listNode returns a list as a node.
func listNode(items []string, loc file.Location) ast.Node {
	n := &ast.ConstantNode{Value: items}
	n.SetLocation(loc)
	return n
}

func (x *expansion) unknownFunc(name string, loc file.Location) ast.Node {
	switch {
	case clocks[name]:
		return x.fail(loc, "rules have no clock, so that a replay makes the same decisions as the live run",
			"the function %s is not part of the rule language", yamlfile.Quote(name))
	case varOf(name) != 0 || x.r.lists[name] != nil || x.r.macros[name] != nil:
		return x.fail(loc, "write it without parentheses", "%s is not a function", yamlfile.Quote(name))
	}
	known := functionNames()
	hint := "functions: " + strings.Join(known, ", ")
	if n := texts.Nearest(name, known); n != "" {
		hint = `did you mean "` + n + `"?`
	}
	return x.fail(loc, hint, "the function %s is not part of the rule language", yamlfile.Quote(name))
}

// check checks the types of tree, which it may change.
func (x *expansion) check(tree ast.Node) bool {
	defer x.failPanic("checked")
	lower(tree, x.r)
	t := &parser.Tree{Node: tree, Source: file.NewSource(x.expr.text)}
	if _, err := checker.Check(t, x.r.conf); err != nil {
		x.failExpr(err)
		return false
	}
	if len(x.via) == 0 {
		if t := tree.Type(); t.Kind() != reflect.Bool {
			x.fail(tree.Location(), "compare it with something", "must be a condition, true or false, not %s", typeName(t))
			return false
		}
	}
	// Joining texts with + could double their length with every macro.
	bad := ast.Find(tree, func(n ast.Node) bool {
		b, ok := n.(*ast.BinaryNode)
		return ok && b.Operator == "+" && b.Type().Kind() != reflect.Int && b.Type().Kind() != reflect.Float64
	})
	if bad != nil {
		x.fail(bad.Location(), "write it as one text, or use several conditions", "+ adds numbers; texts cannot be joined")
		return false
	}
	return true
}

func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Int, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list"
	}
	return "a value of a type known only when it runs"
}

// ordered refuses to compare values with names by the alphabet: level >= "error" would hold for every level but debug.
func (x *expansion) ordered(n *ast.BinaryNode, loc file.Location) {
	for _, side := range []ast.Node{n.Left, n.Right} {
		if v, ok := side.(*ast.IdentifierNode); ok && (enums[v.Value] != nil || v.Value == "phase") {
			x.fail(loc, "write "+v.Value+` in ["…", "…"]`, "%s is a text, and %s compares texts alphabetically", v.Value, n.Operator)
		}
	}
}

// refuse refuses to look for the empty text in another, which has it anyhow, and comparisons of a text in lower case
// with a text in another case, and similar ones: they are never equal.
func (x *expansion) refuse(op string, a, b ast.Node) {
	how, ok := fits[op]
	if !ok {
		return
	}
	if how != whole && op != "indexOf" && op != "lastIndexOf" && slices.Contains(textsIn(b), "") {
		x.fail(b.Location(), `to test for an empty text, write == ""`, `%s "" is always true`, op)
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
				x.fail(side[1].Location(), "write "+yamlfile.Quote(fold(s)), "%s(…) never contains %s", call.Name,
					yamlfile.Quote(s))
				break
			}
		}
	}
}
