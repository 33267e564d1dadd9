package rules

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// A resolver turns expressions as written into syntax trees without names of
// lists and macros: a list becomes a constant, a macro its own tree. It lets
// through only what the rule language has, so that no expression can have an
// effect, read a clock, or take time or memory out of proportion to its input.
type resolver struct {
	errs     *collector
	conf     *conf.Config
	lists    map[string]*list
	macros   map[string]*macro
	names    []string // everything that can stand as a value, for hints
	used     map[string]bool
	tops     []*definition // of each name the one that counts
	idle     []*definition // that override others and change nothing
	nodes    int           // of the expression at hand, after expansion
	allNodes int           // of the set
}

// list is a named list, shared by every expression that uses it.
type list struct {
	items []string
	set   map[string]struct{}          // for "in"
	tests map[string]func(string) bool // by the function of the language; see anyOf
}

type macro struct {
	decl  *macroDecl
	state macroState
	tree  ast.Node // expanded, never changed; nil when it has errors
	nodes int
	loops bool // it holds a closure
}

type macroState uint8

const (
	macroNew macroState = iota
	macroOpen
	macroDone
)

func newResolver(errs *collector) *resolver {
	r := &resolver{errs: errs, conf: conf.New(env{}), lists: map[string]*list{}, macros: map[string]*macro{}, used: map[string]bool{}}
	return r
}

// definition is a list or a macro of some file.
type definition struct {
	at       at
	list     *listDecl // nil for a macro
	macro    *macroDecl
	override bool
}

// kind names what d is, for messages.
func (d *definition) kind() string {
	if d.list != nil {
		return "list"
	}
	return "macro"
}

// name returns the name of d.
func (d *definition) name() string {
	if d.list != nil {
		return d.list.name
	}
	return d.macro.name
}

// mention takes all names in an expression that is not compiled for used.
func (r *resolver) mention(expr string) {
	for _, word := range strings.FieldsFunc(expr, func(c rune) bool { return !identifier("_" + string(c)) }) {
		r.used[word] = true
	}
}

// declare registers the lists and macros of all files. Names are shared by the
// whole set.
func (r *resolver) declare(docs []*document) {
	byName := map[string][]definition{} // in the order of files
	var order []string                  // of names, as they come
	add := func(name string, d definition) {
		if !r.nameAllowed(name, d.at) {
			return
		}
		chain := byName[name]
		if len(chain) == 0 {
			order = append(order, name)
		} else if last := chain[len(chain)-1]; last.at.src == d.at.src {
			r.errs.addf(d.at, "use another name", "%s is already defined at %s:%d", quote(name), clean(d.at.src.name), last.at.line)
			return
		} else if last.kind() != d.kind() {
			r.errs.addf(last.at, "use another name", "%s is a %s at %s:%d", quote(name), d.kind(), clean(d.at.src.name), d.at.line)
			chain = nil
		}
		byName[name] = append(chain, d)
	}
	for _, doc := range docs {
		for i := range doc.lists {
			l := &doc.lists[i]
			add(l.name, definition{at: l.at, list: l, override: l.override || l.extend})
		}
		for i := range doc.macros {
			m := &doc.macros[i]
			add(m.name, definition{at: m.at, macro: m, override: m.override})
		}
	}
	for _, name := range order {
		r.checkOverrides(name, byName, order)
	}
	r.register(order, byName)
	r.names = append(append(append(r.names, variables...), sortedKeys(r.lists)...), sortedKeys(r.macros)...)
	for _, name := range order {
		if m := r.macros[name]; m != nil {
			r.expandMacro(m, nil)
		}
	}
}

// register takes in what is left of each name.
func (r *resolver) register(order []string, byName map[string][]definition) {
	items := 0
	for _, name := range order {
		chain := byName[name]
		top := &chain[0]
		r.tops = append(r.tops, top)
		switch {
		case top.macro != nil && len(r.macros) == maxMacros:
			r.errs.addf(top.at, "", "more than %d macros", maxMacros)
			return
		case top.macro != nil:
			r.macros[name] = &macro{decl: top.macro}
		case len(r.lists) == maxLists:
			r.errs.addf(top.at, "", "more than %d lists", maxLists)
			return
		default:
			l := joined(chain)
			if items += len(l); items > maxListItems {
				r.errs.addf(top.at, "", "more than %d items in all lists", maxListItems)
				return
			}
			r.lists[name] = &list{items: l}
		}
	}
}

// nameAllowed reports whether name can be that of a list or macro, and says so
// when it cannot.
func (r *resolver) nameAllowed(name string, p at) bool {
	if !identifier(name) {
		r.errs.addf(p, "", "%s is not a name: letters, digits and '_', at most %d, not beginning with a digit", quote(name), maxName)
		return false
	}
	if what, yes := reserved(name); yes {
		r.errs.addf(p, "use another name", "%s is already %s", quote(name), what)
		return false
	}
	return true
}

// expandMacro resolves m once. via are the names of the macros being resolved,
// outermost first.
func (r *resolver) expandMacro(m *macro, via []string) {
	name := m.decl.name
	if m.state == macroOpen {
		for i, v := range via {
			if v == name {
				via = via[i:]
				break
			}
		}
		r.errs.addf(m.decl.at, "a macro may use others, but not in a circle", "the macro uses itself: %s",
			clean(strings.Join(append(via, name), " → ")))
	}
	if m.state != macroNew {
		return
	}
	m.state = macroOpen
	defer func() { m.state = macroDone }()
	if m.decl.expr.text == "" {
		return
	}
	saved := r.nodes
	x := &expansion{r: r, expr: &m.decl.expr, via: append(via, name)}
	m.tree = x.expand()
	m.nodes, r.nodes = r.nodes, saved
	m.loops = x.loops
	if m.tree != nil && !x.check(copyTree(m.tree)) {
		m.tree = nil
	}
}

// resolve returns the expanded tree of an expression, or nil when it has
// errors, which have then been reported.
func (r *resolver) resolve(e *exprText) ast.Node {
	if e.text == "" {
		return nil
	}
	x := &expansion{r: r, expr: e}
	tree := x.expand()
	if tree == nil {
		return nil
	}
	if r.allNodes += r.nodes; r.allNodes > maxExpandedSet {
		if r.allNodes-r.nodes <= maxExpandedSet {
			r.errs.addf(e.at, "", "the expressions of the set, with macros expanded, have more than %d parts", maxExpandedSet)
		}
		return nil
	}
	if !x.check(copyTree(tree)) {
		return nil
	}
	return tree
}

// expansion is the work on one expression.
type expansion struct {
	r      *resolver
	expr   *exprText
	via    []string // macros being expanded
	depth  int      // of closures
	loops  bool
	failed bool
}

// fail reports an error at loc.
func (x *expansion) fail(loc file.Location, hint, format string, args ...any) ast.Node {
	x.failed = true
	p := x.expr.at
	p.line, p.col = locate(p.src, x.expr.node, loc.From)
	x.r.errs.addf(p, hint, format, args...)
	return nil
}

// failExpr reports an error of the expr library.
func (x *expansion) failExpr(err error) {
	if fe, ok := errors.AsType[*file.Error](err); ok {
		x.fail(fe.Location, exprHint(fe.Message), "%s", clean(fe.Message))
		return
	}
	msg, _, _ := strings.Cut(err.Error(), "\n")
	x.fail(file.Location{}, "", "%s", clean(msg))
}

// expand parses the expression and resolves its names.
func (x *expansion) expand() (tree ast.Node) {
	defer func() {
		// The parser is not ours, and its input is a stranger's.
		if p := recover(); p != nil {
			x.fail(file.Location{}, "write it in another way", "the expression cannot be parsed: %s", clean(fmt.Sprint(p)))
			tree = nil
		}
	}()
	parsed, err := parser.Parse(x.expr.text)
	if err != nil {
		x.failExpr(err)
		return nil
	}
	x.r.nodes = 0
	tree = x.node(parsed.Node)
	if x.failed {
		return nil
	}
	return tree
}

// put counts a node of the expanded tree and gives it its place. Below it there
// may be holes, where an error was reported; such a tree is never used, but the
// rest of it is still looked through for more errors.
func (x *expansion) put(n ast.Node, loc file.Location) ast.Node {
	x.count(1, loc)
	n.SetLocation(loc)
	return n
}

func (x *expansion) count(n int, loc file.Location) {
	before := x.r.nodes
	x.r.nodes += n
	if x.r.nodes > maxExpanded && before <= maxExpanded {
		x.fail(loc, "use lists in place of long chains of or", "the expression, with macros expanded, has more than %d parts", maxExpanded)
	}
}

// node returns n with all names resolved, as a new tree.
func (x *expansion) node(n ast.Node) ast.Node {
	if n == nil || x.r.nodes > maxExpanded {
		x.failed = true
		return nil
	}
	loc := n.Location()
	switch n := n.(type) {
	case *ast.BoolNode:
		return x.put(&ast.BoolNode{Value: n.Value}, loc)
	case *ast.IntegerNode:
		return x.put(&ast.IntegerNode{Value: n.Value}, loc)
	case *ast.FloatNode:
		return x.put(&ast.FloatNode{Value: n.Value}, loc)
	case *ast.StringNode:
		return x.put(&ast.StringNode{Value: n.Value}, loc)
	case *ast.IdentifierNode:
		return x.identifier(n, loc)
	case *ast.UnaryNode:
		op := n.Operator
		if s := spelled[op]; s != "" {
			op = s
		}
		return x.put(&ast.UnaryNode{Operator: op, Node: x.node(n.Node)}, loc)
	case *ast.BinaryNode:
		return x.binary(n, loc)
	case *ast.BuiltinNode:
		return x.builtin(n, loc)
	case *ast.PredicateNode:
		return x.put(&ast.PredicateNode{Node: x.node(n.Node)}, loc)
	case *ast.PointerNode:
		if n.Name != "" {
			return x.fail(loc, "# is the item", "unknown name %s", quote("#"+n.Name))
		}
		return x.put(&ast.PointerNode{}, loc)
	case *ast.CallNode:
		return x.call(n, loc)
	case *ast.ConditionalNode:
		return x.put(&ast.ConditionalNode{Ternary: n.Ternary, Cond: x.node(n.Cond), Exp1: x.node(n.Exp1), Exp2: x.node(n.Exp2)}, loc)
	case *ast.ArrayNode:
		out := &ast.ArrayNode{Nodes: make([]ast.Node, len(n.Nodes))}
		for i, item := range n.Nodes {
			out.Nodes[i] = x.node(item)
		}
		return x.put(out, loc)
	case *ast.MemberNode:
		if _, dot := n.Property.(*ast.StringNode); dot || n.Optional || n.Method {
			return x.fail(loc, "", "values have no fields or methods")
		}
		return x.put(&ast.MemberNode{Node: x.node(n.Node), Property: x.node(n.Property)}, loc)
	case *ast.SliceNode:
		out := &ast.SliceNode{Node: x.node(n.Node)}
		if n.From != nil {
			out.From = x.node(n.From)
		}
		if n.To != nil {
			out.To = x.node(n.To)
		}
		return x.put(out, loc)
	case *ast.NilNode:
		return x.fail(loc, `what is not known is ""`, "nil is not part of the rule language")
	case *ast.VariableDeclaratorNode:
		return x.fail(loc, "use a macro", "let is not part of the rule language")
	case *ast.SequenceNode:
		return x.fail(loc, "join conditions with and, or", "a sequence with ';' is not part of the rule language")
	case *ast.MapNode:
		return x.fail(loc, "use a list", "a map is not part of the rule language")
	case *ast.ChainNode:
		return x.fail(loc, "", "?. is not part of the rule language")
	}
	return x.fail(loc, "", "this is not part of the rule language")
}

func (x *expansion) identifier(n *ast.IdentifierNode, loc file.Location) ast.Node {
	if varOf(n.Value) != 0 {
		return x.put(&ast.IdentifierNode{Value: n.Value}, loc)
	}
	x.r.used[n.Value] = true
	if l := x.r.lists[n.Value]; l != nil {
		return x.put(&ast.ConstantNode{Value: l.items}, loc)
	}
	if m := x.r.macros[n.Value]; m != nil {
		x.r.expandMacro(m, x.via)
		if m.tree == nil {
			x.failed = true // reported where the macro stands
			return nil
		}
		if m.loops && x.depth > 0 {
			return x.nested(loc)
		}
		x.loops = x.loops || m.loops
		if x.count(m.nodes, loc); x.r.nodes > maxExpanded {
			return nil
		}
		tree := copyTree(m.tree)
		relocate(tree, loc)
		return tree
	}
	if builtins[n.Value] || listFuncs[n.Value] != nil {
		return x.fail(loc, "call it: "+n.Value+"(…)", "%s is a function", quote(n.Value))
	}
	hint := "variables: " + strings.Join(variables, ", ")
	if near := cmp.Or(synonyms[n.Value], nearest(n.Value, variables), nearest(n.Value, x.r.names)); near != "" {
		hint = `did you mean "` + near + `"?`
	}
	return x.fail(loc, hint, "unknown name %s", quote(n.Value))
}

func (x *expansion) binary(n *ast.BinaryNode, loc file.Location) ast.Node {
	op := n.Operator
	if s := spelled[op]; s != "" {
		op = s
	}
	if !binaries[op] {
		return x.fail(loc, "", "the operator %s is not part of the rule language", op)
	}
	out := &ast.BinaryNode{Operator: op, Left: x.node(n.Left), Right: x.node(n.Right)}
	x.folded(op, out.Left, out.Right)
	switch op {
	case "<", "<=", ">", ">=":
		return x.put(x.ordered(out, loc), loc)
	case "contains", "startsWith", "endsWith":
		x.vain(op, out.Right)
	case "matches":
		if _, ok := out.Right.(*ast.StringNode); !ok && out.Right != nil {
			return x.fail(n.Right.Location(), `such as: template matches "^a+$"`, "the pattern of matches must be a text, not an expression")
		}
	case "==", "!=":
		x.enum(out.Left, out.Right)
		x.enum(out.Right, out.Left)
	case "in":
		if l, ok := out.Left.(*ast.IdentifierNode); ok && enums[l.Value] != nil {
			switch list := out.Right.(type) {
			case *ast.ArrayNode:
				for _, item := range list.Nodes {
					x.enum(l, item)
				}
			case *ast.ConstantNode:
				for _, item := range list.Value.([]string) {
					x.enumValue(l.Value, item, list.Location())
				}
			}
		}
	}
	return x.put(out, loc)
}

// enum checks that a variable with a fixed set of values is compared with one
// of them.
func (x *expansion) enum(a, b ast.Node) {
	if v, ok := a.(*ast.IdentifierNode); ok && enums[v.Value] != nil {
		if s, ok := b.(*ast.StringNode); ok {
			x.enumValue(v.Value, s.Value, s.Location())
		}
	}
}

func (x *expansion) enumValue(variable, value string, loc file.Location) {
	if !slices.Contains(enums[variable], value) {
		hint := didYouMean(value, enums[variable])
		if hint == "" {
			hint = "known: " + strings.Join(enums[variable], ", ")
		}
		x.fail(loc, hint, "there is no %s %s", variable, quote(value))
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
	out := &ast.BuiltinNode{Name: n.Name, Arguments: make([]ast.Node, len(n.Arguments)), Throws: n.Throws}
	for i, arg := range n.Arguments {
		if _, body := arg.(*ast.PredicateNode); body {
			x.depth++
		}
		out.Arguments[i] = x.node(arg)
		if i == 1 && len(n.Arguments) == 2 {
			x.folded(n.Name, out.Arguments[0], out.Arguments[1])
			x.vain(n.Name, out.Arguments[1])
		}
		if _, body := arg.(*ast.PredicateNode); body {
			x.depth--
		}
	}
	return x.put(out, loc)
}

// nested refuses a closure in a closure: its cost would be the product of the
// lengths of both lists.
func (x *expansion) nested(loc file.Location) ast.Node {
	return x.fail(loc, "use contains_any, starts_with_any or ends_with_any inside", "a loop over a list inside of another")
}

func (x *expansion) call(n *ast.CallNode, loc file.Location) ast.Node {
	name, ok := n.Callee.(*ast.IdentifierNode)
	switch {
	case !ok:
		return x.fail(loc, methodHint(n), "values have no fields or methods")
	case listFuncs[name.Value] == nil:
		return x.unknownFunc(name.Value, loc)
	case len(n.Arguments) != 2:
		return x.fail(loc, "such as: "+name.Value+`(template, ["a", "b"])`, "%s takes a text and a list", name.Value)
	}
	s, arg := x.node(n.Arguments[0]), x.node(n.Arguments[1])
	if arg == nil {
		return nil
	}
	var items []string
	switch l := arg.(type) {
	case *ast.ConstantNode:
		items, _ = l.Value.([]string)
	case *ast.ArrayNode:
		for _, item := range l.Nodes {
			t, ok := item.(*ast.StringNode)
			if !ok {
				items = nil
				break
			}
			items = append(items, t.Value)
		}
	}
	if len(items) == 0 {
		return x.fail(n.Arguments[1].Location(), `the name of a list, or ["a", "b"]`, "the second argument of %s must be a list of texts", name.Value)
	}
	list := x.put(&ast.ConstantNode{Value: items}, arg.Location())
	x.folded(name.Value, s, list)
	x.vain(name.Value, list)
	out := &ast.CallNode{
		Callee:    x.put(&ast.IdentifierNode{Value: name.Value}, n.Callee.Location()),
		Arguments: []ast.Node{s, list},
	}
	return x.put(out, loc)
}

func (x *expansion) unknownFunc(name string, loc file.Location) ast.Node {
	switch {
	case clocks[name]:
		return x.fail(loc, "rules see no clock, so that a replay decides as the live run did", "the function %s is not part of the rule language", quote(name))
	case varOf(name) != 0 || x.r.lists[name] != nil || x.r.macros[name] != nil:
		return x.fail(loc, "write it without parentheses", "%s is not a function", quote(name))
	}
	known := functionNames()
	hint := ""
	if n := nearest(name, known); n != "" {
		hint = `did you mean "` + n + `"?`
	} else {
		hint = "functions: " + strings.Join(known, ", ")
	}
	return x.fail(loc, hint, "the function %s is not part of the rule language", quote(name))
}

// check checks the types of tree, which it may change.
func (x *expansion) check(tree ast.Node) (ok bool) {
	defer func() {
		if p := recover(); p != nil {
			x.fail(file.Location{}, "write it in another way", "the expression cannot be checked: %s", clean(fmt.Sprint(p)))
			ok = false
		}
	}()
	lower(&tree, x.r)
	t := &parser.Tree{Node: tree, Source: file.NewSource(x.expr.text)}
	if _, err := checker.Check(t, x.r.conf); err != nil {
		x.failExpr(err)
		return false
	}
	if len(x.via) == 0 {
		if k := tree.Type().Kind(); k != reflect.Bool {
			hint := "compare it with something"
			x.fail(tree.Location(), hint, "must be a condition, true or false, not %s", typeName(tree.Type()))
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

// lower replaces what only the rule language has by what expr can run: a
// function with a list becomes one function bound to that list, and "in" with
// a list a look-up in a set.
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
		fn := bind(listFuncs[name.Value], t.Arguments[1].(*ast.ConstantNode).Value.([]string))
		callee := &ast.ConstantNode{Value: fn}
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
		for _, item := range items {
			if test(s, item) {
				return true
			}
		}
		return false
	}
}

// setOf returns the set of items, one and the same for a named list.
func (r *resolver) setOf(items []string) map[string]struct{} {
	l := r.named(items)
	if l == nil {
		return toSet(items)
	}
	if l.set == nil {
		l.set = toSet(items)
	}
	return l.set
}

// named returns the list of which these are the items, nil where they stand in an
// expression.
func (r *resolver) named(items []string) *list {
	for _, l := range r.lists {
		if len(items) > 0 && len(l.items) == len(items) && &l.items[0] == &items[0] {
			return l
		}
	}
	return nil
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
