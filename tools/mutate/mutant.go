package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// mutant is a change of one place in a file.
type mutant struct {
	file       string // from the root
	line       int
	source     []byte
	start, end int // the place, in bytes
	with       string
	body       *body // of the function around it, nil where there is none
	decl       span  // the lines of the declaration around it
}

// body is the place of a function's body, without its braces.
type body struct {
	start, end, line int
	results          bool
}

// batch returns the files with all mutants in them, by number: each is a copy of the body
// of its function, before the body itself.
func batch(all map[int]*mutant) map[string][]byte {
	files := map[string][]byte{}
	order := slices.SortedFunc(maps.Keys(all),
		func(a, b int) int { return cmp.Compare(all[b].body.start, all[a].body.start) })
	for _, i := range order { // from the end, so that the places before stay
		m := all[i]
		text, begun := files[m.file]
		if !begun {
			text = m.source
			name := filepath.Join(filepath.Dir(m.file), "mutant_on.go")
			files[name] = []byte(packageClause.FindString(string(m.source)) + `
import "os"
var mutantChosen = os.Getenv("MUTANT")
func mutantOn(number string) bool { return number == mutantChosen }
`)
		}
		end := "return"
		if m.body.results {
			end = `panic("a mutant without a return")`
		}
		files[m.file] = slices.Concat(text[:m.body.start],
			fmt.Appendf(nil, "\nif mutantOn(%q) {\n//line mutant/%d.go:1\n%s%s%s\n%s\n}\n//line %s:%d\n", strconv.Itoa(i), i,
				m.source[m.body.start:m.start], m.with, m.source[m.end:m.body.end], end, m.file, m.body.line),
			text[m.body.start:])
	}
	return files
}

var packageClause = regexp.MustCompile(`(?m)^package \w+`)

func (m *mutant) text() []byte {
	return slices.Concat(m.source[:m.start], []byte(m.with), m.source[m.end:])
}

// change shows the line before and after the change.
func (m *mutant) change() string {
	from := bytes.LastIndexByte(m.source[:m.start], '\n') + 1
	to := m.end
	if i := bytes.IndexByte(m.source[to:], '\n'); i >= 0 {
		to += i
	}
	before := string(m.source[from:to])
	after := string(m.source[from:m.start]) + m.with + string(m.source[m.end:to])
	return strings.Join(strings.Fields(before), " ") + "  =>  " + strings.Join(strings.Fields(after), " ")
}

// key identifies a mutant while its line is as it is, wherever in its file that is.
func (m *mutant) key() string { return m.file + ": " + m.change() }

func (m mutant) String() string { return m.file + ":" + strconv.Itoa(m.line) + ": " + m.change() }

// mutants returns the mutants of a folder, in the order of the source.
func mutants(dir, only string) (all []mutant, err error) {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || !pattern.MatchString(filepath.Base(name)) {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f := file{name: filepath.ToSlash(name), source: source, set: token.NewFileSet()}
		tree, err := parser.ParseFile(f.set, name, source, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range tree.Decls {
			f.decl = span{f.set.Position(d.Pos()).Line, f.set.Position(d.End()).Line}
			f.walk(d, nil)
		}
		slices.SortStableFunc(f.found, func(a, b mutant) int {
			return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
		})
		all = append(all, f.found...)
	}
	return all, nil
}

// file finds the mutants of a file.
type file struct {
	name   string
	source []byte
	set    *token.FileSet
	body   *body // where the walk is
	decl   span
	found  []mutant
}

func (f *file) offset(p token.Pos) int { return f.set.Position(p).Offset }

func (f *file) of(n ast.Node) string { return string(f.source[f.offset(n.Pos()):f.offset(n.End())]) }

func (f *file) replace(from, to token.Pos, with string) {
	f.found = append(f.found, mutant{
		file: f.name, line: f.set.Position(from).Line, source: f.source,
		start: f.offset(from), end: f.offset(to), with: with, body: f.body, decl: f.decl,
	})
}

// token replaces the operator at a place.
func (f *file) token(at token.Pos, old token.Token, with string) {
	f.replace(at, at+token.Pos(len(old.String())), with)
}

// swapped has the replacement of each operator.
var swapped = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
	token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*", token.REM: "*",
	token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=", token.INC: "--", token.DEC: "++",
	token.AND: "|", token.OR: "&", token.SHL: ">>", token.SHR: "<<",
}

// walk adds the mutants of a tree; results are the results of the enclosing function.
func (f *file) walk(tree ast.Node, results *ast.FieldList) {
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.FuncDecl:
			if n.Body == nil {
				return false
			}
			first := n.Body.Lbrace + 1
			if !labeled(n.Body) { // labels are for one copy
				f.body = &body{f.offset(first), f.offset(n.Body.Rbrace), f.set.Position(first).Line, n.Type.Results != nil}
			}
			if n.Type.Results == nil && len(n.Body.List) > 1 {
				f.replace(first, first, " if true { return };")
			}
			f.walk(n.Body, n.Type.Results)
			f.body = nil
			return false
		case *ast.FuncLit:
			f.walk(n.Body, n.Type.Results)
			return false
		case *ast.ReturnStmt:
			f.returns(n, results)
		case *ast.IfStmt:
			f.negate(n.Cond)
		case *ast.SwitchStmt:
			for _, c := range n.Body.List {
				f.clause(c.(*ast.CaseClause), n.Tag == nil)
			}
		case *ast.TypeSwitchStmt:
			for _, c := range n.Body.List {
				f.clause(c.(*ast.CaseClause), false)
			}
		case *ast.CommClause: // the statement before the colon stays
			for _, statement := range n.Body {
				f.walk(statement, results)
			}
			return false
		case ast.Expr:
			return f.expression(n)
		case ast.Stmt:
			f.statement(n)
		}
		return true
	})
}

// expression adds the mutants of an expression, and reports whether its parts have some, too.
func (f *file) expression(n ast.Expr) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			f.token(n.OpPos, n.Op, "")
		}
	case *ast.BasicLit:
		f.constant(n)
	case *ast.Ident:
		if with, ok := map[string]string{"true": "false", "false": "true"}[n.Name]; ok {
			f.replace(n.Pos(), n.End(), with)
		}
	case *ast.CallExpr:
		if id, ok := n.Fun.(*ast.Ident); ok {
			if with, ok := map[string]string{"min": "max", "max": "min"}[id.Name]; ok {
				f.replace(id.Pos(), id.End(), with)
			}
		}
		return !logs(n)
	}
	return true
}

// statement adds the mutants of a statement, but not of its parts.
func (f *file) statement(n ast.Stmt) {
	switch n := n.(type) {
	case *ast.ExprStmt, *ast.DeferStmt, *ast.SendStmt:
		if !idle(n) {
			f.drop(n)
		}
	case *ast.IncDecStmt:
		f.drop(n)
		f.token(n.TokPos, n.Tok, swapped[n.Tok])
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			f.drop(n)
		}
		if with, ok := swapped[n.Tok]; ok && !text(n.Rhs[0]) {
			f.token(n.TokPos, n.Tok, with)
		}
	case *ast.BranchStmt:
		if n.Tok == token.CONTINUE || n.Tok == token.BREAK {
			f.replace(n.Pos(), n.End(), "")
		}
	}
}

// drop leaves a statement out. It stays in a function without a caller, so that its names are used.
func (f *file) drop(n ast.Node) {
	f.replace(n.Pos(), n.End(), "_ = func() { "+f.of(n)+" }")
}

// negate turns a condition round, unless the swap of its operator does that.
func (f *file) negate(cond ast.Expr) {
	switch c := cond.(type) {
	case *ast.BinaryExpr:
		if c.Op == token.EQL || c.Op == token.NEQ {
			return
		}
	case *ast.UnaryExpr:
		if c.Op == token.NOT {
			return
		}
	}
	f.replace(cond.Pos(), cond.End(), "!("+f.of(cond)+")")
}

// clause deletes a case, and turns its conditions round.
func (f *file) clause(c *ast.CaseClause, conditions bool) {
	if !conditions || c.List == nil {
		f.replace(c.Pos(), c.End(), "")
		return
	}
	for _, cond := range c.List {
		f.negate(cond)
		f.replace(cond.Pos(), cond.End(), "false && ("+f.of(cond)+")")
	}
}

func (f *file) binary(n *ast.BinaryExpr) {
	switch with, ok := swapped[n.Op]; {
	case n.Op == token.LAND: // without the one operand, and without the other
		f.replace(n.X.Pos(), n.X.End(), "(true || "+f.of(n.X)+")")
		f.replace(n.Y.Pos(), n.Y.End(), "(true || "+f.of(n.Y)+")")
	case n.Op == token.LOR:
		f.replace(n.X.Pos(), n.X.End(), "(false && ("+f.of(n.X)+"))")
		f.replace(n.Y.Pos(), n.Y.End(), "(false && ("+f.of(n.Y)+"))")
	case ok && !text(n):
		f.token(n.OpPos, n.Op, with)
	}
}

// constant replaces an integer by the next, and by 0.
func (f *file) constant(n *ast.BasicLit) {
	value, err := strconv.ParseInt(n.Value, 0, 64)
	if n.Kind != token.INT || err != nil {
		return
	}
	f.replace(n.Pos(), n.End(), strconv.FormatInt(value+1, 10))
	if value != 0 {
		f.replace(n.Pos(), n.End(), "0")
	}
}

// returns replaces the results by zeros, and leaves a return without results out.
func (f *file) returns(n *ast.ReturnStmt, results *ast.FieldList) {
	if len(n.Results) == 0 {
		if results == nil {
			f.replace(n.Pos(), n.End(), "")
		}
		return
	}
	if !slices.ContainsFunc(n.Results, func(e ast.Expr) bool {
		return !slices.Contains([]string{"nil", "false", "0", `""`}, f.of(e)) && !strings.HasSuffix(f.of(e), "{}")
	}) {
		return
	}
	var zeros, names []string
	for _, field := range results.List {
		for range max(1, len(field.Names)) {
			name := "zero" + strconv.Itoa(len(names))
			names = append(names, name)
			zeros = append(zeros, "var "+name+" "+f.of(field.Type))
		}
	}
	f.replace(n.Pos(), n.End(), "{ "+strings.Join(zeros, "; ")+"; if true { return "+strings.Join(names, ", ")+" }; "+
		f.of(n)+" }")
}

// labeled reports whether a function has labels.
func labeled(n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		_, is := n.(*ast.LabeledStmt)
		found = found || is
		return !found
	})
	return found
}

// text reports whether an operand is a string, as far as one sees.
func text(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return text(e.X) || text(e.Y)
	}
	return false
}

// idle reports whether a statement only logs or locks.
func idle(n ast.Node) bool {
	var call *ast.CallExpr
	switch n := n.(type) {
	case *ast.ExprStmt:
		call, _ = n.X.(*ast.CallExpr)
	case *ast.DeferStmt:
		call = n.Call
	}
	if call == nil {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return logs(call) || ok && slices.Contains([]string{"Lock", "Unlock", "RLock", "RUnlock"}, sel.Sel.Name)
}

// logs reports whether a call is one of a logger: of a variable or field named log.
func logs(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch x := sel.X.(type) {
	case *ast.Ident:
		return x.Name == "log"
	case *ast.SelectorExpr:
		return x.Sel.Name == "log"
	}
	return false
}
