package rules

import (
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"

	"github.com/heedlog/heed/internal/yamlfile"
)

// A resolver turns expressions as written into syntax trees without names of
// lists and macros: a list becomes a constant, a macro its own tree. It lets
// through only the rule language, so that no expression can have an
// effect, read a clock, or take time or memory out of proportion to its input.
type resolver struct {
	errs   *collector
	conf   *conf.Config
	lists  map[string][]string
	macros map[string]*macro
	bindings
	needs    needFinder
	holding  map[string]shapeSet // by the fingerprint of a part of conditions
	names    []string            // all names of values, for hints
	tops     []*definition       // the definition of each name that counts
	nodes    int                 // of the current expression, after expansion
	allNodes int                 // of the set
}

type macro struct {
	decl  *definition
	begun bool     // to be expanded
	tree  ast.Node // expanded, never changed; nil when it has errors
	nodes int
	loops bool // it holds a closure
}

func newResolver(errs *collector) *resolver {
	env := make(map[string]any, len(variables)) // with values of their types, for the checker
	for _, name := range variables {
		env[name] = ""
	}
	return &resolver{
		errs: errs, conf: conf.New(env), lists: map[string][]string{}, macros: map[string]*macro{},
		needs: needFinder{left: maxLiterals}, holding: map[string]shapeSet{},
		bindings: bindings{map[listKey]map[string]struct{}{}, map[listKey]boundList{}, map[string]func(string) bool{}},
	}
}

// declare registers the lists and macros of all files. Names are shared by the
// whole set.
func (r *resolver) declare(docs []*document) {
	byName := map[string][]*definition{} // in the order of files
	var order []string                   // of names, as they come
	for _, doc := range docs {
		for _, d := range doc.defined {
			if !r.nameAllowed(d.name, d.at) {
				continue
			}
			chain := byName[d.name]
			if len(chain) == 0 {
				order = append(order, d.name)
			} else if last := chain[len(chain)-1]; last.at.src == d.at.src {
				r.errs.add(d.at, "use another name", "%s is already defined at %s:%d", yamlfile.Quote(d.name),
					yamlfile.Clean(d.at.src.name), last.at.line)
				continue
			} else if last.kind != d.kind {
				r.errs.add(last.at, "use another name", "%s is a %s at %s:%d", yamlfile.Quote(d.name), d.kind,
					yamlfile.Clean(d.at.src.name), d.at.line)
				chain = nil
			}
			byName[d.name] = append(chain, d)
		}
	}
	for _, name := range order {
		r.checkOverrides(name, byName, order)
	}
	r.register(order, byName)
	r.names = slices.Concat(variables, slices.Sorted(maps.Keys(r.lists)), slices.Sorted(maps.Keys(r.macros)))
	for _, name := range order {
		if m := r.macros[name]; m != nil {
			r.expandMacro(m, nil)
		}
	}
}

// register registers the remaining definition of each name.
func (r *resolver) register(order []string, byName map[string][]*definition) {
	items := 0
	for _, name := range order {
		chain := byName[name]
		top := chain[0]
		r.tops = append(r.tops, top)
		switch {
		case top.kind == "macro" && len(r.macros) == maxMacros:
			r.errs.add(top.at, "", "more than %d macros", maxMacros)
			return
		case top.kind == "macro":
			r.macros[name] = &macro{decl: top}
		case len(r.lists) == maxLists:
			r.errs.add(top.at, "", "more than %d lists", maxLists)
			return
		default:
			l := joined(chain)
			if items += len(l); items > maxListItems {
				r.errs.add(top.at, "", "more than %d items in all lists", maxListItems)
				return
			}
			r.lists[name] = l
		}
	}
}

// nameAllowed reports whether name can name a list or macro, and reports an
// error if it cannot.
func (r *resolver) nameAllowed(name string, p at) bool {
	if !identifier(name) {
		r.errs.add(p, "", "%s is not a name: letters, digits and '_', at most %d, not beginning with a digit", yamlfile.Quote(name),
			maxName)
		return false
	}
	if what := reserved(name); what != "" {
		r.errs.add(p, "use another name", "%s is already %s", yamlfile.Quote(name), what)
		return false
	}
	return true
}

// expandMacro resolves m once. via are the names of the macros being resolved,
// outermost first.
func (r *resolver) expandMacro(m *macro, via []string) {
	name := m.decl.name
	if i := slices.Index(via, name); i >= 0 {
		r.errs.add(m.decl.at, "a macro cannot use itself, not even through other macros", "the macro uses itself: %s",
			yamlfile.Clean(strings.Join(append(via[i:], name), " → ")))
	}
	if m.begun || m.decl.expr.text == "" {
		return
	}
	m.begun = true
	saved := r.nodes
	x := &expansion{r: r, expr: &m.decl.expr, via: append(via, name)}
	m.tree = x.expand()
	m.nodes, r.nodes = r.nodes, saved
	m.loops = x.loops
	if m.tree != nil && !x.check(copyTree(m.tree)) {
		m.tree = nil
	}
}

// resolver returns a resolver with the lists and macros of s.
func (s *Set) resolver() *resolver {
	r := newResolver(&collector{})
	r.lists, r.macros = s.lists, s.macros
	return r
}

// expand returns the expanded tree of an expression, whose types are not checked
// yet, or nil when it has errors, which have then been reported.
func (r *resolver) expand(e *exprText) ast.Node {
	x := &expansion{r: r, expr: e}
	return x.expand()
}

// resolve is expand for an expression of the set, which counts; nil if it is empty.
func (r *resolver) resolve(e *exprText) ast.Node {
	if e.text == "" {
		return nil
	}
	tree := r.expand(e)
	if tree == nil {
		return nil
	}
	if r.allNodes += r.nodes; r.allNodes > maxExpandedSet {
		if r.allNodes-r.nodes <= maxExpandedSet {
			e.Fail("", "the expressions of the set, with macros expanded, have more than %d parts", maxExpandedSet)
		}
		return nil
	}
	return tree
}
